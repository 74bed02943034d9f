"""Sample values of every type as bit patterns, and results compared as bits."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np

from gompute.lang import numeric
from gompute.lang.types import ScalarType

UNSIGNED = {8: np.dtype(np.uint8), 16: np.dtype(np.uint16), 32: np.dtype(np.uint32), 64: np.dtype(np.uint64)}

_FLOAT_FIELDS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}  # bits of exponent and fraction


def edges(scalar: ScalarType) -> list[int]:
    """Bit patterns at and around which a type's arithmetic changes."""
    bits, every = scalar.bits, (1 << scalar.bits) - 1
    if scalar.kind == "bool":
        return [0, 1]
    if scalar.kind != "float":
        small = [0, 1, 2, 3, 5, 7, 8, 10, bits - 1, bits, bits + 1]
        high = [1 << (bits - 1), (1 << (bits - 1)) + 1, (1 << (bits - 1)) - 1, (1 << (bits - 1)) - 2, 1 << (bits - 2)]
        return sorted({pattern & every for value in small + high for pattern in (value, -value)})
    exponent_bits, fraction_bits = _FLOAT_FIELDS[scalar.name]
    one = ((1 << (exponent_bits - 1)) - 1) << fraction_bits
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    unit = 1 << fraction_bits
    quiet_nan = infinity | unit >> 1
    positive = [0, 1, 2, 3, unit - 1, unit, unit + 1, one - 1, one, one + 1, one - unit, one + unit, one + unit + (unit >> 1)]
    positive += [
        one + unit + (unit >> 2),
        one + (unit >> 1),
        one + 3 * unit + 5,
        infinity - 1,
        infinity,
        quiet_nan,
        one + fraction_bits * unit,
    ]
    sign = 1 << (bits - 1)
    return sorted(set(positive) | {pattern | sign for pattern in positive})


def samples(scalar: ScalarType, count: int, seed: str) -> list[int]:
    """Random bit patterns: all bits random, and numbers of few digits."""
    draw = random.Random(f"{scalar.name} {seed}")
    if scalar.kind == "bool":
        return [draw.getrandbits(1) for _ in range(count)]
    if scalar.kind != "float":
        widths = [draw.randint(1, scalar.bits) for _ in range(count)]
        return [numeric.to_bits(draw.getrandbits(width) * draw.choice((1, -1)), scalar) for width in widths]
    made = []
    for position in range(count):
        if position % 2:
            made.append(draw.getrandbits(scalar.bits))
        else:
            made.append(numeric.to_bits(numeric.round_float(draw.uniform(-1, 1) * 2.0 ** draw.randint(-6, 20), scalar), scalar))
    return made


def pairs(scalar: ScalarType, count: int, seed: str) -> tuple[list[int], list[int]]:
    """All pairs of edges and `count` pairs of samples."""
    at_edges = [(a, b) for a in edges(scalar) for b in edges(scalar)]
    left = [a for a, _ in at_edges] + samples(scalar, count, f"{seed} left")
    right = [b for _, b in at_edges] + samples(scalar, count, f"{seed} right")
    return left, right


def array(scalar: ScalarType, patterns: Sequence[int]) -> np.ndarray:
    """Memory of a kernel's array of `scalar`."""
    return np.array(patterns, dtype=UNSIGNED[scalar.bits])


def decoded(scalar: ScalarType, patterns: Sequence[int]) -> list[numeric.Number]:
    """The values that the patterns stand for."""
    return [numeric.from_bits(pattern, scalar) for pattern in patterns]


def differences(
    scalar: ScalarType, got: np.ndarray, expected: Sequence[numeric.Number], *operands: Sequence[numeric.Number]
) -> list[tuple[object, ...]]:
    """Where the bits differ: (operands..., got, expected); every NaN counts as one value. At most ten."""
    found: list[tuple[object, ...]] = []
    for position, (pattern, value) in enumerate(zip(got.tolist(), expected, strict=True)):
        if pattern == numeric.to_bits(value, scalar):
            continue
        number = numeric.from_bits(pattern, scalar)
        if scalar.kind == "float" and math.isnan(value) and math.isnan(number):
            continue
        found.append((*(operand[position] for operand in operands), number, value))
        if len(found) == 10:
            break
    return found
