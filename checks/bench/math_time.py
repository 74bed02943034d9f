"""Nanoseconds per element of every function of g.math on one CPU thread, beside glibc's in a C loop, NumPy's and (where installed) numba's.

Run: python checks/bench/math_time.py [NAME...] [--type f32 f64] [--count 8192 1048576] [--target x86-64-v3]
The loops call the C library's scalar functions, built by gcc -O2 and called through ctypes. All are timed in the same run, in turns.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from measure import command_version, interleaved, package_version, processor

import gompute as g
from gompute.build.in_process_cpu import compile_for_target
from gompute.handles.math_arrays import kernel_spec
from gompute.in_process import compile_for_cpu
from gompute.lang.types import SCALARS
from gompute.targets import Target, parse_target

#: What is computed over: an interval, evenly.
RANGES: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("exp", "exp2"), (-10.0, 10.0)),
    **dict.fromkeys(("expm1", "sinh", "cosh", "tanh"), (-5.0, 5.0)),
    **dict.fromkeys(("log", "log2", "log10", "rsqrt", "sqrt"), (0.01, 100.0)),
    **dict.fromkeys(("sin", "cos", "tan"), (-50.0, 50.0)),
    **dict.fromkeys(("asin", "acos"), (-1.0, 1.0)),
    **dict.fromkeys(("atan", "atan2", "hypot"), (-10.0, 10.0)),
    "log1p": (-0.9, 10.0),
    "pow": (0.01, 10.0),
    "cbrt": (-100.0, 100.0),
    "erf": (-4.0, 4.0),
    "erfc": (-3.0, 9.0),
}
NUMPY = {"pow": "power", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2"}
DTYPES = {"f32": (np.float32, "float", "f"), "f64": (np.float64, "double", "")}


def c_source(kind: str) -> str:
    """A loop for each function; rsqrt, which C lacks, is written as 1 / sqrt(x)."""
    _, scalar, suffix = DTYPES[kind]
    lines = ["#include <math.h>"]
    for name in RANGES:
        given = "x[i], y[i]" if getattr(g.math, name).arity == 2 else "x[i]"
        call = f"1 / sqrt{suffix}({given})" if name == "rsqrt" else f"{name}{suffix}({given})"
        lines.append(f"void {name}_loop(const {scalar} *x, const {scalar} *y, {scalar} *o, long n)")
        lines.append(f"{{ for (long i = 0; i < n; i++) o[i] = {call}; }}")
    return "\n".join(lines) + "\n"


def numba_of(name: str, arrays: list[np.ndarray]) -> Callable[..., object] | None:
    """numba's loop over its own math.NAME, compiled for these inputs and this output; None where there is none."""
    try:
        import numba
    except ImportError:
        return None
    function = getattr(math, name, None)
    if function is None:
        return None
    loop = (_numba_one if len(arrays) == 2 else _numba_two)(numba, function)
    try:
        loop(*arrays)
    except numba.errors.TypingError:  # Python's math has it, numba not
        return None
    return loop


def _numba_one(numba: object, function: Callable[..., float]) -> Callable[..., object]:
    @numba.njit  # type: ignore[attr-defined]
    def loop(x, o):  # type: ignore[no-untyped-def]
        for i in range(x.size):
            o[i] = function(x[i])

    return loop


def _numba_two(numba: object, function: Callable[..., float]) -> Callable[..., object]:
    @numba.njit  # type: ignore[attr-defined]
    def loop(x, y, o):  # type: ignore[no-untyped-def]
        for i in range(x.size):
            o[i] = function(x[i], y[i])

    return loop


