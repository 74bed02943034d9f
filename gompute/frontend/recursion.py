"""Room for deep recursion: generated sources nest deeply, a sum of a thousand terms or an elif chain of as many branches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["deep_recursion"]

_FRAMES = 100_000


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Lift Python's limit for a while, so that what is accepted does not depend on how deep the caller stands."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
