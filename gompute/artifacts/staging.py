"""Replacing a folder or a file as a whole: it is made beside its place and exchanged in one step: a reader sees the old or the new.

A staging folder is locked by the process that fills it. What a killed process has left behind is unlocked, and the next write to the
same place removes it; two writes at once leave each other's alone.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replace_file", "replace_folder", "staging_folder"]

_MARK = ".gompute-staging-"
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
# Where the system call, the file system or the C library does not know the exchange.
_NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)


def staging_folder(folder: Path) -> Path:
    """A new name beside `folder` for what is to replace it. Nothing is made."""
    place = _place(folder)
    return place.with_name(f".{place.name}{_MARK}{os.getpid()}-{secrets.token_hex(4)}")


def replace_folder(folder: Path, files: Mapping[str, bytes], staging: Path | None = None) -> None:
    """Put a folder of `files`, by name, in the place of `folder`, missing parents included; what was there is gone afterwards.

    Args:
        staging: a name from `staging_folder`; one is made up where none is given.

    Raises:
        OSError: the old folder is as it was.
    """
    place = _place(folder)
    with _staged(place, files, staging) as staged:
        _exchange(staged, place)


def replace_file(file: Path, data: bytes, staging: Path | None = None) -> None:
    """Put a file in the place of `file`, missing parents included; it too is made in a staging folder beside its place.

    Args:
        staging: as for `replace_folder`.

    Raises:
        OSError: an old file is as it was.
    """
    place = _place(file)
    with _staged(place, {place.name: data}, staging) as staged:
        os.replace(staged / place.name, place)


@contextmanager
def _staged(place: Path, files: Mapping[str, bytes], wanted: Path | None) -> Iterator[Path]:
    """A staging folder beside `place` with these files in it, locked for as long as it is in use."""
    place.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(place)
    staged, lock = _make_staging(place, wanted)
    try:
        _fill(staged, files)
        yield staged
    finally:
        # Holds the new files if something failed, else the old ones. If it can't be removed, the next write tries again.
        shutil.rmtree(staged, ignore_errors=True)
        os.close(lock)


def _fill(staged: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        with open(staged / name, "xb") as file:
            file.write(data)


def _place(folder: Path) -> Path:
    # A link stays a link: what it points to is replaced.
    return Path(os.path.realpath(folder))


def _make_staging(place: Path, wanted: Path | None) -> tuple[Path, int]:
    while True:
        staged = wanted or staging_folder(place)
        wanted = None
        os.mkdir(staged)
        try:
            lock = os.open(staged, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        # Another write may take the folder for abandoned before it is locked: then it is gone, or about to be, and a new one is made.
        if _try_lock(lock) is not False and _is_at(lock, staged):
            return staged, lock
        os.close(lock)


def _remove_abandoned(place: Path) -> None:
    prefix = f".{place.name}{_MARK}"
    for name in os.listdir(place.parent):
        if not name.startswith(prefix):
            continue
        found = place.parent / name
        try:
            lock = os.open(found, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            # Gone meanwhile, or no folder and so not ours.
            continue
        try:
            if _try_lock(lock):
                shutil.rmtree(found, ignore_errors=True)
        finally:
            os.close(lock)


def _try_lock(descriptor: int) -> bool | None:
    """Whether the lock was free and is now ours; None where the file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _exchange(staged: Path, place: Path) -> None:
    try:
        # Enough where nothing, or an empty folder, is in the place.
        os.rename(staged, place)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
    else:
        return
    try:
        _rename_exchange(staged, place)
    except OSError as error:
        if error.errno not in _NO_EXCHANGE:
            raise
        _exchange_in_two_steps(staged, place)


def _rename_exchange(first: Path, second: Path) -> None:
    # Imported here: only a replaced set pays for it.
    import ctypes

    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if renameat2(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), ctypes.c_uint(_RENAME_EXCHANGE)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(second))


def _exchange_in_two_steps(staged: Path, place: Path) -> None:
    """For a moment nothing is in the place, but never something half-written."""
    old = staging_folder(place)
    os.rename(place, old)
    try:
        os.rename(staged, place)
    except BaseException:
        os.rename(old, place)
        raise
    os.rename(old, staged)
