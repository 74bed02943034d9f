"""What a root's sources say, so that a later build can tell which of them were edited."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gompute.frontend.source import SourceFile, Sources

__all__ = ["CodeDigests", "code_digests"]


class CodeDigests(NamedTuple):
    """The sha256 of the code of a root's module, and of that of each source that it imports, by name."""

    module: str
    imports: Mapping[str, str]


def code_digests(file: str, sources: Sources, paths: Iterable[str]) -> CodeDigests:
    """Hashes of code. Comments and empty lines are no part of it.

    A name is the path below the root's folder. Where a source from elsewhere lies is the machine's own business, so its file's name has to
    do; several of one name are hashed together. Gompute's own sources are left out.

    Args:
        file: the root's module.
        paths: of all sources that were read.
    """
    by_name: dict[str, list[str]] = {}
    for path in sorted(paths):
        source = sources.read(path)
        if path != file and not source.is_gomputes:
            by_name.setdefault(_name(source), []).append(_digest(source))
    imports = {name: found[0] if len(found) == 1 else _hash("".join(sorted(found))) for name, found in sorted(by_name.items())}
    return CodeDigests(_digest(sources.read(file)), imports)


def _name(source: SourceFile) -> str:
    outside = source.relative.startswith(f"..{os.sep}")
    name = os.path.basename(source.relative) if outside else source.relative.replace(os.sep, "/")
    return "".join(character if character.isprintable() else "?" for character in name)


def _digest(source: SourceFile) -> str:
    return _hash("\n".join(line for line in source.bare if line is not None))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
