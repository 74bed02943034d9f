"""Float arithmetic of `gompute.lang.numeric`: NumPy's bits where NumPy has the type, else the exact result rounded once."""

from __future__ import annotations

import itertools
import math
import operator
import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gompute.lang import exact, numeric
from gompute.lang.types import BF16, F16, F32, F64, ScalarType
from tests.lang.exact import magnitude, nearest
from tests.lang.samples import (
    NUMPY_FLOATS,
    UFUNCS,
    check_against_numpy,
    float_edges,
    random_floats,
    same,
)

FLOAT_OPS = ("add", "sub", "mul", "truediv", "floordiv", "mod")
EXACT_OPS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
}


@pytest.mark.parametrize("op", FLOAT_OPS)
@pytest.mark.parametrize("dtype", NUMPY_FLOATS)
def test_float_operations(op: str, dtype: ScalarType) -> None:
    edges = float_edges(dtype)
    drawn = random_floats(dtype, 4000, seed=3)
    quotients = random.Random(7)
    near_multiples = [(numeric.round_float(b * quotients.randint(-500, 500), dtype), b) for b in drawn[:2000]]
    check_against_numpy(op, dtype, [*itertools.product(edges, repeat=2), *zip(drawn[:2000], drawn[2000:], strict=True), *near_multiples])


@pytest.mark.parametrize("op", EXACT_OPS)
@pytest.mark.parametrize("dtype", [F16, BF16, F32])
def test_an_operation_rounds_its_exact_result_once(op: str, dtype: ScalarType) -> None:
    values = [v for v in float_edges(dtype) if math.isfinite(v)]
    drawn = random_floats(dtype, 600, seed=5)
    halves = random_floats(dtype, 300, seed=6)  # with the smallest numbers, for results below the normal range
    pairs = [*itertools.product(values, repeat=2), *zip(drawn[:300], drawn[300:], strict=True), *((v, 2.0) for v in halves)]
    for a, b in pairs:
        if op == "truediv" and b == 0:
            continue
        exact = EXACT_OPS[op](Fraction(a), Fraction(b))
        got = numeric.binary(op, a, b, dtype)
        assert got == nearest(exact, dtype), f"{a!r} {op} {b!r} of {dtype}"
        if exact != 0:
            assert (math.copysign(1, got) > 0) == (exact > 0)


@settings(deadline=None, max_examples=300)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_f32_quotients_and_products_of_any_size(a: float, b: float) -> None:
    assert numeric.binary("mul", a, b, F32) == nearest(Fraction(a) * Fraction(b), F32)
    if b != 0:
        assert numeric.binary("truediv", a, b, F32) == nearest(Fraction(a) / Fraction(b), F32)


@pytest.mark.parametrize("op", ["floordiv", "mod"])
def test_bf16_division_takes_its_steps_in_f32(op: str) -> None:
    edges = float_edges(BF16)
    drawn = random_floats(BF16, 600, seed=8)
    for a, b in [*itertools.product(edges, repeat=2), *zip(drawn[:300], drawn[300:], strict=True)]:
        with np.errstate(all="ignore"):
            in_f32 = float(UFUNCS[op](np.float32(a), np.float32(b)))
        wanted = in_f32 if in_f32 == 0 or not math.isfinite(in_f32) else nearest(Fraction(in_f32), BF16)
        assert same(numeric.binary(op, a, b, BF16), wanted), f"{a!r} {op} {b!r}"


@pytest.mark.parametrize("op", ["add", "sub", "mul", "truediv"])
def test_bf16_specials_are_those_of_f32(op: str) -> None:
    for a, b in itertools.product([0.0, -0.0, 1.0, -2.0, math.inf, -math.inf, math.nan], repeat=2):
        with np.errstate(all="ignore"):
            wanted = float(UFUNCS[op](np.float32(a), np.float32(b)))
        assert same(numeric.binary(op, a, b, BF16), wanted), f"{a!r} {op} {b!r}"


def test_nothing_is_contracted() -> None:
    a, c = 1 + 2.0**-12, -(1 + 2.0**-11)
    assert numeric.binary("add", numeric.binary("mul", a, a, F32), c, F32) == 0.0
    smallest = float(magnitude(1, F32))
    assert numeric.binary("add", smallest, smallest, F32) == 2 * smallest  # and denormals are kept


def test_float_remainder_of_a_large_quotient() -> None:
    assert numeric.binary("mod", 1e10, 3.0, F32) == 1.0
    assert numeric.binary("mod", 1e300, 3.0, F64) == float(np.remainder(1e300, 3.0))


def test_fmod_has_the_sign_of_the_dividend() -> None:
    assert exact.fmod(-7.0, 3.0) == -1.0
    assert same(exact.fmod(-6.0, 3.0), -0.0)
    assert exact.fmod(5.0, -math.inf) == 5.0
    for a, b in [(math.inf, 2.0), (1.0, 0.0), (math.nan, 1.0), (1.0, math.nan), (math.nan, 0.0)]:
        assert math.isnan(exact.fmod(a, b))
