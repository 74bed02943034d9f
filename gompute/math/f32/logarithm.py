"""log, log2, log10 and log1p for f32.

x is 2**k m. With c near 1/m from a table, r = c m - 1 is exact and below 2**-8, and log(x) = (k log(2) - log(c)) + log1p(r), two sums with
one rounding each (P. T. P. Tang, "Table-driven implementation of the logarithm function in IEEE floating-point arithmetic", ACM TOMS 16,
1990). Where k is 0 and m near 1, c is 1, and what is left is the series. What these roundings would bring to the wrong side of a tie, a few
of 2**31 results, is avoided by what the generator moved in the tables.

For log1p, with x + 1 = 2**k (1 + f) and sqrt(1/2) <= 1 + f < sqrt(2), log(1 + x) is k log(2) + f + f*f P(f) for a polynomial P: near 0 many
results lie close to ties. f is exact, and so are the sums of the larger terms, taken in two parts: what is rounded is small beside the
result, which is rounded to odd.
"""

from __future__ import annotations

import math

from gompute.lang.builtins import bitcast, table
from gompute.lang.names import f64, i64, u64
from gompute.math.exact import copysign, fma
from gompute.math.f32 import coefficients as constants
from gompute.math.f32 import rows
from gompute.math.polynomial import polynomial
from gompute.math.rounding import rounded_to_odd

__all__ = ["log", "log1p", "log2", "log10"]

INFINITY = math.inf
NAN = math.nan
FRACTION = 0x000FFFFFFFFFFFFF
#: 2**52, whose low bits count in ones; and that with the bias of exponents.
COUNTER = 0x4330000000000000
BIASED = 4503599627371519.0
#: Times the largest f32 it is nothing, and times infinity infinity.
NOTHING = 2.0**-1000


def _special(x: f64, result: f64) -> f64:
    """`result` where x is positive and finite, else what a logarithm of x is."""
    outside = -INFINITY if x == 0.0 else NAN
    return fma(x, NOTHING, result if x > 0.0 else outside)


# ---- by tables ----

#: The bits at which the octave of m begins, so that 1 is in the middle of a row of the tables; and what moves them to those of 1.
START = 0x3FE6B00000000000
UP = 0x3FF0000000000000 - START

INVERSE = table(f64, rows.INVERSE)
LOG = table(f64, rows.LOG_HEAD)
LOG2 = table(f64, rows.LOG2_HEAD)
LOG10 = table(f64, rows.LOG10_HEAD)

_series = polynomial(rows.LOG_SERIES)
_series2 = polynomial(rows.LOG2_SERIES)
_series10 = polynomial(rows.LOG10_SERIES)


def _moved(x: f64) -> u64:
    return bitcast(x, u64) + UP


def _order(moved: u64) -> f64:
    """k."""
    return bitcast((moved >> 52) + COUNTER, f64) - BIASED


def _row(moved: u64) -> i64:
    return i64((moved & FRACTION) >> 45)


def _residue(moved: u64) -> f64:
    """r."""
    return fma(INVERSE[_row(moved)], bitcast((moved & FRACTION) + START, f64), -1.0)


def log(x: f64) -> f64:
    moved = _moved(x)
    r = _residue(moved)
    start = fma(_order(moved), rows.LN2_WHOLE, LOG[_row(moved)])
    return _special(x, start + fma(r * r, _series(r), r))


def log2(x: f64) -> f64:
    moved = _moved(x)
    r = _residue(moved)
    start = _order(moved) + LOG2[_row(moved)]
    return _special(x, start + fma(r, constants.LOG2_E, r * fma(r, _series2(r), constants.LOG2_E_LOW)))


def log10(x: f64) -> f64:
    moved = _moved(x)
    r = _residue(moved)
    start = fma(_order(moved), constants.LOG10_2, LOG10[_row(moved)])
    return _special(x, start + fma(r, constants.LOG10_E, r * fma(r, _series10(r), constants.LOG10_E_LOW)))


# ---- log1p ----

#: The bits of sqrt(1/2) without the last 32, and what moves them to those of 1.
ROOT = 0x3FE6A09E00000000
ROOT_UP = 0x3FF0000000000000 - ROOT

_rest = polynomial(constants.LOG)


def _joined(total: f64, low: f64) -> f64:
    high = total + low
    return rounded_to_odd(high, (total - high) + low)


def log1p(x: f64) -> f64:
    """Where k is 0, f is x itself; elsewhere 1 + x is exact, or so large that its rounding is lost in k ln 2."""
    y = x + 1.0
    moved = bitcast(y, u64) + ROOT_UP
    k = _order(moved)
    f = x if k == 0.0 else bitcast((moved & FRACTION) + ROOT, f64) - 1.0
    whole = k * constants.LN2_HIGH
    total = whole + f
    result = _joined(total, ((whole - total) + f) + fma(k, constants.LN2_LOW, f * f * _rest(f)))
    return copysign(_special(y, result), x) if y == y else y
