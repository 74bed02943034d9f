"""What a process does to a driver: fork, threads at the end, exit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.driver.control import VENDORS, Vendor
from tests.driver.fresh import fresh

vendors = pytest.mark.parametrize("vendor", VENDORS.values(), ids=list(VENDORS))


def run(vendor: Vendor, code: str, paths: dict[str, Path], **environment: str | Path) -> str:
    pytest.importorskip({"cuda": "cuda.bindings.driver", "hip": "rocm.bindings.hip"}[vendor.backend])
    body = f"from gompute.runtime.{vendor.backend} import Context\nfrom gompute.errors import Error\n{code}"
    return fresh(body, TEST_DRIVER_SETUP=f"device 0 {vendor.arch}", **{vendor.variable: paths[vendor.backend]}, **environment)


FORKED = """
import os
context = Context()
buffer = context.alloc(64)
if os.fork() == 0:
    for use in (Context, lambda: context.alloc(1), lambda: buffer.upload(b"1"), context.synchronize, lambda: context.load_module(b"")):
        try:
            use()
        except Error as error:
            print(type(error).__name__, error, flush=True)
    buffer.free()
    os._exit(0)
os.wait()
buffer.upload(b"1")
buffer.free()
print("the parent goes on")
"""


@vendors
def test_a_used_driver_refuses_after_a_fork(vendor: Vendor, driver_paths: dict[str, Path], tmp_path: Path) -> None:
    log = tmp_path / "log"
    lines = run(vendor, FORKED, driver_paths, TEST_DRIVER_LOG=log).splitlines()
    assert lines[-1] == "the parent goes on"
    assert len(lines) == 6
    for line in lines[:-1]:
        assert line.startswith(f"InitFailed {vendor.backend}: this process is a fork of one that had already used {vendor.backend.upper()}")
        assert 'multiprocessing.get_context("spawn")' in line
    # The child called nothing: one call each of what the parent did.
    names = [line.split()[0] for line in log.read_text().splitlines()]
    assert names.count(vendor.allocate) == names.count(vendor.free) == names.count(vendor.copy_in) == 1


UNUSED = """
import os
if os.fork() == 0:
    with Context() as context, context.alloc(8) as buffer:
        buffer.upload(b"12345678")
    print("the child used it", flush=True)
    os._exit(0)
os.wait()
"""


@vendors
def test_a_driver_may_be_used_first_in_a_fork(vendor: Vendor, driver_paths: dict[str, Path]) -> None:
    assert run(vendor, UNUSED, driver_paths) == "the child used it"


AT_EXIT = """
import atexit, os
context = Context()
kept = context.alloc(64)
class Cycle:
    pass
cycle = Cycle()
cycle.itself, cycle.buffer = cycle, context.alloc(32)
def mark():
    with open(os.environ["TEST_DRIVER_LOG"], "a") as log:
        log.write("exit\\n")

atexit.register(mark)
"""


@vendors
def test_no_driver_call_at_exit(vendor: Vendor, driver_paths: dict[str, Path], tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert run(vendor, AT_EXIT, driver_paths, TEST_DRIVER_LOG=log) == ""
    lines = log.read_text().splitlines()
    assert lines[-1] == "exit", "the driver was called after the end of the program"
    assert vendor.free not in lines


CPU_IN_A_FORK = """
import os, sys
import numpy as np
from gompute.runtime import workers
workers.run_split([(0, 1), (1, 2)], lambda begin, end: None)
if os.fork() == 0:
    done = []
    workers.run_split([(0, 1), (1, 2)], lambda begin, end: done.append(begin))
    print(sorted(done), flush=True)
    os._exit(0)
os.wait()
"""


def test_the_cpus_threads_start_afresh_in_a_fork() -> None:
    assert fresh(CPU_IN_A_FORK) == "[0, 1]"
