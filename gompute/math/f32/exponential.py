"""exp, exp2, expm1, sinh, cosh and tanh for f32.

With x = k ln 2 + r and |r| <= ln(2) / 2, exp(x) = 2**k exp(r) (P. T. P. Tang, "Table-driven implementation of the exponential function in
IEEE floating-point arithmetic", 1989, without a table: f64 leaves room for a polynomial alone). The polynomials' errors stand beside their
coefficients; the last operation adds the largest term, so that with its rounding the result is within 0.6 last places of f64.
"""

from __future__ import annotations

from gompute.lang.builtins import bitcast
from gompute.lang.names import f32, f64, u64
from gompute.math.exact import copysign, fma
from gompute.math.f32 import coefficients as table
from gompute.math.polynomial import polynomial

__all__ = ["between", "cosh", "exp", "exp2", "expm1", "falling", "sinh", "tanh", "within"]

#: Adding it to a number below 2**51 rounds that to an integer, which stands in the low bits of the sum.
ROUNDER = 6755399441055744.0
ONE = 0x3FF0000000000000
#: The same for the power of two as well: the low bits of the sum are its exponent with the bias of f64.
BIASED_ROUNDER = ROUNDER + 1023.0

#: exp2 of these two f32 lies so little above a tie that the sum of doubles would be that tie.
TIES = (float.fromhex("0x1.853a6ep-9"), float.fromhex("-0x1.e7526ep-6"))
ABOVE_ONE = 1.0 + 2.0**-52

#: sinh of this one, of either sign, so little below; and the double below that tie.
SINH_TIE, SINH_BELOW = float.fromhex("0x1.250bfep-11"), float.fromhex("0x1.250bfefffffffp-11")

_brief_rest = polynomial(table.EXP_BRIEF)
_exp_rest = polynomial(table.EXP)
_exp2_rest = polynomial(table.EXP2[1:])
_cosh_rest = polynomial(table.COSH)
_sinh_rest = polynomial(table.SINH)


def between(x: f64, low: f64, high: f64) -> f64:
    """x, moved to the nearer end where it is outside; NaN stays."""
    above = low if x < low else x
    return high if above > high else above


def _octaves(x: f64) -> f64:
    """The integer nearest to x / ln 2, in the low bits."""
    return fma(x, table.LOG2_E, ROUNDER)


def _rest(x: f64, k: f64) -> f64:
    """x - k ln 2. The first step is exact: the high part of ln 2 has 40 bits, and k at most 9."""
    return fma(-k, table.LN2_LOW, fma(-k, table.LN2_HIGH, x))


def _power(shifted: f64) -> f64:
    """2 to the power of the integer in the low bits."""
    return bitcast((bitcast(shifted, u64) << 52) + ONE, f64)


def within(x: f64, low: f32, high: f32) -> f64:
    """`between` of an x that is an f32, as which it takes a vector half as wide."""
    narrow = f32(x)
    above = low if narrow < low else narrow
    return f64(high if above > high else above)


def exp(x: f64) -> f64:
    z = within(x, f32(-110.0), f32(90.0))
    shifted = fma(z, table.LOG2_E, BIASED_ROUNDER)
    r = _rest(z, shifted - BIASED_ROUNDER)
    scale = bitcast(bitcast(shifted, u64) << 52, f64)
    return fma(fma(r * r, _brief_rest(r), r), scale, scale)


def falling(x: f64) -> f64:
    """exp(x) of any number from -700 to 0, within a last place of f64."""
    shifted = _octaves(x)
    r = _rest(x, shifted - ROUNDER)
    return (fma(r * r, _exp_rest(r), r) + 1.0) * _power(shifted)


def exp2(x: f64) -> f64:
    z = within(x, f32(-160.0), f32(130.0))
    shifted = z + BIASED_ROUNDER
    r = z - (shifted - BIASED_ROUNDER)
    scale = bitcast(bitcast(shifted, u64) << 52, f64)
    start = ABOVE_ONE if x == TIES[0] or x == TIES[1] else scale
    return fma(fma(r, table.EXP2[0], r * fma(r, _exp2_rest(r), table.EXP2_LOW)), scale, start)


def expm1(x: f64) -> f64:
    z = between(x, -40.0, 90.0)
    shifted = _octaves(z)
    r = _rest(z, shifted - ROUNDER)
    scale = _power(shifted)
    return copysign(fma(scale, fma(r * r, _exp_rest(r), r), scale - 1.0), x)


def sinh(x: f64) -> f64:
    """sinh(k ln 2 + r) = (2**k - 2**-k) / 2 cosh(r) + (2**k + 2**-k) / 2 sinh(r); where k is 0 nothing but sinh(r) is left."""
    z = between(x, -90.0, 90.0)
    shifted = _octaves(z)
    r = _rest(z, shifted - ROUNDER)
    up, down = 0.5 * _power(shifted), 0.5 * _power(ROUNDER + ROUNDER - shifted)
    t = r * r
    even = t * fma(t, _cosh_rest(t), 0.5)
    odd = fma(r * t, _sinh_rest(t), r)
    value = fma(up - down, even, (up + down) * odd) + (up - down)
    return copysign(SINH_BELOW if abs(x) == SINH_TIE else value, x)


def cosh(x: f64) -> f64:
    """As `sinh`, with the halves of the sum exchanged."""
    z = between(x, -90.0, 90.0)
    shifted = _octaves(z)
    r = _rest(z, shifted - ROUNDER)
    up, down = 0.5 * _power(shifted), 0.5 * _power(ROUNDER + ROUNDER - shifted)
    t = r * r
    even = t * fma(t, _cosh_rest(t), 0.5)
    odd = fma(r * t, _sinh_rest(t), r)
    return fma(up + down, even, (up - down) * odd) + (up + down)


def tanh(x: f64) -> f64:
    """expm1(2x) / (expm1(2x) + 2)."""
    z = between(x + x, -40.0, 40.0)
    shifted = _octaves(z)
    r = _rest(z, shifted - ROUNDER)
    scale = _power(shifted)
    p = fma(scale, fma(r * r, _exp_rest(r), r), scale - 1.0)
    return copysign(p / (p + 2.0), x)
