"""Every operation on every type, as compiled code computes it, against `gompute.lang.numeric`, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from gompute.lang import numeric
from gompute.lang.types import I8, SCALARS, U8, ScalarType
from tests.frontend.emit import values
from tests.frontend.emit.cases import Case, binary_case, bitcast_cases, constant_cases, one_operand_cases, two_operand_cases
from tests.frontend.emit.compiled import Loaded
from tests.frontend.emit.trees import elementwise, module

NUMBERS = [scalar for scalar in SCALARS.values() if scalar.kind != "bool"]
INTEGERS = [scalar for scalar in NUMBERS if scalar.is_integer]


def check(operands: Sequence[ScalarType], columns: Sequence[list[int]], cases: Sequence[Case]) -> None:
    """Compute all cases in one kernel, for every row of the columns of bit patterns."""
    loaded = Loaded(module([elementwise("cases", operands, [case.make for case in cases])]))
    length = len(columns[0])
    arrays = [values.array(scalar, column) for scalar, column in zip(operands, columns, strict=True)]
    outs = [np.zeros(length, values.UNSIGNED[case.result.bits]) for case in cases]
    loaded.run("cases", *arrays, *outs, np.uint64(length), grid=(length // 256 + 1, 1, 1), block=(256, 1, 1))
    numbers = [values.decoded(scalar, column) for scalar, column in zip(operands, columns, strict=True)]
    wrong = {}
    for case, out in zip(cases, outs, strict=True):
        expected = [case.expect(*row) for row in zip(*numbers, strict=True)]
        found = values.differences(case.result, out, expected, *numbers)
        if found:
            wrong[case.name] = found
    assert not wrong


@pytest.mark.parametrize("scalar", SCALARS.values(), ids=str)
def test_two_operands(scalar: ScalarType) -> None:
    check((scalar, scalar), values.pairs(scalar, 1500 if scalar.is_float else 500, "two"), two_operand_cases(scalar))


@pytest.mark.parametrize("scalar", [I8, U8], ids=str)
def test_all_pairs_of_bytes(scalar: ScalarType) -> None:
    columns = [a for a in range(256) for _ in range(256)], list(range(256)) * 256
    check((scalar, scalar), columns, [binary_case(scalar, op) for op in ("floordiv", "mod", "shl", "shr")])


@pytest.mark.parametrize("scalar", INTEGERS, ids=str)
def test_constant_divisors_and_shifts(scalar: ScalarType) -> None:
    check((scalar,), [values.edges(scalar) + values.samples(scalar, 300, "constants")], constant_cases(scalar))


@pytest.mark.parametrize("scalar", SCALARS.values(), ids=str)
def test_one_operand(scalar: ScalarType) -> None:
    """All bytes, a third of all 16-bit floats; of other types the values where something changes, and random ones."""
    check((scalar,), [_telling_values(scalar)], one_operand_cases(scalar))


@pytest.mark.parametrize("scalar", SCALARS.values(), ids=str)
def test_bitcasts(scalar: ScalarType) -> None:
    column = values.edges(scalar) + values.samples(scalar, 500, "bitcast")
    # the bits of a NaN are no part of what is promised
    numbers = [pattern for pattern, value in zip(column, values.decoded(scalar, column), strict=True) if value == value]
    check((scalar,), [numbers], bitcast_cases(scalar))


def _telling_values(scalar: ScalarType) -> list[int]:
    """Bit patterns of values that a narrower type must round, saturate or wrap with care."""
    if scalar.kind == "bool":
        return [0, 1]
    if scalar.bits == 8:
        return list(range(256))
    if scalar.bits == 16 and scalar.is_float:
        return sorted({*range(0, 1 << 16, 3), *values.edges(scalar)})
    patterns = set(values.edges(scalar) + values.samples(scalar, 1500, "one"))
    for target in NUMBERS:
        for number in _limits(target) if target.is_integer else _ties(target):
            if scalar.is_integer:
                patterns |= {numeric.to_bits(numeric.wrap(int(number) + step, scalar), scalar) for step in (-2, -1, 0, 1, 2)}
            else:
                pattern = numeric.to_bits(numeric.round_float(float(number), scalar), scalar)
                patterns |= {(pattern + step) & ((1 << scalar.bits) - 1) for step in (-1, 0, 1)}
    return sorted(patterns)


def _limits(scalar: ScalarType) -> list[float]:
    """Numbers around the ends of an integer type."""
    return [end + step for end in numeric.limits(scalar) for step in (-1, -0.5, 0, 0.5, 1)]


def _ties(scalar: ScalarType) -> list[float]:
    """Numbers halfway between two neighbours of a float type."""
    largest = (1 << (scalar.bits - 1)) - 1
    patterns = [pattern for pattern in values.edges(scalar) + values.samples(scalar, 120, "ties") if pattern & largest < largest]
    neighbours = [values.decoded(scalar, (pattern, pattern + 1)) for pattern in patterns]
    return [below / 2 + above / 2 for below, above in neighbours if abs(below) + abs(above) < np.inf]
