"""Exponential functions: a table of 2**(j/128) and a short polynomial, with the result as high and low part.

x = (k / 128) * ln(2) + r with an integer k and abs(r) <= ln(2) / 256; then exp(x) = 2**m * P * (1 + r + r**2 * q(r)), where k = 128 * m +
j and P = 2**(j/128) from a table, in two parts. The multiple of ln(2) is taken off by fma, without rounding in the high part (Cody and
Waite). q is the Taylor polynomial to r**6; the next term is below 2**-71. `exp` adds P * (r + r**2 * q(r)), at most 2**-8 of P, to P in
one rounding: 0.505 ulp. For the functions that go on with it, `high_part` and `low_part` keep P * r with its error, within 2**-67
of the true value, relative.

P. T. P. Tang, "Table-driven implementation of the exponential function in IEEE floating-point arithmetic", ACM TOMS 15 (1989).
"""

from __future__ import annotations

from gompute.lang.builtins import bitcast, select, table
from gompute.lang.names import f64, u64
from gompute.math.exact import copysign, fma
from gompute.math.f64.coefficients import exponential as found
from gompute.math.f64.doubles import INFINITY, MAGIC, any_sum_error, power_of_two, product_error, scaled, sum_error

POWERS = table(f64, found.POWERS)
STEPS, STEP_HIGH, STEP_LOW = found.STEP
(LN2,) = found.LN2
E2, E3, E4, E5, E6 = found.EXP
T2, T3, T4, T5, T6 = found.EXP2

#: The bits of MAGIC, less 2**20: what is left of a shifted number is positive, and its 128th part is m + 8192.
_SHIFT = 0x4338000000000000 - 0x100000


BINARY_MAGIC = 52776558133248.0
"""1.5 * 2**45: added to a number, it leaves the nearest multiple of 1 / 128, in units of that, in the lowest bits."""


def clamped(x: f64, low: f64, high: f64) -> f64:
    """x within bounds; NaN stays."""
    up = select(x < low, low, x)
    return select(up > high, high, up)


def steps(x: f64) -> f64:
    """MAGIC + k: the number of steps of ln(2) / 128 in x, for abs(x) up to 800."""
    return fma(x, STEPS, MAGIC)


def order(shifted: f64) -> u64:
    """m + 8192."""
    return (bitcast(shifted, u64) - _SHIFT) >> 7


def power(shifted: f64) -> f64:
    return POWERS[(bitcast(shifted, u64) & 127) * 2]


def power_rest(shifted: f64) -> f64:
    return POWERS[(bitcast(shifted, u64) & 127) * 2 + 1]


def residue(x: f64, shifted: f64) -> f64:
    """The high part of r, exact."""
    return fma(MAGIC - shifted, STEP_HIGH, x)


def bend(x: f64, rest: f64, shifted: f64) -> f64:
    """exp(r) - 1, less the high part of r; with the low part's share in the second order, which counts for large k."""
    r = residue(x, shifted)
    low = fma(MAGIC - shifted, STEP_LOW, rest)
    s = r * r
    series = fma(s, fma(s, E6, fma(r, E5, E4)), fma(r, E3, E2))
    return fma(s, series, fma(r, low, low))


def high_part(x: f64, shifted: f64) -> f64:
    """The high part of exp(x) / 2**m, in [0.99, 2]."""
    p = power(shifted)
    return p + p * residue(x, shifted)


def low_part(x: f64, rest: f64, shifted: f64) -> f64:
    """The rest of exp(x + rest) / 2**m, up to 2**-18 of it, where rest is at most a few units in the last place of x."""
    p, more, r = power(shifted), power_rest(shifted), residue(x, shifted)
    a = p * r
    return sum_error(p, a, p + a) + (product_error(p, r, a) + fma(p, bend(x, rest, shifted), fma(more, r, more)))


def above_power(x: f64, rest: f64, shifted: f64) -> f64:
    """exp(x + rest) / 2**m less `power`, up to 2**-8 of it and within 2**-61: enough for a result within 0.505 ulp, and cheaper."""
    return fma(power(shifted), residue(x, shifted) + bend(x, rest, shifted), power_rest(shifted))


def exp(x: f64) -> f64:
    """e**x, within 0.51 ulp.

    Subnormal results are rounded once too. Infinity above 709.78, 0 below -745.13.
    """
    c = clamped(x, -746.0, 710.0)
    s = steps(c)
    y = scaled(power(s), above_power(c, 0.0, s), order(s))
    end = x + INFINITY
    return select(x <= 709.782712893384, y, end)


