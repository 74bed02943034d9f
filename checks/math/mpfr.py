"""The true values: each function through MPFR, rounded once to a format, subnormal results too."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gmpy2
from gmpy2 import mpfr

__all__ = ["FUNCTIONS", "correct"]

#: Digits of the significand, smallest and largest exponent in MPFR's count (0.1xxx * 2**e).
_FORMATS = {"f16": (11, -23, 16), "bf16": (8, -132, 128), "f32": (24, -148, 128), "f64": (53, -1073, 1024)}


def _power(x: mpfr, y: mpfr) -> mpfr:
    return mpfr(1) if x == 1 or y == 0 else x**y


def _inverse_root(x: mpfr) -> mpfr:
    return 1 / x if x == 0 else gmpy2.rec_sqrt(x)  # C23 keeps the sign of a zero, MPFR does not


FUNCTIONS: dict[str, Callable[..., mpfr]] = {
    "exp": gmpy2.exp,
    "exp2": gmpy2.exp2,
    "expm1": gmpy2.expm1,
    "log": gmpy2.log,
    "log2": gmpy2.log2,
    "log10": gmpy2.log10,
    "log1p": gmpy2.log1p,
    "pow": _power,
    "sqrt": gmpy2.sqrt,
    "rsqrt": _inverse_root,
    "cbrt": gmpy2.cbrt,
    "sin": gmpy2.sin,
    "cos": gmpy2.cos,
    "tan": gmpy2.tan,
    "asin": gmpy2.asin,
    "acos": gmpy2.acos,
    "atan": gmpy2.atan,
    "atan2": gmpy2.atan2,
    "sinh": gmpy2.sinh,
    "cosh": gmpy2.cosh,
    "tanh": gmpy2.tanh,
    "hypot": gmpy2.hypot,
    "erf": gmpy2.erf,
    "erfc": gmpy2.erfc,
}


def correct(name: str, arguments: Sequence[float], kind: str) -> float:
    """The correctly rounded value in a format, as a Python float."""
    digits, smallest, largest = _FORMATS[kind]
    exact = [mpfr(argument, 53) for argument in arguments]
    with gmpy2.context(gmpy2.get_context(), precision=digits, emin=smallest, emax=largest, subnormalize=True):
        return float(FUNCTIONS[name](*exact))
