"""What the kernels of the root of blocks must give, computed by NumPy alone."""

from __future__ import annotations

import numpy as np

from tests.conformance.case import Case
from tests.conformance.loading import blocks

N = 3000
BLOCKS = -(-N // 256)


def _views() -> list[Case]:
    rng = np.random.default_rng(6)
    a = rng.integers(-3, 4, (37, 53)).astype(np.float32)  # products and sums of small integers are exact in any order
    b = rng.integers(-3, 4, (53, 41)).astype(np.float32)
    source = rng.integers(-99, 99, (45, 70)).astype(np.int32)
    volume = rng.integers(-9, 9, (5, 9, 17)).astype(np.float32)
    around = np.pad(volume, 1)
    middle = (slice(1, -1),) * 3
    wanted = 2 * volume
    for axis in range(3):
        for step in (-1, 1):
            wanted = wanted + np.roll(around, step, axis)[middle]
    half = rng.standard_normal(300).astype(np.float16)
    flags = rng.integers(0, 2, (1, 300, 2, 3)).astype(bool)
    flipped = flags.copy()
    flipped[0, :, 1, 0] = ~flags[0, :, 1, 0]
    pairs = {f"second_column_{name}": rng.integers(-99, 99, (300, 3)).astype(dtype) for name, dtype in (("i32", "i4"), ("f64", "f8"))}
    facts = np.array([1000 + 30000 + 20 + 3, 1 + 40 + 400, 3], np.uint64)
    return [
        Case("matmul", (a, b, np.zeros((37, 41), np.float32)), {2: a @ b}, (3, 3, 1), (16, 16, 1)),
        Case("transpose", (source, np.zeros((70, 45), np.int32)), {1: source.T.copy()}, (5, 3, 1), (16, 16, 1)),
        Case("stencil", (volume, np.zeros_like(volume)), {1: wanted}, (3, 3, 3), (8, 4, 2)),
        Case(
            "views",
            (half, flags, np.zeros(3, np.uint64)),
            {0: (half.astype(np.float32) + 1).astype(np.float16), 1: flipped, 2: facts},
            (2, 1, 1),
        ),
        *(Case(name, (data, np.zeros(300, data.dtype)), {1: data[:, 1].copy()}, (2, 1, 1)) for name, data in pairs.items()),
    ]


def _by_block(values: np.ndarray) -> list[np.ndarray]:
    return [values[first : first + 256] for first in range(0, values.size, 256)]


def _barriers() -> list[Case]:
    rng = np.random.default_rng(7)
    whole = rng.integers(-1000, 1000, N).astype(np.int32)
    wide = rng.integers(-1000, 1000, N)
    real = rng.standard_normal(N).astype(np.float32)
    scanned = np.concatenate([np.cumsum(part, dtype=np.int32) for part in _by_block(whole)])
    sums = [int(part.sum() + (part * part).sum()) if block % 2 == 0 else -int(part.sum()) for block, part in enumerate(_by_block(wide))]
    turned = np.concatenate([part[::-1] for part in _by_block(real)])
    data = rng.standard_normal(100)
    t = np.arange(100)[::-1]
    items, blocks = np.arange(24), np.arange(12)
    places = (blocks[:, None] * 100 + 23 - items + blocks[:, None] // 6 * 10000).astype(np.uint64)
    total = sum(range(1, 11)) + 4 * 1000  # rounds 0 to 9, and 1000 for 1, 3, 5 and 7
    counts = np.arange(N, dtype=np.uint32)
    grid = (BLOCKS, 1, 1)
    return [
        Case("block_scan", (whole, N), {0: scanned}, grid),
        Case("moments", (wide, np.zeros(BLOCKS, np.int64), N), {1: np.array(sums)}, grid),
        Case("reverse", (real, N), {0: turned}, grid, shared=1024),
        Case("two_types", (data, np.zeros(100)), {1: data[::-1] + t % 3 * 100 + 3000}, (1, 1, 1), (100, 1, 1), shared=900),
        Case("in_three_dimensions", (np.zeros(12 * 24, np.uint64),), {0: places.ravel()}, (3, 2, 2), (4, 3, 2)),
        Case("rounds", (whole, np.zeros_like(whole), N), {1: whole + np.int32(total)}, grid),
        Case("without_barriers", (counts + 7, N), {0: counts + 7 + counts * 3}, grid),
    ]


def _by_blocks() -> list[Case]:
    rng = np.random.default_rng(12)
    x = rng.standard_normal((5, 150)).astype(np.float32)
    # Exponentials of f32 are correctly rounded; those of f64, rounded again, are so for these numbers.
    powers = np.exp((x - x.max(1, keepdims=True)).astype(np.float64)).astype(np.float32)
    lanes = np.zeros((5, 3, 64))
    lanes.reshape(5, -1)[:, :150] = powers
    sums = (lanes[:, 0] + lanes[:, 1]) + lanes[:, 2]
    while sums.shape[1] > 1:
        sums = sums[:, : sums.shape[1] // 2] + sums[:, sums.shape[1] // 2 :]
    n = 100
    at, mass, start = (
        rng.standard_normal((n, 3)).astype(np.float32),
        rng.random(n, np.float32),
        rng.standard_normal((n, 3)).astype(np.float32),
    )
    total = np.zeros((n, 3), np.float32)
    for other in range(n):
        away = at[other] - at
        squared = np.full(n, 0.001, np.float32)
        for d in range(3):
            squared = squared + away[:, d] * away[:, d]
        inverse = (1 / np.sqrt(squared.astype(np.float64))).astype(np.float32)
        total += (mass[other] * inverse * inverse * inverse)[:, None] * away
    return [
        Case("softmax", (x, np.zeros_like(x)), {1: powers / sums.astype(np.float32)}, (5, 1, 1), (64, 1, 1)),
        Case("gravity", (at, mass, start), {2: start + total * mass[:, None]}, (2, 1, 1), (64, 1, 1)),
    ]


def _atomics() -> list[Case]:
    rng = np.random.default_rng(8)
    data = rng.integers(0, 200, N).astype(np.uint8)
    bins = np.bincount(data, minlength=256).astype(np.uint32)
    real = rng.standard_normal(N).astype(np.float32)
    grid = (BLOCKS, 1, 1)
    made = [Case(name, (data, np.zeros(256, np.uint32), N), {1: bins}, grid) for name in ("histogram", "histogram_by_block")]
    made.append(Case("largest", (real, np.full(1, -np.inf, np.float32), N), {1: real.max(keepdims=True)}, grid))
    kinds = (np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64)
    return [*made, *(_every_atomic(kind, rng) for kind in kinds)]


def _every_atomic(kind: type[np.number], rng: np.random.Generator) -> Case:
    dtype, n = np.dtype(kind), 500
    floats, signed = dtype.kind == "f", dtype.kind != "u"
    data = rng.integers(-1000 if signed else 0, 1000, n).astype(dtype)
    if not floats:
        data = data * dtype.type(2**20 + 1)  # integers wrap
    before = np.zeros((5, 3), dtype)
    before[0, 1] = before[1, 0] = np.inf if floats else np.iinfo(dtype).max
    before[0, 2] = before[1, 1] = before[4, 1] = -np.inf if floats else np.iinfo(dtype).min
    after = before.copy()
    after[0] = data.sum(dtype=dtype), data.min(), data.max()
    after[1] = data.min(), data.max(), 7
    after[2, 1] = 1
    blocks = [np.append(data[first : first + 64], dtype.type(0)) for first in range(0, n, 64)]
    after[4, :2] = data.sum(dtype=dtype), max(part.max() for part in blocks)
    if not floats:
        before[3, 0] = after[3, 0] = dtype.type(-1 if signed else np.iinfo(dtype).max)
        after[3] = np.bitwise_and.reduce(data), np.bitwise_or.reduce(data), np.bitwise_xor.reduce(data)
        after[4, 2] = np.bitwise_or.reduce(data)
    name = f"{dtype.kind}{dtype.itemsize * 8}"
    after[2, 0] = 1
    # Of each swap with the first value there is one winner; that in shared memory is one for each block.
    expected = {1: after, 2: np.array([1, 1, len(blocks)], np.uint32)}
    return Case(f"atomics_{name}", (data, before, np.zeros(3, np.uint32), n), expected, (len(blocks), 1, 1), (64, 1, 1))


def _warps() -> list[Case]:
    rng = np.random.default_rng(9)
    wide = rng.integers(-(2**40), 2**40, N)
    whole = rng.integers(-1000, 1000, N).astype(np.int32)
    real = np.arange(1, 257) / 2
    kinds = (np.float32, np.float16, np.float64, np.int8, np.int64, np.uint16)
    back = sum((np.clip(real, -128, 127) if kind is np.int8 else real).astype(kind).astype(np.float64) for kind in kinds)
    grid = (BLOCKS, 1, 1)
    odd = int((whole % 2 != 0).sum())
    return [
        Case("sum_by_warps", (wide, np.zeros(1, np.int64), N), {1: wide.sum(keepdims=True)}, grid),
        Case("exchanges", (real, np.zeros(256), 256), {1: back + _bf16(real) + 1000 + 10000}, (1, 1, 1)),
        Case("votes", (whole, np.zeros(2, np.uint32), N), {1: np.array([odd, BLOCKS * 256], np.uint32)}, grid),
    ]


def _passing() -> list[Case]:
    made = []
    for name, dtype in (("i32", np.int32), ("f64", np.float64)):
        data = np.random.default_rng(10).integers(-9, 10, (8, 8)).astype(dtype)

        def folded(values: np.ndarray) -> np.ndarray:
            total = values[0]
            for value in values[1:]:
                total = total * 3 + value
            return total

        rows, pairs = np.array([folded(row) for row in data]), np.array([folded(row[:2]) for row in data])
        mine = data[:3, :4] * 5
        result = data.T * 2 + 2 * rows[:, None] + mine.trace() + data.trace() + folded(mine[1]) + pairs[None, :]
        wanted = (result * 3 - 1000).astype(dtype).ravel()
        wanted[60:] = 7
        counts = np.array([60, 0, 0, 0], np.uint32)
        scale, offset = blocks().Left(scale=5), blocks().Right(offset=-1000, scale=3)
        arguments = (data, np.full(64, 7, dtype), np.zeros(4, np.uint32), scale, 60, offset)
        made.append(Case(f"passed_on_{name}", arguments, {1: wanted, 2: counts}, (1, 1, 1), (8, 8, 1), shared=64 * data.itemsize))
    return made


def _bf16(x: np.ndarray) -> np.ndarray:
    """Values of at most 9 digits rounded to the 8 of bfloat16, ties to even."""
    step = 2.0 ** (np.floor(np.log2(x)) - 7)
    return np.rint(x / step) * step


def cases() -> list[Case]:
    return [case for maker in (_views, _barriers, _by_blocks, _atomics, _warps, _passing) for case in maker()]
