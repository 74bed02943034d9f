"""Params structs: their layout, their bytes, and what is refused."""

from __future__ import annotations

import ctypes
import enum
import struct
from typing import Any, Optional

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gompute as g
from gompute.lang import numeric
from gompute.lang.params import ParamsRejected, leaves, params_type
from gompute.lang.types import SCALARS

CTYPES: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "i8": ctypes.c_int8,
    "u8": ctypes.c_uint8,
    "i16": ctypes.c_int16,
    "u16": ctypes.c_uint16,
    "i32": ctypes.c_int32,
    "u32": ctypes.c_uint32,
    "i64": ctypes.c_int64,
    "u64": ctypes.c_uint64,
    "f16": ctypes.c_uint16,
    "bf16": ctypes.c_uint16,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}


class Colour(enum.IntEnum):
    RED = 1
    BLUE = 2


class Wide(enum.IntEnum):
    HUGE = 2**40


@g.params
class Inner:
    w: g.f64
    flag: bool


@g.params
class Outer:
    a: g.i8
    inner: Inner
    colour: Colour
    taps: g.fixed[g.u16, 3]
    wide: Wide
    last: g.u8 = 7


def test_fields_lie_as_c_lays_them() -> None:
    layout = params_type(Outer)
    assert layout is not None
    assert [(path, kind.name, offset, count) for path, kind, offset, count in leaves(layout)] == [
        ("a", "i8", 0, None),
        ("inner.w", "f64", 8, None),
        ("inner.flag", "bool", 16, None),
        ("colour", "i32", 24, None),
        ("taps", "u16", 28, 3),
        ("wide", "i64", 40, None),
        ("last", "u8", 48, None),
    ]
    assert (layout.size, layout.align) == (56, 8)


def test_pack_and_unpack_are_inverse() -> None:
    value = Outer(-5, Inner(0.5, True), Colour.BLUE, (1, 2, 65535), Wide.HUGE)
    data = g.abi.pack(value)
    assert len(data) == 56
    assert g.abi.unpack(data, Outer) == value
    assert isinstance(g.abi.unpack(data, Outer).colour, Colour)


def test_a_number_that_is_no_member_is_refused_by_its_field() -> None:
    data = bytearray(g.abi.pack(Outer(-5, Inner(0.5, True), Colour.BLUE, (1, 2, 65535), Wide.HUGE)))
    at = next(field.offset for field in Outer.__gompute_params__.fields if field.name == "colour")
    data[at] = 99
    with pytest.raises(g.InvalidArgument, match=r"^Outer\.colour: 99 is not a valid Colour$"):
        g.abi.unpack(bytes(data), Outer)


def _value(kind: str) -> st.SearchStrategy[Any]:
    scalar = SCALARS[kind]
    if scalar.is_float:
        return st.floats(width=32).map(lambda v: numeric.convert(v, scalar))
    low, high = numeric.limits(scalar)
    return st.integers(low, high)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.sampled_from(sorted(CTYPES)).flatmap(lambda k: st.tuples(st.just(k), _value(k), st.integers(0, 3))), min_size=1, max_size=8)
)
def test_any_struct_has_the_bytes_that_ctypes_gives_it(fields: list[tuple[str, Any, int]]) -> None:
    annotations: dict[str, Any] = {}
    ours: list[Any] = []
    ctype_fields: list[tuple[str, Any]] = []
    theirs: list[Any] = []
    for position, (kind, value, length) in enumerate(fields):
        scalar = SCALARS[kind]
        held = numeric.to_bits(value, scalar) if kind in ("f16", "bf16") else value
        annotations[f"f{position}"] = g.fixed[scalar, length] if length else scalar  # type: ignore[type-arg]
        ours.append((value,) * length if length else value)
        ctype_fields.append((f"f{position}", CTYPES[kind] * length if length else CTYPES[kind]))
        theirs.append((CTYPES[kind] * length)(*(held,) * length) if length else held)
    made = g.params(type("Made", (), {"__annotations__": annotations}))
    structure = type("S", (ctypes.Structure,), {"_fields_": ctype_fields})
    wanted = bytearray(ctypes.sizeof(structure))
    instance = structure(*theirs)
    for name, _ in ctype_fields:  # field by field: ctypes leaves the bytes between fields as they were
        field = getattr(structure, name)
        wanted[field.offset : field.offset + field.size] = bytes(instance)[field.offset : field.offset + field.size]
    assert g.abi.pack(made(*ours)) == bytes(wanted)


