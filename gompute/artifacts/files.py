"""Reading a file of a kernel set, which may be anything but what it should be."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from gompute.errors import ArtifactError

__all__ = ["read_regular"]


def read_regular(path: Path, *, limit: int, length: int | None = None) -> bytes:
    """The bytes of a regular file.

    Args:
        limit: the most bytes that are read.
        length: how many it must have, where that is known.

    Raises:
        ArtifactError: missing, unreadable, no regular file (a link, a folder, a pipe, a device), too long or too short.
    """
    try:
        # No link is followed, so that a set cannot point out of itself, and opening a pipe does not wait for its other end.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise ArtifactError(f"{path}: missing") from None
    except OSError as error:
        reason = "is a symbolic link; a kernel set holds files of its own alone" if error.errno == errno.ELOOP else error.strerror
        raise ArtifactError(f"{path}: {reason}") from None
    try:
        return _read(path, descriptor, limit, length)
    except OSError as error:
        raise ArtifactError(f"{path}: {error.strerror}") from None
    finally:
        os.close(descriptor)


def _read(path: Path, descriptor: int, limit: int, length: int | None) -> bytes:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise ArtifactError(f"{path}: not a regular file")
    if length is not None and status.st_size != length:
        state = "truncated" if status.st_size < length else "too long"
        raise ArtifactError(f"{path}: {state}: {status.st_size} bytes, the index says {length}")
    if status.st_size > limit:
        raise ArtifactError(f"{path}: {status.st_size} bytes, at most {limit} are read")
    with open(descriptor, "rb", closefd=False) as file:
        # One more than promised: the file may grow while it is read.
        data = file.read(status.st_size + 1)
    if len(data) != status.st_size:
        raise ArtifactError(f"{path}: changed while it was read")
    return data
