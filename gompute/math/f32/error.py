"""erf and erfc for f32.

erfc(x) exp(x * x) is smooth, and a polynomial of degree 22 in 4 / (x + 4) holds it from 0 to where erfc vanishes (after M. M. Shepherd and
J. G. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x*x) erfc x", Mathematics of Computation 36, 1981). x * x is exact.
"""

from __future__ import annotations

from gompute.lang.names import f64
from gompute.math.exact import copysign
from gompute.math.f32 import coefficients as table
from gompute.math.f32.exponential import falling
from gompute.math.polynomial import polynomial

__all__ = ["erf", "erfc"]

#: erfc of this f32 lies so little below a tie that a double is that tie; and the double below.
ERFC_TIE, ERFC_BELOW = float.fromhex("-0x1.d93ec4p-17"), float.fromhex("0x1.00010afffffffp+0")

_erf_over_x = polynomial(table.ERF)
_erfc_scaled = polynomial(table.ERFC)


def _complement(a: f64) -> f64:
    """erfc(a) for a >= 0."""
    z = a if a < 10.25 else 10.25
    return falling(-z * z) * _erfc_scaled(table.ERFC_SCALE / (z + 4.0) + table.ERFC_SHIFT)


def erf(x: f64) -> f64:
    a = abs(x)
    inner = x * _erf_over_x(x * x)
    outer = copysign(1.0 - _complement(a), x)
    result = inner if a < 1.0 else outer
    return result if x == x else x


def erfc(x: f64) -> f64:
    a = abs(x)
    right = _complement(a)
    result = right if x >= 0.0 else 2.0 - right
    value = ERFC_BELOW if x == ERFC_TIE else result
    return value if x == x else x
