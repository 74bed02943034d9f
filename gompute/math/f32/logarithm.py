"""log, log2, log10 and log1p for f32.

With x = 2**k (1 + f) and sqrt(1/2) <= 1 + f < sqrt(2), log(x) is k log(2) + f + f*f P(f) for a polynomial P. It is long, but takes less
time than the division of shorter series (fdlibm, Sun Microsystems, 1993, has one). f is exact, and so are the sums of the larger terms,
taken in two parts: what is rounded is small beside the result, which is rounded to odd.
"""

from __future__ import annotations

import math

from gompute.lang.builtins import bitcast
from gompute.lang.names import f64, u64
from gompute.math.exact import copysign, fma
from gompute.math.f32 import coefficients as table
from gompute.math.polynomial import polynomial
from gompute.math.rounding import rounded_to_odd

__all__ = ["log", "log1p", "log2", "log10"]

INFINITY = math.inf
NAN = math.nan
#: The bits of sqrt(1/2) without the last 32, and what moves them to those of 1.
ROOT = 0x3FE6A09E00000000
UP = 0x3FF0000000000000 - ROOT
FRACTION = 0x000FFFFFFFFFFFFF
#: 2**52, whose low bits count in ones; and that with the bias of exponents.
COUNTER = 0x4330000000000000
BIASED = 4503599627371519.0

_log_rest = polynomial(table.LOG)


def _exponent(x: f64) -> f64:
    """k."""
    return bitcast(((bitcast(x, u64) + UP) >> 52) + COUNTER, f64) - BIASED


def _fraction(x: f64) -> f64:
    """f."""
    return bitcast(((bitcast(x, u64) + UP) & FRACTION) + ROOT, f64) - 1.0


def _lower(f: f64) -> f64:
    """log(1 + f) - f."""
    return f * f * _log_rest(f)


def _special(x: f64, result: f64) -> f64:
    """`result` where x is positive and finite, else what a logarithm of x is."""
    beyond = x if x > 0.0 else NAN
    outside = -INFINITY if x == 0.0 else beyond
    return result if x > 0.0 and x < INFINITY else outside


def _based(k: f64, head: f64, tail: f64, f: f64, scale: f64, scale_low: f64) -> f64:
    """k times (head + tail) plus (scale + scale_low) times log(1 + f)."""
    high = f * scale
    low = fma(_lower(f), scale, fma(f, scale_low, fma(f, scale, -high))) + k * tail
    whole = k * head
    total = whole + high
    return _joined(total, ((whole - total) + high) + low)


def _joined(total: f64, low: f64) -> f64:
    high = total + low
    return rounded_to_odd(high, (total - high) + low)


def _natural(k: f64, f: f64) -> f64:
    """k ln 2 plus log(1 + f)."""
    whole = k * table.LN2_HIGH
    total = whole + f
    return _joined(total, ((whole - total) + f) + fma(k, table.LN2_LOW, _lower(f)))


def log(x: f64) -> f64:
    return _special(x, _natural(_exponent(x), _fraction(x)))


def log2(x: f64) -> f64:
    return _special(x, _based(_exponent(x), 1.0, 0.0, _fraction(x), table.LOG2_E, table.LOG2_E_LOW))


def log10(x: f64) -> f64:
    return _special(x, _based(_exponent(x), table.LOG10_2_HIGH, table.LOG10_2_LOW, _fraction(x), table.LOG10_E, table.LOG10_E_LOW))


def log1p(x: f64) -> f64:
    """log(1 + x). Where k is 0, f is x itself; elsewhere 1 + x is exact, or so large that its rounding is lost in k ln 2."""
    y = x + 1.0
    k = _exponent(y)
    f = x if k == 0.0 else _fraction(y)
    return copysign(_special(y, _natural(k, f)), x) if y == y else y
