"""Inverse circular functions: all are the angle of a point (x, y), whose coordinates are high and low parts.

With a the larger and b the smaller of abs(x) and abs(y), i the integer nearest to 64 * b / a and c = i / 64, atan(b / a) = atan(c) +
atan(d) where d = (b - c * a) / (a + c * b), at most 1/128. b - c * a is exact; the quotient is kept in two parts. atan(c), mirrored for
the octant, comes from a table in two parts, so that the sum is rounded once, after an error below 2**-60.

S. Gal and B. Bachelis, "An accurate elementary mathematical library for the IEEE floating point standard", ACM TOMS 17 (1991).
"""

from __future__ import annotations

from gompute.lang.builtins import bitcast, select, table
from gompute.lang.names import f64, u64
from gompute.math.exact import copysign, fma, sqrt
from gompute.math.f64.coefficients import inverse as found
from gompute.math.f64.doubles import INFINITY, MAGIC, NAN, product_error, sum_error

ANGLES = table(f64, found.ANGLES)
A3, A5, A7, A9 = found.ARC


def angle(y: f64, y_low: f64, x: f64, x_low: f64) -> f64:
    """The angle of (x, y) in [0, pi], for y >= 0 and coordinates whose larger is in [2**-600, 2**600]. Low parts have the signs that make
    up the coordinates."""
    across = abs(x)
    left = bitcast(x, u64) >> 63
    across_low = select(left == 1, -x_low, x_low)
    steep = y > across
    a, b = select(steep, y, across), select(steep, across, y)
    a_low, b_low = select(steep, y_low, across_low), select(steep, across_low, y_low)
    ratio = b / a
    shifted = fma(64.0, ratio, MAGIC)
    c = (shifted - MAGIC) * 0.015625
    place = (bitcast(shifted, u64) & 127) + select(steep, u64(128), u64(0)) + left * 256
    top = fma(-c, a, b)
    top_low = fma(-c, a_low, b_low)
    part = c * b
    bottom = a + part
    bottom_low = sum_error(a, part, bottom) + (fma(c, b_low, a_low) + product_error(c, b, part))
    inverse = 1.0 / bottom
    d = top * inverse
    d_low = (fma(-d, bottom, top) + (top_low - d * bottom_low)) * inverse
    z = d * d
    series = d * z * fma(z, fma(z, fma(z, A9, A7), A5), A3)
    # Past the diagonal, and in the left half-plane, angles grow as d falls: once each.
    falls = steep != (left == 1)
    base, base_low = ANGLES[place * 2], ANGLES[place * 2 + 1]
    d = select(falls, -d, d)
    rest = d_low + series
    rest = select(falls, -rest, rest)
    high = base + d
    value = high + (sum_error(base, d, high) + (base_low + rest))
    flat = ratio < 2.0**-30
    return select(flat and left == 0 and not steep, ratio, value)


def atan2(y: f64, x: f64) -> f64:
    """The angle of (x, y) in (-pi, pi], within 0.51 ulp; special cases as C23's Annex F has them, by the signs of zeros too."""
    v, u = abs(y), abs(x)
    larger = select(v > u, v, u)
    scale = select(larger < 2.0**-500, 2.0**600, 1.0)
    scale = select(larger > 2.0**500, 2.0**-600, scale)
    # Two infinities count as equal, one as 1 beside 0; two zeros as (1, 0).
    endless = larger == INFINITY
    one_high, one_wide = select(v == INFINITY, 1.0, 0.0), select(u == INFINITY, 1.0, 0.0)
    h, w = v * scale, u * scale
    h, w = select(endless, one_high, h), select(endless, one_wide, w)
    w = select(larger == 0.0, 1.0, w)
    # A zero's sign counts: it decides between 0 and pi where y is a zero too.
    value = angle(h, 0.0, copysign(w, x), 0.0)
    # Where the angle is a quotient below the normal numbers, it is rounded as such.
    quotient = v / u
    flat = v < u * 2.0**-30
    value = select(flat and x > 0.0 and u < INFINITY, quotient, value)
    value = copysign(value, y)
    both = x + y
    return select(x != x or y != y, both, value)


def atan(x: f64) -> f64:
    """The arc tangent, within 0.51 ulp."""
    size = abs(x)
    bounded = select(size > 2.0**60, 2.0**60, size)
    return copysign(angle(bounded, 0.0, 1.0, 0.0), x)


def leg(x: f64, part: u64) -> f64:
    """sqrt(1 - x * x): the high part (part = 0) or the low part."""
    square = x * x
    high = 1.0 - square
    low = sum_error(1.0, -square, high) - product_error(x, x, square)
    total = high + low
    more = sum_error(high, low, total)
    root = sqrt(total)
    rest = (fma(-root, root, total) + more) / (2.0 * root)
    rest = select(root > 0.0, rest, 0.0)
    return select(part == 0, root, rest)


def asin(x: f64) -> f64:
    """The arc sine, within 0.51 ulp: the angle of (sqrt(1 - x * x), x)."""
    size = abs(x)
    value = angle(size, 0.0, leg(x, 0), leg(x, 1))
    value = copysign(value, x)
    return select(size <= 1.0, value, NAN)


def acos(x: f64) -> f64:
    """The arc cosine, within 0.51 ulp: the angle of (x, sqrt(1 - x * x))."""
    value = angle(leg(x, 0), leg(x, 1), x, 0.0)
    return select(abs(x) <= 1.0, value, NAN)
