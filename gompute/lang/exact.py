"""The exact functions of the kernel language on plain numbers: those with one right result, which every target gives.

Like `gompute.lang.numeric`, which rounds for the narrower types, these take and give Python floats.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence

__all__ = ["FUNCTIONS", "fmod", "fused_multiply_add", "round_half_even", "square_root"]


def fmod(a: float, b: float) -> float:
    """The remainder of the division cut towards zero, with the sign of `a`; exact, so it needs no rounding in any format."""
    if b == 0 or math.isinf(a):  # math.fmod raises here
        return math.nan
    return math.fmod(a, b)


def square_root(a: float) -> float:
    """NaN below zero. Rounding the f64 result once more does no harm: 53 digits are more than twice 24, and 2 more."""
    return math.sqrt(a) if a >= 0 else a if a != a else math.nan


def round_half_even(a: float) -> float:
    """The nearest integral value, ties to even; the sign of a zero stays."""
    return _integral(a, lambda value: float(round(value)))


def _integral(a: float, to_integer: Callable[[float], float]) -> float:
    if not math.isfinite(a) or abs(a) >= 2.0**52:  # no fraction; Python's functions raise on infinity and NaN
        return a
    return math.copysign(to_integer(a), a)


def fused_multiply_add(a: float, b: float, c: float, *, to_odd: bool) -> float:
    """``a * b + c`` with one rounding.

    Args:
        to_odd: round to nearest f64, or else so that rounding again to a format of at most 51 digits rounds correctly: cut, with the last
            digit set when anything was lost.
    """
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        if math.isinf(c) and math.isfinite(a) and math.isfinite(b):
            return c  # a * b might overflow to the other infinity
        return a * b + c
    (an, ad), (bn, bd), (cn, cd) = a.as_integer_ratio(), b.as_integer_ratio(), c.as_integer_ratio()
    top, bottom = an * bn * cd + cn * ad * bd, ad * bd * cd
    if top == 0:
        return a * b + c if an * bn == 0 else 0.0  # the signs of zeros that are added decide; what cancels is +0
    try:
        nearest = top / bottom  # of integers: rounded once, subnormal results too
    except OverflowError:
        return math.inf if top > 0 else -math.inf
    return _odd(nearest, top, bottom) if to_odd else nearest


def _odd(nearest: float, top: int, bottom: int) -> float:
    """`nearest`, moved to its odd neighbour where ``top / bottom`` lies strictly between two floats and `nearest` is the even one."""
    numerator, denominator = nearest.as_integer_ratio()
    error = top * denominator - numerator * bottom
    if error == 0:
        return nearest
    if struct.pack("<d", nearest)[0] & 1:
        return nearest
    return math.nextafter(nearest, math.inf if error > 0 else -math.inf)


#: By name; those of one argument keep its value within the format, so their results need no rounding but that of sqrt.
FUNCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "sqrt": lambda operands: square_root(operands[0]),
    "floor": lambda operands: _integral(operands[0], math.floor),
    "ceil": lambda operands: _integral(operands[0], math.ceil),
    "trunc": lambda operands: _integral(operands[0], math.trunc),
    "copysign": lambda operands: math.copysign(operands[0], operands[1]),
    "fmod": lambda operands: fmod(operands[0], operands[1]),
}
