"""Values of each type that go wrong most easily."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.language import numbers

Array = np.ndarray[Any, Any]


def edges(kind: str) -> Array:
    """As the type is computed with."""
    if kind == "bool":
        return np.array([False, True])
    if kind in numbers.FLOATS:
        values = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 7.25, 255.9, 65504.0, 3e9, -3e9, 1e10, 1e-40, np.inf, -np.inf, np.nan]
        values += [float(2**63), float(-(2**63)), 1 + 2**-11, 1 + 2**-12, -(1 + 2**-11), 6e-8, -3.0]
        return numbers.cast(np.array(values), "f64", kind)
    low, high = numbers.limits(kind)
    values = [
        0,
        1,
        2,
        3,
        5,
        6,
        7,
        31,
        32,
        33,
        63,
        64,
        low,
        low + 1,
        high,
        high - 1,
        *([-1, -2, -5, -6, -7, -33] if low else [high // 2 + 1]),
    ]
    return np.array(sorted(set(values)), numbers.dtype_of(kind))


def pairs(a: str, b: str) -> tuple[Array, Array]:
    """Every edge of the one type with every edge of the other."""
    x, y = np.meshgrid(edges(a), edges(b))
    return np.ascontiguousarray(x.ravel()), np.ascontiguousarray(y.ravel())


def memory(values: Array, kind: str) -> Array:
    """As a NumPy user would hold them: bfloat16 as the bits that it has."""
    return numbers.to_bits(values, kind) if kind == "bf16" else values
