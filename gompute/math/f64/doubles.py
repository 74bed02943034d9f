"""Sums and products that lose nothing: what rounding took off, and results that are rounded once wherever they lie.

A value that one double cannot hold is the sum of two, `high` and `low`. Dekker, "A floating-point technique for extending the available
precision", Numerische Mathematik 18 (1971); Ogita, Rump and Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005).
"""

from __future__ import annotations

from gompute.lang.builtins import bitcast, select
from gompute.lang.names import f64, u64
from gompute.math.exact import fma

INFINITY = float("inf")
NAN = float("nan")
MAGIC = 6755399441055744.0
"""1.5 * 2**52: added to a number below 2**51, it leaves the nearest integer in the lowest bits."""


def sum_error(a: f64, b: f64, total: f64) -> f64:
    """What rounding took off ``total = a + b``, where a is the larger or zero."""
    return b - (total - a)


def any_sum_error(a: f64, b: f64, total: f64) -> f64:
    """What rounding took off ``total = a + b``, whichever is the larger."""
    part = total - a
    return (a - (total - part)) + (b - part)


def product_error(a: f64, b: f64, product: f64) -> f64:
    """What rounding took off ``product = a * b``."""
    return fma(a, b, -product)


def power_of_two(exponent: u64) -> f64:
    """2**(exponent - 1023), for an exponent from 1 to 2046."""
    return bitcast(exponent << 52, f64)


def scaled(high: f64, low: f64, exponent: u64) -> f64:
    """``(high + low) * 2**m`` rounded once, to a subnormal number too, where high is in [2**-7, 4), low at most 2**-7 of it, and
    `exponent` is m modulo 4096. Above the largest number comes anything; m is at most 1024.

    Where the result is subnormal, a power of two that is 2**52 of its units is added first, so that the one rounding happens at that unit.
    Then what was rounded counts those units in its lowest bits, which are the bits of the result; elsewhere m is added to its exponent.
    """
    moved = exponent << 52
    # 2**(-1022 - m); negative or zero for a positive m.
    smallest = bitcast(0x0010000000000000 - moved, f64)
    below = high + low < smallest
    anchor = select(below, smallest, 0.0)
    total = anchor + high
    rounded = total + (((anchor - total) + high) + low)
    return bitcast(bitcast(rounded, u64) + moved - select(below, u64(0x0010000000000000), u64(0)), f64)