@pytest.mark.parametrize(
    ("annotation", "reason", "fix"),
    [
        (int, "'int' has no fixed width", "write i32 or i64"),
        (float, "'float' has no fixed width", "write f32 or f64"),
        (str, "text (str) cannot cross to the device", "use an IntEnum for a choice, or fixed[u8, N] for bytes"),
        (list, "a container (list) has no fixed size", "write fixed[f32, N]"),
        (dict[str, int], "a container (dict[str, int]) has no fixed size", "write fixed[f32, N]"),
        (g.ptr[g.f32], "a pointer (ptr[f32]) cannot be in params", "pass it as an argument of a raw kernel"),
        (
            Optional[Colour],  # noqa: UP045 - this spelling is what is refused
            f"an optional value ({Optional[Colour]}) cannot cross by value",  # noqa: UP045
            "add a bool field that says whether it is set",
        ),
        (object, "object cannot cross by value", "use scalars, bool, IntEnum, fixed[f32, N] or another @params class"),
        (enum.Enum("Words", {"A": "a"}), "the values of Words are not all integers that fit 64 bits", "derive it from enum.IntEnum"),
    ],
)
def test_a_field_that_cannot_cross_is_refused_by_its_full_path(annotation: Any, reason: str, fix: str) -> None:
    inner = g.params(type("Bad", (), {"__annotations__": {"ok": g.f32, "w": annotation}}))
    outer = g.params(type("Top", (), {"__annotations__": {"inner": inner, "x": g.f32}}))
    with pytest.raises(ParamsRejected) as caught:
        params_type(outer)
    (fault,) = caught.value.faults
    assert (fault.path, fault.reason, fault.fix) == ("Top.inner.w", reason, fix)


def test_all_bad_fields_are_reported_together() -> None:
    bad = g.params(type("Bad", (), {"__annotations__": {"a": int, "b": str, "c": g.f32}}))
    with pytest.raises(ParamsRejected) as caught:
        params_type(bad)
    assert [fault.path for fault in caught.value.faults] == ["Bad.a", "Bad.b"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (Outer(300, Inner(0.5, True), Colour.RED, (1, 2, 3), Wide.HUGE), "Outer.a: 300 does not fit i8 (-128 to 127)"),
        (Outer(1, Inner("x", True), Colour.RED, (1, 2, 3), Wide.HUGE), "Outer.inner.w: 'x' (str) is no f64"),  # type: ignore[arg-type]
        (Outer(1, Inner(0.5, True), Colour.RED, (1, 2), Wide.HUGE), "Outer.taps: expected 3 values, got 2"),
        (Outer(1, None, Colour.RED, (1, 2, 3), Wide.HUGE), "Outer.inner: expected an instance of Inner, not NoneType"),  # type: ignore[arg-type]
        (Outer(1.5, Inner(0.5, True), Colour.RED, (1, 2, 3), Wide.HUGE), "Outer.a: 1.5 (float) is no i8"),  # type: ignore[arg-type]
    ],
)
def test_a_value_that_does_not_fit_names_its_field(value: Any, message: str) -> None:
    with pytest.raises(g.InvalidArgument) as caught:
        g.abi.pack(value)
    assert str(caught.value) == message


