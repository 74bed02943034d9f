"""What a build command has read and gave, for the same command to find that nothing is left to do.

Two things follow from it before anything else is loaded: where nothing that was read has changed, the compiler's process is not started;
and where what was written lies there as it was, the command is done. Both compare contents, so an answer is right whatever the times of
files say. What does not compare costs time and changes nothing.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from gompute.build.cache_files import default_folder, opened, path_of
from gompute.build.keys import digest, python_identity, tools
from gompute.build.wire import WireError, decode
from gompute.lang.digests import hash_file, hash_folder

__all__ = ["KIND", "Past", "command_key", "contents", "past", "record"]

KIND: Literal["done"] = "done"
"""The kind of these entries in the cache."""


class Past(NamedTuple):
    """A command that was done before, and that has nothing to compile now.

    Attributes:
        whole: what it wrote lies there as it was, so that there is nothing to do at all.
        out, err: what it would print then.
    """

    whole: bool
    out: str
    err: str


def past(arguments: Sequence[str]) -> Past | None:
    """What is known of the command with these arguments in this folder; None where something that it read has changed."""
    cache = _cache(arguments)
    if cache is None:
        return None
    key = command_key(arguments)
    try:
        with open(path_of(cache, KIND, key), "rb") as file:
            payload = opened(file.read(), KIND, key)
        return None if payload is None else _past(decode(payload).body)
    except (OSError, ValueError, KeyError, WireError):
        return None


def _past(body: Mapping[str, Any]) -> Past | None:
    if body["identity"] != _identity() or contents(body["files"]) != body["files"]:
        return None
    if any(_or_none(hash_folder, path) != then for path, then in body["folders"].items()):
        return None
    told = body["told"]
    return Past(told is not None and _lies(body["place"], body["written"]), *(told or ("", "")))


def record(
    files: Mapping[str, str | None],
    folders: Mapping[str, str],
    place: str,
    written: Mapping[str, bytes],
    told: tuple[str, str] | None,
) -> dict[str, Any]:
    """What to keep under `command_key`.

    Args:
        files: the sha256 of everything that was read, by path; None for what was looked for and was not there.
        folders: the hash of what lay in folders that were listed.
        place: the folder or the file that was written.
        written: the files in it by name; where `place` is a file, its bytes under an empty name.
        told: what the command prints, on standard output and standard error, where it finds everything in the cache; None where it has
            more to say each time.
    """
    return {
        "identity": _identity(),
        "files": dict(files),
        "folders": dict(folders),
        "place": os.path.abspath(place),
        "written": {name: hashlib.sha256(data).hexdigest() for name, data in written.items()},
        "told": told,
    }


def contents(paths: Iterable[str]) -> dict[str, str | None]:
    """The sha256 of files by path, None for one that is not there."""
    return {path: _or_none(hash_file, path) for path in paths}


def command_key(arguments: Sequence[str]) -> str:
    """What a command is filed under: its words and the folder it runs in."""
    return digest("command", os.getcwd(), *arguments)


def _identity() -> str:
    return digest(python_identity(), *tools())


def _lies(place: str, written: Mapping[str, str]) -> bool:
    """Whether a place holds what was written there, and nothing else."""
    if "" in written:
        return os.path.isfile(place) and _or_none(hash_file, place) == written[""]
    paths = {name: os.path.join(place, name) for name in written}
    return (
        os.path.isdir(place)
        and set(os.listdir(place)) == set(written)
        and all(os.path.isfile(path) and _or_none(hash_file, path) == written[name] for name, path in paths.items())
    )


def _or_none(function: Any, path: str) -> str | None:
    try:
        return str(function(path))
    except OSError:
        return None


def _cache(arguments: Sequence[str]) -> str | None:
    """The folder of the cache that a command names, else that of the user."""
    if "--no-cache" in arguments:
        return None
    named = [after for word, after in itertools.pairwise(arguments) if word == "--cache"]
    named += [word.partition("=")[2] for word in arguments if word.startswith("--cache=")]
    return named[-1] if named else default_folder(os.environ)
