"""The boundary between host and device: how a value becomes bytes there, and comes back.

A params class crosses by its fields. Any other class may declare what it crosses as:

    class Celsius:
        gpu_layout = f32                     # a scalar type, fixed[...], vec[...] or a params class

        def to_gpu(self) -> float: ...       # a value of that layout

        @classmethod
        def from_gpu(cls, value: float) -> Celsius: ...

It can then be the type of a params field, and where the layout is a params class, of a kernel's params argument. A kernel sees the layout.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from gompute.errors import CompileError, InvalidArgument
from gompute.lang import numeric
from gompute.lang.params import crossing_type, custom_boundary, field_of, leaves, params_type
from gompute.lang.types import ParamsField, ParamsType, ScalarType

__all__ = ["Boundary", "assert_stable", "boundary", "pack", "unpack"]


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
    """The bytes of a value as a device reads them.

    Args:
        value: an instance of a params class or of a class with a custom boundary, or a number.
        kind: the class or its layout, or a scalar type; the class of `value` when left out.

    Raises InvalidArgument naming the field when a value does not fit, and when `value` is not of `kind`; ParamsRejected for a class that
    cannot cross.
    """
    if isinstance(kind, ScalarType):
        return encode(value, kind, "value")
    wanted = type(value) if kind is None else kind
    field = ParamsField("", wanted, 0) if isinstance(wanted, ParamsType) else field_of("", wanted)
    if field is None:
        raise InvalidArgument(f"{value!r} is no instance of a params class; decorate its class with @params")
    if isinstance(field.type, ParamsType):
        if crossing_type(type(value)) != field.type:
            raise InvalidArgument(f"expected an instance of {_name(wanted)}, not {type(value).__name__}")
        field = field_of("", type(value)) or field
    out = bytearray(field.size)
    _pack_field(out, value, field, 0, _name(wanted))
    return bytes(out)


def _name(kind: type | ParamsType) -> str:
    return kind.name if isinstance(kind, ParamsType) else kind.__name__


def _pack_field(out: bytearray, value: Any, field: ParamsField, start: int, where: str) -> None:
    """Put `value` at `start`, converted by its own boundary where its class has one."""
    if custom_boundary(field.python_type) is not None:
        assert field.python_type is not None
        if not isinstance(value, field.python_type):
            raise InvalidArgument(f"{where}: expected an instance of {field.python_type.__name__}, not {type(value).__name__}")
        value = value.to_gpu()  # type: ignore[attr-defined]
    if isinstance(field.type, ParamsType):
        if params_type(type(value)) != field.type:
            raise InvalidArgument(f"{where}: expected an instance of {field.type.name}, not {type(value).__name__}")
        for inner in field.type.fields:
            _pack_field(out, getattr(value, inner.name), inner, start + inner.offset, f"{where}.{inner.name}")
        return
    for position, element in enumerate(_elements(value, field, where)):
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
    """The instance of `cls`, a params class or one with a custom boundary, that `pack` made `data` from; floats come back as rounded.

    Raises InvalidArgument for bytes of another size, and naming the field for a number that is no member of its enumeration.
    """
    field = field_of("", cls)
    if field is None or field.python_type is None:
        raise InvalidArgument(f"{cls!r} is no params class; decorate it with @params")
    if len(data) != field.size:
        raise InvalidArgument(f"{cls.__name__} takes {field.size} bytes, got {len(data)}")
    return _unpack_field(data, field, 0, cls.__name__)


def _unpack_field(data: bytes, field: ParamsField, start: int, where: str) -> Any:
    own = field.python_type
    value: Any
    if isinstance(field.type, ParamsType):
        if own is None:
            raise InvalidArgument(f"{where}: the class of this field is not known")
        layout = custom_boundary(own)
        parts = {inner.name: _unpack_field(data, inner, start + inner.offset, f"{where}.{inner.name}") for inner in field.type.fields}
        value = (own if layout is None else layout)(**parts)
    else:
        step = field.type.size
        numbers = [decode(data[at : at + step], field.type) for at in range(start, start + step * (field.count or 1), step)]
        value = numbers[0] if field.count is None else tuple(numbers)
        if own is not None and issubclass(own, enum.Enum):
            try:
                return own(value)
            except ValueError as error:
                raise InvalidArgument(f"{where}: {error}") from error
    return value if custom_boundary(own) is None else own.from_gpu(value)  # type: ignore[union-attr]


@dataclass(frozen=True, slots=True)
class Boundary:
    """How a class crosses to a device.

    Attributes:
        name: of the class.
        size, align: in bytes.
        fields: each scalar, fixed array or vector in order of offset: its dotted path, its element's type, its offset in bytes, and its
            length, None for one value. A class that crosses as no struct has one, without a path.
        custom: whether the class declares its own boundary.
    """

    name: str
    size: int
    align: int
    fields: tuple[tuple[str, ScalarType, int, int | None], ...]
    custom: bool

    def __str__(self) -> str:
        fields = "; ".join(
            f"{path}{': ' if path else ''}{kind}{'' if count is None else f'[{count}]'} @{offset}"
            for path, kind, offset, count in self.fields
        )
        return f"{self.name}{{{fields}; size {self.size}, align {self.align}}}"


def boundary(cls: type) -> Boundary:
    """The layout by which a params class, or a class with a custom boundary, crosses.

    Raises ParamsRejected naming every field that cannot cross, and InvalidArgument for a class that is neither.
    """
    field = field_of("", cls)
    if field is None or field.python_type is None:
        raise InvalidArgument(f"{cls!r} is no params class; decorate it with @params")
    fields = leaves(field.type) if isinstance(field.type, ParamsType) else (("", field.type, 0, field.count),)
    return Boundary(cls.__name__, field.size, field.align, tuple(fields), custom_boundary(cls) is not None)


def assert_stable(cls: type, layout: str | Boundary | None = None) -> None:
    """Hold a class to its layout: that it can cross at all, and that it still crosses as it did.

    Args:
        layout: ``boundary(cls)``, or the text of it, as it was when the artifacts that must stay loadable were built.

    Raises CompileError that names every field which cannot cross, or shows the layout that was expected beside the one that is.
    """
    found = str(boundary(cls))
    if layout is not None and str(layout) != found:
        raise CompileError(f"the layout of {cls.__name__} has changed: expected {layout}, found {found}; artifacts have to be built again")
