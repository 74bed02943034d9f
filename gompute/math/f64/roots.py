"""Roots: a double next to the root, then one step from the residue, which is computed without rounding.

P. Markstein, "IA-64 and elementary functions", Prentice Hall 2000; C. Iordache and D. Matula, "On infinitely precise rounding for
division, square root, square root reciprocal and reciprocal", ARITH-14 (1999).
"""

from __future__ import annotations

from gompute.lang.builtins import bitcast, select
from gompute.lang.names import f64, u64
from gompute.math.exact import copysign, fma, sqrt
from gompute.math.f64.coefficients import roots as found
from gompute.math.f64.doubles import INFINITY, power_of_two, product_error, sum_error

R0, R1, R2, R3, R4, R5 = found.START
_, HALVED, QUARTERED = found.THIRDS
THIRD = 1 / 3
SMALLEST_NORMAL = 2.0**-1022


def rsqrt(x: f64) -> f64:
    """1 / sqrt(x), correctly rounded; infinity of its sign for a zero, 0 for infinity, NaN below 0: what 1 / sqrt(x) is in doubles.

    On x = q * 4**n with q in [1, 4), where the root is in (0.5, 1] and doubles lie 2**-53 apart. With s = sqrt(q) >= 1 in doubles off by
    at most 2**-53, 1 / s is off by less than 2**-53, and y = 1 / s in doubles by less than 1.5 * 2**-53 (nothing where q is 1): the result
    is y or its neighbour on the side of the root, z, whichever side of the middle between the two the root is on. Two signs tell:

    - That of 1 - q * y**2, positive below the root. q * y is g + g_low, and 1 - g * y a multiple of 2**-105: exact where it is below
      2**-52, and elsewhere larger than g_low * y.
    - That of 1 - q * m**2 at the middle m, which is 1 - q * y * z - q * 2**-108, as m**2 is y * z + 2**-108. Again 1 - g * z is exact or
      so large that its sign is that of all. 1 - q * y * z is a multiple of 2**-158, so exact where it is below 2**-105, and elsewhere
      more than the q * 2**-108 that are left. It is never 0, as m has 54 digits.
    """
    n = select(x < SMALLEST_NORMAL, x * 18014398509481984.0, x)
    # Exponents in pairs: `half` is, above the fraction, half of the even exponent that is taken out, and 512.
    moved = bitcast(n, u64) + 0x0010000000000000
    half = (moved >> 1) & 0x7FF0000000000000
    scale = select(x < SMALLEST_NORMAL, u64(0x21B0000000000000), u64(0x2000000000000000)) - half
    usual = bitcast(x, u64) - 1 < 0x7FEFFFFFFFFFFFFF
    q = select(usual, bitcast((moved & 0x001FFFFFFFFFFFFF) + 0x3FF0000000000000, f64), x)
    y = 1.0 / sqrt(q)
    g = q * y
    g_low = product_error(q, y, g)
    rising = fma(-g_low, y, fma(-g, y, 1.0))
    z = y + copysign(2.0**-53, rising)
    beyond = fma(q, -(2.0**-108), fma(-g_low, z, fma(-g, z, 1.0)))
    same = (bitcast(rising, u64) ^ bitcast(beyond, u64)) < 0x8000000000000000
    root = bitcast(bitcast(select(same, z, y), u64) + scale, f64)
    return select(usual, root, y)


def cbrt(x: f64) -> f64:
    """The cube root, within 0.51 ulp.

    On z = q * 2**-j in [1, 2), where q in [1, 8) is the significand times 2**j: t approximates q**(-1/3) by a polynomial of degree 5
    (2**-16), made 2**-45 by one step of third order; then y = q * t * t, and the residue q - y**3 gives the last correction.
    """
    size = abs(x)
    tiny = size < SMALLEST_NORMAL
    n = select(tiny, size * 18014398509481984.0, size)
    bits = bitcast(n, u64)
    exponent = bits >> 52
    third = (exponent * 43691) >> 17
    j = exponent - third * 3
    z = bitcast((bits & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000, f64)
    q = bitcast((bits & 0x000FFFFFFFFFFFFF) | ((1023 + j) << 52), f64)
    t = fma(z, fma(z, fma(z, fma(z, fma(z, R5, R4), R3), R2), R1), R0)
    cut = select(j == 1, HALVED, QUARTERED)
    t = t * select(j == 0, 1.0, cut)
    e = fma(-q * t, t * t, 1.0)
    t = fma(t * e, fma(e, 2 / 9, THIRD), t)
    y = q * t * t
    s = y * y
    c = s * y
    c_low = fma(product_error(y, y, s), y, product_error(s, y, c))
    root = y + ((q - c) - c_low) * (t * t) * THIRD
    root = root * power_of_two(third + 1023 - 341) * select(tiny, 3.814697265625e-06, 1.0)
    root = copysign(root, x)
    return select(size < INFINITY and size > 0.0, root, x)


def hypot(x: f64, y: f64) -> f64:
    """sqrt(x * x + y * y), within 0.51 ulp: the sum of squares as high and low part, on coordinates scaled by a power of two."""
    u, v = abs(x), abs(y)
    a, b = select(u > v, u, v), select(u > v, v, u)
    large, small = a > 2.0**500, a < 2.0**-400
    up = select(small, 2.0**600, 1.0)
    scale = select(large, 2.0**-600, up)
    h, w = a * scale, b * scale
    p, q = h * h, w * w
    total = p + q
    low = sum_error(p, q, total) + (product_error(h, h, p) + product_error(w, w, q))
    root = sqrt(total)
    rest = (fma(-root, root, total) + low) * (0.5 / root)
    rest = select(total > 0.0, rest, 0.0)
    # A subnormal result is rounded at its own unit.
    anchor = select(root < 2.0**-422 and small, 2.0**-422, 0.0)
    sum = anchor + root
    down = select(small, 2.0**-600, 1.0)
    value = ((sum + ((anchor - sum) + root + rest)) - anchor) * select(large, 2.0**600, down)
    both = x + y
    value = select(x != x or y != y, both, value)
    return select(u == INFINITY or v == INFINITY, INFINITY, value)
