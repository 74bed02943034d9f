"""From what a caller passes for a scalar or for params to what a launch takes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from gompute.artifacts.entry import ParamsEntry
from gompute.errors import InvalidArgument
from gompute.handles.packing import FORMAT
from gompute.lang import abi, numeric
from gompute.lang.params import crossing_type, custom_boundary, leaves
from gompute.lang.types import BF16, BOOL, SCALARS, ParamsField, ParamsType, ScalarType, TypedFloat, TypedInt

__all__ = ["ParamsReader", "bytes_reader", "scalar_reader", "typed_number"]

_LARGEST_F32 = float.fromhex("0x1.fffffep127")


def scalar_reader(name: str, dtype: str) -> Callable[[Any], Any]:
    """A function from a caller's value to the number to pack: integers are checked for their range, floats round once.

    Raises (the function):
        InvalidArgument: naming the argument, its type and the value.
    """
    kind = SCALARS[dtype]
    expected = f"{name} ({dtype})"

    def slowly(value: Any) -> Any:
        bits = int.from_bytes(abi.encode(value, kind, expected), "little")
        return bits if dtype == "bf16" or kind.kind == "bool" else numeric.from_bits(bits, kind)

    if kind.is_integer:
        low, high = numeric.limits(kind)
        return lambda value: value if type(value) is int and low <= value <= high else slowly(value)
    if dtype == "f64":
        return lambda value: value if type(value) is float else slowly(value)
    if dtype == "f32":
        # Above the largest, packing raises where rounding gives infinity.
        return lambda value: value if type(value) is float and -_LARGEST_F32 <= value <= _LARGEST_F32 else slowly(value)
    return slowly


def bytes_reader(name: str, size: int) -> Callable[[Any], bytes]:
    """A function from a caller's value to the bytes of a struct that only its kernel knows.

    Raises (the function):
        InvalidArgument: it is neither so many bytes nor an instance of a params class of that size.
    """
    expected = f"{name}: expected {size} bytes, or an instance of a params class of that size"

    def read(value: Any) -> bytes:
        if crossing_type(type(value)) is not None:
            data = abi.pack(value)
        elif isinstance(value, bytes | bytearray | memoryview):
            data = bytes(value)
        else:
            raise InvalidArgument(f"{expected}, got {type(value).__name__}")
        if len(data) != size:
            raise InvalidArgument(f"{expected}, got {len(data)} bytes")
        return data

    return read


class ParamsReader:
    """From a params instance or packed bytes to the bytes of one kernel's params argument."""

    def __init__(self, name: str, layout: ParamsEntry) -> None:
        self._name = name
        self._layout = layout
        self._fields = tuple((field.path, field.dtype, field.offset, field.count) for field in layout.fields)
        #: How instances of each class that has this layout are packed.
        self._packers: dict[type, Callable[[Any], bytes]] = {}
        self._frozen: set[type] = set()

    def __call__(self, value: Any) -> bytes:
        """The bytes of `value`.

        Raises:
            InvalidArgument: it is neither an instance of a class with this layout nor bytes of its size.
        """
        packer = self._packers.get(type(value))
        if packer is None:
            if isinstance(value, bytes | bytearray | memoryview):
                return self._raw(bytes(value))
            packer = self._packers[type(value)] = self._packer(type(value))
        return packer(value)

    def lasting(self, value: Any) -> bool:
        """Whether `value` has the same bytes for ever, its class being known: instances of params classes are frozen, but the value of a
        fixed array may be a list, and a class with its own boundary anything."""
        return type(value) in self._frozen

    def _raw(self, data: bytes) -> bytes:
        if len(data) != self._layout.size:
            raise InvalidArgument(f"{self._name}: expected {self._layout.size} bytes of {self._layout.name}, got {len(data)}")
        return data

    def _packer(self, kind: type) -> Callable[[Any], bytes]:
        expected = f"{self._name}: expected an instance of {self._layout.name} or {self._layout.size} bytes from g.abi.pack"
        layout = crossing_type(kind)
        if layout is None:
            raise InvalidArgument(f"{expected}, got {kind.__name__}")
        given = tuple((path, element.name, offset, count) for path, element, offset, count in leaves(layout))
        if given != self._fields or layout.size != self._layout.size:
            raise InvalidArgument(f"{expected}, got {kind.__name__} with the fields {_listed(given)}; wanted are {_listed(self._fields)}")
        if custom_boundary(kind) is None and _is_frozen(layout):
            self._frozen.add(kind)
        if custom_boundary(kind) is not None or any(isinstance(f.type, ParamsType) or not _is_plain(f) for f in layout.fields):
            return abi.pack
        return _flat_packer(layout, self._fields)


def _is_plain(field: ParamsField) -> bool:
    """Whether a field holds one value by its own boundary."""
    return field.count is None and custom_boundary(field.python_type) is None


def _is_frozen(layout: ParamsType) -> bool:
    return all(_is_plain(field) and (not isinstance(field.type, ParamsType) or _is_frozen(field.type)) for field in layout.fields)


def _flat_packer(layout: ParamsType, fields: tuple[tuple[str, str, int, int | None], ...]) -> Callable[[Any], bytes]:
    """`abi.pack` for a struct of scalars alone, several times as fast; it is asked again where a value does not fit, for its words."""
    text, end = "<", 0
    for _, dtype, offset, _ in fields:
        text += f"{offset - end}x{FORMAT[dtype]}" if offset > end else FORMAT[dtype]
        end = offset + SCALARS[dtype].size
    pack = struct.Struct(f"{text}{layout.size - end}x").pack
    readers = [(path, scalar_reader(path, dtype)) for path, dtype, _, _ in fields]

    def packed(value: Any) -> bytes:
        try:
            return pack(*[read(getattr(value, path)) for path, read in readers])
        except InvalidArgument:
            return abi.pack(value, layout)

    return packed


def _listed(fields: tuple[tuple[str, str, int, int | None], ...]) -> str:
    return ", ".join(f"{path}: {dtype}{'' if count is None else f'[{count}]'}" for path, dtype, _, count in fields)


def typed_number(kind: ScalarType) -> Callable[[Any], Any]:
    """From an unpacked number to what a host call gives."""
    if kind == BF16:
        return lambda bits: TypedFloat(numeric.from_bits(bits, kind), kind)
    if kind.is_float:
        return lambda number: TypedFloat(number, kind)
    return bool if kind == BOOL else lambda number: TypedInt(number, kind)
