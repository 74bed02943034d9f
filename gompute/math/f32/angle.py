"""atan2 for f32, in pairs of doubles, to about 2**-66.

With a the smaller and b the larger of |x| and |y| and c = j / 32 near a / b, atan(a / b) = atan(c) + atan((a - c b) / (b + c a)). Numerator
and denominator are exact, since c has 5 digits and what cancels lies close; their quotient is taken in two parts.
"""

from __future__ import annotations

import math

from gompute.lang.builtins import bitcast, table
from gompute.lang.names import f64, i64, u64
from gompute.math.exact import copysign, fma
from gompute.math.f32 import coefficients as constants
from gompute.math.f32.exponential import ROUNDER
from gompute.math.polynomial import polynomial
from gompute.math.rounding import rounded_to_odd

__all__ = ["atan2"]

INFINITY = math.inf
THIRTY_SECONDS = ROUNDER / 32

HEAD = table(f64, constants.ANGLE_HEAD)
TAIL = table(f64, constants.ANGLE_TAIL)

_rest = polynomial(constants.ANGLE)


def atan2(y: f64, x: f64) -> f64:
    width, height = abs(x), abs(y)
    steep = height > width
    larger, smaller = (height if steep else width), (width if steep else height)
    # What divides is made a number: two infinities count as equal, and beside one alone, or above a zero, the other counts as nothing.
    unbounded = larger == INFINITY
    even = smaller == larger and larger != 0.0
    part = 1.0 if even else 0.0
    plain = larger > 0.0 and larger < INFINITY
    b, a = (larger if plain else 1.0), (smaller if plain else (part if unbounded else 0.0))

    shifted = a / b + THIRTY_SECONDS
    c = shifted - THIRTY_SECONDS
    row = i64(bitcast(shifted, u64) & 63)
    top, bottom = fma(-c, b, a), fma(c, a, b)
    t = top / bottom
    t_low = fma(-t, bottom, top) / bottom
    square = t * t
    small = fma(t * square, _rest(square), t_low) + TAIL[row]
    near = HEAD[row] + t
    near_back = near - HEAD[row]
    near_low = ((HEAD[row] - (near - near_back)) + (t - near_back)) + small

    behind = bitcast(x, u64) >> 63 != 0
    flat = constants.PI if behind else 0.0
    flat_low = constants.PI_LOW if behind else 0.0
    start = constants.HALF_PI if steep else flat
    start_low = constants.HALF_PI_LOW if steep else flat_low
    forwards = steep == behind
    step, step_low = (near if forwards else -near), (near_low if forwards else -near_low)
    total = start + step
    back = total - start
    low = ((start - (total - back)) + (step - back)) + (step_low + start_low)
    high = total + low
    result = copysign(rounded_to_odd(high, (total - high) + low), y)
    return result if x == x and y == y else x + y
