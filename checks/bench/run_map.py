"""scale_relu over 2^20 f32 in place, on one CPU thread: Kernel.run against a C loop, NumPy and (where installed) numba, in one run.

Run: python checks/bench/run_map.py
The C loop is built by gcc and by the clang of the `compiler` extra, with -O3 for the level that the kernel is built for, and is called
through ctypes.
"""

from __future__ import annotations

import argparse
import ctypes
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
from scale_relu import Params, scale_relu

import gompute as g

HERE = Path(__file__).resolve().parent

# machine -> target of the kernel, flags of gcc, flags of clang as zig spells them
LEVELS = {
    "x86_64": ("x86-64-v3", "-march=x86-64-v3", "-mcpu=x86_64_v3"),
    "aarch64": ("aarch64", "-march=armv8.2-a+fp16", "-mcpu=generic+fullfp16"),
}

Call = Callable[[], object]


def data(count: int) -> np.ndarray:
    return np.random.default_rng(1).standard_normal(count, dtype=np.float32)


def c_loop(command: list[str], library: Path, array: np.ndarray, scale: float) -> Call:
    """The C loop, built by `command`, over `array` in place."""
    subprocess.run([*command, "-O3", "-shared", "-fPIC", str(HERE / "scale_relu.c"), "-o", str(library)], check=True)
    function = ctypes.CDLL(str(library)).scale_relu
    function.argtypes, function.restype = (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p), None
    params = ctypes.c_float(scale)
    return lambda: function(array.ctypes.data, array.size, ctypes.addressof(params))


def numpy_calls(array: np.ndarray, scale: float) -> Call:
    factor, zero = np.float32(scale), np.float32(0)

    def call() -> None:
        np.multiply(array, factor, out=array)
        np.maximum(array, zero, out=array)

    return call


def numba_loop(array: np.ndarray, scale: float) -> Call | None:
    try:
        from numba import float32, vectorize
    except ImportError:
        return None
    factor = np.float32(scale)

    @vectorize([float32(float32, float32)])
    def function(x: float, s: float) -> float:
        y = x * s
        return y if y > 0 else float32(0)

    return lambda: function(array, factor, out=array)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1 << 20, help="elements")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--limit", type=float, help="exit with 1 when Kernel.run takes more than this times the loop of gcc")
    arguments = parser.parse_args()
    # One processor for all: nobody's threads help.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    target, gcc_level, zig_level = LEVELS[platform.machine()]
    scale = 1.0  # repeated in place: any other factor would run into infinity or into subnormal numbers
    count = arguments.count
    # One array for all: where an array lies (huge pages, cache sets) is worth more than the differences measured here.
    array = data(count)
    expected = np.maximum(array * np.float32(scale), np.float32(0))

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        build = [sys.executable, "-m", "gompute", "build", str(HERE / "scale_relu.py"), "--target", target, "-o", str(out / "kernels")]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        kernel = g.Kernel(scale_relu, "cpu", kernels=g.load(out / "kernels"), threads=1)
        params = Params(scale=scale)
        zig = [sys.executable, "-m", "ziglang", "cc"]
        contenders: dict[str, Call | None] = {
            "gcc": c_loop(["gcc", gcc_level], out / "gcc.so", array, scale) if shutil.which("gcc") else None,
            "clang": c_loop([*zig, zig_level], out / "clang.so", array, scale),
            "gompute": lambda: kernel.run(array, params),
            "numpy": numpy_calls(array, scale),
            "numba": numba_loop(array, scale),
        }
        present = {name: call for name, call in contenders.items() if call is not None}
        for name, call in present.items():
            array[:] = data(count)
            call()
            if not np.array_equal(array, expected):
                raise SystemExit(f"{name} computes something else")
        seconds = interleaved(present, arguments.rounds)
        kernel.close()
    versions = {
        "gcc": f"{command_version(['gcc'])}, -O3 {gcc_level}" if "gcc" in present else "",
        "clang": f"{command_version(zig)}, -O3 {zig_level}",
        "gompute": f"{package_version('gompute')}, {package_version('llvmlite')}, {target}",
        "numpy": f"{package_version('numpy')}, two calls",
        "numba": f"{package_version('numba')}, vectorize",
    }
    base = "gcc" if "gcc" in present else "clang"
    ratios = print_table(seconds, base, versions, unit="us")
    return int(arguments.limit is not None and ratios["gompute"] > arguments.limit)


if __name__ == "__main__":
    sys.exit(main())
