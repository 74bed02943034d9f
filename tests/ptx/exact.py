"""Float arithmetic without error: every result is that of exact arithmetic, rounded once in the mode asked for.

Two ways lead there. Whole arrays go through error-free transforms in f64; where those do not hold (directed rounding, f64 near the ends
of its range) each element goes through fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Format(NamedTuple):
    """A binary float format.

    Attributes:
        digits: of the significand.
        least: exponent of the smallest subnormal.
        most: the largest finite number is below 2**most.
    """

    digits: int
    least: int
    most: int


F16, BF16, F32, F64 = Format(11, -24, 16), Format(8, -133, 128), Format(24, -149, 128), Format(53, -1074, 1024)
ROUNDERS: dict[str, Callable[[Array], Array]] = {"rn": np.rint, "rz": np.trunc, "rm": np.floor, "rp": np.ceil}


# ---- error-free transforms ----


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The f64 nearest to a + b, and what is missing; exact but for overflow (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _split(a: Array) -> tuple[Array, Array]:
    scaled = a * 134217729.0  # 2**27 + 1
    high = scaled - (scaled - a)
    return high, a - high


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The f64 nearest to a * b, and what is missing; exact where neither overflows nor goes below the normal range (Dekker, Veltkamp)."""
    product = a * b
    (ah, al), (bh, bl) = _split(a), _split(b)
    return product, ((ah * bh - product) + ah * bl + al * bh) + al * bl


def to_odd(value: Array, error: Array) -> Array:
    """value + error, where value is the nearest f64, rounded to odd: a second rounding to 51 digits or fewer is then right."""
    even = (value.view(np.uint64) & np.uint64(1)) == 0
    moved = np.nextafter(value, np.where(error > 0, np.inf, -np.inf))
    return np.where((error != 0) & even & np.isfinite(value), moved, value)


def narrowed(value: Array, format: Format, mode: str = "rn") -> Array:
    """f64 values rounded to a format, as f64."""
    finite = np.isfinite(value) & (value != 0)
    exponent = np.frexp(np.where(finite, value, 1.0))[1]
    unit = np.maximum(exponent - format.digits, format.least)
    # In two steps: 2**-unit alone may be past f64's range. Both are exact, since the significand keeps its place.
    half = unit // 2
    digits = ROUNDERS[mode](np.ldexp(np.ldexp(np.where(finite, value, 0.0), -half), half - unit))
    rounded = np.ldexp(digits, unit)
    largest = math.ldexp(2.0 - math.ldexp(1.0, 1 - format.digits), format.most - 1)
    away = {"rn": np.inf, "rz": largest, "rm": np.where(value > 0, largest, np.inf), "rp": np.where(value > 0, np.inf, largest)}[mode]
    rounded = np.where(np.abs(rounded) > largest, away, np.abs(rounded))
    return np.where(finite, np.copysign(rounded, value), value)


# ---- sums and products of whole arrays, to nearest ----


def sum_narrow(a: Array, b: Array, format: Format) -> Array:
    """a + b of values of a format narrower than f64, held in f64."""
    return narrowed(to_odd(*two_sum(a, b)), format)


def fma_narrow(a: Array, b: Array, c: Array, format: Format) -> Array:
    """a * b + c of values of a format with at most 24 digits, held in f64, in which their product is exact."""
    total, error = two_sum(a * b, c)
    return narrowed(to_odd(total, np.where(np.isfinite(total), error, 0.0)), format)


def fma64(a: Array, b: Array, c: Array) -> Array:
    """a * b + c of f64, rounded once (Boldo and Melquiond: the last sum but one is rounded to odd)."""
    a, b, c = np.broadcast_arrays(a, b, c)
    plain = a * b + c
    special = ~(np.isfinite(a) & np.isfinite(b) & np.isfinite(c)) | (a == 0) | (b == 0)
    size = np.frexp(a)[1] + np.frexp(b)[1]
    safe = (np.abs(a) < 2.0**990) & (np.abs(b) < 2.0**990) & (np.abs(c) < 2.0**1020) & (size > -900) & (size < 1018) & ~special
    x, y, z = (np.where(safe, value, 1.0) for value in (a, b, c))
    product, low = two_product(x, y)
    high, tail = two_sum(z, low)
    head, rest = two_sum(product, high)
    result = np.where(special, plain, head + to_odd(*two_sum(tail, rest)))
    for place in np.flatnonzero(~(safe | special).reshape(-1)):
        numbers = (float(value.reshape(-1)[place]) for value in (a, b, c))
        result.reshape(-1)[place] = rounded_fma(*numbers, F64, "rn")
    return result


