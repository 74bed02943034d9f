"""``@g.params``: a struct of plain values that crosses to the device by value.

The layout follows the C rules on host and device alike, so that it never depends on a compiler's mood. What cannot cross by value
(pointers, strings, containers, anything without a fixed width) is refused by the full path of the field.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any, TypeVar, dataclass_transform

from gompute.errors import CompileError
from gompute.lang.types import BOOL, I32, I64, U64, FixedArray, ParamsField, ParamsType, PointerType, ScalarType, Vector

__all__ = ["FieldFault", "ParamsRejected", "crossing_type", "custom_boundary", "enum_type", "field_of", "leaves", "params", "params_type"]

C = TypeVar("C", bound=type)


@dataclasses.dataclass(frozen=True, slots=True)
class FieldFault:
    """Why one field cannot be in a params struct: its full path, the reason, and what to write."""

    path: str
    reason: str
    fix: str


class ParamsRejected(CompileError):
    """A params class with fields that cannot cross by value; `faults` holds them all."""

    def __init__(self, owner: str, faults: tuple[FieldFault, ...]) -> None:
        super().__init__("\n".join(f"{fault.path}: {fault.reason}; {fault.fix}" for fault in faults))
        self.owner = owner
        self.faults = faults

    def within(self, path: str, owner: str) -> ParamsRejected:
        """The same faults seen from a struct that holds this one under the field `path`."""
        return ParamsRejected(
            owner, tuple(dataclasses.replace(fault, path=path + fault.path.removeprefix(self.owner)) for fault in self.faults)
        )


class _Layout:
    """Computes the layout on first use, so that a bad field is reported with all others.

    Annotations that are text are evaluated where the class stands; one that names a class further down waits for the first use.
    """

    def __init__(self, cls: type, place: FrameType) -> None:
        self._type: ParamsType | None = None
        self._globals = place.f_globals
        self._annotations: dict[str, Any] | None
        try:
            self._annotations = inspect.get_annotations(cls, globals=place.f_globals, locals=place.f_locals, eval_str=True)
        except Exception:  # whatever an annotation's own code raises: raised again on first use, where it can be reported
            self._annotations = None

    def __get__(self, instance: object, owner: type) -> ParamsType:
        if self._type is None:
            self._type = _layout(owner, self._resolved(owner))
        return self._type

    def _resolved(self, owner: type) -> dict[str, Any]:
        if self._annotations is None:
            try:
                self._annotations = inspect.get_annotations(owner, globals=self._globals, eval_str=True)
            except Exception as error:  # as above
                raise CompileError(f"{owner.__name__}: a field's annotation cannot be resolved: {error}") from error
        return self._annotations


@dataclass_transform(frozen_default=True)
def params(cls: C) -> C:
    """Make a class of annotated fields a params struct.

    Fields: any scalar type, ``bool`` (stored in a byte), an `enum.IntEnum`, ``fixed[f32, 4]``, ``vec[f32, 4]``, other params classes, and
    classes with a boundary of their own (see `gompute.lang.abi`). Instances are immutable and take their values by position or keyword;
    defaults work as in a dataclass.
    """
    if not isinstance(cls, type):
        raise CompileError(f"@params decorates a class, not {cls!r}; write @params above 'class Params:'")
    cls.__gompute_params__ = _Layout(cls, sys._getframe(1))  # type: ignore[attr-defined]
    dataclasses.dataclass(frozen=True)(cls)  # decorates in place: without slots it makes no new class
    return cls


def params_type(annotation: object) -> ParamsType | None:
    """The layout of a params class, or None when `annotation` is none. Raises `ParamsRejected` when it has fields that cannot cross."""
    if isinstance(annotation, type) and "__gompute_params__" in vars(annotation):
        layout: ParamsType = annotation.__gompute_params__  # type: ignore[attr-defined]
        return layout
    return None


def leaves(layout: ParamsType, prefix: str = "", base: int = 0) -> Iterator[tuple[str, ScalarType, int, int | None]]:
    """Each scalar or fixed array of a struct in order of offset: dotted path, element type, offset in bytes, length or None."""
    for field in layout.fields:
        if isinstance(field.type, ParamsType):
            yield from leaves(field.type, f"{prefix}{field.name}.", base + field.offset)
        else:
            yield f"{prefix}{field.name}", field.type, base + field.offset, field.count


def _layout(cls: type, annotations: dict[str, Any]) -> ParamsType:
    fields: list[ParamsField] = []
    faults: list[FieldFault] = []
    offset, align = 0, 1
    for name, annotation in annotations.items():
        path = f"{cls.__name__}.{name}"
        try:
            found = field_of(name, annotation)
        except ParamsRejected as inner:
            faults.extend(inner.within(path, cls.__name__).faults)
            continue
        if found is None:
            faults.append(FieldFault(path, *_refusal(annotation)))
            continue
        offset = -(-offset // found.align) * found.align
        fields.append(dataclasses.replace(found, offset=offset))
        offset += found.size
        align = max(align, found.align)
    if not annotations:
        faults.append(FieldFault(cls.__name__, "a params struct needs a field", "write a line like 'scale: f32'"))
    if faults:
        raise ParamsRejected(cls.__name__, tuple(faults))
    return ParamsType(cls.__name__, tuple(fields), -(-offset // align) * align, align)


def field_of(name: str, annotation: object) -> ParamsField | None:
    """What an annotation makes of a field, at offset 0; None where it cannot cross. Raises ParamsRejected for a faulty class."""
    if isinstance(annotation, ScalarType):
        return ParamsField(name, annotation, 0)
    if annotation is bool:
        return ParamsField(name, BOOL, 0)
    if isinstance(annotation, FixedArray):
        return ParamsField(name, annotation.element, 0, annotation.length)
    if isinstance(annotation, Vector):
        return ParamsField(name, annotation.element, 0, annotation.length, vector=True)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        storage = enum_type(annotation)
        return None if storage is None else ParamsField(name, storage, 0, python_type=annotation)
    boundary = custom_boundary(annotation)
    found = field_of(name, boundary) if boundary is not None else None
    if found is not None and isinstance(annotation, type):
        return dataclasses.replace(found, python_type=annotation)
    nested = params_type(annotation)
    return None if nested is None or not isinstance(annotation, type) else ParamsField(name, nested, 0, python_type=annotation)


_BOUNDARY = ("gpu_layout", "to_gpu", "from_gpu")


def custom_boundary(annotation: object) -> Any:
    """What a class that declares its own boundary crosses as, its `gpu_layout`; None for a class that declares none.

    Raises ParamsRejected where it declares a part of one, or a layout that is no type with a layout.
    """
    if not isinstance(annotation, type) or not any(hasattr(annotation, part) for part in _BOUNDARY):
        return None
    name = annotation.__name__
    missing = [part for part in _BOUNDARY if not hasattr(annotation, part)]
    if missing:
        declared = " and ".join(part for part in _BOUNDARY if part not in missing)
        reason = f"{name} declares {declared} and lacks {' and '.join(missing)}"
        raise ParamsRejected(name, (FieldFault(name, reason, "a custom boundary is gpu_layout, to_gpu and from_gpu"),))
    layout = annotation.gpu_layout  # type: ignore[attr-defined]
    if isinstance(layout, ScalarType | FixedArray | Vector) or params_type(layout) is not None:
        return layout
    reason = f"the gpu_layout of {name} is {getattr(layout, '__name__', repr(layout))}, which has no layout"
    raise ParamsRejected(name, (FieldFault(name, reason, "write a scalar type, fixed[f32, N], vec[f32, N] or a @g.params class"),))


def crossing_type(annotation: object) -> ParamsType | None:
    """The layout that an instance of a class crosses as: a params class's own, or that of its custom boundary. None for other classes, and
    for a boundary that is no struct. Raises ParamsRejected."""
    boundary = custom_boundary(annotation)
    return params_type(annotation if boundary is None else boundary)


def enum_type(enumeration: type[enum.Enum]) -> ScalarType | None:
    """How an enumeration is stored: i32 where its values fit, else i64 or u64; None when a value is no integer."""
    values = [member.value for member in enumeration]
    if not values or not all(isinstance(value, int) for value in values):
        return None
    low, high = min(values), max(values)
    for storage, lowest, highest in ((I32, -(2**31), 2**31 - 1), (I64, -(2**63), 2**63 - 1), (U64, 0, 2**64 - 1)):
        if lowest <= low and high <= highest:
            return storage
    return None


def _refusal(annotation: Any) -> tuple[str, str]:
    """Reason and fix for a field type that cannot cross by value."""
    name = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    if annotation is int:
        return "'int' has no fixed width", "write i32 or i64"
    if annotation is float:
        return "'float' has no fixed width", "write f32 or f64"
    if isinstance(annotation, PointerType):
        return f"a pointer ({annotation}) cannot be in params", "pass it as an argument of a raw kernel"
    if annotation is str or annotation is bytes:
        return f"text ({name}) cannot cross to the device", "use an IntEnum for a choice, or fixed[u8, N] for bytes"
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return f"the values of {name} are not all integers that fit 64 bits", "derive it from enum.IntEnum"
    if getattr(annotation, "__origin__", annotation) in (list, tuple, set, dict):
        return f"a container ({name}) has no fixed size", "write fixed[f32, N]"
    if type(None) in getattr(annotation, "__args__", ()):
        return f"an optional value ({name}) cannot cross by value", "add a bool field that says whether it is set"
    return f"{name} cannot cross by value", "use scalars, bool, IntEnum, fixed[f32, N] or another @params class"
