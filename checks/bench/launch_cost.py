"""What one launch costs the host: RawKernel.launch with three arguments that change at every call, against the bare call of each vendor's
Python binding with prepared arguments; and Kernel.run on 1024 elements on the CPU, against NumPy's two calls. All in one run.

Run: python checks/bench/launch_cost.py

The driver is the one that the tests build (tests/driver), told only to count launches, so what is timed is the way to it. Needs the extras
`compiler`, `cuda` and `hip`.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from launches import scale_raw
from measure import interleaved, package_version, print_table
from scale_relu import Params, scale_relu

import gompute as g
from gompute.handles.packing import Frame, Packing
from tests.driver.build import build_driver
from tests.driver.control import VENDORS, Driver
from tests.driver.sets import host_target

HERE = Path(__file__).resolve().parent

#: A launch may cost so many bare calls of the vendor's binding, a run on the CPU so many of NumPy's two calls.
LIMITS = {"cuda": 1.8, "hip": 1.3, "cpu": 1.0}
#: Calls in each sample, so that the clock's own cost is lost among them.
CALLS = 1000

Call = Callable[[], object]


def bare(raw: g.RawKernel) -> Call:
    """The binding's launch with everything prepared, in its fastest form: the function and the stream as the binding's own objects, the
    array of argument pointers as an address."""
    opened = raw._opened
    kernel: Any = opened.kernel
    function, stream = kernel._function, kernel._accelerator.default.handle
    if opened.backend == "cuda":
        launch, extra = importlib.import_module("cuda.bindings.driver").cuLaunchKernel, 0
    else:
        launch, extra = importlib.import_module("rocm.bindings.hip").hipModuleLaunchKernel, None
    frame = Frame(Packing(opened.entry.arguments))

    def calls() -> None:
        address = frame.address
        for _ in range(CALLS):
            launch(function, 4, 1, 1, 256, 1, 1, 0, stream, address, extra)

    return calls


def changing(raw: g.RawKernel, buffers: tuple[Any, Any]) -> Call:
    """`RawKernel.launch`, no argument as it was in the call before."""
    launch = raw.launch
    changes = [(buffers[number % 2], 1000 - number % 100, 0.5 * number) for number in range(CALLS)]

    def calls() -> None:
        for data, count, scale in changes:
            launch(4, 256, data, count, scale)

    return calls


def small_arrays(kernels: g.KernelSet) -> dict[str, Call]:
    array = np.random.default_rng(1).standard_normal(1024, dtype=np.float32)
    other = array.copy()
    factor, zero, params = np.float32(1), np.float32(0), Params(scale=1.0)
    run = g.Kernel(scale_relu, "cpu", kernels=kernels).run

    def numpy_calls() -> None:
        multiply, maximum = np.multiply, np.maximum
        for _ in range(CALLS):
            multiply(array, factor, out=array)
            maximum(array, zero, out=array)

    def runs() -> None:
        for _ in range(CALLS):
            run(array, params)

    def turns() -> None:
        for _ in range(CALLS // 2):
            run(array, params)
            run(other, params)

    return {"numpy, two calls on 1024": numpy_calls, "Kernel.run on 1024, cpu": runs, "Kernel.run on two arrays in turn, cpu": turns}


def compare(title: str, contenders: Mapping[str, Call], base: str, version: str, rounds: int) -> dict[str, float]:
    """Prints one table of microseconds per call."""
    seconds = {name: [taken / CALLS for taken in samples] for name, samples in interleaved(contenders, rounds).items()}
    print(f"\n{title}")
    return print_table(seconds, base, dict.fromkeys(contenders, package_version("gompute")) | {base: version}, unit="us")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--limit", type=float, help="exit with 1 where something costs more than this times what it may cost")
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    late = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        targets = [option for target in ("sm_75", "gfx90a", host_target()) for option in ("--target", target)]
        sources = [str(HERE / "launches.py"), str(HERE / "scale_relu.py")]
        build = [sys.executable, "-m", "gompute", "build", *sources, *targets, "-o", str(folder / "kernels")]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        kernels = g.load(folder / "kernels")
        for vendor, binding in (("cuda", "cuda-python"), ("hip", "hip-python")):
            library = build_driver(vendor, folder, folder / "zig")
            os.environ[VENDORS[vendor].variable] = str(library)
            driver = Driver(VENDORS[vendor], library)
            driver.reset()
            with g.RawKernel(scale_raw, vendor, kernels=kernels) as raw, raw.alloc(4096) as one, raw.alloc(4096) as other:
                driver.only_count()
                calls = {f"bare {binding}": bare(raw), f"RawKernel.launch, {vendor}": changing(raw, (one, other))}
                ratios = compare(
                    f"One launch with {binding}, nothing executed", calls, f"bare {binding}", package_version(binding), options.rounds
                )
                driver.quiet(True)
                if driver.launches < CALLS * options.rounds * len(calls):
                    raise SystemExit(f"{vendor}: not every launch reached the driver")
            late.append(ratios[f"RawKernel.launch, {vendor}"] / LIMITS[vendor])
        calls = small_arrays(kernels)
        ratios = compare("scale_relu in place on 1024 f32", calls, next(iter(calls)), package_version("numpy"), options.rounds)
        late.append(ratios["Kernel.run on 1024, cpu"] / LIMITS["cpu"])
    return int(options.limit is not None and max(late) > options.limit)


if __name__ == "__main__":
    sys.exit(main())
