"""Rounding to a float format from the format's definition alone, in exact fractions: slow, and sharing nothing with what it checks."""

from __future__ import annotations

import math
from fractions import Fraction

from gompute.lang.types import ScalarType

FIELDS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
"""Bits of the exponent and of the fraction."""


def infinity_bits(dtype: ScalarType) -> int:
    exponent, fraction = FIELDS[dtype.name]
    return ((1 << exponent) - 1) << fraction


def magnitude(bits: int, dtype: ScalarType) -> Fraction:
    """The value of positive `bits`; those of infinity count as the power of two after the largest number."""
    exponent_bits, fraction_bits = FIELDS[dtype.name]
    exponent, fraction = bits >> fraction_bits, bits & ((1 << fraction_bits) - 1)
    if exponent:
        fraction |= 1 << fraction_bits
    else:
        exponent = 1
    return Fraction(Fraction(2) ** (exponent - (2 ** (exponent_bits - 1) - 1) - fraction_bits)) * fraction


def nearest(value: Fraction, dtype: ScalarType) -> float:
    """The value of `dtype` nearest to `value`, of two equally near the one with an even last digit. Zero is positive."""
    low, high = 0, infinity_bits(dtype)
    wanted = abs(value)
    if wanted >= magnitude(high, dtype):
        return math.inf if value > 0 else -math.inf
    while high - low > 1:  # larger bits, larger value
        middle = (low + high) // 2
        low, high = (middle, high) if magnitude(middle, dtype) <= wanted else (low, middle)
    below, above = wanted - magnitude(low, dtype), magnitude(high, dtype) - wanted
    bits = low if below < above or (below == above and low % 2 == 0) else high
    rounded = math.inf if bits == infinity_bits(dtype) else float(magnitude(bits, dtype))
    return math.copysign(rounded, value)
