"""Sine, cosine and tangent of every double, without a slow path.

**Reduction.** abs(x) * 2/pi modulo 4 in quarter turns: x = s * 2**(16 * g - 1023) with s in [1, 2**16), and for each g a table holds
those bits of 2/pi that matter, in four doubles (what weighs 4 quarter turns or more is dropped), scaled so that s is multiplied. Each
product is kept with its error. That is Payne and Hanek's method in floating point; 158 bits below the point remain, and the double
nearest to a multiple of pi/2 comes no nearer than 2**-61, so the fraction, high and low part, is good to 2**-80 relative. Below 2**-27 no
reduction takes place.

**Polynomials.** With y = y_h + y_l in [-pi/4, pi/4] and z = y**2 in two parts: sin(y) = y + y**3 * (-1/6 + z * Q(z)) with the cube and
-1/6 in two parts, and cos(y) = 1 - z / 2 + z**2 * (1/24 + z * C(z)), with all but C in two parts; Q and C of degree 5.

M. Payne and R. Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18 (1983); W. J. Cody and W. Waite, "Software
manual for the elementary functions", Prentice-Hall 1980; J.-M. Muller, "Elementary functions", 3rd edition, Birkhaeuser 2016, chapter 11.
"""

from __future__ import annotations

from gompute.lang.builtins import bitcast, select, table
from gompute.lang.names import f64, u64
from gompute.math.exact import fma, round
from gompute.math.f64.coefficients import circular as found
from gompute.math.f64.doubles import INFINITY, MAGIC, NAN, any_sum_error, product_error, sum_error

TWO_OVER_PI = table(f64, found.TWO_OVER_PI)
QUARTER_HIGH, QUARTER_LOW = found.QUARTER
SIXTH_HIGH, SIXTH_LOW = found.SIXTH
FOURTH_HIGH, FOURTH_LOW = found.TWENTY_FOURTH
S5, S7, S9, S11, S13, S15 = found.SINE
C6, C8, C10, C12, C14, C16 = found.COSINE

SMALL = 2.0**-27


def at_least_small(size: f64) -> f64:
    """abs(x), or `SMALL` where it is below."""
    return select(size < SMALL, SMALL, size)


def quarters(size: f64, wanted: u64) -> f64:
    """abs(x), at least 2**-27, in quarter turns: the nearest integer modulo 2**50 plus MAGIC (wanted = 0), or the high (1) or low (2)
    part of what is left over."""
    bits = bitcast(size, u64)
    at = ((bits >> 56) - 62) * 4
    s = bitcast((bits & 0x00FFFFFFFFFFFFFF) + 0x3FF0000000000000, f64)
    c0, c1, c2, c3 = TWO_OVER_PI[at], TWO_OVER_PI[at + 1], TWO_OVER_PI[at + 2], TWO_OVER_PI[at + 3]
    p0 = s * c0
    p1 = s * c1
    p2 = s * c2
    e0, e1, e2 = product_error(s, c0, p0), product_error(s, c1, p1), product_error(s, c2, p2)
    p0 = fma(-4.0, round(p0 * 0.25), p0)
    s1 = e0 + p1
    t1 = any_sum_error(e0, p1, s1)
    a = p0 + s1
    t2 = any_sum_error(p0, s1, a)
    shifted = a + MAGIC
    f = a - (shifted - MAGIC)
    b = e1 + p2
    b1 = any_sum_error(e1, p2, b)
    u = t1 + t2
    u1 = any_sum_error(t1, t2, u)
    v = u + b
    v1 = any_sum_error(u, b, v)
    w = f + v
    w1 = any_sum_error(f, v, w)
    rest = w1 + (v1 + (u1 + (b1 + fma(s, c3, e2))))
    high = w + rest
    low = sum_error(w, rest, high)
    part = select(wanted == 1, high, low)
    return select(wanted == 0, shifted, part)


def angle_high(high: f64) -> f64:
    """The high part of the angle, from the high part in quarter turns."""
    return high * QUARTER_HIGH


def angle_low(high: f64, low: f64) -> f64:
    return fma(low, QUARTER_HIGH, fma(high, QUARTER_LOW, product_error(high, QUARTER_HIGH, high * QUARTER_HIGH)))


