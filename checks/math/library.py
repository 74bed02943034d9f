"""The reference in C, compiled by the zig of the `compiler` extra, and the kernels that it calls."""

from __future__ import annotations

import ctypes
import math
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from gompute.handles.math_arrays import kernel_spec
from gompute.in_process import compile_for_cpu
from gompute.lang.math_function import MathFunction
from gompute.lang.types import ScalarType

__all__ = ["call", "check", "compiled_kernel", "reference"]

#: Where the float results have reached their last value, or the function ends; see reference.c.
_ENDS = {
    **dict.fromkeys(("exp", "sinh", "cosh"), (-200.0, 200.0)),
    "exp2": (-300.0, 300.0),
    "expm1": (-100.0, 200.0),
    "tanh": (-40.0, 40.0),
    "erf": (-7.0, 7.0),
    "erfc": (-7.0, 12.0),
    "atan": (-(2.0**60), 2.0**60),
    "asin": (-1.0, 1.0),
    "acos": (-1.0, 1.0),
    "log1p": (-1.0, math.inf),
    **dict.fromkeys(("log", "log2", "log10", "rsqrt"), (0.0, math.inf)),
}
_NOWHERE = frozenset({"log", "log2", "log10", "log1p", "rsqrt", "asin", "acos"})

_FOLDER = Path(__file__).parent
_kept = tempfile.TemporaryDirectory()


@cache
def reference() -> ctypes.CDLL:
    """reference.c as a shared library, on the C library of this machine."""
    place = Path(_kept.name) / "reference.so"
    command = [
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        "-O3",
        "-mcpu=x86_64_v3",
        "-fPIC",
        "-shared",
        "-fno-sanitize=all",
        "-ffp-contract=off",
        "-o",
        str(place),
    ]
    subprocess.run([*command, str(_FOLDER / "reference.c"), "-lm"], check=True)
    library = ctypes.CDLL(str(place))
    rest = (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint32), ctypes.c_int64)
    library.check_unary.argtypes = (ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int, *rest)
    library.check_binary.argtypes = (ctypes.c_void_p, ctypes.c_int, *rest)
    library.check_unary.restype = library.check_binary.restype = ctypes.c_int64
    return library


def check(function: MathFunction, kernel: int, first: int, count: int, listed: ctypes.Array[ctypes.c_uint32], room: int) -> int:
    """Run inputs first, first + 1, ... of a function through its f32 kernel and the C library, as reference.c says."""
    if function.arity == 1:
        low, high = _ENDS.get(function.__name__, (-math.inf, math.inf))
        nowhere = function.__name__ in _NOWHERE
        return int(reference().check_unary(_library_function(function), low, high, nowhere, kernel, first, count, listed, room))
    power = function.__name__ == "pow"
    return int(reference().check_binary(_library_function(function), power, kernel, first, count, listed, room))


@cache
def _library_function(function: MathFunction) -> int | None:
    """The address of glibc's function on four doubles; None for rsqrt, which it has not."""
    if function.__name__ == "rsqrt":
        return None
    symbol = f"_ZGVdN4{'v' * function.arity}_{function.__name__}"
    return ctypes.cast(getattr(ctypes.CDLL("libmvec.so.1"), symbol), ctypes.c_void_p).value


@cache
def compiled_kernel(function: MathFunction, kind: ScalarType) -> int:
    """The address of the CPU kernel of a function."""
    image, entry = compile_for_cpu(kernel_spec(function, kind))
    place = Path(_kept.name) / f"{entry.symbol}.so"
    place.write_bytes(image)
    address = ctypes.cast(getattr(ctypes.CDLL(str(place)), entry.symbol), ctypes.c_void_p).value
    assert address is not None
    return address


def call(function: MathFunction, kind: ScalarType, bits: list[np.ndarray]) -> np.ndarray:
    """The results of a function on values of a type, all given as their bits."""
    out = np.empty_like(bits[0])
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*bits, out)]
    count = ctypes.c_uint64(out.size)
    arguments = (ctypes.c_void_p * (len(pointers) + 1))(*(ctypes.addressof(thing) for thing in (*pointers, count)))
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)(compiled_kernel(function, kind))
    run(ctypes.addressof(arguments), None, 0, out.size)
    return out
