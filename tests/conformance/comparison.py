"""Bit for bit."""

from __future__ import annotations

import numpy as np


def same_bits(got: np.ndarray, wanted: np.ndarray, bfloat: bool = False) -> None:
    """Equal bit for bit; a NaN equals any NaN, since payloads are free.

    Args:
        bfloat: the arrays hold the bits of bfloat16.
    """
    assert got.dtype == wanted.dtype
    if bfloat:
        got, wanted = ((array.astype(np.uint32) << 16).view(np.float32) for array in (got, wanted))
    if got.dtype.kind == "f":
        nan = np.isnan(wanted)
        np.testing.assert_array_equal(np.isnan(got), nan)
        got, wanted = got[~nan], wanted[~nan]
    different = got.reshape(-1).view(np.uint8) != wanted.reshape(-1).view(np.uint8)
    assert not different.any(), f"got {got.ravel()[:20]}, wanted {wanted.ravel()[:20]}"
