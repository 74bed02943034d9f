"""Threads that share the work of one CPU launch."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from gompute.artifacts.locks import Lock

__all__ = ["all_cores", "run_split", "split"]

#: Starts of parts lie at multiples of this many units, so that two threads do not write to one cache line.
_ALIGNMENT = 1024

# Threads are started as they are needed, so the bound only has to be above any sensible wish.
_MOST_THREADS = 1024


class _Threads:
    """The process's pool, made when it is first needed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._start_afresh()
        # The threads of the parent are not in the child of a fork.
        os.register_at_fork(after_in_child=self._start_afresh)

    def _start_afresh(self) -> None:
        self._pool: ThreadPoolExecutor | None = None

    def submit(self, work: Callable[[int, int], None], begin: int, end: int) -> Future[None]:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="gompute")
            return self._pool.submit(work, begin, end)


_threads = _Threads()


def all_cores() -> int:
    """The processors that this process may run on."""
    return len(os.sched_getaffinity(0))


def split(units: int, threads: int, grain: int, alignment: int = _ALIGNMENT) -> list[tuple[int, int]]:
    """Cuts [0, units) into at most `threads` ranges of nearly equal size.

    Args:
        grain: the least units that are worth a thread; below twice as many there is one range.
    """
    parts = max(1, min(threads, units // grain))
    step = -(-units // parts)
    step += -step % alignment
    return [(begin, min(begin + step, units)) for begin in range(0, units, step)]


def run_split(parts: list[tuple[int, int]], work: Callable[[int, int], None]) -> None:
    """Calls `work` for every range, the first in the calling thread, and returns when all are done."""
    others = [_threads.submit(work, begin, end) for begin, end in parts[1:]]
    try:
        work(*parts[0])
    finally:
        wait(others)  # all of them, since they work on the caller's memory
    for other in others:
        other.result()
