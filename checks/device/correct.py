"""Whether a device is right: the conformance suite, streams and graphs, and what the vendor's sanitizer says of both."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sections import Found, Say

import gompute as g
from gompute.runtime import dynamic
from tests.conformance import block_cases, cases
from tests.conformance.case import Case
from tests.conformance.comparison import same_bits
from tests.conformance.loading import spec
from tests.conformance.running import launched, stored

__all__ = ["conformance", "sanitizer", "streams_and_graphs"]


def conformance(backend: str, kernels: g.KernelSet, say: Say, seconds: float) -> Found:
    """Every case whose kernel is in the set, as many as there is time for."""
    until, wrong, done, both = time.monotonic() + seconds, [], 0, [*cases.cases(), *block_cases.cases()]
    here = [case for case in both if case.kernel in kernels.kernels]
    for case in here:
        if time.monotonic() > until:
            break
        say(f"case {done}, kernel {case.kernel}")
        try:
            _check(case, backend, kernels)
        except Exception as error:
            wrong.append(f"case {done}, {case.kernel}: {type(error).__name__}: {error}")
        done += 1
    found = {"cases": done, "of": len(both), "not in the set": len(both) - len(here), "wrong": wrong}
    return {**found, "status": "failed"} if wrong or not done else found


def _check(case: Case, backend: str, kernels: g.KernelSet) -> None:
    if case.grid is not None:
        after: Any = launched(case, backend, kernels)
    else:
        after = [value.copy() if isinstance(value, np.ndarray) else value for value in case.arguments]
        with g.Kernel(spec(case.kernel), backend, kernels=kernels) as kernel:
            given = kernel.run(*after)
        if case.result is not None:
            same_bits(stored(given, case.result.dtype), case.result)
    for place, wanted in case.expected.items():
        same_bits(after[place], wanted)


def streams_and_graphs(backend: str, say: Say) -> Found:
    size = 1 << 20
    host = np.arange(size // 4, dtype=np.uint32)
    back = np.zeros_like(host)
    with (
        dynamic.Compute(backend) as compute,
        compute.alloc(size) as one,
        compute.alloc(size) as other,
        compute.create_stream(non_blocking=True) as first,
        compute.create_stream(non_blocking=True) as second,
    ):
        say("two streams and an event")
        for _ in range(20):
            with compute.create_event(timing=False) as event:
                one.upload_async(host, first)
                event.record(first)
                second.wait_event(event)
                other.copy_from(one, stream=second)
                other.download_async(back, second)
                second.synchronize()
            assert np.array_equal(back, host)
        say("a graph")
        with compute.alloc_pinned(size) as pinned:
            array = pinned.array(np.uint32)
            first.begin_capture()
            one.fill(b"\x01\x02\x03\x04", stream=first)
            other.copy_from(one, stream=first)
            other.download_async(array, first)
            with first.end_capture() as graph:
                graph.instantiate()
                for _ in range(10):
                    array[:] = 0
                    graph.launch(first)
                    first.synchronize()
                    assert (array == 0x04030201).all()
    return {}


def sanitizer(backend: str, folder: Path, tool: str, say: Say, seconds: float) -> Found:
    """The conformance suite under one of compute-sanitizer's tools, as many cases as there is time for."""
    program = shutil.which("compute-sanitizer")
    if backend != "cuda":
        return "compute-sanitizer is for CUDA"
    if program is None:
        return "there is no compute-sanitizer on PATH"
    check = Path(__file__).with_name("check.py")
    command = [program, "--tool", tool, "--error-exitcode", "9", sys.executable, str(check), "--backend", backend]
    command += ["--kernels", str(folder), "--here", "conformance", "--seconds", str(seconds)]
    say(" ".join(command))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    text = done.stdout[-4000:] + done.stderr[-4000:]
    last = (done.stdout.strip().splitlines() or [""])[-1]
    return {"status": "ok" if done.returncode == 0 else "failed", "said": last, "exit status": done.returncode, "output": text}
