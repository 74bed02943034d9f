"""exp for f32 through f64."""

from __future__ import annotations

from gompute.lang.builtins import bitcast
from gompute.lang.names import f64, u64
from gompute.math.exact import fma
from gompute.math.f32 import coefficients as table
from gompute.math.polynomial import polynomial

__all__ = ["exp"]

#: Adding it to a number below 2**51 rounds that to an integer, which stands in the low bits of the sum.
ROUNDER = 6755399441055744.0
ONE = 0x3FF0000000000000

_exp_rest = polynomial(table.EXP)


def exp(x: f64) -> f64:
    low = x if x > -110.0 else -110.0
    z = low if low < 90.0 else 90.0
    shifted = fma(z, table.LOG2_E, ROUNDER)
    k = shifted - ROUNDER
    r = fma(-k, table.LN2_LOW, fma(-k, table.LN2_HIGH, z))
    scale = bitcast((bitcast(shifted, u64) << 52) + ONE, f64)
    y = fma(r * r, _exp_rest(r), r) + 1.0
    result = y * scale
    return result if x == x else x
