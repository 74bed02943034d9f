"""What the kernels of the conformance root must give: inputs with the edges of each type, and results computed by NumPy alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.conformance.case import Case
from tests.conformance.loading import root
from tests.conformance.philox import bits as philox_bits
from tests.conformance.philox import bits64 as philox_bits64
from tests.conformance.tiled_cases import added_cases, tiled_cases

Arrays = dict[str, np.ndarray]


def f32s(*extra: float) -> np.ndarray:
    return np.array(
        [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3e9, -3e9, 1e10, 1e-40, np.inf, -np.inf, np.nan, 255.9, 7.25, 1 + 2**-12, *extra],
        np.float32,
    )


def pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.meshgrid(values, values)
    return np.ascontiguousarray(a.ravel()), np.ascontiguousarray(b.ravel())


def per_element(kernel: str, inputs: tuple[np.ndarray, ...], outputs: tuple[np.ndarray, ...], *scalars: Any) -> Case:
    """A raw kernel with one work-item per element: inputs, outputs, the count, further scalars."""
    n = inputs[0].size
    arguments = (*inputs, *(np.zeros_like(out) for out in outputs), n, *scalars)
    expected = {len(inputs) + i: out for i, out in enumerate(outputs)}
    return Case(kernel, arguments, expected, (-(-n // 100), 1, 1), (100, 1, 1))


def in_place(kernel: str, data: np.ndarray, expected: np.ndarray, *params: Any) -> Case:
    return Case(kernel, (data, *params), {0: expected})


def _collatz(x: int) -> int:
    steps = 0
    while x > 1:
        x = x // 2 if x % 2 == 0 else 3 * x + 1
        steps += 1
    return steps


def _escape(cx: float, cy: float, limit: int) -> int:
    x = y = 0.0
    for k in range(limit):
        if x * x + y * y > 4:
            return k
        x, y = x * x - y * y + cx, 2 * x * y + cy
    return limit


def _maps() -> list[Case]:
    kernels = root()
    p = kernels.Params(True, 0.1, kernels.Mode.HALVE, kernels.Inner(-3, 1e3), (0.5, 0.25, 0.125), 700)
    x = f32s(*np.linspace(-5, 5, 101))
    wide = x.astype(np.float64)
    whole = np.array([0, 1, -1, 2**31 - 1, -(2**31), 12345], np.int32)
    half = np.array([0, 1, -1, 65504, -65504, np.inf, np.nan, 6e-8, 0.1], np.float16)
    scale, y = np.float32(0.1), x * np.float32(0.1)
    t = np.float32(0)
    for tap in (0.5, 0.25, 0.125):
        t = t + x * np.float32(tap)
    big = np.array([0, 1, 255, 2**63, 2**64 - 1], np.uint64)
    brains = np.array([0, 1, -1, 0.5, 3.140625, 1e30, -7.0], np.float32)
    squared = _bf16_round(_bf16_round(brains * brains) - np.float32(1))
    clamped = np.minimum(np.maximum(wide, np.float64(-3)), np.float64(1e3)) + 700
    assert scale.dtype == y.dtype == t.dtype
    return [
        in_place("scale_relu", x, np.where(y > 0, y, np.float32(0)), p),
        in_place("scale_relu", x.reshape(1, 7, -1), np.where(y > 0, y, np.float32(0)).reshape(1, 7, -1), p),
        in_place("no_params", whole, whole * np.int32(3) - np.int32(1)),
        in_place("by_mode", wide, wide / 2, p),
        in_place("nested_params", wide, clamped, p),
        in_place("taps", x, t, p),
        in_place("halves", half, half * np.float16(1.5) + np.float16(0.25)),
        in_place("brains", _bf16_bits(brains), _bf16_bits(squared)),
        in_place("fnv", big, (np.uint64(14695981039346656037) ^ big) * np.uint64(1099511628211) + np.maximum(big, np.uint64(2**63))),
        in_place("negated", np.array([True, False, True]), np.array([False, True, False])),
        in_place("add_1", whole, whole + np.int32(1)),
        in_place("add_40", whole, whole + np.int32(40)),
        in_place("doubled", whole, whole + whole),
        in_place("tripled", whole, whole + whole + whole),
    ]


def _bf16_round(x: np.ndarray) -> np.ndarray:
    """f32 values to the nearest bfloat16, ties to even; no NaN among them."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) & np.uint64(0xFFFF0000)
    return bits.astype(np.uint32).view(np.float32)


