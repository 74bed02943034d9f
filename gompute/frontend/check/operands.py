"""What an expression can be while it is checked: a typed value, an object known at compile time, or a place in memory."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple, TypeAlias

from gompute.frontend import typed
from gompute.lang.builtins import Table
from gompute.lang.promotion import spelled
from gompute.lang.types import (
    BOOL,
    F64,
    I64,
    SCALARS,
    U64,
    LocalArrayType,
    ParamsType,
    PointerType,
    ScalarType,
    SharedArrayType,
    TypedFloat,
    TypedInt,
)

__all__ = [
    "ArrayArgument",
    "ArrayPlace",
    "Operand",
    "ParamArrayPlace",
    "PointerPlace",
    "ShapePlace",
    "Static",
    "StructPlace",
    "Value",
    "ViewPlace",
    "array_argument",
    "constant",
    "describe",
    "number_of",
]


class Value(NamedTuple):
    """A typed expression. A weak value is a Python number in a variable: held as i64 or f64, but it takes the type that it meets."""

    node: typed.Expression
    weak: bool = False

    @property
    def type(self) -> ScalarType:
        kind = self.node.type
        assert kind is not None, "a call without a result is no operand"
        return kind


class Static(NamedTuple):
    """An object known when the kernel is compiled: a literal, a module-level constant, a module, a function, a type."""

    object: Any


class StructPlace(NamedTuple):
    """A params struct, or one nested in it `offset` bytes from the start of `slot`."""

    slot: typed.Slot
    layout: ParamsType
    offset: int = 0


class ParamArrayPlace(NamedTuple):
    """A fixed array inside a params struct."""

    slot: typed.Slot
    element: ScalarType
    offset: int
    length: int


class PointerPlace(NamedTuple):
    """A pointer argument; where its slot is of an array's type, to a local or shared array."""

    slot: typed.Slot
    element: ScalarType


class ViewPlace(NamedTuple):
    """A view argument."""

    slot: typed.Slot
    element: ScalarType
    ndim: int


class ShapePlace(NamedTuple):
    """The shape of a view."""

    slot: typed.Slot
    ndim: int

    @property
    def extents(self) -> list[Value]:
        """The length of each dimension."""
        return [Value(typed.Extent(U64, self.slot, axis)) for axis in range(self.ndim)]


class ArrayPlace(NamedTuple):
    """A local or shared array, declared here or an argument; `shape` is empty for shared memory whose size the launch gives."""

    slot: typed.Slot
    element: ScalarType
    shape: tuple[int, ...]


class ArrayArgument(NamedTuple):
    """A local or shared array that a call passes on; `shape` is empty where it goes as a pointer."""

    type: LocalArrayType | SharedArrayType
    shape: tuple[int, ...]


def array_argument(operand: Operand) -> ArrayArgument | None:
    """What a call says of an array that is passed to it; None for anything else."""
    if isinstance(operand, (ArrayPlace, PointerPlace)) and isinstance(operand.slot.type, (LocalArrayType, SharedArrayType)):
        return ArrayArgument(operand.slot.type, operand.shape if isinstance(operand, ArrayPlace) else ())
    return None


Operand: TypeAlias = Value | Static | StructPlace | ParamArrayPlace | PointerPlace | ViewPlace | ShapePlace | ArrayPlace

_TO = {PointerType: "", LocalArrayType: " to a local array", SharedArrayType: " to a shared array"}
_NUMPY_NAMES = {
    "bool": "bool",
    **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"f{bits}" for bits in (16, 32, 64)},
    "bfloat16": "bf16",
}


def numpy_scalar_type(value: object) -> ScalarType | None:
    """The scalar type of a NumPy dtype or scalar class, by its name: the compiler does not import NumPy."""
    name = _NUMPY_NAMES.get(getattr(value, "name", "") or getattr(value, "__name__", ""))
    return SCALARS[name] if name is not None else None


def number_of(thing: object) -> tuple[int | float | bool, ScalarType | None] | None:
    """The number that a static object stands for and its type, None for a weak one; None where the object is no number."""
    if isinstance(thing, bool):
        return thing, BOOL
    if isinstance(thing, (TypedInt, TypedFloat)):
        return (float(thing) if isinstance(thing, TypedFloat) else int(thing)), thing.dtype
    if isinstance(thing, enum.Enum):
        return (int(thing.value), None) if isinstance(thing.value, int) else None
    kind = numpy_scalar_type(getattr(thing, "dtype", None)) if getattr(thing, "shape", None) == () else None
    if kind is not None:
        return thing.item() if kind.name != "bf16" else float(thing), kind  # type: ignore[attr-defined, arg-type]
    if isinstance(thing, (int, float)):
        return thing, None
    return None


def constant(value: int | float | bool, kind: ScalarType) -> Value:
    return Value(typed.Constant(kind, value))


def weak_kind(value: int | float) -> ScalarType:
    """The type in which a weak number is held."""
    return F64 if isinstance(value, float) else I64


def describe(operand: Operand) -> str:
    """An operand in words, for a fault."""
    if isinstance(operand, Value):
        return {I64: "a Python int", F64: "a Python float"}[operand.type] if operand.weak else str(operand.type)
    if isinstance(operand, StructPlace):
        return f"the params struct {operand.layout.name}"
    if isinstance(operand, PointerPlace):
        return f"a ptr[{operand.element}]{_TO[type(operand.slot.type)]}"
    if isinstance(operand, ViewPlace):
        return f"an array[{operand.element}, {operand.ndim}]"
    if isinstance(operand, ShapePlace):
        return f"the shape of '{operand.slot.name}'"
    if isinstance(operand, ArrayPlace):
        size = " x ".join(str(length) for length in operand.shape) if operand.shape else "dynamic size,"
        return f"a {'shared' if isinstance(operand.slot.type, SharedArrayType) else 'local'} array of {size} {operand.element}"
    if isinstance(operand, ParamArrayPlace):
        return f"a fixed[{operand.element}, {operand.length}]"
    thing = operand.object
    number = number_of(thing)
    if number is not None:
        return f"the number {spelled(number[0])}"
    if isinstance(thing, Table):
        return f"a table of {len(thing)}"
    if isinstance(thing, type) or callable(thing):
        return f"'{getattr(thing, '__name__', type(thing).__name__)}'"
    return f"a {type(thing).__name__}"
