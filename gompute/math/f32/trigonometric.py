"""sin, cos and tan for f32 arguments of any size.

x is counted in quarter turns, x * 2/pi = k + r with |r| <= 1/2. Of 2/pi only the bits matter that do not give whole turns; for each
exponent of x a table holds the first 106 of them (M. Payne and R. Hanek, "Radian reduction for trigonometric functions", 1983). The product
with the head is below 2**26 and exact in two parts, so that k and the part of r that cancellation leaves are exact.
"""

from __future__ import annotations

from gompute.lang.builtins import bitcast, table
from gompute.lang.names import f64, i64, u64
from gompute.math.exact import fma
from gompute.math.f32 import coefficients as constants
from gompute.math.f32.exponential import ROUNDER
from gompute.math.polynomial import polynomial

__all__ = ["cos", "sin", "tan"]

HEADS = table(f64, constants.TURNS_HEAD)
TAILS = table(f64, constants.TURNS_TAIL)

# Where the cosine lies so near the middle of two neighbours that r does not tell on which side; and a double on the right one.
TIES = (float.fromhex("0x1.3170fp+63"), float.fromhex("0x1.2b9622p+67"))
BELOW_TIE, ABOVE_TIE = float.fromhex("0x1.fe2976fffffffp-1"), float.fromhex("0x1.f0285d0000001p-1")

_sin_rest = polynomial(constants.SIN[1:])
_cos_rest = polynomial(constants.COS)


def _row(x: f64) -> i64:
    """The exponent field of x as f32."""
    field = i64((bitcast(x, u64) >> 52) & 0x7FF) - 896
    return min(max(field, 0), 255)


def _quarters(x: f64) -> f64:
    """k, in the low bits."""
    return x * HEADS[_row(x)] + ROUNDER


def _rest(x: f64, k: f64) -> f64:
    """r."""
    head = HEADS[_row(x)]
    product = x * head
    return (product - k) + fma(x, TAILS[_row(x)], fma(x, head, -product))


def _sin_of(r: f64, t: f64) -> f64:
    return fma(r, constants.SIN[0], r * fma(t, _sin_rest(t), constants.QUARTER_LOW))


def _cos_of(t: f64) -> f64:
    return fma(t, _cos_rest(t), 1.0)


def _turned(x: f64, shifted: f64, advance: u64) -> f64:
    """The sine of x plus that many quarter turns."""
    r = _rest(x, shifted - ROUNDER)
    t = r * r
    place = bitcast(shifted, u64) + advance
    sine, cosine = _sin_of(r, t), _cos_of(t)
    value = sine if place & 1 == 0 else cosine
    return bitcast(bitcast(value, u64) ^ ((place & 2) << 62), f64)


def sin(x: f64) -> f64:
    result = _turned(x, _quarters(x), 0)
    return x if x == 0.0 else result


def cos(x: f64) -> f64:
    result = _turned(x, _quarters(x), 1)
    size = abs(x)
    return BELOW_TIE if size == TIES[0] else (ABOVE_TIE if size == TIES[1] else result)


def tan(x: f64) -> f64:
    shifted = _quarters(x)
    r = _rest(x, shifted - ROUNDER)
    t = r * r
    sine, cosine = _sin_of(r, t), _cos_of(t)
    even = bitcast(shifted, u64) & 1 == 0
    over, under = (sine if even else -cosine), (cosine if even else sine)
    result = over / under
    return x if x == 0.0 else result
