"""Rounding against fractions: of whole arrays, and one by one."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.ptx import exact

FORMATS = {"f16": exact.F16, "bf16": exact.BF16, "f32": exact.F32, "f64": exact.F64}
Array = np.ndarray[Any, Any]


def numbers(format: exact.Format, rng: np.random.Generator, count: int) -> Array:
    """Values of the format: near its ends, of few digits, special."""
    digits = np.floor(rng.random(count) * 2.0**format.digits)
    few = np.array([0, 1, 3, 2.0 ** (format.digits - 1), 2.0**format.digits - 1])
    digits = np.where(rng.random(count) < 0.4, few[rng.integers(0, few.size, count)], digits)
    unit = np.where(
        rng.random(count) < 0.5,
        rng.integers(format.least, format.most - format.digits, count),
        rng.integers(-format.digits - 4, 5, count),
    )
    values = np.ldexp(digits, unit) * rng.choice([-1.0, 1.0], count)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan])
    return np.where(rng.random(count) < 0.05, special[rng.integers(0, 5, count)], values)


def assert_same(found: Array, wanted: Array) -> None:
    different = ~((np.isnan(found) & np.isnan(wanted)) | ((found == wanted) & (np.signbit(found) == np.signbit(wanted))))
    assert not different.any(), np.flatnonzero(different)[:5]


@pytest.mark.parametrize("name", FORMATS)
def test_fma_in_arrays_is_that_of_fractions(name: str) -> None:
    format, rng = FORMATS[name], np.random.default_rng(1)
    a, b, c = (numbers(format, rng, 1500) for _ in range(3))
    with np.errstate(all="ignore"):
        # A third where the sum cancels, wholly or nearly; a third where the product is near a tie's end.
        near = np.ldexp(-a * b, rng.choice([0, 0, 1, -format.digits], a.size))
        near = near if name == "f64" else exact.narrowed(near, format)
        c = np.where(rng.random(c.size) < 0.6, near, c)
        found = exact.fma64(a, b, c) if name == "f64" else exact.fma_narrow(a, b, c, format)
        assert_same(found, exact.each(lambda x, y, z: exact.rounded_fma(x, y, z, format, "rn"), a, b, c))
        if name != "f64":
            assert_same(exact.sum_narrow(a, c, format), exact.each(lambda x, z: exact.rounded_sum(x, z, format, "rn"), a, c))


@pytest.mark.parametrize("name", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("mode", exact.ROUNDERS)
def test_narrowing_in_arrays_is_that_of_fractions(name: str, mode: str) -> None:
    format, rng = FORMATS[name], np.random.default_rng(2)
    values = np.concatenate([numbers(exact.F64, rng, 300), numbers(format, rng, 300), rng.uniform(-70000, 70000, 300)])
    ties = numbers(format, rng, 300) * (1 + 2.0**-format.digits)
    values = np.concatenate([values, ties, np.nextafter(ties, 0), np.nextafter(ties, np.inf)])

    def wanted(value: float) -> float:
        return exact.rounded(Fraction(value), format, mode) if math.isfinite(value) and value != 0 else value

    with np.errstate(all="ignore"):
        assert_same(exact.narrowed(values, format, mode), exact.each(wanted, values))


def test_narrowing_agrees_with_numpy() -> None:
    rng = np.random.default_rng(7)
    values = np.ldexp(rng.standard_normal(20000), rng.integers(-160, 140, 20000))
    with np.errstate(all="ignore"):
        assert_same(exact.narrowed(values, exact.F32), values.astype(np.float32).astype(np.float64))
        assert_same(exact.narrowed(values, exact.F16), values.astype(np.float16).astype(np.float64))


def test_the_nearest_sum_product_quotient_and_root_are_the_hardwares() -> None:
    rng = np.random.default_rng(3)
    a, b = (numbers(exact.F64, rng, 500) for _ in range(2))
    with np.errstate(all="ignore"):
        assert_same(exact.each(lambda x, y: exact.rounded_sum(x, y, exact.F64, "rn"), a, b), a + b)
        assert_same(exact.each(lambda x, y: exact.rounded_product(x, y, exact.F64, "rn"), a, b), a * b)
        assert_same(exact.each(lambda x, y: exact.rounded_quotient(x, y, exact.F64, "rn"), a, b), a / b)
        assert_same(exact.each(lambda x: exact.rounded_root(x, exact.F64, "rn"), a), np.sqrt(a))


def test_directed_rounding_brackets_the_exact_value() -> None:
    third = Fraction(1, 3)
    for name, format in FORMATS.items():
        down, up = exact.rounded(third, format, "rm"), exact.rounded(third, format, "rp")
        assert Fraction(down) < third < Fraction(up), name
        assert exact.rounded(third, format, "rz") == down
        assert exact.rounded(-third, format, "rz") == -down
        assert exact.rounded(-third, format, "rp") == -down
        assert Fraction(up) - Fraction(down) == Fraction(1, 2 ** (format.digits + 1))
    assert exact.rounded_sum(1.0, -1.0, exact.F32, "rm") == 0
    assert math.copysign(1, exact.rounded_sum(1.0, -1.0, exact.F32, "rm")) == -1
    assert exact.rounded_sum(3e38, 3e38, exact.F32, "rz") == float(np.finfo(np.float32).max)


def test_integers_become_floats_in_one_rounding() -> None:
    rng = np.random.default_rng(4)
    wide = rng.integers(-(2**63), 2**63, 300) >> rng.integers(0, 63, 300)
    for values in (wide, wide.view(np.uint64), np.array([2**63 - 1, -(2**63), 0, 1, -1, 2049, 2051, 65519, 65520])):
        for name in ("f16", "bf16", "f32"):
            format = FORMATS[name]
            wanted = [exact.rounded(Fraction(value), format, "rn") if value else 0.0 for value in values.tolist()]
            with np.errstate(all="ignore"):
                assert_same(exact.narrowed(exact.integer_to_odd(values), format), np.array(wanted))


def test_a_float_cut_to_an_integer_is_clamped() -> None:
    values = np.array([np.nan, 3e9, -3e9, np.inf, -np.inf, 2.0**63, -(2.0**63), 1.5, -1.5, -0.5, 2.5])
    with np.errstate(all="ignore"):
        whole = exact.truncated(values, "rz", 32, True).tolist()
        assert whole == [0, 2**31 - 1, -(2**31), 2**31 - 1, -(2**31), 2**31 - 1, -(2**31), 1, -1, 0, 2]
        assert exact.truncated(values, "rn", 64, True).tolist()[5:] == [2**63 - 1, -(2**63), 2, -2, 0, 2]
        assert exact.truncated(values, "rp", 8, False).tolist() == [0, 255, 0, 255, 0, 255, 0, 2, 0, 0, 3]
        assert exact.truncated(np.array([2.0**63]), "rz", 64, False).tolist() == [2**63]
