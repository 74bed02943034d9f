"""Integer and float instructions against Python's integers and fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.ptx import exact
from tests.ptx.faults import Undefined
from tests.ptx.snippets import evaluate

WIDTHS = (16, 32, 64)


def edges(kind: str) -> list[int]:
    """Values of an integer type."""
    bits = int(kind[1:])
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if kind[0] == "s" else (0, 2**bits - 1)
    negative = [-1, -2, -7, low // 3] if kind[0] == "s" else []
    return sorted({low, low + 1, high, high - 1, 0, 1, 2, 7, 13, high // 3, high // 2 + 1, *negative})


def wrapped(value: int, kind: str) -> int:
    bits = int(kind[1:])
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind[0] == "s" and value >> (bits - 1) else value


def dtype(kind: str) -> str:
    return f"{'i' if kind[0] == 's' else 'u'}{int(kind[1:]) // 8}"


def check(instruction: str, result: str, sources: list[str], operands: list[list[int]], wanted: Callable[..., int]) -> None:
    """All combinations of the operands."""
    grid = [axis.ravel() for axis in np.meshgrid(*(np.array(values, object) for values in operands), indexing="ij")]
    arrays = [axis.astype(dtype(kind)) for axis, kind in zip(grid, sources, strict=True)]
    found = evaluate(instruction, result, sources, *arrays).view(dtype(result)).tolist()
    for got, *numbers in zip(found, *(axis.tolist() for axis in grid), strict=True):
        assert got == wrapped(wanted(*numbers), result), (instruction, numbers)


SIGNED = [f"{letter}{bits}" for letter in "su" for bits in WIDTHS]


@pytest.mark.parametrize("kind", SIGNED)
def test_integers_wrap(kind: str) -> None:
    bits, two = int(kind[1:]), [edges(kind)] * 2
    check(f"add.{kind}", kind, [kind] * 2, two, lambda a, b: a + b)
    check(f"sub.{kind}", kind, [kind] * 2, two, lambda a, b: a - b)
    check(f"mul.lo.{kind}", kind, [kind] * 2, two, lambda a, b: a * b)
    check(f"mul.hi.{kind}", kind, [kind] * 2, two, lambda a, b: a * b >> bits)
    check(f"min.{kind}", kind, [kind] * 2, two, min)
    check(f"max.{kind}", kind, [kind] * 2, two, max)
    check(f"mad.lo.{kind}", kind, [kind] * 3, [edges(kind)[::2]] * 3, lambda a, b, c: a * b + c)
    check(f"sad.{kind}", kind, [kind] * 3, [edges(kind)[::2]] * 3, lambda a, b, c: c + abs(a - b))
    if bits < 64:
        wide = f"{kind[0]}{2 * bits}"
        check(f"mul.wide.{kind}", wide, [kind] * 2, two, lambda a, b: a * b)
        check(f"mad.wide.{kind}", wide, [kind, kind, wide], [edges(kind)[::2]] * 2 + [edges(wide)[::2]], lambda a, b, c: a * b + c)
    if kind[0] == "s":
        check(f"abs.{kind}", kind, [kind], two[:1], abs)
        check(f"neg.{kind}", kind, [kind], two[:1], lambda a: -a)


@pytest.mark.parametrize("kind", SIGNED)
def test_quotients_are_cut_towards_zero(kind: str) -> None:
    divisors = [b for b in edges(kind) if b not in (0, -1)]
    check(f"div.{kind}", kind, [kind] * 2, [edges(kind), divisors], lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))
    check(f"rem.{kind}", kind, [kind] * 2, [edges(kind), divisors], lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1))


@pytest.mark.parametrize(("a", "b"), [(5, 0), (-(2**31), -1)])
def test_a_quotient_that_hardware_leaves_open_is_refused(a: int, b: int) -> None:
    for name in ("div", "rem"):
        with pytest.raises(Undefined, match="division by zero|divided by -1"):
            evaluate(f"{name}.s32", "s32", ["s32", "s32"], np.array([a], np.int32), np.array([b], np.int32))


@pytest.mark.parametrize("bits", WIDTHS)
def test_shifts_past_the_width_count_as_the_width(bits: int) -> None:
    signed, unsigned, amounts = f"s{bits}", f"u{bits}", [0, 1, bits - 1, bits, bits + 1, 255, 2**32 - 1]
    check(f"shl.b{bits}", unsigned, [unsigned, "u32"], [edges(unsigned), amounts], lambda a, n: a << n if n < bits else 0)
    check(f"shr.u{bits}", unsigned, [unsigned, "u32"], [edges(unsigned), amounts], lambda a, n: a >> n)
    check(f"shr.s{bits}", signed, [signed, "u32"], [edges(signed), amounts], lambda a, n: a >> min(n, bits - 1))


def test_bits() -> None:
    for bits in (32, 64):
        kind, values = f"u{bits}", [edges(f"u{bits}")]
        check(f"popc.b{bits}", "u32", [kind], values, lambda a: a.bit_count())
        check(f"clz.b{bits}", "u32", [kind], values, lambda a, bits=bits: bits - a.bit_length())
        check(f"brev.b{bits}", kind, [kind], values, lambda a, bits=bits: int(f"{a:0{bits}b}"[::-1], 2))
        check(f"bfind.u{bits}", "s32", [kind], values, lambda a: a.bit_length() - 1)
        check(f"bfind.s{bits}", "s32", [f"s{bits}"], [edges(f"s{bits}")], lambda a: (~a if a < 0 else a).bit_length() - 1)
    for bits in WIDTHS:
        kind, two = f"u{bits}", [edges(f"u{bits}")] * 2
        check(f"and.b{bits}", kind, [kind] * 2, two, lambda a, b: a & b)
        check(f"or.b{bits}", kind, [kind] * 2, two, lambda a, b: a | b)
        check(f"xor.b{bits}", kind, [kind] * 2, two, lambda a, b: a ^ b)
        check(f"not.b{bits}", kind, [kind], two[:1], lambda a: ~a)
        check(f"cnot.b{bits}", kind, [kind], two[:1], lambda a: int(a == 0))


def _extracted(a: int, start: int, count: int, bits: int, signed: bool) -> int:
    """As the ISA document writes it, bit by bit."""
    start, count = start & 0xFF, count & 0xFF
    sign = a >> min(start + count - 1, bits - 1) & 1 if signed and count else 0
    return sum((a >> (i + start) & 1 if i < count and i + start < bits else sign) << i for i in range(bits))


@pytest.mark.parametrize("bits", [32, 64])
def test_fields_of_bits(bits: int) -> None:
    kind, places = f"u{bits}", [0, 1, 5, bits - 1, bits, 200, 256]
    for signed in (False, True):
        name = f"bfe.{'s' if signed else 'u'}{bits}"
        check(name, kind, [kind, "u32", "u32"], [edges(kind)[::2], places, places], lambda a, p, n, s=signed: _extracted(a, p, n, bits, s))

    def inserted(a: int, b: int, start: int, count: int) -> int:
        start, count = start & 0xFF, count & 0xFF
        for i in range(min(count, bits - start)):
            b = b & ~(1 << (start + i)) | (a >> i & 1) << (start + i)
        return b

    check(f"bfi.b{bits}", kind, [kind, kind, "u32", "u32"], [edges(kind)[::3], edges(kind)[::4], places, places], inserted)


def test_bytes_and_words_are_put_together() -> None:
    def permuted(a: int, b: int, selector: int) -> int:
        both = (b << 32 | a).to_bytes(8, "little")
        chosen = [(selector >> 4 * i) & 0xF for i in range(4)]
        return int.from_bytes(bytes((0xFF if both[c & 7] & 0x80 else 0) if c & 8 else both[c] for c in chosen), "little")

    check("prmt.b32", "u32", ["u32"] * 3, [[0x01827384, 0xFFEEDDCC], [0x10203040], [0x3210, 0x7654, 0x0FA9, 0x8888, 0x12345]], permuted)
    amounts = [0, 1, 31, 32, 33, 63]
    both = [[0x12345678, 0xFFFFFFFF], [0x9ABCDEF0, 1], amounts]
    check("shf.l.wrap.b32", "u32", ["u32"] * 3, both, lambda lo, hi, n: (hi << 32 | lo) << (n & 31) >> 32)
    check("shf.r.wrap.b32", "u32", ["u32"] * 3, both, lambda lo, hi, n: (hi << 32 | lo) >> (n & 31))
    check("shf.l.clamp.b32", "u32", ["u32"] * 3, both, lambda lo, hi, n: (hi << 32 | lo) << min(n, 32) >> 32)
    check("shf.r.clamp.b32", "u32", ["u32"] * 3, both, lambda lo, hi, n: (hi << 32 | lo) >> min(n, 32))


# ---- floats ----


FORMATS = {"f16": exact.F16, "bf16": exact.BF16, "f32": exact.F32, "f64": exact.F64}


def specials(kind: str) -> np.ndarray[Any, Any]:
    """Edges of a float type, as f64."""
    format = FORMATS[kind]
    ulp = 2.0 ** (1 - format.digits)
    least, normal = math.ldexp(1.0, format.least), math.ldexp(1.0, format.least + format.digits - 1)
    finite = [0.0, 1.0, 1 + ulp, 1.5, 3.0, 2 - ulp, math.ldexp(2 - ulp, format.most - 1), least, normal, 0.1]
    values = np.array([*finite, *(-value for value in finite), math.inf, -math.inf, math.nan])
    return exact.narrowed(values, format) if kind != "f64" else values


def encoded(values: np.ndarray[Any, Any], kind: str) -> np.ndarray[Any, Any]:
    if kind == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(f"f{int(kind[1:]) // 8}")


def decoded(bits: np.ndarray[Any, Any], kind: str) -> np.ndarray[Any, Any]:
    if kind == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return bits.view(f"f{int(kind[1:]) // 8}").astype(np.float64)


def check_floats(instruction: str, kind: str, count: int, wanted: Callable[..., float]) -> None:
    values = specials(kind) if count < 3 else specials(kind)[[0, 2, 4, 6, 7, 9, 10, 15, 19, 20, 22]]
    grid = [axis.ravel() for axis in np.meshgrid(*[values] * count)]
    found = decoded(evaluate(instruction, kind, [kind] * count, *(encoded(axis, kind) for axis in grid)), kind).tolist()
    with np.errstate(all="ignore"):
        for got, *numbers in zip(found, *(axis.tolist() for axis in grid), strict=True):
            want = wanted(*numbers)
            assert (math.isnan(got) and math.isnan(want)) or (got == want and math.copysign(1, got) == math.copysign(1, want)), (
                f"{instruction} {numbers}: {got}, not {want}"
            )


@pytest.mark.parametrize(
    ("kind", "mode"), [("f16", "rn"), ("bf16", "rn"), *((kind, mode) for kind in ("f32", "f64") for mode in exact.ROUNDERS)]
)
def test_floats_round_once(kind: str, mode: str) -> None:
    rule = {"format": FORMATS[kind], "mode": mode}
    check_floats(f"add.{mode}.{kind}", kind, 2, lambda a, b: exact.rounded_sum(a, b, **rule))
    check_floats(f"sub.{mode}.{kind}", kind, 2, lambda a, b: exact.rounded_sum(a, -b, **rule))
    check_floats(f"mul.{mode}.{kind}", kind, 2, lambda a, b: exact.rounded_product(a, b, **rule))
    check_floats(f"fma.{mode}.{kind}", kind, 3, lambda a, b, c: exact.rounded_fma(a, b, c, **rule))
    if kind in ("f32", "f64"):
        check_floats(f"div.{mode}.{kind}", kind, 2, lambda a, b: exact.rounded_quotient(a, b, **rule))
        check_floats(f"rcp.{mode}.{kind}", kind, 1, lambda a: exact.rounded_quotient(1.0, a, **rule))
        check_floats(f"sqrt.{mode}.{kind}", kind, 1, lambda a: exact.rounded_root(a, **rule))


def _lesser(a: float, b: float) -> float:
    return a if ((a, -math.copysign(1, a)) < (b, -math.copysign(1, b)) and a != b) or (a == b and math.copysign(1, a) < 0) else b


@pytest.mark.parametrize("kind", FORMATS)
def test_the_lesser_and_the_greater_of_floats(kind: str) -> None:
    def least(a: float, b: float, propagate: bool) -> float:
        if math.isnan(a) or math.isnan(b):
            return math.nan if propagate or (math.isnan(a) and math.isnan(b)) else (b if math.isnan(a) else a)
        return _lesser(a, b)

    for suffix, propagate in (("", False), ("NaN.", True)):
        if propagate and kind == "f64":
            continue
        check_floats(f"min.{suffix}{kind}", kind, 2, lambda a, b, n=propagate: least(a, b, n))
        check_floats(f"max.{suffix}{kind}", kind, 2, lambda a, b, n=propagate: -least(-a, -b, n))
    check_floats(f"abs.{kind}", kind, 1, abs)
    check_floats(f"neg.{kind}", kind, 1, lambda a: -a)
    if kind in ("f32", "f64"):
        check_floats(f"copysign.{kind}", kind, 2, lambda a, b: math.copysign(b, a))


def test_packed_floats_are_two() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 64)).astype(np.float16)
    found = evaluate("add.rn.f16x2", "b32", ["b32", "b32"], a.view(np.uint32), b.view(np.uint32)).view(np.float16)
    np.testing.assert_array_equal(found, a + b)
    x, y, z = rng.standard_normal((3, 64)).astype(np.float32)
    found = evaluate("mul.rn.f32x2", "b64", ["b64", "b64"], x.view(np.uint64), y.view(np.uint64)).view(np.float32)
    np.testing.assert_array_equal(found, x * y)
    found = evaluate("fma.rn.f32x2", "b64", ["b64"] * 3, *(each.view(np.uint64) for each in (x, y, z))).view(np.float32)
    np.testing.assert_array_equal(found, exact.fma_narrow(*(each.astype(np.float64) for each in (x, y, z)), exact.F32).astype(np.float32))
    whole = rng.integers(-(2**15), 2**15, (2, 64)).astype(np.int16)
    found = evaluate("max.s16x2", "b32", ["b32", "b32"], *(each.view(np.uint32) for each in whole)).view(np.int16)
    np.testing.assert_array_equal(found, np.maximum(*whole))


def test_sums_of_mixed_width() -> None:
    """The first operands are of 16 bits, the last of 32."""
    rng = np.random.default_rng(5)
    a, b, c = (
        rng.standard_normal(64).astype(np.float16),
        rng.standard_normal(64).astype(np.float16),
        rng.standard_normal(64).astype(np.float32),
    )
    wide = a.astype(np.float32)
    np.testing.assert_array_equal(evaluate("add.rn.f32.f16", "f32", ["f16", "f32"], a, c).view(np.float32), wide + c)
    np.testing.assert_array_equal(evaluate("sub.rn.f32.f16", "f32", ["f16", "f32"], a, c).view(np.float32), wide - c)
    fused = exact.fma_narrow(*(each.astype(np.float64) for each in (a, b, c)), exact.F32).astype(np.float32)
    np.testing.assert_array_equal(evaluate("fma.rn.f32.f16", "f32", ["f16", "f16", "f32"], a, b, c).view(np.float32), fused)
    upper = (c.view(np.uint32) >> 16).astype(np.uint16)
    found = evaluate("add.rn.f32.bf16", "f32", ["bf16", "f32"], upper, c).view(np.float32)
    np.testing.assert_array_equal(found, (upper.astype(np.uint32) << 16).view(np.float32) + c)


def test_a_product_and_a_sum_differ_from_a_fused_one() -> None:
    a, c = np.full(1, 1 + 2.0**-12, np.float32), np.full(1, -(1 + 2.0**-11), np.float32)
    product = evaluate("mul.rn.f32", "f32", ["f32"] * 2, a, a.copy()).view(np.float32)
    assert evaluate("add.rn.f32", "f32", ["f32"] * 2, product, c).view(np.float32)[0] == 0
    assert evaluate("fma.rn.f32", "f32", ["f32"] * 3, a, a.copy(), c).view(np.float32)[0] == np.float32(2.0**-24)
