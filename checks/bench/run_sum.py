"""The sum of 2^20 and of 2^24 f32: Kernel.run, on one thread and on all, against NumPy, numba (where installed) and C loops, in one run.

Run: python checks/bench/run_sum.py
The C loop is built by gcc with -O3, which has to add one element after the other, and with -O3 -ffast-math, which may add in any order.
Sums in different orders round differently; each is held against the sum in f64.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from measure import command_version, interleaved, package_version, print_table
from run_map import LEVELS, data
from sums import total

import gompute as g

HERE = Path(__file__).resolve().parent
Call = Callable[[], object]


def c_loop(flags: list[str], library: Path, array: np.ndarray) -> Call | None:
    if shutil.which("gcc") is None:
        return None
    subprocess.run(["gcc", "-O3", *flags, "-shared", "-fPIC", str(HERE / "total.c"), "-o", str(library)], check=True)
    function = ctypes.CDLL(str(library)).total
    function.argtypes, function.restype = (ctypes.c_void_p, ctypes.c_uint64), ctypes.c_float
    return lambda: function(array.ctypes.data, array.size)


def numba_loop(array: np.ndarray) -> Call | None:
    try:
        from numba import njit
    except ImportError:
        return None

    @njit(fastmath=True)
    def function(x: np.ndarray) -> float:
        sum_ = np.float32(0)
        for value in x:
            sum_ += value
        return sum_

    return lambda: function(array)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", type=int, nargs="+", default=[1 << 20, 1 << 24], help="elements")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--limit", type=float, help="exit with 1 when Kernel.run on one thread takes more than this times NumPy's sum")
    arguments = parser.parse_args()
    target, level, _ = LEVELS[platform.machine()]
    late = False
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        build = [sys.executable, "-m", "gompute", "build", str(HERE / "sums.py"), "--target", target, "-o", str(out / "kernels")]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        kernels = g.load(out / "kernels")
        one, every = (g.Kernel(total, "cpu", kernels=kernels, threads=threads) for threads in (1, None))
        for count in arguments.counts:
            array = data(count)
            contenders: dict[str, Call | None] = {
                "numpy": array.sum,
                "gompute, 1 thread": lambda array=array: one.run(array),
                f"gompute, {len(os.sched_getaffinity(0))} threads": lambda array=array: every.run(array),
                "gcc": c_loop([level], out / f"plain{count}.so", array),
                "gcc -ffast-math": c_loop([level, "-ffast-math"], out / f"fast{count}.so", array),
                "numba fastmath": numba_loop(array),
            }
            present = {name: call for name, call in contenders.items() if call is not None}
            exact, bound = array.sum(dtype=np.float64), 1e-2 * float(np.abs(array).sum(dtype=np.float64)) / math.sqrt(count)
            for name, call in present.items():
                if abs(call() - exact) > bound:  # type: ignore[operator]
                    raise SystemExit(f"{name} computes something else")
            seconds = interleaved(present, arguments.rounds)
            versions = {
                "numpy": package_version("numpy"),
                "gompute, 1 thread": f"{package_version('gompute')}, {package_version('llvmlite')}, {target}",
                "gcc": f"{command_version(['gcc'])}, -O3 {level}" if "gcc" in present else "",
                "numba fastmath": package_version("numba"),
            }
            print(f"\n{count} elements")
            ratios = print_table(seconds, "numpy", versions, unit="us")
            late |= arguments.limit is not None and ratios["gompute, 1 thread"] > arguments.limit
        one.close()
        every.close()
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
