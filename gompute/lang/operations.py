"""What declares kernels: decorators for the operations with a function, calls for those without."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from gompute.errors import CompileError
from gompute.lang.generic import Bindings
from gompute.lang.operation import Elementwise, Fused
from gompute.lang.signature import Fault, Given
from gompute.lang.spec import KernelSpec
from gompute.lang.types import BOOL, ScalarType

__all__ = ["functions_of", "fused", "gather", "kernel", "map", "map_indexed", "map_to", "scatter", "scatter_add", "unary", "zip"]

P = ParamSpec("P")
R = TypeVar("R")


class Declared(KernelSpec, Generic[P, R]):
    """How a type checker sees a decorated function: a spec that is called with the function's own arguments."""

    if TYPE_CHECKING:

        def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> R: ...


@overload
def map(function: Callable[P, R], /) -> Declared[P, R]: ...
@overload
def map(*, name: str | None = None, block_size: int = 256, fast: bool = False) -> Callable[[Callable[P, R]], Declared[P, R]]: ...
def map(function: Any = None, /, *, name: str | None = None, block_size: int = 256, fast: bool = False) -> Any:
    """Declare an elementwise kernel: ``f(x, p) -> x`` replaces every element of an array, in place.

    Args:
        name: public name, a C identifier; the function's name when left out.
        block_size: work-items per block on a GPU, 1 to 1024.
        fast: on GPUs take the hardware's own `exp`, `log`, `sin` and others in f32, of the errors in `g.math.fast`, for those of `g.math`
            that are right to the last bit. Results then differ between backends, and it belongs to the declaration alone: that of a
            kernel which is called or fused has no effect.

    The function takes one scalar and, where it needs any, one params struct, and returns the scalar's type. It runs as
    ``run(data, p)``; the kernel's launch arguments are ``(data: pointer, len: u64, params)``.
    """
    return _declare("map", function, name, block_size, fast)


@overload
def map_to(function: Callable[P, R], /) -> Declared[P, R]: ...
@overload
def map_to(*, name: str | None = None, block_size: int = 256, fast: bool = False) -> Callable[[Callable[P, R]], Declared[P, R]]: ...
def map_to(function: Any = None, /, *, name: str | None = None, block_size: int = 256, fast: bool = False) -> Any:
    """Declare an elementwise kernel from one array to another: ``f(x, p) -> out type``.

    Args: as `map`.

    It runs as ``run(inp, out, p)``. `out` may be `inp` itself where the types are equal. The kernel's launch arguments are
    ``(in: pointer, out: pointer, len: u64, params)``.
    """
    return _declare("map_to", function, name, block_size, fast)


@overload
def zip(function: Callable[P, R], /) -> Declared[P, R]: ...
@overload
def zip(*, name: str | None = None, block_size: int = 256, fast: bool = False) -> Callable[[Callable[P, R]], Declared[P, R]]: ...
def zip(function: Any = None, /, *, name: str | None = None, block_size: int = 256, fast: bool = False) -> Any:
    """Declare an elementwise kernel over two to 26 arrays: ``f(a, b, ..., p) -> out type``.

    Args: as `map`.

    It runs as ``run(a, b, ..., out, p)``. `out` may be one of the others. The kernel's launch arguments are
    ``(a: pointer, b: pointer, ..., out: pointer, len: u64, params)``.
    """
    return _declare("zip", function, name, block_size, fast)


@overload
def map_indexed(function: Callable[P, R], /) -> Declared[P, R]: ...
@overload
def map_indexed(*, name: str | None = None, block_size: int = 256, fast: bool = False) -> Callable[[Callable[P, R]], Declared[P, R]]: ...
def map_indexed(function: Any = None, /, *, name: str | None = None, block_size: int = 256, fast: bool = False) -> Any:
    """Declare an elementwise kernel whose function also gets its element's place: ``f(x, i: u64, p) -> x``, in place.

    Args: as `map`.

    The place counts in the array's memory, from 0; for an array in C order it is the index into ``data.ravel()``. It runs as
    ``run(data, p)``; the kernel's launch arguments are ``(data: pointer, len: u64, params)``.
    """
    return _declare("map_indexed", function, name, block_size, fast)


def unary(name: str, function: Callable[..., Any], *, block_size: int = 256, fast: bool = False) -> KernelSpec:
    """A `map` of that name over one function or over the function of a `map`: ``relu = g.unary("relu", clamp_below)``."""
    functions, bindings = functions_of("unary", (function,))
    if len(functions) != 1:
        raise CompileError(f"g.unary: '{getattr(function, 'name', function)}' is fused of {len(functions)} functions; write g.fused")
    return KernelSpec("map", functions, name, block_size, fast=fast, bindings=bindings)


def fused(name: str, *parts: Callable[..., Any], block_size: int = 256, fast: bool = False) -> KernelSpec:
    """A kernel that applies several functions to each element in one loop, in place, the first part first.

    Args:
        name: public name, a C identifier.
        parts: functions ``f(x, p) -> y``, or kernels made of such (`map`, `map_to`, `unary`, `fused`). Each takes what the one before it
            gives, and the last gives what the first takes. Those that take params take the same. A generic one is of the type that it
            meets; where all are generic, so is the kernel.
        block_size: work-items per block on a GPU, 1 to 1024.
        fast: as for `map`.

    ``g.fused("both", scale, square)`` gives ``square(scale(x, p))`` and runs as a `map`: ``run(data, p)``, with p where a part takes it.
    """
    functions, bindings = functions_of("fused", parts)
    return KernelSpec("fused", functions, name, block_size, fast=fast, bindings=bindings)


