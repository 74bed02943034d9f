"""The files of the cache: where they lie, and how each holds a hash of what is in it.

A command reads one before it has loaded anything else (`gompute.cli.ahead`), so this module imports next to nothing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence

__all__ = ["VERSION", "default_folder", "opened", "path_of", "sealed"]

VERSION = "1"
"""Of the format; the folder in the cache that holds its files."""

_MAGIC = b"gompute cache 1\n"
_HASH = 32


def default_folder(environment: Mapping[str, str]) -> str | None:
    """Where the XDG rules put a user's cache: `$XDG_CACHE_HOME/gompute`, else `~/.cache/gompute`; None for a user without a home."""
    base = environment.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):  # a relative one is to be ignored
        return os.path.join(base, "gompute")
    home = os.path.expanduser("~")
    return os.path.join(home, ".cache", "gompute") if os.path.isabs(home) else None


def path_of(folder: str, kind: str, key: str) -> str:
    """The file of an entry of the cache in `folder`."""
    return os.path.join(folder, VERSION, kind, key[:2], key[2:])


def sealed(kind: str, key: str, payload: Sequence[bytes]) -> list[bytes]:
    """The bytes of a file that holds `payload`, both in pieces."""
    return [_MAGIC, _hash(kind, key, payload), *payload]


def opened(data: bytes, kind: str, key: str) -> memoryview | None:
    """What a file holds, or None where it is damaged."""
    start = len(_MAGIC) + _HASH
    payload = memoryview(data)[start:]
    if data[: len(_MAGIC)] != _MAGIC or _hash(kind, key, [payload]) != data[len(_MAGIC) : start]:
        return None
    return payload


def _hash(kind: str, key: str, payload: Sequence[bytes | memoryview]) -> bytes:
    """Of what an entry holds and of what it is filed under: one that has come to another place is none."""
    made = hashlib.sha256(f"{kind} {key}\n".encode())
    for part in payload:
        made.update(part)
    return made.digest()
