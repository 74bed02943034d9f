"""Room for deep recursion: generated sources nest deeply, a sum of a thousand terms or an elif chain of as many branches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gompute.artifacts.locks import Lock

__all__ = ["deep_recursion"]

# Far fewer than a stack of 8 MiB takes of the deepest recursion in C that another thread may be in meanwhile: JSON's, 100 bytes a level.
_FRAMES = 40_000


class _Room:
    """Who is inside, and the limit that there was before the first came: it is the whole process's."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.inside = 0
        self.before = 0


_room = _Room()


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Lift Python's limit for a while, so that what is accepted does not depend on how deep the caller stands. Of several threads the
    first to come lifts it, and the last to go puts back what there was."""
    with _room.lock:
        if not _room.inside:
            _room.before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_room.before, _FRAMES))
        _room.inside += 1
    try:
        yield
    finally:
        with _room.lock:
            _room.inside -= 1
            if not _room.inside:
                sys.setrecursionlimit(_room.before)
