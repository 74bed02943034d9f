"""Rounding a result that is known in two parts, so that rounding it again to a narrower type rounds correctly."""

from __future__ import annotations

from gompute.lang.builtins import bitcast
from gompute.lang.names import f64, u64

__all__ = ["rounded_to_odd"]


def rounded_to_odd(high: f64, rest: f64) -> f64:
    """`high`; where `rest`, what the value has more than that, is not 0 and the last digit of `high` is even, its neighbour on that side.

    `high` is within one last place of the value. Rounding to odd and then to a format with at least 2 digits less is rounding once (S.
    Boldo and G. Melquiond, "Emulation of a FMA and correctly rounded sums", IEEE Transactions on Computers 57, 2008).
    """
    bits = bitcast(high, u64)
    inward = (bits ^ bitcast(rest, u64)) >> 63
    moved = bits + 1 - 2 * inward
    even = bits & 1 == 0
    return bitcast(moved if even and rest != 0.0 else bits, f64)
