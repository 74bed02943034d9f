"""What the import of a root's module reads, so that a later build can tell whether it would read the same.

Python tells an audit hook of every file that is opened and of every folder that is listed, whichever library does it.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from gompute.lang.digests import hash_file, hash_folder

__all__ = ["Reads", "Recorder", "recording"]

_OPENS = frozenset({"open"})
_LISTS = frozenset({"os.listdir", "os.scandir"})
_LEAVES = {
    "subprocess.Popen": "starts a process",
    "os.system": "starts a process",
    "os.posix_spawn": "starts a process",
    "os.fork": "starts a process",
    "os.exec": "starts a process",
    "socket.connect": "opens a network connection",
    "socket.getaddrinfo": "asks the network",
}
# What these hold is the machine's and changes all the time; a library may look there for what does not show in a result.
_MACHINE = ("/proc/", "/sys/", "/dev/")
_INSTALLED = ("site-packages", "dist-packages")
_CLOCK_STEP = 20_000_000  # nanoseconds


@dataclass(frozen=True, slots=True)
class Reads:
    """What the lowering of one root has read. Paths are as they were opened: one that leads through a link may lead elsewhere later.

    Attributes:
        sources: the sha256 of the module's file and of those of its imports, by path, sorted.
        files: of other files.
        folders: of the sorted names in folders that were listed.
        absent: files that were looked for and were not there, sorted; with one of them the import would go another way.
        unknown: what it has done beside that, whose result may differ the next time; None where nothing.
    """

    sources: Mapping[str, str]
    files: Mapping[str, str]
    folders: Mapping[str, str]
    absent: tuple[str, ...]
    unknown: str | None


class Recorder:
    """Takes down what the process does while a module is imported."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()
        self._sources: dict[str, str] = {}
        self._unknown: str | None = None
        self._began = time.time_ns()

    def source(self, path: str, data: bytes) -> None:
        """A module's file as the importer has read it."""
        self._sources[os.path.abspath(path)] = hashlib.sha256(data).hexdigest()

    def unsure(self, why: str) -> None:
        """The import has done something whose result may differ the next time."""
        self._unknown = why

    def reads(self, parsed: Mapping[str, str], absent: Iterable[Path]) -> Reads:
        """What was taken down.

        Args:
            parsed: the sha256 of files that the checker has read, by path.
            absent: what the importer did not find.
        """
        for path, digest in parsed.items():
            if self._sources.setdefault(path, digest) != digest:
                self._unknown = f"reads {path}, which changed meanwhile"
        files = self._files - self._sources.keys()
        found = {file: hash_file(file) for file in sorted(files) if os.path.isfile(file)}
        listed = {folder: hash_folder(folder) for folder in sorted(self._folders) if os.path.isdir(folder)}
        for path in (*found, *listed):
            # It is hashed after it was read. The time stamps of files are a few milliseconds behind the clock.
            if os.stat(path).st_mtime_ns > self._began - _CLOCK_STEP:
                self._unknown = f"reads {path}, which has just changed"
        return Reads(dict(sorted(self._sources.items())), found, listed, tuple(sorted(map(str, absent))), self._unknown)

    def take(self, event: str, arguments: tuple[Any, ...]) -> None:
        """One audit event."""
        if event in _LEAVES:
            self._unknown = _LEAVES[event]
            return
        if event not in _OPENS and event not in _LISTS:
            return
        place = "." if arguments[0] is None else arguments[0]
        if isinstance(place, int):
            return  # something that is open already
        path = os.path.abspath(os.fsdecode(place))
        if event in _LISTS:
            if path not in sys.path and not _is_installed(path):
                self._folders.add(path)
        elif not path.startswith(_MACHINE) and not _is_installed(path):
            self._files.add(path)


_listening: list[Recorder] = []


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Have `recorder` take down what happens until the end."""
    _install()
    _listening.append(recorder)
    try:
        yield
    finally:
        _listening.pop()


@lru_cache(maxsize=1)
def _install() -> None:
    """Python keeps an audit hook until its end, so there is one, which asks whether anybody is listening."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if _listening:
            _listening[-1].take(event, arguments)

    sys.addaudithook(hook)


@lru_cache(maxsize=1)
def _library() -> tuple[str, ...]:
    """The folders of Python's own library and of Gompute."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return (os.path.dirname(os.path.abspath(os.__file__)) + os.sep, package + os.sep)


def _is_installed(path: str) -> bool:
    """Whether a file belongs to Python or to an installed package: the version of these is part of every key as it is."""
    return path.startswith(_library()) or any(part in _INSTALLED for part in path.split(os.sep))
