"""The cache on disk: results by kind and key, each in a file of its own that holds its own hash.

It is shared by all builds of a user and never trusted: a file that does not hold what its hash says is dropped, a write is a new file
that is renamed into its place, and where reading or writing fails a build goes on without.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gompute.build.cache_files import VERSION, opened, path_of, sealed
from gompute.build.wire import Message, WireError, decode, parts

__all__ = ["KINDS", "LIMIT", "Entry", "Kind", "Store"]

Kind = Literal["root", "ir", "code", "blob", "done"]
KINDS: tuple[Kind, ...] = ("root", "ir", "code", "blob", "done")
"""What a root has read and gave; a kernel's IR; its code; a root's blobs, where more than putting texts together makes them of that; what a
command has read and gave."""

LIMIT = 2 << 30
"""Bytes beyond which the entries that were not used for longest go."""

_UNUSED = 3600.0  # seconds after which a use is noted in the file's time
_ABANDONED = 600.0  # seconds after which an unfinished file has nobody who finishes it


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the cache: its kind, its size in bytes and when it was last used, in seconds since 1970."""

    path: Path
    kind: str
    size: int
    used: float


class Store:
    """The cache in one folder, which is made when something is put there.

    Attributes:
        notes: what a user should know of: entries that were dropped, and why nothing is written.
    """

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self.folder = folder
        self.notes: list[str] = []
        self._place = folder / VERSION
        self._limit = limit
        self._written = 0
        self._writes = True

    def get(self, kind: Kind, key: str) -> Message | None:
        """What was put under this key, or None."""
        path = self._path(kind, key)
        try:
            with open(path, "rb") as file:
                data = file.read()
                used = os.fstat(file.fileno()).st_mtime
        except OSError:
            return None
        message = _message(opened(data, kind, key))
        if message is None:
            self.notes.append(f"the cache entry {path} was damaged; it is dropped and made again")
            with suppress(OSError):
                path.unlink()
            return None
        if time.time() - used > _UNUSED:
            with suppress(OSError):
                os.utime(path)
        return message

    def has(self, kind: Kind, key: str) -> bool:
        """Whether something was put under this key; only `get` tells whether it is whole."""
        return self._path(kind, key).exists()

    def put(self, kind: Kind, key: str, body: Mapping[str, Any], blobs: Sequence[bytes] = ()) -> None:
        """Keep a result. Where that cannot be, it is said once, and nothing more is written."""
        if not self._writes:
            return
        data = sealed(kind, key, parts(body, blobs))
        path = self._path(kind, key)
        unfinished = self._place / "unfinished" / f"{os.getpid()}-{secrets.token_hex(6)}"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.parent.mkdir(exist_ok=True)
            try:
                with open(unfinished, "xb") as file:
                    file.writelines(data)
                os.replace(unfinished, path)
            except BaseException:
                with suppress(OSError):
                    unfinished.unlink()
                raise
        except OSError as error:
            self._writes = False
            self.notes.append(f"the cache {self.folder} cannot be written ({error.strerror}); this build goes on without")
            return
        self._written += sum(map(len, data))

    def finish(self) -> None:
        """Note how much was written since the start, and drop what was not used for longest where all is too much."""
        if not self._written:
            return
        with suppress(OSError), self._locked():
            self._clear_abandoned()
            total = self._total() + self._written
            if total > self._limit:
                total = self._shrink()
            (self._place / "total").write_text(f"{total}\n")
        self._written = 0

    def entries(self) -> Iterator[Entry]:
        """All entries, in no order."""
        for kind in KINDS:
            for path in (self._place / kind).glob("*/*"):
                with suppress(OSError):
                    status = path.stat()
                    yield Entry(path, kind, status.st_size, status.st_mtime)

    def clear(self) -> None:
        """Remove everything. Builds at work go on without it.

        Raises:
            OSError: something could not be removed.
        """
        if self._place.exists():
            # Renamed first, so that a build that is at work neither finds half of it nor puts something into what is going.
            going = self._place.with_name(f"going-{secrets.token_hex(4)}")
            os.rename(self._place, going)
            shutil.rmtree(going)

    def _path(self, kind: Kind, key: str) -> Path:
        return Path(path_of(str(self.folder), kind, key))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One process at a time; another that comes meanwhile leaves it to that one."""
        descriptor = os.open(self._place / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        finally:
            os.close(descriptor)

    def _total(self) -> int:
        try:
            return int((self._place / "total").read_text())
        except (OSError, ValueError):
            return sum(entry.size for entry in self.entries()) - self._written

    def _shrink(self) -> int:
        """Drop entries until three quarters of the limit are left; gives the bytes that are."""
        entries = sorted(self.entries(), key=lambda entry: entry.used)
        total = sum(entry.size for entry in entries)
        for entry in entries:
            if total <= self._limit * 3 // 4:
                break
            with suppress(OSError):
                entry.path.unlink()
            total -= entry.size
        return total

    def _clear_abandoned(self) -> None:
        for path in (self._place / "unfinished").iterdir():
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _ABANDONED:
                    path.unlink()


def _message(payload: memoryview | None) -> Message | None:
    try:
        return None if payload is None else decode(payload)
    except WireError:
        return None