def gather(name: str, element: Any, index: Any, *, block_size: int = 256) -> KernelSpec:
    """A kernel that reads by index: ``out[i] = src[idx[i]]``.

    Args:
        name: public name, a C identifier.
        element: the type of the elements of src and out.
        index: the type of idx, an integer type.
        block_size: work-items per block on a GPU, 1 to 1024.

    Where an index is negative or past the end of src, out keeps what it holds. It runs as ``run(src, idx, out)``; the kernel's launch
    arguments are ``(src: pointer, idx: pointer, out: pointer, count: u64, bound: u64)`` with bound the length of src.
    """
    return _indirect("gather", name, element, index, block_size)


def scatter(name: str, element: Any, index: Any, *, block_size: int = 256) -> KernelSpec:
    """A kernel that writes by index: ``out[idx[i]] = src[i]``.

    Args: as `gather`.

    Nothing is written for an index that is negative or past the end of out. Of several equal indices any one's element is written. It
    runs as ``run(src, idx, out)``; the kernel's launch arguments are ``(src: pointer, idx: pointer, out: pointer, count: u64,
    bound: u64)`` with bound the length of out.
    """
    return _indirect("scatter", name, element, index, block_size)


def scatter_add(name: str, element: Any, index: Any, *, block_size: int = 256) -> KernelSpec:
    """A kernel that adds by index: ``out[idx[i]] += src[i]``.

    Args: as `gather`; the elements are integers or floats.

    Nothing is added for an index that is negative or past the end of out. Elements of equal indices all add up: integers exactly (they
    wrap), floats one after the other, each sum rounded, in an order that may differ from run to run; gfx90a, where it adds in memory,
    takes subnormal f32 for 0. A GPU adds to an element of less than 32 bits through the aligned four bytes around it, so nothing else may
    write to its neighbours meanwhile, and those bytes have to be there: in memory from Gompute they are; an array of another library whose
    bytes are no multiple of four needs more behind them, which every allocator of GPU memory known to us gives, since it rounds sizes up.

    It runs as ``run(src, idx, out)``; the kernel's launch arguments are ``(src: pointer, idx: pointer, out: pointer, count: u64,
    bound: u64)`` with bound the length of out.
    """
    return _indirect("scatter_add", name, element, index, block_size)


@overload
def kernel(function: Callable[P, R], /) -> Declared[P, R]: ...
@overload
def kernel(
    *, name: str | None = None, block_size: int | tuple[int, ...] = 256, fast: bool = False
) -> Callable[[Callable[P, R]], Declared[P, R]]: ...
def kernel(function: Any = None, /, *, name: str | None = None, block_size: int | tuple[int, ...] = 256, fast: bool = False) -> Any:
    """Declare a raw kernel: every work-item runs the function with the same arguments and tells itself apart by `global_id`.

    Args:
        name: public name, a C identifier; the function's name when left out.
        block_size: the largest block it may be launched with, an int or up to three for x, y, z; at most 1024 work-items in all.
        fast: as for `map`.

    The function's parameters (pointers, arrays, scalars, params) are the launch arguments, in order; it returns nothing.
    """
    return _declare("kernel", function, name, block_size, fast)


def _declare(kind: str, function: Any, name: str | None, block_size: object, fast: object) -> Any:
    if function is not None:
        return KernelSpec(kind, (function,), name, block_size, fast=fast)
    return lambda decorated: KernelSpec(kind, (decorated,), name, block_size, fast=fast)


def _indirect(kind: str, name: str, element: object, index: object, block_size: int) -> KernelSpec:
    element, index = (BOOL if given is bool else given for given in (element, index))
    for what, given in (("element", element), ("index", index)):
        if not isinstance(given, ScalarType):
            raise CompileError(f'g.{kind}: the type of an {what} is a scalar type, not {given!r}; write g.{kind}("{kind}", f32, u32)')
    assert isinstance(element, ScalarType) and isinstance(index, ScalarType)
    problems: tuple[Fault, ...] = ()
    if not index.is_integer:
        problems = ((f"the index of a {kind} is an integer, and this is {index}", f'write g.{kind}("{name}", {element}, u32)'),)
    if kind == "scatter_add" and element == BOOL:
        problems += (("a scatter_add adds numbers, and these are bool", f'write g.scatter_add("{name}", u8, {index})'),)
    return KernelSpec(kind, (), name, block_size, given=Given((element, index)), problems=problems)


def functions_of(kind: str, given: tuple[Any, ...]) -> tuple[tuple[Callable[..., Any], ...], Bindings]:
    """The functions to apply, with those of a kernel in the kernel's place, and the types that instances of generic kernels fix."""
    functions: list[Callable[..., Any]] = []
    bindings: dict[TypeVar, ScalarType] = {}
    for part in given:
        if not isinstance(part, KernelSpec):
            functions.append(part)
        elif isinstance(part.operation, (Elementwise, Fused)):
            functions += part.functions
            for parameter, bound in part.bindings.items():
                if bindings.setdefault(parameter, bound) != bound:
                    what = (
                        f"'{part.name}' makes the type parameter {parameter.__name__} {bound}, and a part before it {bindings[parameter]}"
                    )
                    raise CompileError(f"g.{kind}: {what}; give the functions type parameters of their own")
        else:
            words = "raw kernel" if part.kind == "kernel" else part.kind
            raise CompileError(f"g.{kind}: '{part.name}' is a {words}, which has no function of one element; pass a function f(x, p)")
    return tuple(functions), bindings