# ---- one element at a time, exactly ----


def rounded(value: Fraction, format: Format, mode: str) -> float:
    """The number of a format that a rational number other than 0 rounds to."""
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1  # now 2**exponent <= magnitude < 2**(exponent + 1)
    unit = max(exponent - format.digits + 1, format.least)
    scaled = magnitude / Fraction(2) ** unit
    up = (mode == "rp") == (value > 0) if mode in ("rm", "rp") else False
    digits = round(scaled) if mode == "rn" else math.ceil(scaled) if up else math.floor(scaled)
    if digits * Fraction(2) ** unit >= Fraction(2) ** format.most:
        largest = math.ldexp(2.0 - math.ldexp(1.0, 1 - format.digits), format.most - 1)
        result = math.inf if mode == "rn" or up else largest
    else:
        result = math.ldexp(digits, unit)
    return math.copysign(result, -1.0 if value < 0 else 1.0)


def _zero(signs: list[float], mode: str) -> float:
    """A sum of nothing but zeros, or one that cancels: -0 where all parts are negative, or when rounding down."""
    if all(math.copysign(1.0, sign) < 0 for sign in signs):
        return -0.0
    if all(math.copysign(1.0, sign) > 0 for sign in signs):
        return 0.0
    return -0.0 if mode == "rm" else 0.0


def rounded_fma(a: float, b: float, c: float, format: Format, mode: str) -> float:
    """a * b + c in one rounding."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    value = Fraction(a) * Fraction(b) + Fraction(c)
    if value == 0:
        product = math.copysign(1.0, a) * math.copysign(1.0, b)
        if Fraction(a) * Fraction(b) != 0:  # it cancels with c
            return _zero([1.0, -1.0], mode)
        return _zero([product, c], mode)
    return rounded(value, format, mode)


def rounded_sum(a: float, b: float, format: Format, mode: str) -> float:
    """a + b."""
    return rounded_fma(a, 1.0, b, format, mode)


def rounded_product(a: float, b: float, format: Format, mode: str) -> float:
    """a * b."""
    if not (math.isfinite(a) and math.isfinite(b)) or a == 0 or b == 0:
        return float(np.float64(a) * np.float64(b))
    return rounded(Fraction(a) * Fraction(b), format, mode)


def rounded_quotient(a: float, b: float, format: Format, mode: str) -> float:
    """a / b."""
    if not (math.isfinite(a) and math.isfinite(b)) or a == 0 or b == 0:
        return float(np.float64(a) / np.float64(b))
    return rounded(Fraction(a) / Fraction(b), format, mode)


def rounded_root(a: float, format: Format, mode: str) -> float:
    """The square root of a."""
    if not math.isfinite(a) or a <= 0:
        return float(np.sqrt(np.float64(a)))
    value = Fraction(a)
    shift = 2 * (70 + max(0, value.denominator.bit_length()))
    scaled = (value.numerator << shift) // value.denominator
    root = math.isqrt(scaled)
    exact = root * root == scaled and scaled * value.denominator == value.numerator << shift
    # One more digit says "a little more" where the root was cut.
    return rounded(Fraction(2 * root + (not exact), 1 << (shift // 2 + 1)), format, mode)


def each(function: Callable[..., float], *operands: Array) -> Array:
    """A function of single numbers over whole arrays of f64."""
    arrays = np.broadcast_arrays(*operands)
    made = [function(*numbers) for numbers in zip(*(array.reshape(-1).tolist() for array in arrays), strict=True)]
    return np.array(made, np.float64).reshape(arrays[0].shape)


# ---- integers ----


def integer_to_odd(value: Array) -> Array:
    """64-bit integers as f64, rounded to odd."""
    low = value & value.dtype.type(0xFFFFFFFF)
    return to_odd(*two_sum((value - low).astype(np.float64), low.astype(np.float64)))


def truncated(value: Array, mode: str, bits: int, signed: bool) -> Array:
    """f64 values as integers of that width, clamped to its range; NaN gives 0."""
    whole = ROUNDERS[mode](value)
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    over, under = whole >= float(high), whole <= float(low)
    kind = np.int64 if signed else np.uint64
    inside = np.where(over | under | np.isnan(whole), 0.0, whole).astype(kind)
    return np.where(over, kind(high), np.where(under, kind(low), inside))
