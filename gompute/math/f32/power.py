"""pow for f32, in pairs of doubles, to about 2**-67: to 2**-65.8 where the exponent is above 2**16, and elsewhere to 2**-67.5.

x**y = exp(y log(x)). For the logarithm x = 2**k m, and with c near 1/m from a table r = c m - 1 is exact and below 2**-9.9; exp(E) is
2**(j/256) from a table times a series (P. T. P. Tang, "Table-lookup algorithms for elementary functions and their error analysis", ARITH
1991). k log(2) and the table's -log(c) have so few bits in their high parts that their sum is exact, as are E without its j log(2)/256 and
what each further sum loses; the rest, 2**-31 in the logarithm and 2**-15 in E at most, is one double. No pair that is no exact case is
known to come closer to a tie than the error; exact cases, which would end on the wrong side of one, are found and kept.
"""

from __future__ import annotations

import math

from gompute.lang.builtins import bitcast, table
from gompute.lang.names import f32, f64, i64, u32, u64
from gompute.math.exact import fma
from gompute.math.f32 import finer_rows, rows
from gompute.math.f32.exponential import ROUNDER, between, within
from gompute.math.polynomial import polynomial

__all__ = ["pow"]

NAN = math.nan
#: The bits at which the octave of m begins, see the table; and what moves them to those of 1.
START = 0x3FE6AC0000000000
UP = 0x3FF0000000000000 - START
FRACTION = 0x000FFFFFFFFFFFFF
COUNTER = 0x4330000000000000
BIASED = 4503599627371519.0
#: Times the logarithm of any f32 but 1 it is beyond those of all f32; and an even number, as are all f32 beyond it.
FARTHEST = 2.0**31
#: Times any f32 but 0 it is beyond them too, and exact.
ENDLESS = 2.0**200
#: Beyond, every f32 result has overflowed or vanished.
LARGEST = 700.0
#: Above the error of a result in [1, 2) that is exact.
NOTHING = 2.0**-65
#: The digits of an f32 after the first 8.
FINE = 0x00001FFFFFFFFFFF
#: The low bits of j are the row of a table, the others the exponent.
ORDER = 0xFFFFFFFFFFFFFF00

INVERSE = table(f64, finer_rows.POW_INVERSE)
LOG_HEAD = table(f64, finer_rows.POW_LOG_HEAD)
LOG_TAIL = table(f64, finer_rows.POW_LOG_TAIL)
HEAD = table(f64, rows.POW_HEAD)
TAIL = table(f64, rows.POW_TAIL)

_cubic = polynomial(finer_rows.POW_LOG)
_quadratic = polynomial(rows.POW_EXP)


def _endless(a: f64) -> f64:
    """What stands for the logarithm of 0 and of infinity; NaN of NaN."""
    return (ENDLESS + ENDLESS if a > ENDLESS + ENDLESS else a) - ENDLESS


def _power(y: f64, high: f64, low: f64, plain: u64) -> u64:
    """The bits of exp(y * (high + low)) rounded to odd, unless it lies next to a double and `plain` is 0: then those of that double.

    For 0 and infinity, for results beyond those of f32, low may be anything below 2**-31: then the result is off by less than 4 times.
    """
    product = y * high
    e = between(product, -LARGEST, LARGEST)
    shifted = fma(e, rows.POW_STEPS, ROUNDER)
    j = bitcast(shifted, u64)
    steps = shifted - ROUNDER
    rest = fma(-steps, rows.POW_STEP_HIGH, e)
    rest_low = fma(-steps, rows.POW_STEP_LOW, fma(y, low, fma(y, high, -product)))
    z = rest + rest_low
    head, tail = HEAD[i64(j & 255)], TAIL[i64(j & 255)]
    grown = fma(head, rest, head)
    grown_low = fma(head, fma(z * z, _quadratic(z), rest_low), fma(head, rest, head - grown) + fma(tail, z, tail))
    result = grown + grown_low
    result_low = (grown - result) + grown_low
    bits = bitcast(result, u64)
    # `rounded_to_odd` of a positive number.
    odd = (bits - (bitcast(result_low, u64) >> 63)) | 1
    return (bits if plain == 0 and abs(result_low) < NOTHING else odd) + ((j & ORDER) << 44)


def _magnitude(x: f64, y: f64) -> u64:
    """The bits of abs(x)**y, rounded so that rounding again is right, for an exponent of at most 2**31."""
    a = abs(x)
    moved = bitcast(a, u64) + UP
    k = bitcast((moved >> 52) + COUNTER, f64) - BIASED
    row = i64((moved & FRACTION) >> 43)
    r = fma(INVERSE[row], bitcast((moved & FRACTION) + START, f64), -1.0)
    # The sum of k log(2) - log(c), r and -r*r/2, each less than half of the one before, or after only zeros.
    start = fma(k, finer_rows.POW_LN2_HIGH, LOG_HEAD[row])
    first = start + r
    first_low = (start - first) + r
    half = -0.5 * r
    second = fma(half, r, first)
    second_low = fma(half, r, first - second)
    low = fma(r * r * r, _cubic(r), (first_low + second_low) + fma(k, finer_rows.POW_LN2_LOW, LOG_TAIL[row]))
    high = second if abs(k) < 1000.0 else _endless(a)
    # Exact results of 25 digits, and of half of the smallest number, come from exponents of at most 8 digits alone.
    return _power(y, high, low, bitcast(y, u64) & FINE)


def pow(x: f64, y: f64) -> f64:
    exponent = within(y, f32(-FARTHEST), f32(FARTHEST))
    counted = exponent + ROUNDER
    whole = counted - ROUNDER == exponent
    sign = bitcast(x, u64) & (bitcast(counted, u64) << 63)
    value = bitcast(_magnitude(x, exponent) | (sign if whole else u64(0)), f64)
    finite_below_0 = bitcast(f32(x), u32) - 0x80000001 < 0x7F7FFFFF
    number = NAN if finite_below_0 and not whole else value
    return 1.0 if x == 1.0 or y == 0.0 else number
