"""Logarithms: a table of short reciprocals, and a series in a residue that is exact.

x = 2**k * z with z in [0.6875, 1.375). With c the table's reciprocal for the interval that z is in, of so few bits that r = z * c - 1 is
exact, log(x) = k * ln(2) - log(c) + log1p(r), abs(r) <= 2**-8. The first two are kept in two parts, whose high parts add without
rounding; in the two intervals next to 1 both vanish, so that what is left is the series, precise near 1.

P. T. P. Tang, "Table-driven implementation of the logarithm function in IEEE floating-point arithmetic", ACM TOMS 16 (1990).
"""

from __future__ import annotations

from gompute.lang.builtins import bitcast, select, table
from gompute.lang.names import f64, u64
from gompute.math.exact import fma
from gompute.math.f64.coefficients import logarithmic as found
from gompute.math.f64.doubles import INFINITY, NAN, any_sum_error, power_of_two, product_error, sum_error

RECIPROCALS = table(f64, found.RECIPROCALS)
LN, LOG2, LOG10 = table(f64, found.LN), table(f64, found.LOG2), table(f64, found.LOG10)
LN2_HIGH, LN2_LOW = found.LN_OF_2
LG2_HIGH, LG2_LOW = found.LOG10_OF_2
BINARY_HIGH, BINARY_LOW = found.INVERSE_LN2
DECIMAL_HIGH, DECIMAL_LOW = found.INVERSE_LN10
L2, L3, L4, L5, L6, L7, L8, _ = found.SERIES
B2, B3, B4, B5, B6, B7, B8, _ = found.SERIES2
D2, D3, D4, D5, D6, D7, D8, _ = found.SERIES10

SMALLEST_NORMAL = 2.0**-1022


def normalised(x: f64) -> f64:
    """x, a subnormal one times 2**54."""
    return select(x < SMALLEST_NORMAL, x * 18014398509481984.0, x)


def cut(n: f64) -> u64:
    """The bits of n, moved so that the exponent counts from 0.6875: bits 52 to 62 are k + 1023, bits 44 to 51 the interval."""
    return bitcast(n, u64) + 0x000A000000000000


def mantissa(n: f64, place: u64) -> f64:
    """z."""
    return bitcast(bitcast(n, u64) - (place & 0xFFF0000000000000) + 0x3FF0000000000000, f64)


def order(x: f64, place: u64) -> f64:
    """k."""
    biased = bitcast((place >> 52) | 0x4330000000000000, f64)
    return biased - select(x < SMALLEST_NORMAL, 4503599627370496.0 + 1077.0, 4503599627370496.0 + 1023.0)


def interval(place: u64) -> u64:
    return (place >> 44) & 255


def finished(x: f64, y: f64) -> f64:
    """The logarithm y of x, or what it is where x has none."""
    edge = select(x == 0.0, -INFINITY, NAN)
    inside = select(x > 0.0, y, edge)
    return select(x < INFINITY, inside, x)


def log(x: f64) -> f64:
    """The natural logarithm, within 0.51 ulp."""
    n = normalised(x)
    place = cut(n)
    k, i = order(x, place), interval(place)
    r = fma(mantissa(n, place), RECIPROCALS[i], -1.0)
    base = fma(k, LN2_HIGH, LN[i * 2])
    high = base + r
    s = r * r
    series = fma(s, fma(s, fma(s, L8, fma(r, L7, L6)), fma(r, L5, L4)), fma(r, L3, L2))
    low = sum_error(base, r, high) + fma(s, series, fma(k, LN2_LOW, LN[i * 2 + 1]))
    return finished(x, high + low)


def log2(x: f64) -> f64:
    """The logarithm to base 2, within 0.51 ulp."""
    n = normalised(x)
    place = cut(n)
    k, i = order(x, place), interval(place)
    r = fma(mantissa(n, place), RECIPROCALS[i], -1.0)
    base = k + LOG2[i * 2]
    a = r * BINARY_HIGH
    high = base + a
    s = r * r
    series = fma(s, fma(s, fma(s, B8, fma(r, B7, B6)), fma(r, B5, B4)), fma(r, B3, B2))
    rest = fma(r, BINARY_LOW, product_error(r, BINARY_HIGH, a)) + LOG2[i * 2 + 1]
    return finished(x, high + (any_sum_error(base, a, high) + fma(s, series, rest)))


def log10(x: f64) -> f64:
    """The logarithm to base 10, within 0.51 ulp."""
    n = normalised(x)
    place = cut(n)
    k, i = order(x, place), interval(place)
    r = fma(mantissa(n, place), RECIPROCALS[i], -1.0)
    base = fma(k, LG2_HIGH, LOG10[i * 2])
    a = r * DECIMAL_HIGH
    high = base + a
    s = r * r
    series = fma(s, fma(s, fma(s, D8, fma(r, D7, D6)), fma(r, D5, D4)), fma(r, D3, D2))
    rest = fma(r, DECIMAL_LOW, product_error(r, DECIMAL_HIGH, a)) + fma(k, LG2_LOW, LOG10[i * 2 + 1])
    return finished(x, high + (any_sum_error(base, a, high) + fma(s, series, rest)))


def log1p(x: f64) -> f64:
    """log(1 + x), within 0.51 ulp: 1 + x is kept with what its rounding took off, which enters the series' first two terms."""
    t = 1.0 + x
    place = cut(t)
    k, i = order(1.0, place), interval(place)
    c = RECIPROCALS[i]
    # 2**-k; where k is 1024, what is lost is far below a unit of x.
    biased = place >> 52
    distance = 2046 - biased
    down = power_of_two(select(biased > 2045, u64(1), distance))
    r = fma(mantissa(t, place), c, -1.0)
    rest = any_sum_error(1.0, x, t) * down * c
    base = fma(k, LN2_HIGH, LN[i * 2])
    both = r + rest
    high = base + both
    s = both * both
    series = fma(s, fma(s, fma(s, L8, fma(both, L7, L6)), fma(both, L5, L4)), fma(both, L3, L2))
    low = sum_error(base, both, high) + (any_sum_error(r, rest, both) + fma(s, series, fma(k, LN2_LOW, LN[i * 2 + 1])))
    edge = select(x == -1.0, -INFINITY, NAN)
    y = high + low
    y = select(x > -1.0, y, edge)
    y = select(x < INFINITY, y, x)
    return select(abs(x) < 2.0**-54, x, y)