def _bf16_bits(x: np.ndarray) -> np.ndarray:
    return (_bf16_round(x).view(np.uint32) >> 16).astype(np.uint16)


def _operations() -> list[Case]:
    kernels = root()
    p = kernels.Params(True, 0.1, kernels.Mode.HALVE, kernels.Inner(-3, 1e3), (0.5, 0.25, 0.125), 700)
    scale = np.float32(0.1)
    x = f32s(*np.linspace(-5, 5, 140_003))  # enough for several threads
    y = x[::-1].copy()
    whole = np.arange(-7, 50, dtype=np.int64)
    small = np.arange(256, dtype=np.uint8)
    grid = small.reshape(16, 16)
    steps = np.arange(40014, dtype=np.uint32).reshape(13, -1)
    count = np.arange(x.size).astype(np.float32)
    half, byte = np.array([1, 1.5, -2, np.nan, 65504], np.float16), np.array([-128, 3, 0, 127, 1], np.int8)
    keep, weight = np.array([1, 0, 1, 1, 0], bool), np.array([0.1, 2, -3.5, 1, 1e300])
    scaled = x * scale
    relu = np.where(scaled > 0, scaled, np.float32(0)) * np.float32(0.5)
    ints = (_saturated(relu, np.int32) * np.int32(3) - np.int32(1)).astype(np.float32)
    real = x[np.isfinite(x) & (x != 0)]
    return [
        Case("widen", (x, np.zeros(x.size), p), {1: x.astype(np.float64) * 1e3}),
        Case("is_even", (whole, np.zeros(whole.size, bool)), {1: whole % 2 == 0}),
        Case("same_type", (small, np.zeros_like(small)), {1: ~small}),
        Case("same_type", (np.asfortranarray(grid), np.asfortranarray(np.zeros_like(grid))), {1: ~grid}),
        Case("axpy", (x, y, np.zeros_like(x), p), {2: scale * x + y}),
        Case("blend", (half, byte, keep, weight, np.zeros(5)), {4: np.where(keep, half * weight + byte, -weight)}),
        in_place("place", steps, steps + (np.arange(steps.size, dtype=np.uint64) * 3).astype(np.uint32).reshape(steps.shape)),
        in_place("ramp", x, x + count * scale, p),
        in_place("halve", x, x * np.float32(0.5)),
        in_place("renamed", x, x * np.float32(0.5)),
        in_place("doubled_back", x, x * np.float32(0.5) * np.float32(2)),
        in_place("clipped", real, np.clip(real, np.float32(0), np.float32(2))),
        in_place("both", x, relu, p),
        in_place("through_ints", x, ints, p),
        *_moves(),
    ]