def sine_part(y: f64, rest: f64, part: u64) -> f64:
    """sin(y + rest) for abs(y) <= pi/4: the high part (part = 0) or the low part."""
    z = y * y
    z_low = fma(2.0 * y, rest, product_error(y, y, z))
    cube = z * y
    cube_low = fma(z_low, y, fma(z, rest, product_error(z, y, cube)))
    v = z * fma(z, fma(z, fma(z, fma(z, fma(z, S15, S13), S11), S9), S7), S5)
    factor = SIXTH_HIGH + v
    factor_low = sum_error(SIXTH_HIGH, v, factor) + SIXTH_LOW
    term = cube * factor
    term_low = fma(cube, factor_low, fma(cube_low, factor, product_error(cube, factor, term)))
    high = y + term
    low = sum_error(y, term, high) + (term_low + rest)
    return select(part == 0, high, low)


def cosine_part(y: f64, rest: f64, part: u64) -> f64:
    """cos(y + rest) for abs(y) <= pi/4: the high part (part = 0) or the rest, up to 2**-11."""
    z = y * y
    z_low = fma(2.0 * y, rest, product_error(y, y, z))
    half = 0.5 * z
    most = 1.0 - half
    square = z * z
    fourth = square * FOURTH_HIGH
    fourth_low = fma(product_error(z, z, square), FOURTH_HIGH, fma(square, FOURTH_LOW, product_error(square, FOURTH_HIGH, fourth)))
    high = most + fourth
    series = fma(z, fma(z, fma(z, fma(z, fma(z, C16, C14), C12), C10), C8), C6)
    # What z leaves out counts in the fourth order too.
    rest = fma(z_low, fma(z, 1 / 12, -0.5), (1.0 - most) - half)
    low = sum_error(most, fourth, high) + fma(square * z, series, fourth_low + rest)
    return select(part == 0, high, low)


def turned(x: f64, ahead: u64) -> f64:
    """sin(abs(x) + ahead * pi / 2)."""
    size = at_least_small(abs(x))
    high, low = quarters(size, 1), quarters(size, 2)
    quadrant = bitcast(quarters(size, 0), u64) + ahead
    y, rest = angle_high(high), angle_low(high, low)
    s, s_low = sine_part(y, rest, 0), sine_part(y, rest, 1)
    c, c_low = cosine_part(y, rest, 0), cosine_part(y, rest, 1)
    odd = quadrant & 1 == 1
    first, second = select(odd, c, s), select(odd, c_low, s_low)
    value = first + second
    return select(quadrant & 2 == 2, -value, value)


def sin(x: f64) -> f64:
    """The sine of x radians, within 0.53 ulp."""
    value = turned(x, 0)
    y = select(x < 0.0, -value, value)
    y = select(abs(x) < INFINITY, y, NAN)
    return select(abs(x) < SMALL, x, y)


def cos(x: f64) -> f64:
    """The cosine of x radians, within 0.53 ulp."""
    value = turned(x, 1)
    value = select(abs(x) < INFINITY, value, NAN)
    return select(abs(x) < SMALL, 1.0, value)


def tan(x: f64) -> f64:
    """The tangent of x radians, within 0.55 ulp: the quotient of sine and cosine, each as high and low part."""
    size = at_least_small(abs(x))
    high, low = quarters(size, 1), quarters(size, 2)
    odd = bitcast(quarters(size, 0), u64) & 1 == 1
    y, rest = angle_high(high), angle_low(high, low)
    first, second = sine_part(y, rest, 0), sine_part(y, rest, 1)
    s = first + second
    s_low = sum_error(first, second, s)
    first, second = cosine_part(y, rest, 0), cosine_part(y, rest, 1)
    c = first + second
    c_low = sum_error(first, second, c)
    top, top_low = select(odd, -c, s), select(odd, -c_low, s_low)
    bottom, bottom_low = select(odd, s, c), select(odd, s_low, c_low)
    inverse = 1.0 / bottom
    q = top * inverse
    value = q + (fma(-q, bottom, top) + (top_low - q * bottom_low)) * inverse
    value = select(x < 0.0, -value, value)
    value = select(abs(x) < INFINITY, value, NAN)
    return select(abs(x) < SMALL, x, value)
