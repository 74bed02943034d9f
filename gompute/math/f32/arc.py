"""asin, acos and atan for f32.

asin(a) is a polynomial up to 1/2 and pi/2 - 2 asin(sqrt((1 - a) / 2)) above (fdlibm, Sun Microsystems, 1993). atan(a) is taken from the
angle of 0, 1/2 or 1 quarter of a half turn that is nearest (W. J. Cody and W. Waite, "Software manual for the elementary functions", 1980).
"""

from __future__ import annotations

from gompute.lang.names import f64
from gompute.math.exact import copysign, fma, sqrt
from gompute.math.f32 import coefficients as table
from gompute.math.polynomial import polynomial
from gompute.math.rounding import rounded_to_odd

__all__ = ["acos", "asin", "atan"]

_asin_rest = polynomial(table.ASIN)
_atan_rest = polynomial(table.ATAN)

#: tan(pi / 8) and its inverse, where the nearest angle changes.
NEAR = 0.41421356237309503
FAR = 2.414213562373095
#: atan of this f32, of either sign, lies so little above a tie that a double is that tie; and the double above.
ATAN_TIE, ATAN_ABOVE = float.fromhex("0x1.1ad646p-4"), float.fromhex("0x1.1a63850000001p-4")


def asin(x: f64) -> f64:
    a = abs(x)
    inner = a <= 0.5
    outer = fma(a, -0.5, 0.5)
    root = sqrt(outer)
    t = a * a if inner else outer
    s = a if inner else root
    rest = s * t * _asin_rest(t)
    above = (table.HALF_PI - 2.0 * root) + fma(-2.0, rest, table.HALF_PI_LOW)
    below = a + rest
    return copysign(below if inner else above, x)


def acos(x: f64) -> f64:
    a = abs(x)
    inner = a <= 0.5
    outer = fma(a, -0.5, 0.5)
    root = sqrt(outer)
    t = a * a if inner else outer
    s = x if inner else root
    rest = s * t * _asin_rest(t)
    # Near 0 two results lie so close to ties that their side shows in a second part only.
    high = table.HALF_PI - x
    low = ((table.HALF_PI - high) - x) + (table.HALF_PI_LOW - rest)
    total = high + low
    middle = rounded_to_odd(total, (high - total) + low)
    right = fma(2.0, rest, 2.0 * root)
    left = (table.PI - 2.0 * root) + fma(-2.0, rest, table.PI_LOW)
    outside = right if x > 0.0 else left
    return middle if inner else outside


def atan(x: f64) -> f64:
    a = abs(x)
    near, far = a <= NEAR, a > FAR
    over_middle, under_middle = a - 1.0, a + 1.0
    over = a if near else over_middle
    under = 1.0 if near else under_middle
    top, bottom = (-1.0 if far else over), (a if far else under)
    angle = 0.0 if near else table.QUARTER_PI
    angle_low = 0.0 if near else table.QUARTER_PI_LOW
    t = top / bottom
    u = t * t
    rest = fma(t * u, _atan_rest(u), table.HALF_PI_LOW if far else angle_low)
    base = table.HALF_PI if far else angle
    return copysign(ATAN_ABOVE if a == ATAN_TIE else base + (t + rest), x)
