"""Comparisons, the built-in functions, and what a type refuses."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from gompute.lang import numeric
from gompute.lang.types import BF16, BOOL, F32, F64, I32, ScalarType
from tests.lang.samples import (
    FLOATS,
    INTEGERS,
    NUMPY,
    NUMPY_FLOATS,
    float_edges,
    integer_edges,
    random_floats,
    same,
)


@pytest.mark.parametrize("dtype", [*INTEGERS, *NUMPY_FLOATS])
def test_comparisons(dtype: ScalarType) -> None:
    edges = float_edges(dtype) if dtype.is_float else integer_edges(dtype)
    array = np.array(edges, NUMPY[dtype])
    ufuncs = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
    for op, ufunc in ufuncs.items():
        got = [[numeric.compare(op, a, b) for b in edges] for a in edges]
        assert got == ufunc(array[:, None], array[None, :]).tolist(), op


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_min_and_max(dtype: ScalarType) -> None:
    edges = float_edges(dtype) if dtype.is_float else integer_edges(dtype)
    for a, b in itertools.product(edges, repeat=2):
        least, most = (numeric.intrinsic(name, [a, b], dtype, dtype) for name in ("min", "max"))
        if math.isnan(a) or math.isnan(b):
            assert math.isnan(least)
            assert math.isnan(most)
        elif a == b == 0 and dtype.is_float:
            negative = math.copysign(1, a) < 0 or math.copysign(1, b) < 0
            positive = math.copysign(1, a) > 0 or math.copysign(1, b) > 0
            assert same(least, -0.0 if negative else 0.0)
            assert same(most, 0.0 if positive else -0.0)
        else:
            assert (least, most) == (min(a, b), max(a, b))


@pytest.mark.parametrize("dtype", NUMPY_FLOATS)
def test_float_unary_operations(dtype: ScalarType) -> None:
    values = [*float_edges(dtype), *random_floats(dtype, 1000, seed=2), 3.5, -0.5, -0.25, 1023.5, -1022.5]
    array = np.array(values, NUMPY[dtype])
    for got, expected in [
        ([numeric.unary("neg", v, dtype) for v in values], np.negative(array)),
        ([numeric.intrinsic("abs", [v], dtype, dtype) for v in values], np.abs(array)),
        ([numeric.intrinsic("round", [v], dtype, dtype) for v in values], np.rint(array)),
    ]:
        assert all(map(same, got, expected.tolist()))


def test_rounding_a_bf16_gives_a_bf16() -> None:
    for value in (0.5, -0.5, 1.5, 2.5, 127.5, 2.0**100, math.inf):
        got = numeric.intrinsic("round", [value], BF16, BF16)
        assert same(got, float(np.rint(value)))
        assert numeric.convert(got, BF16) == got


def test_operations_that_a_type_does_not_have() -> None:
    for op, dtype in [("truediv", I32), ("and", F32), ("shl", F64), ("add", BOOL), ("shl", BOOL), ("pow", I32)]:
        with pytest.raises(ValueError, match=f"no operation '{op}' on {dtype}"):
            numeric.binary(op, 1, 1, dtype)
    for op, dtype in [("neg", BOOL), ("invert", F32), ("not", I32)]:
        with pytest.raises(ValueError, match=f"no operation '{op}' on {dtype}"):
            numeric.unary(op, 1, dtype)
    with pytest.raises(ValueError, match="no function 'sin'"):
        numeric.intrinsic("sin", [1.0], F32, F32)
