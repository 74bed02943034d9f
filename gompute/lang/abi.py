"""The boundary between host and device: how a value becomes bytes there, and comes back."""

from __future__ import annotations

import enum
from typing import Any

from gompute.errors import InvalidArgument
from gompute.lang import numeric
from gompute.lang.params import params_type
from gompute.lang.types import ParamsField, ParamsType, ScalarType

__all__ = ["pack", "unpack"]


def encode(value: Any, kind: ScalarType, where: str) -> bytes:
    """One scalar as little-endian bytes; floats round once. An integer out of range, or a value of the wrong sort, is InvalidArgument
    naming `where`."""
    number = value.value if isinstance(value, enum.Enum) else value
    try:
        if isinstance(number, str | bytes | bytearray):
            raise TypeError("text is no number, though float() reads it")
        if hasattr(number, "item"):
            number = number.item()  # NumPy's bool is no index
        if not kind.is_float:
            number = number.__index__()
            low, high = (0, 1) if kind.kind == "bool" else numeric.limits(kind)
            if not low <= number <= high:
                raise InvalidArgument(f"{where}: {value!r} does not fit {kind} ({low} to {high})")
        elif not isinstance(number, int):
            number = float(number)  # an integer is rounded once, by `convert`
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        if isinstance(error, InvalidArgument):
            raise
        raise InvalidArgument(f"{where}: {value!r} ({type(value).__name__}) is no {kind}") from error
    return numeric.to_bits(numeric.convert(number, kind), kind).to_bytes(kind.size, "little")


def decode(data: bytes, kind: ScalarType) -> Any:
    """The number in `data`, as `encode` wrote it."""
    return numeric.from_bits(int.from_bytes(data, "little"), kind)


def pack(value: Any, kind: type | ParamsType | ScalarType | None = None) -> bytes:
    """The bytes of a params instance (or of a scalar, given its type) as a device reads them.

    Args:
        value: an instance of a params class, or a number.
        kind: the params class or its layout, or a scalar type; the class of `value` when left out.

    Raises InvalidArgument naming the field when a value does not fit, and when `value` is not of `kind`.
    """
    if isinstance(kind, ScalarType):
        return encode(value, kind, "value")
    layout = kind if isinstance(kind, ParamsType) else params_type(type(value) if kind is None else kind)
    if layout is None:
        raise InvalidArgument(f"{value!r} is no instance of a params class; decorate its class with @params")
    given = params_type(type(value))
    if given != layout:
        raise InvalidArgument(f"expected an instance of {layout.name}, not {type(value).__name__}")
    out = bytearray(layout.size)
    _pack_into(out, value, layout, 0, layout.name)
    return bytes(out)


def _pack_into(out: bytearray, value: Any, layout: ParamsType, base: int, path: str) -> None:
    for field in layout.fields:
        part, where, start = getattr(value, field.name), f"{path}.{field.name}", base + field.offset
        if isinstance(field.type, ParamsType):
            if params_type(type(part)) != field.type:
                raise InvalidArgument(f"{where}: expected an instance of {field.type.name}, not {type(part).__name__}")
            _pack_into(out, part, field.type, start, where)
            continue
        for position, element in enumerate(_elements(part, field, where)):
            at = start + position * field.type.size
            out[at : at + field.type.size] = encode(element, field.type, where)


def _elements(value: Any, field: ParamsField, where: str) -> list[Any]:
    if field.count is None:
        return [value]
    try:
        elements = list(value)
    except TypeError as error:
        raise InvalidArgument(f"{where}: expected {field.count} values, not {value!r}") from error
    if len(elements) != field.count:
        raise InvalidArgument(f"{where}: expected {field.count} values, got {len(elements)}")
    return elements


def unpack(data: bytes, cls: type) -> Any:
    """The instance of the params class `cls` that `pack` made `data` from; floats come back as rounded."""
    layout = params_type(cls)
    if layout is None:
        raise InvalidArgument(f"{cls!r} is no params class; decorate it with @params")
    if len(data) != layout.size:
        raise InvalidArgument(f"{layout.name} takes {layout.size} bytes, got {len(data)}")
    return _unpack_from(data, cls, layout, 0)


def _unpack_from(data: bytes, cls: type, layout: ParamsType, base: int) -> Any:
    values: dict[str, Any] = {}
    for field in layout.fields:
        start = base + field.offset
        if isinstance(field.type, ParamsType):
            nested = field.python_type
            if nested is None:
                raise InvalidArgument(f"{layout.name}.{field.name}: the class of this field is not known")
            values[field.name] = _unpack_from(data, nested, field.type, start)
            continue
        step = field.type.size
        numbers = [decode(data[at : at + step], field.type) for at in range(start, start + step * (field.count or 1), step)]
        if field.count is not None:
            values[field.name] = tuple(numbers)
        else:
            values[field.name] = numbers[0] if field.python_type is None else field.python_type(numbers[0])
    return cls(**values)
