"""rsqrt, cbrt and hypot for f32."""

from __future__ import annotations

import math

from gompute.lang.builtins import bitcast
from gompute.lang.names import f32, f64, u32, u64
from gompute.math.exact import copysign, fma, sqrt
from gompute.math.f32 import coefficients as table
from gompute.math.rounding import rounded_to_odd

__all__ = ["cbrt", "hypot", "rsqrt"]

INFINITY = math.inf
THIRD = 1 / 3


def rsqrt(x: f64) -> f64:
    """y is 1 / sqrt(x) in f32, whose square root and division take half as long. 1 - x * y * y is exact and below 2**-21; the binomial
    series to its square mends y, to 2**-64 before the last rounding. For 0, infinity, NaN and what is below 0, y stays."""
    y = f64(f32(1.0) / sqrt(f32(x)))
    e = fma(-x * y, y, 1.0)
    mended = fma(y * e, fma(e, 0.375, 0.5), y)
    return mended if x > 0.0 and x < INFINITY else y


def cbrt(x: f64) -> f64:
    """z = |x|**(-1/3) from the bits of x (W. Kahan and K. C. Ng, in fdlibm), mended twice by the binomial series of (1 - h)**(-1/3) with
    h = 1 - |x| z**3; then |x| z * z, whose cube is brought to |x| by one step of Newton's method with an exact residual."""
    a = abs(x)
    upper = u32(bitcast(a, u64) >> 32)
    z = bitcast(u64(table.INVERSE_CUBE_ROOT - upper // 3) << 32, f64)
    h = fma(-a * z, z * z, 1.0)
    z = fma(z * h, fma(h, fma(h, fma(h, 35 / 243, 14 / 81), 2 / 9), THIRD), z)
    h = fma(-a * z, z * z, 1.0)
    z = fma(z * h, fma(h, 2 / 9, THIRD), z)
    square = z * z
    y = a * square
    y_square = y * y
    residual = fma(-y_square, y, a) - fma(y, y, -y_square) * y
    root = fma(residual, square * THIRD, y)
    return copysign(root if a < INFINITY else a, x) if a > 0.0 else x


def hypot(x: f64, y: f64) -> f64:
    """The squares are exact, their sum in two parts, and so is the square root's remainder: its sign says to which side of the root the
    true value lies, and rounding to odd keeps that."""
    a, b = abs(x), abs(y)
    big, small = (a if a > b else b), (b if a > b else a)
    big_square, small_square = big * big, small * small
    total = big_square + small_square
    lost = (big_square - total) + small_square
    root = sqrt(total)
    result = rounded_to_odd(root, fma(-root, root, total) + lost)
    nan = a + b
    usual = nan if nan != nan else result
    infinite = a == INFINITY or b == INFINITY
    return INFINITY if infinite else usual
