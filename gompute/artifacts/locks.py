"""Locks for a process that forks."""

from __future__ import annotations

import os
import threading
import weakref

__all__ = ["Lock"]


class Lock:
    """A lock that the thread which holds it may take again, and that is free in the child of a fork: of the threads that may have held it
    there is none in the child, and nobody would ever let it go.

    What it guards must be whole between any two steps of the thread that holds it, as far as a child uses it.
    """

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _every.add(self)

    def renew(self) -> None:
        """Makes it free, whoever holds it."""
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


_every: weakref.WeakSet[Lock] = weakref.WeakSet()


def _renew_every() -> None:
    for lock in _every:
        lock.renew()


os.register_at_fork(after_in_child=_renew_every)
