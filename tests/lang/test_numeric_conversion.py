"""Conversion between types and the bits of values."""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gompute.lang import numeric
from gompute.lang.types import BF16, BOOL, F16, F32, F64, I8, I32, I64, U8, U16, U32, U64, ScalarType, TypedFloat, TypedInt
from tests.lang.exact import FIELDS, infinity_bits, magnitude, nearest
from tests.lang.samples import (
    FLOATS,
    INTEGERS,
    NUMPY,
    NUMPY_FLOATS,
    float_edges,
    random_floats,
    same,
)


def ties_and_their_neighbours(dtype: ScalarType, step: int) -> Iterable[float]:
    for bits in range(0, infinity_bits(dtype), step):
        tie = float((magnitude(bits, dtype) + magnitude(bits + 1, dtype)) / 2)
        yield from (tie, math.nextafter(tie, math.inf), math.nextafter(tie, 0), -tie)


def test_f16_rounds_as_numpy_at_every_tie() -> None:
    values = list(ties_and_their_neighbours(F16, 1))
    with np.errstate(all="ignore"):
        expected = np.array(values).astype(np.float16).astype(np.float64).tolist()
    for value, wanted in zip(values, expected, strict=True):
        assert same(numeric.convert(value, F16), wanted), value


@pytest.mark.parametrize(("dtype", "step"), [(BF16, 41), (F16, 43), (F32, 2**31 // 500)])
def test_rounding_is_to_nearest_even_and_done_once(dtype: ScalarType, step: int) -> None:
    values = [*ties_and_their_neighbours(dtype, step), *float_edges(F64)]
    for value in values:
        wanted = value if value == 0 or not math.isfinite(value) else nearest(Fraction(value), dtype)
        assert same(numeric.convert(value, dtype), wanted), value


def test_bf16_is_not_rounded_by_way_of_f32() -> None:
    just_above_a_tie = 1 + 2.0**-8 + 2.0**-40  # f32 drops the last digit and makes a tie of it
    assert numeric.convert(just_above_a_tie, BF16) == 1 + 2.0**-7
    assert numeric.convert(2**60 + 2**52 + 1, BF16) == 2.0**60 + 2.0**53
    assert numeric.convert(2**60 + 2**52, BF16) == 2.0**60


def test_the_ends_of_the_formats() -> None:
    assert numeric.convert(65519.99, F16) == 65504.0
    assert numeric.convert(65520.0, F16) == math.inf
    assert numeric.convert(-65520, F16) == -math.inf
    assert same(numeric.convert(-1e-300, BF16), -0.0)
    assert same(numeric.convert(-1e-300, F32), -0.0)
    assert numeric.convert(2.0**-134, BF16) == 0.0  # a tie with the smallest subnormal
    assert numeric.convert(2.0**-134 * 1.5, BF16) == 2.0**-133
    assert numeric.convert(511 * 2.0**119, BF16) == math.inf  # a tie of the largest and the power of two after it
    assert numeric.convert(math.nextafter(511 * 2.0**119, 0), BF16) == 255 * 2.0**120
    for dtype in FLOATS:
        assert numeric.convert(10**400, dtype) == math.inf
        assert numeric.convert(-(10**400), dtype) == -math.inf
        assert math.isnan(numeric.convert(math.nan, dtype))


@settings(deadline=None, max_examples=150)
@given(st.integers(-(2**64), 2**64) | st.integers(-(2**140), 2**140), st.sampled_from(FLOATS))
def test_an_integer_rounds_once(value: int, dtype: ScalarType) -> None:
    assert numeric.convert(value, dtype) == nearest(Fraction(value), dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_integers_beside_ties_round_once(dtype: ScalarType) -> None:
    digits = FIELDS[dtype.name][1] + 1
    for width in range(digits + 1, 70):
        for pattern in (2**digits + 1, 2**digits + 3):  # one digit too long: a tie
            tie = pattern << (width - digits)
            for value in (tie - 1, tie, tie + 1, -tie - 1):
                assert numeric.convert(value, dtype) == nearest(Fraction(value), dtype), value


def test_float_to_integer_saturates() -> None:
    assert [numeric.convert(v, I32) for v in (math.nan, 3e9, -3e9, math.inf)] == [0, 2147483647, -2147483648, 2147483647]
    assert [numeric.convert(v, U8) for v in (-1.0, -0.9, 255.9, 256.0, -math.inf)] == [0, 0, 255, 255, 0]
    assert numeric.convert(2.0**63, I64) == 2**63 - 1
    assert numeric.convert(math.nextafter(2.0**63, 0), I64) == 2**63 - 1024
    assert numeric.convert(2.0**64, U64) == 2**64 - 1


@pytest.mark.parametrize(("source", "target"), list(itertools.product(NUMPY_FLOATS, INTEGERS)))
def test_float_to_integer_drops_the_fraction(source: ScalarType, target: ScalarType) -> None:
    low, high = numeric.limits(target)
    values = [v for v in [*random_floats(source, 500, seed=9), *float_edges(source), -1.5, 100.75, -100.75] if low <= v <= high]
    expected = np.array(values, NUMPY[source]).astype(NUMPY[target]).tolist()
    assert [numeric.convert(v, target) for v in values] == [min(max(v, low), high) for v in expected]


def test_conversion_takes_whatever_is_a_number() -> None:
    class Mode(enum.IntEnum):
        FAST = 3

    assert type(numeric.convert(Mode.FAST, U8)) is int
    assert numeric.convert(True, F32) == 1.0
    scalars: list[tuple[Any, ScalarType, float]] = [(np.float32(0.1), F64, float(np.float32(0.1))), (np.int64(300), U8, 44)]
    for scalar, dtype, wanted in scalars:
        assert numeric.convert(scalar, dtype) == wanted
    assert numeric.convert(F32(0.1), F64) == float(np.float32(0.1))
    assert type(numeric.convert(F32(0.1), F64)) is float
    for wrong in ("3", None, [1]):
        with pytest.raises(TypeError, match="a number is needed"):
            numeric.convert(wrong, I32)  # type: ignore[arg-type]


def test_a_type_called_on_the_host_keeps_its_type() -> None:
    number, wrapped = F32(0.1), I8(200)
    assert isinstance(number, TypedFloat)
    assert (number, number.dtype) == (0.10000000149011612, F32)
    assert isinstance(wrapped, TypedInt)
    assert (wrapped, wrapped.dtype) == (-56, I8)
    assert BOOL(7) is True


# ---- bits ----


def test_every_f16_has_its_bits() -> None:
    values = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float64).tolist()
    for bits, value in enumerate(values):
        assert same(numeric.from_bits(bits, F16), value)
        if not math.isnan(value):
            assert numeric.to_bits(value, F16) == bits
    assert math.isnan(numeric.from_bits(numeric.to_bits(math.nan, F16), F16))


def test_every_bf16_has_its_bits() -> None:
    for bits in range(65536):
        value = numeric.from_bits(bits, BF16)
        size = bits & 0x7FFF
        if size > infinity_bits(BF16):
            assert math.isnan(value)
            assert numeric.to_bits(value, BF16) & 0x7FFF > infinity_bits(BF16)
            continue
        wanted = math.inf if size == infinity_bits(BF16) else float(magnitude(size, BF16))
        assert same(value, math.copysign(wanted, -1 if bits != size else 1))
        assert numeric.to_bits(value, BF16) == bits


@pytest.mark.parametrize("dtype", [F32, F64])
def test_bits_of_wide_floats(dtype: ScalarType) -> None:
    unsigned = np.uint32 if dtype is F32 else np.uint64
    for value in [*random_floats(dtype, 500, seed=4), *float_edges(dtype)[:-1]]:
        bits = int(np.array(value, NUMPY[dtype]).view(unsigned))
        assert numeric.to_bits(value, dtype) == bits
        assert same(numeric.from_bits(bits, dtype), value)


def test_bitcast_reads_the_same_bits() -> None:
    assert numeric.intrinsic("bitcast", [1.0], U32, F32) == 0x3F800000
    assert numeric.intrinsic("bitcast", [-0.0], I64, F64) == -(2**63)
    assert numeric.intrinsic("bitcast", [0x3F80], BF16, U16) == 1.0
    assert numeric.intrinsic("bitcast", [-1], U8, I8) == 255
    with pytest.raises(ValueError, match="width"):
        numeric.intrinsic("bitcast", [1.0], U64, F32)
