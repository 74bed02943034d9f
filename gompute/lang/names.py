"""The type names of kernels: ``f32``, ``u64``, ``ptr[f32]``, ``array[f32, 2]``, ``fixed[f32, 4]``.

A type checker sees each as the Python type that behaves like it, so that a kernel module passes ``mypy --strict``; at run time they are
the objects of `gompute.lang.types`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["array", "bf16", "f16", "f32", "f64", "fixed", "i8", "i16", "i32", "i64", "ptr", "u8", "u16", "u32", "u64", "vec"]

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Generic, TypeAlias, TypeVar

    T = TypeVar("T")
    N = TypeVar("N")

    i8: TypeAlias = int
    i16: TypeAlias = int
    i32: TypeAlias = int
    i64: TypeAlias = int
    u8: TypeAlias = int
    u16: TypeAlias = int
    u32: TypeAlias = int
    u64: TypeAlias = int
    f16: TypeAlias = float
    bf16: TypeAlias = float
    f32: TypeAlias = float
    f64: TypeAlias = float

    class _Length(Generic[N]):
        """Gives a fixed array's length a place in its type; no value is one."""

        def __getitem__(self, index: int) -> Any: ...
        def __len__(self) -> int: ...

    fixed: TypeAlias = Sequence[T] | _Length[N]
    vec: TypeAlias = Sequence[T] | _Length[N]

    class ptr(Generic[T]):
        """A pointer to contiguous elements in global memory: ``data[i]`` reads, ``data[i] = x`` writes."""

        def __getitem__(self, index: int) -> T: ...
        def __setitem__(self, index: int, value: T) -> None: ...

    class array(Generic[T, N]):
        """An array with a shape: ``a[i, j]`` reads, ``a[i, j] = x`` writes."""

        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def ndim(self) -> int: ...
        def __len__(self) -> int: ...
        def __getitem__(self, index: int | tuple[int, ...]) -> T: ...
        def __setitem__(self, index: int | tuple[int, ...], value: T) -> None: ...

else:
    from functools import partial
    from typing import Literal, TypeVar, get_args, get_origin

    from gompute.errors import CompileError
    from gompute.lang.generic import Pattern
    from gompute.lang.types import (
        BF16,
        BOOL,
        F16,
        F32,
        F64,
        I8,
        I16,
        I32,
        I64,
        MAX_DIMENSIONS,
        U8,
        U16,
        U32,
        U64,
        FixedArray,
        PointerType,
        ScalarType,
        Vector,
        ViewType,
    )

    i8, i16, i32, i64 = I8, I16, I32, I64
    u8, u16, u32, u64 = U8, U16, U32, U64
    f16, bf16, f32, f64 = F16, BF16, F32, F64

    class ptr:
        """A pointer to contiguous elements: ``data[i]`` reads, ``data[i] = x`` writes. Of a kernel's argument they are in global memory;
        a device function also takes local and shared arrays."""

        def __class_getitem__(cls, element):
            if isinstance(element, TypeVar):
                return Pattern(element, PointerType, f"ptr[{element.__name__}]")
            element = BOOL if element is bool else element
            if not isinstance(element, ScalarType):
                raise CompileError(f"ptr[{_spelled(element)}] is no pointer type; write ptr[f32] or another scalar type")
            return PointerType(element)

    class array:
        """An array with a shape, the last index fastest: ``a: array[f32, 2]``, or ``array[f32, Literal[2]]`` for a type checker, which
        takes no plain number there. ``a[i, j]`` reads, ``a[i, j] = x`` writes, ``a.shape[0]`` is the length of a dimension as a u64."""

        def __class_getitem__(cls, item):
            element, ndim = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
            if get_origin(ndim) is Literal:
                (ndim,) = get_args(ndim)
            element = BOOL if element is bool else element
            if isinstance(element, TypeVar) and type(ndim) is int and 1 <= ndim <= MAX_DIMENSIONS:
                return Pattern(element, partial(ViewType, ndim=ndim), f"array[{element.__name__}, {ndim}]")
            if not isinstance(element, ScalarType) or type(ndim) is not int or not 1 <= ndim <= MAX_DIMENSIONS:
                what = f"array[{_spelled(element)}, {_spelled(ndim)}] is no array type"
                raise CompileError(f"{what}; write array[f32, 2]: a scalar type and 1 to {MAX_DIMENSIONS} dimensions")
            return ViewType(element, ndim)

    class fixed:
        """A fixed-length array as a params field: ``weights: fixed[f32, 9]``, or ``fixed[f32, Literal[9]]`` for a type checker, which
        takes no plain number there."""

        def __class_getitem__(cls, item):
            element, length = _element_and_length(item, "fixed")
            if length < 1:
                raise CompileError(f"fixed[{element}, {length}] is no array type; write fixed[f32, 4]: a scalar type and a length from 1")
            return FixedArray(element, length)

    class vec:
        """A short vector as a params field: ``at: vec[f32, 3]`` (for a type checker ``vec[f32, Literal[3]]``), with 2, 3, 4, 8 or 16
        elements, laid out as LLVM's and OpenCL's vectors: three elements take the room of four."""

        def __class_getitem__(cls, item):
            element, length = _element_and_length(item, "vec")
            if length not in (2, 3, 4, 8, 16):
                raise CompileError(f"vec[{element}, {length}] is no vector type; write vec[f32, 4]: it has 2, 3, 4, 8 or 16 elements")
            return Vector(element, length)

    def _spelled(part):
        return part.__name__ if isinstance(part, type) else repr(part)

    def _element_and_length(item, name):
        if not (isinstance(item, tuple) and len(item) == 2):
            raise CompileError(f"{name} needs an element type and a length; write {name}[f32, 4]")
        element, length = item
        if get_origin(length) is Literal:
            (length,) = get_args(length)
        if element is bool:
            element = BOOL
        if not isinstance(element, ScalarType) or not isinstance(length, int) or isinstance(length, bool):
            raise CompileError(
                f"{name}[{_spelled(element)}, {_spelled(length)}] is no type; write {name}[f32, 4]: a scalar type and a length"
            )
        return element, length
