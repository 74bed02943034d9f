"""Roots: a double next to the root, then one step from the residue, which is computed without rounding.

P. Markstein, "IA-64 and elementary functions", Prentice Hall 2000; C. Iordache and D. Matula, "On infinitely precise rounding for
division, square root, square root reciprocal and reciprocal", ARITH-14 (1999).
"""

from __future__ import annotations

from gompute.lang.builtins import bitcast, select
from gompute.lang.names import f64, u64
from gompute.math.exact import copysign, fma, sqrt
from gompute.math.f64.coefficients import roots as found
from gompute.math.f64.doubles import INFINITY, NAN, any_sum_error, power_of_two, product_error, sum_error

R0, R1, R2, R3, R4, R5 = found.START
_, HALVED, QUARTERED = found.THIRDS
THIRD = 1 / 3
SMALLEST_NORMAL = 2.0**-1022


def rsqrt(x: f64) -> f64:
    """1 / sqrt(x), correctly rounded; infinity of its sign for a zero, 0 for infinity, NaN below 0.

    On x = q * 4**n with q in [1, 4): y0 = 1 / sqrt(q) in doubles, y = y0 + d with d from the residue 1 - q * y0**2. Where d leaves y
    within 2**-40 of the middle between two doubles, the sign of 1 - q * m**2 at the middle m decides, computed as a sum of products
    without rounding down to 2**-155.
    """
    tiny = x < SMALLEST_NORMAL
    n = select(tiny, x * 18014398509481984.0, x)
    bits = bitcast(n, u64)
    # Exponents in pairs: 2 * half + 1 - 1024 is the even exponent that is taken out.
    half = ((bits >> 52) + 1) >> 1
    q = bitcast(bits - (half << 53) + 0x4000000000000000, f64)
    y0 = 1.0 / sqrt(q)
    h = q * y0
    h_low = product_error(q, y0, h)
    d = 0.5 * y0 * (fma(-h, y0, 1.0) - h_low * y0)
    y = y0 + d
    left = sum_error(y0, d, y)
    # Half a unit towards what is left over; y is in [0.5, 1].
    down = select(y == 0.5, -(2.0**-55), -(2.0**-54))
    step = select(left < 0.0, down, 2.0**-54)
    g = q * y
    g_low = product_error(q, y, g)
    a, b = g * y, g_low * y
    a_low, b_low = product_error(g, y, a), product_error(g_low, y, b)
    cross = -2.0 * step * g
    s1 = 1.0 - a
    s2 = s1 + cross
    r2 = any_sum_error(s1, cross, s2)
    s3 = s2 - b
    r3 = any_sum_error(s2, -b, s3)
    s4 = s3 - a_low
    r4 = any_sum_error(s3, -a_low, s4)
    residue = s4 + ((r2 + (r3 + r4)) - (b_low + (2.0 * step * g_low + q * step * step)))
    # A positive residue: the root is above the middle.
    beyond = (residue > 0.0) == (step > 0.0)
    near = abs(abs(left) - abs(step)) < 2.0**-94
    other = y + 2.0 * step
    y = select(near and beyond, other, y)
    y = y * power_of_two(1023 + 512 - half) * select(tiny, 134217728.0, 1.0)
    edge = copysign(INFINITY, x)
    edge = select(x == 0.0, edge, NAN)
    y = select(x > 0.0, y, edge)
    return select(x == INFINITY, 0.0, y)


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
