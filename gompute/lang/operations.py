"""The decorators that declare kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from gompute.lang.spec import KernelSpec, Kind

__all__ = ["kernel", "map"]

F = TypeVar("F", bound=Callable[..., Any])


@overload
def map(function: F, /) -> F: ...
@overload
def map(*, name: str | None = None, block_size: int = 256) -> Callable[[F], F]: ...
def map(function: Any = None, /, *, name: str | None = None, block_size: int = 256) -> Any:
    """Declare an elementwise kernel: ``f(x, p) -> x`` replaces every element of an array, in place.

    Args:
        name: public name, a C identifier; the function's name when left out.
        block_size: work-items per block on a GPU, 1 to 1024.

    The function takes one scalar and, where it needs any, one params struct, and returns the scalar's type. The kernel's launch
    arguments are ``(data: pointer, len: u64, params)``.
    """
    return _declare("map", function, name, block_size)


@overload
def kernel(function: F, /) -> F: ...
@overload
def kernel(*, name: str | None = None, block_size: int | tuple[int, ...] = 256) -> Callable[[F], F]: ...
def kernel(function: Any = None, /, *, name: str | None = None, block_size: int | tuple[int, ...] = 256) -> Any:
    """Declare a raw kernel: every work-item runs the function with the same arguments and tells itself apart by `global_id`.

    Args:
        name: public name, a C identifier; the function's name when left out.
        block_size: the largest block it may be launched with, an int or up to three for x, y, z; at most 1024 work-items in all.

    The function's parameters (pointers, scalars, params) are the launch arguments, in order; it returns nothing.
    """
    return _declare("kernel", function, name, block_size)


def _declare(kind: Kind, function: Any, name: str | None, block_size: object) -> Any:
    if function is not None:
        return KernelSpec(kind, function, name, block_size)
    return lambda decorated: KernelSpec(kind, decorated, name, block_size)
