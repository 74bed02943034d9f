"""Integers and bools of `gompute.lang.numeric` against NumPy."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest

from gompute.lang import numeric
from gompute.lang.types import BOOL, I8, I32, I64, U8, U64, ScalarType
from tests.lang.samples import (
    INTEGERS,
    NUMPY,
    check_against_numpy,
    integer_edges,
)

INTEGER_OPS = ("add", "sub", "mul", "floordiv", "mod", "and", "or", "xor", "shl", "shr")


@pytest.mark.parametrize("op", INTEGER_OPS)
@pytest.mark.parametrize("dtype", [I8, U8])
def test_every_pair_of_8_bit_integers(op: str, dtype: ScalarType) -> None:
    low, high = numeric.limits(dtype)
    check_against_numpy(op, dtype, itertools.product(range(low, high + 1, 1 if op in ("floordiv", "mod") else 3), range(low, high + 1)))


@pytest.mark.parametrize("op", INTEGER_OPS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_operations(op: str, dtype: ScalarType) -> None:
    generator = random.Random(f"{op} {dtype}")
    low, high = numeric.limits(dtype)
    drawn = [(generator.randint(low, high), generator.randint(low, high)) for _ in range(300)]
    drawn += [(generator.randint(low, high), generator.randint(max(low, -70), min(high, 70))) for _ in range(300)]
    check_against_numpy(op, dtype, [*itertools.product(integer_edges(dtype), repeat=2), *drawn])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_unary_operations(dtype: ScalarType) -> None:
    edges = integer_edges(dtype)
    array = np.array(edges, NUMPY[dtype])
    assert [numeric.unary("neg", v, dtype) for v in edges] == np.negative(array).tolist()
    assert [numeric.unary("invert", v, dtype) for v in edges] == np.invert(array).tolist()
    assert [numeric.intrinsic("abs", [v], dtype, dtype) for v in edges] == np.abs(array).tolist()
    assert [numeric.intrinsic("round", [v], dtype, dtype) for v in edges] == edges


@pytest.mark.parametrize(("source", "target"), list(itertools.product(INTEGERS, repeat=2)))
def test_integers_wrap_between_types(source: ScalarType, target: ScalarType) -> None:
    edges = integer_edges(source)
    assert [numeric.convert(v, target) for v in edges] == np.array(edges, NUMPY[source]).astype(NUMPY[target]).tolist()


def test_integers_of_any_size_wrap() -> None:
    assert numeric.convert(2**200 + 5, I32) == 5
    assert numeric.convert(-(2**200) - 1, U8) == 255
    assert numeric.convert(2**63, I64) == -(2**63)


def test_integer_division_floors() -> None:
    assert numeric.binary("floordiv", -7, 2, I32) == -4
    assert numeric.binary("floordiv", -1, 2, I32) == -1
    assert [numeric.binary("mod", a, b, I32) for a, b in zip([-6, 6, -7], [5, -5, 3], strict=True)] == [4, -4, 2]


def test_integer_division_by_zero_and_overflow() -> None:
    assert numeric.binary("floordiv", 5, 0, I32) == 0
    assert numeric.binary("mod", 5, 0, I32) == 0
    assert numeric.binary("floordiv", -(2**31), -1, I32) == -(2**31)
    assert numeric.binary("mod", -(2**31), -1, I32) == 0


def test_a_shift_amount_is_unsigned() -> None:
    assert [numeric.binary("shl", 1, n, I32) for n in (31, 32, -1)] == [-(2**31), 0, 0]
    assert [numeric.binary("shr", -8, n, I32) for n in (1, 31, 32, -1)] == [-4, -1, -1, -1]
    assert [numeric.binary("shr", 8, n, I32) for n in (3, 32, -1)] == [1, 0, 0]
    assert numeric.binary("shr", 2**64 - 1, 64, U64) == 0


# ---- bool ----


def test_bool_operations() -> None:
    for a, b in itertools.product((False, True), repeat=2):
        assert numeric.binary("and", a, b, BOOL) is (a and b)
        assert numeric.binary("or", a, b, BOOL) is (a or b)
        assert numeric.binary("xor", a, b, BOOL) is (a is not b)
        assert numeric.intrinsic("max", [a, b], BOOL, BOOL) is (a or b)
        assert numeric.intrinsic("min", [a, b], BOOL, BOOL) is (a and b)
    assert numeric.unary("not", True, BOOL) is False
    assert numeric.unary("invert", False, BOOL) is True
    assert numeric.intrinsic("abs", [True], BOOL, BOOL) is True


def test_what_differs_from_zero_is_true() -> None:
    assert [numeric.convert(v, BOOL) for v in (0, 0.0, -0.0)] == [False] * 3
    assert [numeric.convert(v, BOOL) for v in (256, -1, 0.3, 5e-324, math.inf, math.nan)] == [True] * 6
