"""Conversions, comparisons, selection and moves."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.ptx import exact
from tests.ptx.faults import PtxError, Unknown
from tests.ptx.snippets import evaluate
from tests.ptx.test_arithmetic import FORMATS, decoded, dtype, edges, encoded, specials, wrapped

INTEGERS = [f"{letter}{bits}" for letter in "su" for bits in (8, 16, 32, 64)]
_REGISTER = {8: 16, 16: 16, 32: 32, 64: 64}


def _held(values: list[int], kind: str) -> tuple[str, np.ndarray[Any, Any]]:
    """Values in the memory of a register of the type; 8 bits lie in 16, and what is above them must not matter."""
    bits = int(kind[1:])
    if bits == 8:
        return "u16", np.array([value & 0xFF | 0x5A00 for value in values], np.uint16)
    return kind, np.array(values, dtype(kind))


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", INTEGERS)
def test_integers_to_integers(source: str, target: str) -> None:
    values = edges(source)
    memory, array = _held(values, source)
    width = _REGISTER[int(target[1:])]
    found = evaluate(f"cvt.{target}.{source}", f"u{width}", [memory], array).tolist()
    assert found == [wrapped(value, target) & ((1 << width) - 1) for value in values]  # 8 bits are extended to the register's 16
    low, high = (-(2 ** (int(target[1:]) - 1)), 2 ** (int(target[1:]) - 1) - 1) if target[0] == "s" else (0, 2 ** int(target[1:]) - 1)
    found = evaluate(f"cvt.sat.{target}.{source}", f"u{width}", [memory], array).tolist()
    assert found == [min(max(value, low), high) & ((1 << width) - 1) for value in values]


@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("target", INTEGERS)
def test_floats_to_integers(source: str, target: str) -> None:
    extra = [0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 128.5, 255.5, 2.0**31, 2.0**32, 2.0**63, -(2.0**63), 2.0**64, 65504.0]
    values = np.concatenate([specials(source), [value for value in extra if source != "f16" or abs(value) < 65505]])
    bits, signed = int(target[1:]), target[0] == "s"
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    width = _REGISTER[bits]
    for word, function in {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}.items():
        found = evaluate(f"cvt.{word}.{target}.{source}", f"u{width}", [source], encoded(values, source)).tolist()
        for value, got in zip(decoded(encoded(values, source), source).tolist(), found, strict=True):
            if math.isnan(value):
                want = 1 << (bits - 1) if source == "f64" or bits == 64 else 0
                want = wrapped(want, target)
            elif math.isinf(value):
                want = high if value > 0 else low
            else:
                want = min(max(function(value), low), high)
            assert got == want & ((1 << width) - 1), (word, value)


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", FORMATS)
def test_integers_to_floats(source: str, target: str) -> None:
    values = [*edges(source), *([2**53 + 1, 2049, 2051, 65519, 65520] if source[1:] == "64" else [])]
    memory, array = _held(values, source)
    for mode in ("rn", "rz", "rp") if target in ("f32", "f64") else ("rn",):
        found = decoded(evaluate(f"cvt.{mode}.{target}.{source}", target, [memory], array), target).tolist()
        assert found == [exact.rounded(Fraction(value), FORMATS[target], mode) if value else 0.0 for value in values]


def _assert_floats(found: list[float], wanted: list[float]) -> None:
    for got, want in zip(found, wanted, strict=True):
        assert (math.isnan(got) and math.isnan(want)) or (got == want and math.copysign(1, got) == math.copysign(1, want)), (got, want)


@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("target", FORMATS)
def test_floats_to_floats(source: str, target: str) -> None:
    values = decoded(encoded(np.concatenate([specials(source), [0.5, 2.5, 1e-5, 1.00048828125]]), source), source)
    array = encoded(values, source)
    if source == target:
        functions = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}
        for word, function in functions.items():
            found = decoded(evaluate(f"cvt.{word}.{target}.{source}", target, [source], array), target).tolist()
            _assert_floats(found, [math.copysign(function(value), value) if math.isfinite(value) else value for value in values.tolist()])
        return
    wider = FORMATS[target].digits >= FORMATS[source].digits and FORMATS[target].most >= FORMATS[source].most
    for mode in ("",) if wider else ("rn.",):
        found = decoded(evaluate(f"cvt.{mode}{target}.{source}", target, [source], array), target).tolist()
        finite = np.isfinite(values) & (values != 0)
        rounded = [
            exact.rounded(Fraction(value), FORMATS[target], "rn") if inside else value
            for value, inside in zip(values.tolist(), finite, strict=True)
        ]
        _assert_floats(found, rounded)
    with pytest.raises(Unknown, match="no such rounding"):
        evaluate(f"cvt.{'rn.' if wider else ''}{target}.{source}", target, [source], array)


def test_two_floats_are_packed_with_the_first_above() -> None:
    a, b = np.array([1.0, 0.1], np.float32), np.array([-2.0, 65520.0], np.float32)
    found = evaluate("cvt.rn.f16x2.f32", "b32", ["f32", "f32"], a, b).view(np.float16)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, np.stack([b, a], 1).ravel().astype(np.float16))


def test_a_float_is_clamped_to_one() -> None:
    values = np.array([-1.0, 0.25, 2.0, np.nan, -0.0, np.inf], np.float32)
    zeros = np.zeros(6, np.float32)
    assert evaluate("add.rn.sat.f32", "f32", ["f32", "f32"], values, zeros).view(np.float32).tolist() == [0, 0.25, 1, 0, 0, 1]


# ---- comparisons ----

_ORDERED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def _holds(word: str, a: float, b: float) -> bool:
    operator = _ORDERED[word]
    return {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]


@pytest.mark.parametrize("kind", ["s16", "u16", "s32", "u32", "s64", "u64"])
def test_integer_comparisons(kind: str) -> None:
    a, b = (axis.ravel() for axis in np.meshgrid(np.array(edges(kind), dtype(kind)), np.array(edges(kind), dtype(kind))))
    for word in _ORDERED:
        found = evaluate(f"setp.{word}.{kind}", "pred", [kind, kind], a, b).tolist()
        assert found == [_holds(word, x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    if kind[0] == "u":
        for word, same in {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.items():
            found = evaluate(f"setp.{word}.{kind}", "pred", [kind, kind], a, b).tolist()
            assert found == [_holds(same, x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]


@pytest.mark.parametrize("kind", FORMATS)
def test_float_comparisons(kind: str) -> None:
    values = specials(kind)[[0, 1, 2, 10, 20, 21, 22]]
    a, b = (axis.ravel() for axis in np.meshgrid(values, values))
    x, y = encoded(a, kind), encoded(b, kind)
    for word in _ORDERED:
        ordered, unordered = [], []
        for p, q in zip(a.tolist(), b.tolist(), strict=True):
            nan = math.isnan(p) or math.isnan(q)
            ordered.append(_holds(word, p, q) and not nan)
            unordered.append(_holds(word, p, q) or nan)
        assert evaluate(f"setp.{word}.{kind}", "pred", [kind, kind], x, y).tolist() == ordered
        assert evaluate(f"setp.{word}u.{kind}", "pred", [kind, kind], x, y).tolist() == unordered
    missing = (np.isnan(a) | np.isnan(b)).tolist()
    assert evaluate(f"setp.nan.{kind}", "pred", [kind, kind], x, y).tolist() == missing
    assert evaluate(f"setp.num.{kind}", "pred", [kind, kind], x, y).tolist() == [not each for each in missing]


def test_a_comparison_joined_with_a_predicate() -> None:
    a, b = np.array([1, 1, 2, 2], np.int32), np.array([2, 2, 1, 1], np.int32)
    c = np.array([0, 1, 0, 1], np.uint8)
    for word, wanted in {"and": [0, 1, 0, 0], "or": [1, 1, 0, 1], "xor": [1, 0, 0, 1]}.items():
        assert evaluate(f"setp.lt.{word}.s32", "pred", ["s32", "s32", "pred"], a, b, c).tolist() == wanted


def test_selection() -> None:
    a, b, p = np.array([1, 2], np.int32), np.array([3, 4], np.int32), np.array([1, 0], np.uint8)
    assert evaluate("selp.b32", "s32", ["s32", "s32", "pred"], a, b, p).tolist() == [1, 4]
    assert evaluate("slct.s32.s32", "s32", ["s32", "s32", "s32"], a, b, np.array([0, -1], np.int32)).tolist() == [1, 4]
    assert evaluate("slct.s32.f32", "s32", ["s32", "s32", "f32"], a, b, np.array([-0.0, np.nan], np.float32)).tolist() == [1, 4]
    assert evaluate("set.lt.u32.s32", "u32", ["s32", "s32"], a, b).tolist() == [2**32 - 1] * 2


@pytest.mark.parametrize(("instruction", "result", "sources"), [("add.s32", "s64", ["s32", "s32"]), ("mov.b32", "b64", ["b32"])])
def test_a_register_of_another_width_is_refused(instruction: str, result: str, sources: list[str]) -> None:
    with pytest.raises(PtxError, match="bits, where"):
        evaluate(instruction, result, sources, *(np.zeros(1, dtype(kind.replace("b", "u"))) for kind in sources))
