"""Numbers that tell right from nearly right, and a comparison with NumPy that sees every bit."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable

import numpy as np

from gompute.lang import numeric
from gompute.lang.types import BF16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, ScalarType
from tests.lang.exact import FIELDS, infinity_bits, magnitude

INTEGERS = (I8, I16, I32, I64, U8, U16, U32, U64)
FLOATS = (F16, BF16, F32, F64)
NUMPY_FLOATS = (F16, F32, F64)
NUMPY = {t: np.dtype(f"{t.kind[0]}{t.size}") for t in (*INTEGERS, *NUMPY_FLOATS)}
"""NumPy has no bfloat16."""
UFUNCS: dict[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shl": np.left_shift,
    "shr": np.right_shift,
}


def same(a: float, b: float) -> bool:
    """Equal to the bit, but for NaN, which is one value."""
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b and math.copysign(1, a) == math.copysign(1, b)


def integer_edges(dtype: ScalarType) -> list[int]:
    low, high = numeric.limits(dtype)
    wanted = {low, low + 1, high, high - 1, high // 2, high // 2 + 1, *range(-9, 10), dtype.bits - 1, dtype.bits, dtype.bits + 1}
    return sorted(v for v in wanted if low <= v <= high)


def float_edges(dtype: ScalarType) -> list[float]:
    """Both signs of: zero, the smallest and largest subnormal, the ends of the normal range, small numbers, infinity; and NaN."""
    fraction_bits = FIELDS[dtype.name][1]
    normal = 1 << fraction_bits
    positive = [float(magnitude(bits, dtype)) for bits in (0, 1, 2, 3, normal - 1, normal, normal + 1, infinity_bits(dtype) - 1)]
    one = int(np.float32(1).view(np.uint32)) >> 16 if dtype is BF16 else numeric.to_bits(1.0, dtype)
    positive += [float(magnitude(one + step, dtype)) for step in (-1, 0, 1)]
    positive += [0.5, 1.5, 2.0, 2.5, 3.0, 5.5, 7.0, 10.0, math.inf]
    return [*positive, *(-v for v in positive), math.nan]


def random_floats(dtype: ScalarType, count: int, seed: int) -> list[float]:
    """Every bit pattern is as likely as another."""
    generator = random.Random(seed)
    values: list[float] = []
    while len(values) < count:
        bits = generator.getrandbits(dtype.bits)
        size = bits & ((1 << (dtype.bits - 1)) - 1)
        if size < infinity_bits(dtype):
            values.append(math.copysign(float(magnitude(size, dtype)), -1 if bits != size else 1))
    return values


def check_against_numpy(op: str, dtype: ScalarType, pairs: Iterable[tuple[float, ...]]) -> None:
    lefts, rights = zip(*pairs, strict=True)
    kind = NUMPY[dtype]
    with np.errstate(all="ignore"):
        expected = UFUNCS[op](np.array(lefts, kind), np.array(rights, kind))
    assert expected.dtype == kind
    for a, b, wanted in zip(lefts, rights, expected.tolist(), strict=True):
        got = numeric.binary(op, a, b, dtype)
        assert same(got, wanted), f"{a!r} {op} {b!r} of {dtype}: {got!r}, NumPy {wanted!r}"
        assert type(got) is type(wanted)