def exp2(x: f64) -> f64:
    """2**x, within 0.51 ulp: as `exp`, but x = k / 128 + r is exact, and the Taylor polynomial in r is that of 2**r."""
    c = clamped(x, -1077.0, 1024.0)
    s = c + BINARY_MAGIC
    r = c - (s - BINARY_MAGIC)
    # The bits of s, as if MAGIC had been added to 128 * x.
    shifted = bitcast(bitcast(s, u64) + 0x0070000000000000, f64)
    q = r * r
    series = fma(q, fma(q, T6, fma(r, T5, T4)), fma(r, T3, T2))
    rest = fma(power(shifted), fma(q, series, r * LN2), power_rest(shifted))
    y = scaled(power(shifted), rest, order(shifted))
    end = x + INFINITY
    return select(x < 1024.0, y, end)


def expm1(x: f64) -> f64:
    """e**x - 1, within 0.51 ulp.

    In units of 2**m, the 1 becomes 2**-m, which is taken off the table's value; for k = 0 both cancel, and what is left is the polynomial,
    precise near 0.
    """
    c = clamped(x, -60.0, 710.0)
    s = steps(c)
    p, more, r, m = power(s), power_rest(s), residue(c, s), order(s)
    up = 8192 + 1023 - m
    one = power_of_two(select(m > 8192 + 1000, u64(23), up))
    a = p * r
    base = p - one
    high = base + a
    low = any_sum_error(p, -one, base) + any_sum_error(base, a, high)
    rest = product_error(p, r, a) + fma(p, bend(c, 0.0, s), fma(more, r, more))
    half = m >> 1
    y = (high + (low + rest)) * power_of_two(half - 3073) * power_of_two((m - half) - 3073)
    return select(abs(x) < 2.0**-54, x, y)


def hyperbolic_low_inverse(high: f64, low: f64, inverse: f64) -> f64:
    """The low part of 1 / (high + low), whose high part is `inverse`."""
    return -inverse * fma(low, inverse, fma(high, inverse, -1.0))


def sinh(x: f64) -> f64:
    """The hyperbolic sine, within 0.51 ulp: (e**x - e**-x) / 2 with both as high and low part; its Taylor polynomial for abs(x) < 2**-7."""
    size = abs(x)
    c = select(size > 711.0, 711.0, size)
    s = steps(c)
    first, second, m = high_part(c, s), low_part(c, 0.0, s), order(s)
    e = first + second
    rest = sum_error(first, second, e)
    inverse = 1.0 / e
    down = 1023 + 16384 - 2 * m
    small = power_of_two(select(m > 8192 + 400, u64(1023 - 800), down))
    i, j = inverse * small, hyperbolic_low_inverse(e, rest, inverse) * small
    high = e - i
    low = (((e - high) - i) + rest) - j
    half = m >> 1
    far = (high + low) * power_of_two(half - 3073) * 0.5 * power_of_two((m - half) - 3073)
    z = size * size
    near = fma(size * z, fma(z, fma(z, 1 / 5040, 1 / 120), 1 / 6), size)
    y = select(size < 2.0**-7, near, far)
    return copysign(y, x)


def cosh(x: f64) -> f64:
    """The hyperbolic cosine, within 0.51 ulp: (e**x + e**-x) / 2 with both as high and low part."""
    size = abs(x)
    c = select(size > 711.0, 711.0, size)
    s = steps(c)
    first, second, m = high_part(c, s), low_part(c, 0.0, s), order(s)
    e = first + second
    rest = sum_error(first, second, e)
    inverse = 1.0 / e
    down = 1023 + 16384 - 2 * m
    small = power_of_two(select(m > 8192 + 400, u64(1023 - 800), down))
    i, j = inverse * small, hyperbolic_low_inverse(e, rest, inverse) * small
    high = e + i
    low = any_sum_error(e, i, high) + (rest + j)
    half = m >> 1
    return (high + low) * power_of_two(half - 3073) * 0.5 * power_of_two((m - half) - 3073)


def tanh(x: f64) -> f64:
    """The hyperbolic tangent, within 0.51 ulp: the quotient of e**x - e**-x and e**x + e**-x, each as high and low part; its Taylor
    polynomial for abs(x) < 2**-7."""
    size = abs(x)
    c = select(size > 22.0, 22.0, size)
    s = steps(c)
    first, second, m = high_part(c, s), low_part(c, 0.0, s), order(s)
    e = first + second
    rest = sum_error(first, second, e)
    inverse = 1.0 / e
    small = power_of_two(1023 + 16384 - 2 * m)
    i, j = inverse * small, hyperbolic_low_inverse(e, rest, inverse) * small
    top, bottom = e - i, e + i
    top_low = (((e - top) - i) + rest) - j
    bottom_low = any_sum_error(e, i, bottom) + (rest + j)
    q = top / bottom
    far = q + (fma(-q, bottom, top) + (top_low - q * bottom_low)) / bottom
    z = size * size
    near = fma(size * z, fma(z, fma(z, -17 / 315, 2 / 15), -1 / 3), size)
    y = select(size < 2.0**-7, near, far)
    return copysign(y, x)