def _moves() -> list[Case]:
    """Every index type, with indices out of range on both sides; scattered ones are different, so that the result is one."""
    elements = {"f32": "f4", "f64": "f8", "bool": "?", "u8": "u1", "bf16": "u2", "i16": "i2", "f16": "f2", "u64": "u8"}
    indices = {"f32": "u4", "f64": "i8", "bool": "i1", "u8": "u1", "bf16": "i2", "i16": "u2", "f16": "i4", "u64": "u8"}
    generator = np.random.default_rng(5)
    made = []
    for name in elements:
        element, index = np.dtype(elements[name]), np.dtype(indices[name])
        info = np.iinfo(index)
        bound = 100
        wild = np.array([info.min, info.max, -1 if info.min else info.max, bound, bound + 1, 0, bound - 1]).astype(index)
        inside = generator.permutation(np.arange(1, bound - 1))[:60].astype(index)
        idx = generator.permutation(np.concatenate([wild, inside])).reshape(1, -1)
        valid = (idx >= 0) & (idx < bound)
        source, target = ((generator.integers(0, 100, n) % (2 if name == "bool" else 100)).astype(element) for n in (bound, idx.size))
        gathered = np.where(valid, source[np.where(valid, idx, 0).astype(np.intp)], target)
        made.append(Case(f"gather_{name}", (source, idx, target.reshape(idx.shape)), {2: gathered}))
        scattered = source.copy()
        scattered[idx[valid].astype(np.intp)] = target.reshape(idx.shape)[valid]
        made.append(Case(f"scatter_{name}", (target.reshape(idx.shape), idx, source), {2: scattered}))
    return made


def _statements() -> list[Case]:
    counts = np.arange(1, 300, dtype=np.uint32)
    whole = np.arange(2, 260, dtype=np.int32)
    divisors = np.array([next((d for d in range(2, n) if n % d == 0), n) for n in whole.tolist()], np.int32)
    a, b = pairs(np.array([-1, 0, 0.5, 5, 9, 10, 11], np.float32))
    inside = (b > 0) & (b <= a) & (a < 10)  # after the swap x is b and y is a
    four = np.random.default_rng(1).integers(-99, 99, (25, 4)).astype(np.int16)
    x = f32s()
    finite = x[np.isfinite(x)]
    padded = np.concatenate(([np.float32(0)], finite, [np.float32(0)]))
    smooth = np.zeros_like(finite)
    for k, weight in enumerate((0.25, 0.5, 0.25)):
        smooth = smooth + padded[k : k + finite.size] * np.float32(weight)
    numbers = np.arange(0, 256, dtype=np.uint8)
    table = np.array([5, -7, 11, -13], np.int16)
    w, h, d = 11, 9, 3
    z, y_, x_ = np.meshgrid(range(d), range(h), range(w), indexing="ij")
    inner = x_ % 8 + y_ % 8 * 8 + z % 2 * 64
    block = x_ // 8 + y_ // 8 * 2 + z // 2 * 4
    real = x[~np.isnan(x) & (x != 0)]  # NumPy leaves the sign of a clipped zero open
    flipped = np.where(
        -real > -1, np.clip(-real, 0, np.float32(0.5)), np.trunc(np.clip(-real.astype(np.float64), -(2**31), 2**31 - 1))
    ).astype(np.float32)
    fields = [b"12", b"", b"-7;x", b"x9", b"123456789012", b"-", b"8a", b"-9223372036854775808"]
    starts = np.cumsum([0, *map(len, fields)]).astype(np.uint32)
    values = np.array([12, 0, -7, 0, 123456789012, 0, 8, -(2**63)], np.int64)
    kinds = np.array([0, 1, 0, 2, 0, 0, 2, 0], np.uint8)
    text = np.frombuffer(b"".join(fields), np.uint8)
    plane = [[_escape(-2 + 2.5 * i / 30, -1.25 + 2.5 * j / 20, 50) for i in range(30)] for j in range(20)]
    return [
        Case(
            "parse_fields",
            (text, starts, np.zeros(8, np.int64), np.zeros(8, np.uint8), 8),
            {2: values, 3: kinds},
            (1, 1, 1),
            (32, 1, 1),
        ),
        in_place("mandelbrot", np.zeros((20, 30), np.uint32), np.array(plane, np.uint32), root().Window(30, 20, -2.0, -1.25, 2.5, 50)),
        per_element("collatz", (counts,), (np.array([_collatz(n) for n in counts.tolist()], np.int32),)),
        per_element("first_divisor", (whole,), (divisors,)),
        Case("swap_and_chain", (a, b, a.size), {0: np.where(inside, np.float32(1), b), 1: np.where(inside, np.float32(1), a)}, (1, 1, 1)),
        Case("sort_four", (four.ravel(), 25), {0: np.sort(four, axis=1).ravel()}, (1, 1, 1), (32, 1, 1)),
        per_element("smooth", (finite,), (smooth,)),
        per_element("table_lookup", (numbers,), (table[numbers & 3] + table[-1],)),
        Case(
            "coordinates",
            (np.zeros(w * h * d, np.uint64), w, h, d),
            {0: (block * 1000 + inner).ravel().astype(np.uint64)},
            (2, 2, 2),
            (8, 8, 2),
        ),
        per_element("select_and_static", (real,), (np.clip(real, np.float32(0), np.float32(0.5)),), False),
        per_element("select_and_static", (real,), (flipped,), True),
        per_element("bits", (real,), ((-real).view(np.uint32),)),
    ]