def entry_point(name: str, kind: str, folder: Path, arrays: list[np.ndarray], target: Target | None) -> Callable[[], object]:
    """The compiled kernel itself, called as the C loops are; for the best target that this machine runs where none is given."""
    spec = kernel_spec(getattr(g.math, name), SCALARS[kind])
    image, entry = compile_for_cpu(spec) if target is None else compile_for_target(spec, target)
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".so", delete=False) as file:  # never over one that is loaded
        file.write(image)
    function = getattr(ctypes.CDLL(file.name), entry.symbol)
    function.argtypes, function.restype = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64), None
    held = [*(ctypes.c_void_p(array.ctypes.data) for array in arrays), ctypes.c_uint64(arrays[0].size)]
    table = (ctypes.c_void_p * len(held))(*(ctypes.addressof(value) for value in held))

    def call(kept: object = held) -> None:
        function(ctypes.addressof(table), None, 0, arrays[0].size)

    return call


def contenders(
    name: str, kind: str, count: int, loops: ctypes.CDLL | None, folder: Path, target: Target | None
) -> dict[str, Callable[[], object]]:
    function, dtype = getattr(g.math, name), DTYPES[kind][0]
    random = np.random.default_rng(1)
    inputs = [random.uniform(*RANGES[name], count).astype(dtype) for _ in range(function.arity)]
    out = np.empty_like(inputs[0])
    found: dict[str, Callable[[], object]] = {"gompute": entry_point(name, kind, folder, [*inputs, out], target)}
    if loops is not None:
        loop = getattr(loops, f"{name}_loop")
        loop.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long)
        places = [array.ctypes.data for array in (inputs[0], inputs[-1], out)]
        found["glibc"] = lambda: loop(*places, count)
    numpys = getattr(np, NUMPY.get(name, name), None)
    if numpys is not None:
        found["numpy"] = lambda: numpys(*inputs, out=out)
    numbas = numba_of(name, [*inputs, out])
    if numbas is not None:
        found["numba"] = lambda: numbas(*inputs, out)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="functions; all where none is named")
    parser.add_argument("--type", nargs="+", default=["f32", "f64"], choices=list(DTYPES), dest="kinds")
    parser.add_argument("--count", nargs="+", type=int, default=[8192, 1 << 20], help="elements")
    parser.add_argument("--target", type=parse_target, help="of the CPU; the best that this machine runs where it is not given")
    parser.add_argument("--rounds", type=int, default=40)
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one processor for all: nobody's threads help
    print(f"{processor()}, {platform.system()} {platform.release()}, Python {platform.python_version()}, {' '.join(platform.libc_ver())}")
    print(", ".join(filter(None, (package_version(name) for name in ("gompute", "llvmlite", "numpy", "numba")))))
    if shutil.which("gcc"):
        print(command_version(["gcc"]))
    print("\nNanoseconds per element, medians; gompute / glibc below 1 is a win.\n")
    print("| function | type | elements | gompute | glibc | gompute / glibc | numpy | numba |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for kind in arguments.kinds:
            loops = None
            if shutil.which("gcc"):
                source, library = Path(folder) / f"{kind}.c", Path(folder) / f"{kind}.so"
                source.write_text(c_source(kind))
                subprocess.run(["gcc", "-O2", "-fno-builtin", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"], check=True)
                loops = ctypes.CDLL(str(library))
            for count in arguments.count:
                for name in arguments.names or RANGES:
                    row(name, kind, count, contenders(name, kind, count, loops, Path(folder), arguments.target), arguments.rounds)


def row(name: str, kind: str, count: int, calls: dict[str, Callable[[], object]], rounds: int) -> None:
    with np.errstate(all="ignore"):
        seconds = interleaved(calls, rounds)
    each = {who: statistics.median(taken) / count * 1e9 for who, taken in seconds.items()}
    ratio = f"{each['gompute'] / each['glibc']:.2f}" if "glibc" in each else ""
    cells = [f"{each[who]:.2f}" if who in each else "" for who in ("gompute", "glibc", "numpy", "numba")]
    print(f"| {name} | {kind} | {count} | {cells[0]} | {cells[1]} | {ratio} | {cells[2]} | {cells[3]} |", flush=True)


if __name__ == "__main__":
    main()
