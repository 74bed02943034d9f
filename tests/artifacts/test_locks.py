from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

import gompute
from gompute.artifacts.locks import Lock
from tests.driver.fresh import fresh


def test_one_thread_at_a_time_which_may_take_it_again() -> None:
    lock, inside, most = Lock(), 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(200):
            with lock, lock:
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    with pytest.raises(RuntimeError, match="inside"), lock:
        raise RuntimeError("inside")
    taken: list[bool] = []
    thread = threading.Thread(target=lambda: taken.append(lock._lock.acquire(timeout=5)))
    thread.start()
    thread.join()
    assert taken == [True], "an error inside leaves it taken"


HELD = """
import os, signal, threading
import numpy as np
from gompute.artifacts import locks
from gompute.handles.defaults import default_set
from gompute.handles.kernel import Kernel
from gompute.runtime import cpu
from tests.driver.kernels import Params, scale_relu

def use():
    data = np.ones(1 << 18, np.float32)
    with Kernel(scale_relu, "cpu", kernels=os.environ["SET"], threads=2) as kernel:
        kernel.run(data, Params(2.0))
    with cpu.Context() as context, context.create_stream() as stream, context.alloc(4) as buffer:
        buffer.upload_async(b"1234", stream)
        buffer.upload_async(b"1234")
        stream.synchronize()
        context.synchronize()
    return data.sum() == 2 << 18

assert use()
held, end = threading.Event(), threading.Event()

def hold():
    for lock in list(locks._every):
        lock._lock.acquire()
    held.set()
    end.wait()

thread = threading.Thread(target=hold)
thread.start()
held.wait()
if os.fork() == 0:
    signal.alarm(30)  # kills a child that hangs
    print("used in the child:", use(), flush=True)
    os._exit(0)
print("ended with", os.wait()[1])
end.set()
thread.join()
"""


def test_a_child_goes_on_where_another_thread_held_every_lock(set_path: Path) -> None:
    assert fresh(HELD, SET=set_path) == "used in the child: True\nended with 0"


def test_there_are_no_other_locks() -> None:
    """One that is not renewed hangs the child of a fork sooner or later."""
    package = Path(gompute.__file__).parent
    found = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"threading\.(R?Lock|Condition|Semaphore|Barrier)\(", path.read_text(encoding="utf-8"))
    ]
    assert sorted(found) == ["artifacts/locks.py"]
