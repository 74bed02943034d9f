"""The value types of the kernel language: scalars and pointers.

A type is used three ways: as an annotation (``x: f32``), as a cast in a kernel (``f32(n)``), and on the host, where a call rounds or
wraps a number as a device does and gives back a plain Python number that remembers its type.
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field
from typing import Any, Literal, Union

from gompute.lang import numeric

Kind = Literal["bool", "int", "uint", "float"]


class _Annotation:
    """What an annotation may join with others: ``f32 | None`` has a meaning for Python, and is refused by name where it stands for none
    in a kernel."""

    __slots__ = ()

    def __or__(self, other: Any) -> Any:
        return Union[self, other]  # noqa: UP007 (this is what the operator does)

    def __ror__(self, other: Any) -> Any:
        return Union[other, self]  # noqa: UP007


@dataclass(frozen=True, slots=True)
class ScalarType(_Annotation):
    """A number type.

    Attributes:
        name: the name in kernels (``f32``).
        kind: ``bool``, ``int`` (two's complement), ``uint`` or ``float`` (IEEE 754, bfloat16 included).
        bits: width of a value; a bool counts 8, its width in memory.
    """

    name: str
    kind: Kind
    bits: int

    @property
    def size(self) -> int:
        """Bytes in memory; the alignment is the same."""
        return self.bits // 8

    @property
    def is_integer(self) -> bool:
        return self.kind in ("int", "uint")

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    def __call__(self, value: float | bool) -> TypedInt | TypedFloat | bool:
        """Convert a Python number as a device converts: integers wrap, floats round once to nearest even, a float to an integer
        saturates and NaN gives 0."""
        result = numeric.convert(value, self)
        if self.kind == "bool":
            return bool(result)
        return TypedFloat(result, self) if self.is_float else TypedInt(result, self)

    def __repr__(self) -> str:
        return self.name


class TypedInt(int):
    """An integer constant that keeps its kernel type, so that a module-level ``N = u32(7)`` is not a weak literal."""

    dtype: ScalarType

    def __new__(cls, value: float, dtype: ScalarType) -> TypedInt:
        made = super().__new__(cls, value)
        made.dtype = dtype
        return made


class TypedFloat(float):
    """A float constant that keeps its kernel type."""

    dtype: ScalarType

    def __new__(cls, value: float, dtype: ScalarType) -> TypedFloat:
        made = super().__new__(cls, value)
        made.dtype = dtype
        return made


BOOL = ScalarType("bool", "bool", 8)
I8 = ScalarType("i8", "int", 8)
I16 = ScalarType("i16", "int", 16)
I32 = ScalarType("i32", "int", 32)
I64 = ScalarType("i64", "int", 64)
U8 = ScalarType("u8", "uint", 8)
U16 = ScalarType("u16", "uint", 16)
U32 = ScalarType("u32", "uint", 32)
U64 = ScalarType("u64", "uint", 64)
F16 = ScalarType("f16", "float", 16)
BF16 = ScalarType("bf16", "float", 16)
F32 = ScalarType("f32", "float", 32)
F64 = ScalarType("f64", "float", 64)

SCALARS: dict[str, ScalarType] = {t.name: t for t in (BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64)}


@dataclass(frozen=True, slots=True)
class PointerType(_Annotation):
    """A pointer to a contiguous run of scalars in global memory, as a raw kernel takes it."""

    element: ScalarType

    def __repr__(self) -> str:
        return f"ptr[{self.element}]"


#: The most dimensions of a view.
MAX_DIMENSIONS = 8


@dataclass(frozen=True, slots=True)
class ViewType(_Annotation):
    """An array in global memory with a shape, as a raw kernel takes it: elements in C order, the last index fastest. A launch passes a
    pointer, then the length of each dimension as a u64."""

    element: ScalarType
    ndim: int

    def __repr__(self) -> str:
        return f"array[{self.element}, {self.ndim}]"


@dataclass(frozen=True, slots=True)
class FixedArray(_Annotation):
    """The annotation of a params field that holds `length` elements."""

    element: ScalarType
    length: int

    def __repr__(self) -> str:
        return f"fixed[{self.element}, {self.length}]"


@dataclass(frozen=True, slots=True)
class Vector(_Annotation):
    """The annotation of a params field that holds a short vector: `length` elements that lie as LLVM's vectors do, at a multiple of their
    size rounded up to a power of two, but of 16 bytes at most."""

    element: ScalarType
    length: int

    @property
    def size(self) -> int:
        """Bytes with the padding behind the last element."""
        return self.element.size << (self.length - 1).bit_length()

    @property
    def align(self) -> int:
        return min(self.size, 16)

    def __repr__(self) -> str:
        return f"vec[{self.element}, {self.length}]"


@dataclass(frozen=True, slots=True)
class ParamsField:
    """One field of a params type.

    Attributes:
        offset: bytes from the start of the struct.
        count: None for one value, else the length of a fixed array or vector.
        python_type: what the host holds in the field where that is no plain number: the enumeration, the nested params class or the class
            with a custom boundary.
        vector: its elements lie as those of a `Vector`.
    """

    name: str
    type: ScalarType | ParamsType
    offset: int
    count: int | None = None
    python_type: builtins.type | None = field(default=None, compare=False)
    vector: bool = False

    @property
    def size(self) -> int:
        """Bytes, with the padding of a vector."""
        return self._vector.size if self.vector else self.type.size * (1 if self.count is None else self.count)

    @property
    def align(self) -> int:
        if self.vector:
            return self._vector.align
        return self.type.align if isinstance(self.type, ParamsType) else self.type.size

    @property
    def _vector(self) -> Vector:
        assert isinstance(self.type, ScalarType) and self.count is not None, "a vector has elements"
        return Vector(self.type, self.count)


@dataclass(frozen=True, slots=True)
class ParamsType:
    """The layout of a params struct, by the C rules: each field at a multiple of its own alignment, the size a multiple of the largest."""

    name: str
    fields: tuple[ParamsField, ...]
    size: int
    align: int

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class LocalArrayType:
    """A fixed-size array private to one work-item."""

    element: ScalarType
    length: int


@dataclass(frozen=True, slots=True)
class SharedArrayType:
    """An array that the work-items of a block share, not cleared; `length` is None for one whose size the launch gives, of which a kernel
    has one however often it is named."""

    element: ScalarType
    length: int | None


@dataclass(frozen=True, slots=True)
class TableType:
    """A constant table in the module, read-only."""

    element: ScalarType
    values: tuple[float, ...]
