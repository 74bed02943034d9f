"""Reductions and scans at the seams of lanes, runs and tiles, beside the model of their order; and additions by index."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.conformance.case import Case
from tests.conformance.loading import root
from tests.conformance.tiled_model import Combine, reduced, scanned

#: One element, a run, lanes, a tile, several; the last is enough for several threads.
SEAMS = (1, 15, 16, 17, 255, 256, 257, 511, 4095, 4096, 4097, 12_289, 140_003)


def add(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + b


def least(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """NaN wins, and -0 is below +0, which NumPy leaves open."""
    zeros = (a == 0) & (b == 0)
    return np.where(zeros, np.where(np.signbit(a) | np.signbit(b), a.dtype.type(-0.0), a), np.minimum(a, b))


def greatest(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return -least(-a, -b)


def bf16_values(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def bf16_bits(values: np.ndarray) -> np.ndarray:
    """Of f32 values that bf16 holds; of others, and of no NaN, the nearest, ties to even."""
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)).astype(np.uint16)


def in_bf16(combine: Combine) -> Combine:
    return lambda a, b: bf16_bits(combine(bf16_values(a), bf16_values(b)))


def tiled_cases() -> list[Case]:
    kernels = root()
    generator = np.random.default_rng(11)
    p = kernels.Params(True, 0.1, kernels.Mode.HALVE, kernels.Inner(-3, 1e3), (0.5, 0.25, 0.125), 700)

    def floats(n: int) -> np.ndarray:
        return generator.standard_normal(n, dtype=np.float32)

    def over(
        kernel: str, sizes: tuple[int, ...], make: Callable[[int], np.ndarray], combine: Combine, identity: object, *params: object
    ) -> list[Case]:
        return [Case(kernel, (x, *params), {}, result=reduced(x, combine, identity)) for x in map(make, sizes)]

    made = [Case("energy", (x, p), {}, result=reduced(x * x * np.float32(0.1), add, 0)) for x in (floats(n) for n in (0, *SEAMS))]
    for n in (0, 3, 5000, 140_003):
        x = generator.integers(-128, 128, n).astype(np.int8)
        made.append(Case("counted", (x,), {}, result=np.array([x.sum(dtype=np.int64)])))
    whole = generator.integers(0, 2**63, 3000).astype(np.uint64)
    made.append(Case("sum_of_twice", (whole,), {}, result=np.array([(whole + whole).sum()])))
    made += over("half_sum", (1, 300, 9000), lambda n: floats(n).astype(np.float16), add, 0)
    made += over("least", (0, 1, 4097), generator.standard_normal, least, np.inf)
    made += over("greatest", (0, 2, 8200), lambda n: bf16_bits(floats(n)), in_bf16(greatest), 0xFF80)
    made += over("product", (0, 1, 100, 20_000), lambda n: generator.integers(0, 2**63, n).astype(np.uint64) * 2 + 1, np.multiply, 1)
    made += [
        Case("least", (x,), {}, result=reduced(x, least, np.inf))
        for x in (np.array([0.0, -0.0, 1.0]), np.array([-0.0]), np.where(np.arange(5000) == 4500, np.nan, 0.5))
    ]
    for n, place in ((0, 0), (1, 0), (5000, 4999), (5000, 5000)):
        x = np.zeros(n, np.int16)
        x[place : place + 1] = 3
        made.append(Case("some", (x,), {}, result=np.array([x.any()])))
        made.append(Case("every", (x == 0,), {}, result=np.array([(x == 0).all()])))

    for n in SEAMS:
        x = floats(n)
        made.append(Case("running", (x, np.zeros_like(x)), {1: scanned(x, add)}))
    made.append(Case("running", (np.array([-0.0], np.float32), np.zeros(1, np.float32)), {1: np.array([-0.0], np.float32)}))
    for n in (1, 2, 16, 257, 4097, 20_481):
        x = generator.integers(-(2**31), 2**31, n).astype(np.int32)
        made.append(Case("highest_before", (x, np.zeros_like(x)), {1: scanned(x, np.maximum, -(2**31))}))
    for n in (1, 300, 5000):
        odd = generator.integers(0, 2**31, n).astype(np.uint32) * np.uint32(2) + np.uint32(1)
        made.append(Case("products", (odd, np.zeros_like(odd)), {1: scanned(odd, np.multiply)}))
        whole = generator.integers(-(2**62), 2**62, n)
        made.append(Case("before", (whole, np.zeros_like(whole)), {1: scanned(whole, np.add, 0)}))
    square = floats(64 * 70).reshape(64, 70)
    made.append(Case("running", (square, np.zeros_like(square)), {1: scanned(square.ravel(), add).reshape(square.shape)}))
    return made


def added_cases() -> list[Case]:
    """Duplicates, and indices out of range on both sides. The floats are whole numbers, so that no order can show."""
    elements = {"f32": "f4", "f64": "f8", "i32": "i4", "u64": "u8", "bf16": "u2", "f16": "f2", "i8": "i1"}
    indices = {"f32": "u4", "f64": "i8", "i32": "i1", "u64": "u1", "bf16": "i2", "f16": "i4", "i8": "u2"}
    generator = np.random.default_rng(12)
    made = []
    for name in elements:
        element, index = np.dtype(elements[name]), np.dtype(indices[name])
        info = np.iinfo(index)
        bound, count = 41, 900  # of one or two bytes: an end within a word
        idx = generator.integers(max(info.min, -3), 45, count).astype(index)
        idx[:2] = info.min, info.max
        valid = (idx >= 0) & (idx < bound)
        whole, start = generator.integers(0, 3, count), generator.integers(0, 100, bound)
        if name == "i8":
            whole = generator.integers(-128, 128, count)
        if name == "u64":
            whole = generator.integers(0, 2**63, count)
        to = bf16_bits if name == "bf16" else lambda values, element=element: values.astype(element)
        total = start.astype(np.uint64) if name == "u64" else start.astype(np.int64)
        np.add.at(total, idx[valid].astype(np.intp), whole[valid].astype(total.dtype))
        shape = (30, 30)
        made.append(Case(f"scatter_add_{name}", (to(whole).reshape(shape), idx.reshape(shape), to(start)), {2: to(total)}))
    return made