def _meaning() -> list[Case]:
    rng = np.random.default_rng(2)
    a8, b8 = rng.integers(-128, 128, 200).astype(np.int8), rng.integers(0, 256, 200).astype(np.uint8)
    c32, d32 = rng.integers(-(2**31), 2**31, 200).astype(np.int32), rng.standard_normal(200).astype(np.float32)
    ints = np.array([0, 1, -1, 2, -2, 5, -5, 6, -6, 7, -7, 31, 32, 33, -33, 2**31 - 1, -(2**31)], np.int32)
    a, b = pairs(ints)
    x, y = pairs(f32s())
    mixed = (a8 + b8.astype(np.int16)) * c32 / 3 + d32 * a8
    integers = np.stack([a // b, a % b, np.left_shift(a, b), np.right_shift(a, b), np.abs(a) - (-a), a * b ^ ~a], 1).astype(np.int32)
    floats = np.stack([x // y, x % y, _minimum(x, y), -_minimum(-x, -y), np.rint(x), x * x + y], 1)
    saturated = tuple(_saturated(f32s(), kind) for kind in (np.int32, np.uint8, np.int64))
    wide = np.array([0.1, 65519.999, 65520.0, 2.0**-25, 2.0**-25 * (1 + 2**-40), 1 + 2**-11, 1 + 2**-11 + 2**-40, np.inf, np.nan, -1e300])
    big = np.array([0, 1, -1, 2**53 + 1, 2049, 2051, -2049, 65519, 65520, -(2**63)], np.int64)
    halves = wide.astype(np.float16), _half_of_int(big)
    u, s = np.array([0, 1, 2**63, 2**64 - 1, 5], np.uint64), np.array([0, 1, -1, 2**63 - 1, -(2**63)], np.int64)
    uu, ss = np.repeat(u, 5), np.tile(s, 5)
    pairs_of_ints = list(zip(uu.tolist(), ss.tolist(), strict=True))
    codes = np.array([(p < q) + 2 * (p == q) + 4 * (q >= p) for p, q in pairs_of_ints], np.uint8)
    folded = np.array([-4, -1, 0, 0, -(2**31), 4, -4, 1, -(2**31), 0, 2**31 - 1, -(2**31)], np.int32)
    return [
        per_element("mixed", (a8, b8, c32, d32), (mixed,)),
        Case("integer_meaning", (a, b, np.zeros(a.size * 6, np.int32), a.size), {2: integers.ravel()}, (3, 1, 1), (128, 1, 1)),
        Case("float_meaning", (x, y, np.zeros(x.size * 6, np.float32), x.size), {2: floats.ravel()}, (3, 1, 1), (128, 1, 1)),
        per_element("saturate", (f32s(),), saturated),
        per_element("narrow", (wide, big), halves),
        per_element("unsigned_against_signed", (uu, ss), (codes,)),
        Case("folded", (np.zeros(12, np.int32),), {0: folded}, (1, 1, 1), (1, 1, 1)),
    ]


def _minimum(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """np.minimum with -0 below +0; NumPy leaves their order open."""
    low = np.minimum(x, y)
    return np.where((x == 0) & (y == 0) & (np.signbit(x) | np.signbit(y)), np.float32(-0.0), low)


def _saturated(x: np.ndarray, kind: type[np.integer[Any]]) -> np.ndarray:
    info = np.iinfo(kind)
    exact = [0 if np.isnan(v) else info.max if v >= info.max else info.min if v <= info.min else int(v) for v in x.tolist()]
    return np.array(exact, kind)


def _half_of_int(x: np.ndarray) -> np.ndarray:
    """Integers to f16 with one rounding: exact in a long double, which holds 64 digits."""
    return x.astype(np.longdouble).astype(np.float16)


def _powers() -> list[Case]:
    whole = np.arange(-(2**15), 2**15, 37, dtype=np.int16)
    cubed = whole**3
    x, y = pairs(np.array([0, 1, 2, 3, 7, 255, 2**16 + 1, 2**32 - 1], np.uint32))
    few = (y % 41).astype(np.uint8)
    data = f32s()
    return [
        in_place("powers", whole, cubed**2 - 1 + (whole + np.int16(1)) ** 5),
        Case("power_of", (x, few, np.zeros_like(x)), {2: x**few + np.uint8(3) ** few + few**2}),
        in_place("squares", data, (data + 1) * (data + 1) + data),
    ]


def _random() -> list[Case]:
    n, seed = 200, 0x0123456789ABCDEF
    bits = np.array([[philox_bits(seed, i, draw) for draw in range(6)] for i in range(n)], np.uint32)
    pairs = np.array([philox_bits64(seed, i << 30, 1 << 40) for i in range(n)], np.uint64)
    doubles = np.array([(philox_bits64(seed, i, 0) >> 11) * 2.0**-53 for i in range(n)])
    outs = [np.zeros(n * 6, np.uint32), np.zeros(n, np.uint64), np.zeros(n)]
    x = np.linspace(-1, 1, 300, dtype=np.float32)
    uniform = np.array([(philox_bits(seed, i, 2**34 + 7) >> 8) * 2.0**-24 for i in range(300)], np.float32)
    p = root().Draw(seed, 2**34 + 7, (0.25, 0.5, 3.0))
    return [
        Case("random_numbers", (*outs, n, seed), {0: bits.ravel(), 1: pairs, 2: doubles}, (2, 1, 1), (100, 1, 1)),
        in_place("noise", x, x * np.float32(3) + uniform - np.float32(0.25), p),
    ]


def _generics() -> list[Case]:
    rng = np.random.default_rng(5)
    made: list[Case] = []
    for kind, name in ((np.float16, "f16"), (np.float32, "f32"), (np.int8, "i8"), (np.uint64, "u64")):
        data = (rng.standard_normal(300) * 50).astype(kind) if kind is not np.uint64 else rng.integers(0, 2**64, 300, np.uint64)
        made.append(in_place(f"double_plus_{name}", data, data + data + kind(3)))
        for wide, wide_name in ((np.float32, "f32"), (np.float64, "f64")):
            x, y = rng.standard_normal((2, 300)).astype(wide)
            case = Case(
                f"accumulate_{wide_name}_{name}",
                (wide(0.3), x, y, data, 300),
                {2: wide(0.3) * x + y, 3: data + data},
                (3, 1, 1),
                (100, 1, 1),
            )
            made.append(case)
    x = f32s()
    once = x + x + np.float32(3)
    made.append(in_place("by_instances", x, once + once + np.float32(17)))
    return made


def cases() -> list[Case]:
    makers: list[Callable[[], list[Case]]] = [
        *(_generics, _random, _powers, _maps, _operations, _statements, _meaning),
        *(tiled_cases, added_cases),
    ]
    with np.errstate(all="ignore"):  # infinities and NaN are among the inputs on purpose
        return [case for maker in makers for case in maker()]
