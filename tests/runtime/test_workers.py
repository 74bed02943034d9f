from __future__ import annotations

import itertools
import os
import threading
import time

import pytest

from gompute.runtime import workers


@pytest.mark.parametrize("units", [1, 1023, 1 << 16, (1 << 17) - 1, 1 << 17, 1_000_003, 2**33 + 5])
@pytest.mark.parametrize("threads", [1, 2, 3, 64])
def test_parts_cover_every_unit_once(units: int, threads: int) -> None:
    parts = workers.split(units, threads, 1 << 16)
    assert parts[0][0] == 0 and parts[-1][1] == units
    assert all(end == begin for (_, end), (begin, _) in itertools.pairwise(parts))
    assert all(begin < end for begin, end in parts)
    assert len(parts) <= threads
    assert all(begin % 1024 == 0 for begin, _ in parts), "two threads would write to one cache line"


def test_little_work_stays_in_one_part() -> None:
    assert workers.split((1 << 17) - 1, 8, 1 << 16) == [(0, (1 << 17) - 1)]
    assert len(workers.split(1 << 17, 8, 1 << 16)) == 2


def test_the_first_part_runs_in_the_calling_thread_and_all_are_waited_for() -> None:
    ran: dict[int, tuple[int, str]] = {}

    def work(begin: int, end: int) -> None:
        ran[begin] = (end, threading.current_thread().name)

    workers.run_split([(0, 10), (10, 20), (20, 30)], work)
    assert {begin: end for begin, (end, _) in ran.items()} == {0: 10, 10: 20, 20: 30}
    assert ran[0][1] == threading.current_thread().name
    assert ran[10][1].startswith("gompute") and ran[20][1].startswith("gompute")


def test_an_error_of_any_part_comes_out_after_all_are_done() -> None:
    done = []

    def work(begin: int, end: int) -> None:
        if begin == 10:
            raise OSError("in a worker")
        if begin == 20:
            time.sleep(0.1)  # long after the other's error
        done.append(begin)

    with pytest.raises(OSError, match="in a worker"):
        workers.run_split([(0, 10), (10, 20), (20, 30)], work)
    assert sorted(done) == [0, 20]


def test_all_cores_are_those_of_this_process() -> None:
    assert workers.all_cores() == len(os.sched_getaffinity(0))
