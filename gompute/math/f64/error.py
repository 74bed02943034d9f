"""The error function and its complement.

**erf.** With c the multiple of 1/32 nearest to abs(x) and d = abs(x) - c: erf(x) = erf(c) + A * d * S, A = 2 / sqrt(pi) * exp(-c**2), and
S the mean of exp(-2 * c * t - t**2) over t in [0, d], by the generating function of the Hermite polynomials: S = sum over n of t_n / (n +
1), t_0 = 1, t_1 = -2 * c * d, t_(n + 1) = (-2 * c * d * t_n - 2 * d**2 * t_(n - 1)) / (n + 1). erf(c) and A come from a table in two
parts.

**erfc.** exp(-x**2) * erfcx(abs(x)): the square is exact in two parts, the exponential that of `exponential`; erfcx by polynomials of
degree 8, each for one of 32 intervals in a binary order of abs(x) + 1/2, with the constant term in two parts.

W. J. Cody, "Rational Chebyshev approximations for the error function", Math. Comp. 23 (1969), for the split; M. Abramowitz and
I. Stegun, "Handbook of mathematical functions", 7.1 and 22.9.17, for the series.
"""

from __future__ import annotations

from gompute.lang.builtins import bitcast, select, table
from gompute.lang.names import f64, u64
from gompute.math.exact import copysign, fma
from gompute.math.f64 import exponential
from gompute.math.f64.coefficients import complement, error
from gompute.math.f64.doubles import MAGIC, power_of_two, product_error, scaled, sum_error

NEAR = table(f64, error.NEAR)
FAR = table(f64, complement.FAR)
_, N2, N3, N4, N5, N6, N7, N8, N9 = error.REST


def erf(x: f64) -> f64:
    """The error function, within 0.52 ulp."""
    size = select(abs(x) < 6.0, abs(x), 6.0)
    # Near the smallest numbers low parts would vanish; there the result is rounded at its own unit, as `scaled` does.
    tiny = size < 2.0**-800
    larger = size * 2.0**200
    size = select(tiny, larger, size)
    shifted = fma(32.0, size, MAGIC)
    at = (bitcast(shifted, u64) & 255) * 4
    c = (shifted - MAGIC) * 0.03125
    d = size - c
    p, w = -2.0 * c * d, -2.0 * d * d
    t2 = fma(p, p, w) * N2
    t3 = fma(p, t2, w * p) * N3
    t4 = fma(p, t3, w * t2) * N4
    t5 = fma(p, t4, w * t3) * N5
    t6 = fma(p, t5, w * t4) * N6
    t7 = fma(p, t6, w * t5) * N7
    t8 = fma(p, t7, w * t6) * N8
    series = fma(t8, N9, fma(t7, N8, fma(t6, N7, fma(t5, N6, fma(t4, N5, fma(t3, N4, fma(t2, N3, p * N2)))))))
    base, slope = NEAR[at], NEAR[at + 2]
    a = slope * d
    high = base + a
    rest = fma(NEAR[at + 3], d, product_error(slope, d, a)) + fma(a, series, NEAR[at + 1])
    anchor = select(high < 2.0**-822, 2.0**-822, 0.0)
    total = anchor + high
    value = (total + (((anchor - total) + high) + (sum_error(base, a, high) + rest))) - anchor
    value = value * select(tiny, 2.0**-200, 1.0)
    value = copysign(value, x)
    return select(x != x, x, value)


def erfc(x: f64) -> f64:
    """1 - erf(x), within 0.54 ulp; subnormal results are rounded once."""
    size = select(abs(x) < 27.5, abs(x), 27.5)
    bits = bitcast(size + 0.5, u64)
    at = ((bits >> 47) - 0x7FC0) * 10
    d = size - (bitcast((bits & 0xFFFF800000000000) | 0x0000400000000000, f64) - 0.5)
    slope = fma(
        d,
        fma(
            d,
            fma(d, fma(d, fma(d, fma(d, fma(d, FAR[at + 9], FAR[at + 8]), FAR[at + 7]), FAR[at + 6]), FAR[at + 5]), FAR[at + 4]),
            FAR[at + 3],
        ),
        FAR[at + 2],
    )
    first = FAR[at]
    a = d * slope
    r = first + a
    r_low = sum_error(first, a, r) + FAR[at + 1]
    square = size * size
    s = exponential.steps(-square)
    e = exponential.high_part(-square, s)
    e_low = exponential.low_part(-square, -product_error(size, size, square), s)
    high = e * r
    low = product_error(e, r, high) + fma(e, r_low, e_low * r)
    m = exponential.order(s)
    result = scaled(high, low, m)
    biased = m - (8192 - 1023)
    down = power_of_two(select(m > 8192 - 1000, biased, u64(23)))
    other = 2.0 - high * down
    other = other + (((2.0 - other) - high * down) - low * down)
    result = select(x < 0.0, other, result)
    return select(x != x, x, result)
