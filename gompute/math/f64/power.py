"""x**y = exp(y * log(x)), with the logarithm as high and low part.

The logarithm is that of `logarithm`, with its residue's square, its cube and the sum kept in two parts: within 2**-73 relative, so that
y * log(x), at most 745, is within 2**-63; with `exponential.above_power` the result is within 0.506 ulp.

S. Gal and B. Bachelis, "An accurate elementary mathematical library for the IEEE floating point standard", ACM TOMS 17 (1991).
"""

from __future__ import annotations

from gompute.lang.builtins import bitcast, select, table
from gompute.lang.names import f64, u64
from gompute.math.exact import copysign, floor, fma
from gompute.math.f64 import exponential, logarithm
from gompute.math.f64.coefficients import logarithmic as found
from gompute.math.f64.doubles import INFINITY, NAN, product_error, scaled, sum_error

THIRD_HIGH, THIRD_LOW = found.THIRD
_, _, L4, L5, L6, L7, L8, L9 = found.SERIES
LN2_HIGH, LN2_LOW = found.LN_OF_2
LN, RECIPROCALS = table(f64, found.LN), table(f64, found.RECIPROCALS)


def pow(x: f64, y: f64) -> f64:
    """x to the power y, within 0.51 ulp; special cases as C23's Annex F has them."""
    size = abs(x)
    n = logarithm.normalised(size)
    place = logarithm.cut(n)
    k, i = logarithm.order(size, place), logarithm.interval(place)
    r = fma(logarithm.mantissa(n, place), RECIPROCALS[i], -1.0)
    base = fma(k, LN2_HIGH, LN[i * 2])
    s = r * r
    s_low = product_error(r, r, s)
    cube = s * r
    cube_low = fma(s_low, r, product_error(s, r, cube))
    third = cube * THIRD_HIGH
    third_low = fma(cube, THIRD_LOW, fma(cube_low, THIRD_HIGH, product_error(cube, THIRD_HIGH, third)))
    series = fma(r, fma(r, fma(r, fma(r, fma(r, L9, L8), L7), L6), L5), L4)
    first = base + r
    second = first - 0.5 * s
    high = second + third
    low = sum_error(base, r, first) + (sum_error(first, -0.5 * s, second) + sum_error(second, third, high))
    low = low + ((third_low - 0.5 * s_low) + fma(s * s, series, fma(k, LN2_LOW, LN[i * 2 + 1])))
    log_high = high + low
    log_low = sum_error(high, low, log_high)

    # Past these bounds the result is infinite or zero, and the product may be too large for its error.
    product = y * log_high
    p = exponential.clamped(product, -746.0, 710.0)
    far = p != product
    rest = fma(y, log_low, product_error(y, log_high, product))
    rest = select(far, 0.0, rest)
    shift = exponential.steps(p)
    result = scaled(exponential.power(shift), exponential.above_power(p, rest, shift), exponential.order(shift))

    result = select(result < INFINITY, result, INFINITY)
    endless = abs(y) == INFINITY
    whole = floor(y) == y
    halved = y * 0.5
    even = floor(halved) == halved
    grows = (size > 1.0) == (y > 0.0)
    limit = select(grows, INFINITY, 0.0)
    result = select(size == 0.0, limit, result)
    result = select(size == INFINITY, limit, result)
    result = select(endless, limit, result)
    # A negative x takes whole powers only, or infinite ones; the odd ones keep its sign, which may be a zero's.
    signed = select(whole, copysign(result, x), NAN)
    signed = select(even or endless, result, signed)
    signed = select(size == INFINITY and not whole, result, signed)
    negative = bitcast(x, u64) >> 63 == 1
    result = select(negative and (x < 0.0 or whole), signed, result)
    result = select(size == 1.0 and endless, 1.0, result)
    both = x + y
    result = select(x != x or y != y, both, result)
    result = select(x == 1.0, 1.0, result)
    return select(y == 0.0, 1.0, result)
