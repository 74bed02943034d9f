"""pow for f32, in pairs of doubles, to about 2**-67.

x**y = 2**(y log2(x)). For the logarithm x = 2**k m, and with c near 1/m from a table r = c m - 1 is exact; 2**E is 2**(j/64) from a table
times a series (P. T. P. Tang, "Table-lookup algorithms for elementary functions and their error analysis", ARITH 1991). No pair that is no
exact case is known to come closer to a tie than the error; exact cases, which would end on the wrong side of one, are found and
kept.
"""

from __future__ import annotations

import math

from gompute.lang.builtins import bitcast, table
from gompute.lang.names import f64, i64, u64
from gompute.math.exact import floor, fma
from gompute.math.f32 import coefficients as constants
from gompute.math.f32 import rows
from gompute.math.f32.exponential import ROUNDER
from gompute.math.polynomial import polynomial
from gompute.math.rounding import rounded_to_odd

__all__ = ["pow"]

INFINITY = math.inf
NAN = math.nan
#: The bits at which the octave of m begins, see the table; and what moves them to those of 1.
START = 0x3FE6B00000000000
UP = 0x3FF0000000000000 - START
FRACTION = 0x000FFFFFFFFFFFFF
COUNTER = 0x4330000000000000
BIASED = 4503599627371519.0
SIXTY_FOURTHS = ROUNDER / 64
#: Beyond, every f32 result has overflowed or vanished.
LARGEST = 1000.0

INVERSE = table(f64, rows.INVERSE)
LOG_HEAD = table(f64, rows.LOG2_HEAD)
LOG_TAIL = table(f64, rows.LOG2_TAIL)
HEAD = table(f64, rows.POW_HEAD)
TAIL = table(f64, rows.POW_TAIL)

_cubic = polynomial(rows.POW_LOG)
_quadratic = polynomial(rows.POW_EXP)


def _log2_low(r: f64, square: f64, first: f64, second: f64) -> f64:
    """What the products of r and r * r with their coefficients, rounded to `first` and `second`, leave of log2(1 + r)."""
    left = fma(r, constants.LOG2_E, -first) + fma(square, rows.LOG2_E_HALF, -second)
    low = fma(r, constants.LOG2_E_LOW, fma(square, rows.LOG2_E_HALF_LOW, fma(r, r, -square) * rows.LOG2_E_HALF))
    return left + (low + square * r * _cubic(r))


def _magnitude(x: f64, y: f64) -> f64:
    """x**y for positive finite x and finite y, rounded to odd."""
    moved = bitcast(x, u64) + UP
    k = bitcast((moved >> 52) + COUNTER, f64) - BIASED
    row = i64((moved & FRACTION) >> 45)
    r = fma(INVERSE[row], bitcast((moved & FRACTION) + START, f64), -1.0)
    square = r * r
    first, second = r * constants.LOG2_E, square * rows.LOG2_E_HALF
    # The sum of k, the table's entry and both products, each no larger than the one before, or after only zeros.
    start = k + LOG_HEAD[row]
    start_low = (k - start) + LOG_HEAD[row]
    middle = start + first
    back = middle - start
    middle_low = (start - (middle - back)) + (first - back)
    total = middle + second
    total_low = (middle - total) + second
    low = ((total_low + middle_low) + start_low) + (LOG_TAIL[row] + _log2_low(r, square, first, second))
    log = total + low
    log_low = (total - log) + low

    product = y * log
    product_low = fma(y, log, -product) + y * log_low
    inside = abs(product) < LARGEST
    e = product if inside else (LARGEST if product > 0.0 else -LARGEST)
    e_low = product_low if inside else 0.0
    shifted = e + SIXTY_FOURTHS
    j = bitcast(shifted, u64)
    exact_rest = e - (shifted - SIXTY_FOURTHS)
    rest = exact_rest + e_low
    rest_low = (exact_rest - rest) + e_low
    z = rest * rows.LN2_WHOLE
    z_low = fma(rest, rows.LN2_WHOLE, -z) + fma(rest, rows.LN2_WHOLE_LOW, rest_low * rows.LN2_WHOLE)
    growth = fma(z, z_low, z_low) + z * z * _quadratic(z)
    head = HEAD[i64(j & 63)]
    grown = head * z
    grown_low = fma(head, z, -grown) + fma(head, growth, TAIL[i64(j & 63)] * (1.0 + z))
    high = head + grown
    high_low = ((head - high) + grown) + grown_low
    result = high + high_low
    result_low = (high - result) + high_low
    # A result of few digits is exact where y is a small multiple of 1/8: nothing else has an exact result of 25 digits.
    plain = y > 0.0 and y < 32.0 and floor(8.0 * y) == 8.0 * y
    exact = plain and abs(result_low) < 2.0e-20
    scale = bitcast(((j >> 6) << 52) + 0x3FF0000000000000, f64)
    return rounded_to_odd(result, 0.0 if exact else result_low) * scale


def pow(x: f64, y: f64) -> f64:
    a = abs(x)
    usual = a > 0.0 and a < INFINITY and abs(y) < INFINITY
    base, exponent = (a if usual else 1.0), (y if usual else 1.0)
    magnitude = _magnitude(base, exponent)
    grows = (a > 1.0) == (y > 0.0)
    edge = INFINITY if grows else 0.0
    limit = 1.0 if a == 1.0 else edge
    size = magnitude if usual else limit
    whole = floor(y) == y
    half = 0.5 * y
    odd = whole and floor(half) != half
    negative = bitcast(x, u64) >> 63 != 0
    signed = -size if negative and odd else size
    domain = x < 0.0 and a < INFINITY and not whole
    value = NAN if domain else signed
    number = value if x == x and y == y else x + y
    return 1.0 if x == 1.0 or y == 0.0 else number
