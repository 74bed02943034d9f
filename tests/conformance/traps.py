"""Values that others got wrong, written out; the kernels are those of the conformance root."""

from __future__ import annotations

import numpy as np

from tests.conformance.cases import Case, per_element


def _integers() -> Case:
    a = np.array([-7, -1, -6, 6, -7, 5, -(2**31)], np.int32)
    b = np.array([2, 2, 5, -5, 3, 0, -1], np.int32)
    quotients = [-4, -1, -2, -2, -3, 0, -(2**31)]
    remainders = [1, 1, 4, -4, 2, 0, 0]
    rest = [np.left_shift(a, b), np.right_shift(a, b), np.abs(a) - (-a), a * b ^ ~a]
    wanted = np.stack([quotients, remainders, *rest], 1).astype(np.int32)
    return Case("integer_meaning", (a, b, np.zeros(a.size * 6, np.int32), a.size), {2: wanted.ravel()}, (1, 1, 1), (32, 1, 1))


def _floats() -> Case:
    """A remainder of large numbers; a product and a sum that a fused operation would not cancel; both zeros; NaN on either side."""
    x = np.array([1e10, 1 + 2**-12, -0.0, 0.0, np.nan, 1.0, 1e-40], np.float32)
    y = np.array([3.0, -(1 + 2**-11), 0.0, -0.0, 1.0, np.nan, -2e-40], np.float32)
    least = np.array([3.0, -(1 + 2**-11), -0.0, -0.0, np.nan, np.nan, -2e-40], np.float32)
    most = np.array([1e10, 1 + 2**-12, 0.0, 0.0, np.nan, np.nan, 1e-40], np.float32)
    wanted = np.stack([x // y, x % y, least, most, np.rint(x), x * x + y], 1).astype(np.float32)
    assert wanted[0, 1] == 1.0
    assert wanted[1, 5] == 0.0
    return Case("float_meaning", (x, y, np.zeros(x.size * 6, np.float32), x.size), {2: wanted.ravel()}, (1, 1, 1), (32, 1, 1))


def _conversions() -> Case:
    wild = np.array([np.nan, 3e9, -3e9, np.inf], np.float32)
    narrow, byte = np.array([0, 2**31 - 1, -(2**31), 2**31 - 1], np.int32), np.array([0, 255, 0, 255], np.uint8)
    return per_element("saturate", (wild,), (narrow, byte, np.array([0, 3000000000, -3000000000, 2**63 - 1], np.int64)))


def cases() -> list[Case]:
    with np.errstate(all="ignore"):
        return [_integers(), _floats(), _conversions()]
