"""What f64 results are held against: MPFR, and for many inputs a C program around the C library's wider functions.

An error is the distance of the result from the true value in units in the last place: the spacing of f64 at the binary order of the true
value, 2**-1074 below the normal numbers. A result of infinity is held as 2**1024, which its rounding stands for.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import gmpy2
import numpy as np
from gmpy2 import mpfr

__all__ = ["NAMES", "error", "exact", "measure"]

SOURCE = Path(__file__).with_name("reference_f64.c")

#: In the order of the C program.
NAMES = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh"),
    *("tanh", "erf", "erfc", "cbrt", "hypot", "rsqrt"),
)

_EXACT: dict[str, Callable[..., Any]] = {
    **{name: getattr(gmpy2, name) for name in NAMES if name not in ("pow", "rsqrt")},
    "pow": lambda x, y: x**y,
    "rsqrt": gmpy2.rec_sqrt,
}

_CONTEXT = gmpy2.context(precision=220, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max())
_END = mpfr(2) ** 1024


def exact(name: str, *arguments: float) -> mpfr:
    """The function's value to 220 bits."""
    with gmpy2.context(_CONTEXT):
        return _EXACT[name](*(mpfr(argument) for argument in arguments))


def error(name: str, got: float, *arguments: float) -> float:
    """How far `got` is from the function's value, in ulp; infinity for a NaN where there is a value, and the reverse."""
    with gmpy2.context(_CONTEXT):
        wanted = _EXACT[name](*(mpfr(argument) for argument in arguments))
        if gmpy2.is_nan(wanted) or got != got:
            return 0.0 if gmpy2.is_nan(wanted) and got != got else float("inf")
        if abs(wanted) >= _END:
            wanted = gmpy2.copy_sign(_END, wanted)
        value = gmpy2.copy_sign(_END, mpfr(got)) if abs(got) == float("inf") else mpfr(got)
        if wanted == 0:
            return 0.0 if value == 0 else float("inf")
        order = max(gmpy2.get_exp(wanted) - 1, -1022)
        return float(abs(wanted - value) * mpfr(2) ** (52 - order))


@cache
def _library() -> ctypes.CDLL:
    """The C program, built by the pinned Zig."""
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "reference.so"
        command = [sys.executable, "-m", "ziglang", "cc", "-O2", "-shared", "-fPIC", str(SOURCE), "-o", str(built)]
        subprocess.run(command, check=True)
        library = ctypes.CDLL(str(built))
    library.measure.restype = library.prepare.restype = ctypes.c_int64
    missing = library.prepare(b"libm.so.6")
    if missing:
        raise RuntimeError(f"the C library lacks {missing} functions of binary128 or long double")
    return library


def measure(name: str, arguments: Sequence[np.ndarray], got: np.ndarray) -> tuple[float, int, int]:
    """The largest error of many results, the index of its input (-1 where none is worth a look), and how many are off by more than half an
    ulp, which is to say not correctly rounded."""
    worst, where = ctypes.c_double(0.0), ctypes.c_int64(-1)
    held = [np.ascontiguousarray(values, np.float64) for values in (*arguments, got)]
    pointers = [ctypes.c_void_p(values.ctypes.data) for values in held]
    second = pointers[1] if len(arguments) > 1 else None
    beyond = _library().measure(
        NAMES.index(name), pointers[0], second, pointers[-1], ctypes.c_int64(got.size), 0, ctypes.byref(worst), ctypes.byref(where)
    )
    return worst.value, where.value, beyond