def test_pack_of_another_class_is_refused() -> None:
    with pytest.raises(g.InvalidArgument, match="expected an instance of Outer, not Inner"):
        g.abi.pack(Inner(0.5, True), Outer)
    with pytest.raises(g.InvalidArgument, match="is no instance of a params class"):
        g.abi.pack(object())
    with pytest.raises(g.InvalidArgument, match="Outer takes 56 bytes, got 3"):
        g.abi.unpack(b"abc", Outer)


def test_annotations_that_are_text_resolve_where_the_class_stands() -> None:
    kind = g.f64

    @g.params
    class Text:
        a: kind  # type: ignore[valid-type]
        b: g.u8

    layout = params_type(Text)
    assert layout is not None
    assert (kind, layout.size) == (g.f64, 16)


def test_a_class_may_name_one_that_stands_further_down() -> None:
    layout = params_type(Ahead)
    assert layout is not None
    assert layout.size == 8


@g.params
class Ahead:
    later: Later


@g.params
class Later:
    b: g.f64


def test_vectors_lie_as_llvms_do() -> None:
    @g.params
    class Vectors:
        first: g.u8
        pair: g.vec[g.f32, 2]  # type: ignore[type-arg]
        triple: g.vec[g.f32, 3]  # type: ignore[type-arg]
        eight: g.vec[g.f64, 8]  # type: ignore[type-arg]
        last: g.vec[bool, 4]  # type: ignore[type-arg]

    layout = params_type(Vectors)
    assert layout is not None
    assert [(path, offset, count) for path, _, offset, count in leaves(layout)] == [
        ("first", 0, None),
        ("pair", 8, 2),
        ("triple", 16, 3),
        ("eight", 32, 8),
        ("last", 96, 4),
    ]
    assert (layout.size, layout.align) == (112, 16)
    value = Vectors(1, (1, 2), (3, 4, 5), range(8), (True, False, True, True))
    data = g.abi.pack(value)
    assert struct.unpack_from("<B7x2f3f4x8d4?12x", data) == (1, 1, 2, 3, 4, 5, *range(8), True, False, True, True)
    assert g.abi.unpack(data, Vectors).triple == (3.0, 4.0, 5.0)


@given(st.sampled_from(sorted(CTYPES)), st.sampled_from([2, 3, 4, 8, 16]), st.integers(1, 9))
def test_any_vector_is_where_its_padded_size_says(kind: str, length: int, before: int) -> None:
    scalar = SCALARS[kind]
    made = g.params(type("Made", (), {"__annotations__": {"a": g.fixed[g.u8, before], "v": g.vec[scalar, length]}}))  # type: ignore[type-arg]
    room = scalar.size * 2 ** (length - 1).bit_length()
    align = min(room, 16)
    layout = params_type(made)
    assert layout is not None
    assert (layout.fields[1].offset, layout.align) == (-(-before // align) * align, align)
    assert layout.size == layout.fields[1].offset + room


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: g.vec[g.f32, 5], "vec[f32, 5] is no vector type; write vec[f32, 4]: it has 2, 3, 4, 8 or 16 elements"),
        (lambda: g.vec[g.f32], "vec needs an element type and a length; write vec[f32, 4]"),
        (lambda: g.vec[float, 4], "vec[float, 4] is no type; write vec[f32, 4]: a scalar type and a length"),
        (lambda: g.fixed[g.f32, 0], "fixed[f32, 0] is no array type; write fixed[f32, 4]: a scalar type and a length from 1"),
        (lambda: g.fixed[g.f32, True], "fixed[f32, True] is no type; write fixed[f32, 4]: a scalar type and a length"),
        (lambda: g.fixed[g.f32], "fixed needs an element type and a length; write fixed[f32, 4]"),
    ],
)
def test_a_wrong_array_type_says_what_to_write(wrong: Any, words: str) -> None:
    with pytest.raises(g.CompileError) as caught:
        wrong()
    assert str(caught.value) == words
