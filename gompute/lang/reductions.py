"""What declares reductions and scans. The order in which they combine is that of `gompute.lang.tiled`: it depends on the length alone."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, overload

from gompute.errors import CompileError
from gompute.lang.generic import Bindings
from gompute.lang.operations import Declared, functions_of
from gompute.lang.params import ParamsRejected, params_type
from gompute.lang.signature import Fault, Given
from gompute.lang.spec import KernelSpec
from gompute.lang.types import BOOL, ParamsType, ScalarType

__all__ = ["all", "any", "max", "min", "reduce", "scan", "sum", "sum_scan"]

P = ParamSpec("P")
R = TypeVar("R")


@overload
def reduce(function: Callable[P, R], /) -> Declared[P, R]: ...
@overload
def reduce(
    *, identity: float, pre: Callable[..., Any] | None = None, name: str | None = None, block_size: int = 256
) -> Callable[[Callable[P, R]], Declared[P, R]]: ...
def reduce(
    function: Any = None, /, *, identity: Any = None, pre: Any = None, name: str | None = None, block_size: int = 256, fast: bool = False
) -> Any:
    """Declare a reduction of an array to one value: ``combine(a, b)`` of two values of one type.

    Args:
        identity: the result of an empty array, a value of that type.
        pre: a function ``f(x, p)`` of an element and, if needed, params, applied to each element before it is combined; or a kernel made
            of one. Its result has the type that is combined; without it that is the type of the elements.
        name: public name, a C identifier; the function's name when left out.
        block_size: work-items per block on a GPU, 1 to 1024.
        fast: as for `map`.

    The function has to be associative and commutative, but for rounding: elements are combined in a fixed order that is not theirs
    (`gompute.lang.tiled`), the same on every backend, so that even a sum of floats has the same bits everywhere. All values between are of
    the combined type. It runs as ``run(data, p)``, which gives the value, and as ``launch(data, out, p)`` with `out` a buffer of one value.
    The kernel's launch arguments are ``(data: pointer, partials: pointer, out: pointer, len: u64, stage: u64, params)``.
    """
    return _combining("reduce", function, identity, pre, name, block_size, fast)


@overload
def scan(function: Callable[P, R], /) -> Declared[P, R]: ...
@overload
def scan(
    *,
    identity: float | None = None,
    exclusive: bool = False,
    pre: Callable[..., Any] | None = None,
    name: str | None = None,
    block_size: int = 256,
    fast: bool = False,
) -> Callable[[Callable[P, R]], Declared[P, R]]: ...
def scan(
    function: Any = None,
    /,
    *,
    identity: Any = None,
    exclusive: bool = False,
    pre: Any = None,
    name: str | None = None,
    block_size: int = 256,
    fast: bool = False,
) -> Any:
    """Declare a scan: ``out[i]`` is the combination of all elements up to i by ``combine(a, b)`` of two values of one type.

    Args:
        identity: the first element of an exclusive scan; not needed otherwise.
        exclusive: combine the elements before i, without i itself: the inclusive scan moved up by one.
        pre, name, block_size, fast: as for `reduce`.

    The function has to be associative, but for rounding: elements keep their order, and how they are grouped is fixed
    (`gompute.lang.tiled`). It runs as ``run(inp, out, p)``; `out` may be `inp` itself in an inclusive scan. The kernel's launch arguments
    are ``(in: pointer, partials: pointer, out: pointer, len: u64, stage: u64, params)``.
    """
    return _combining("exclusive_scan" if exclusive else "scan", function, identity, pre, name, block_size, fast)


def sum(
    name: str, element: Any, params: Any = None, *, pre: Callable[..., Any] | None = None, block_size: int = 256, fast: bool = False
) -> KernelSpec:
    """The sum of an array: ``total = g.sum("total", f32, Params, pre=square)``.

    Args:
        name: public name, a C identifier.
        element: the type of the elements.
        params: the params class that `pre` takes; may be left out.
        pre: a function ``f(x, p)`` of an element and, if needed, params, applied to each element before; or a kernel made of one. The sum
            has the type of its result, so it can also widen: ``def wide(x: i8) -> i64``. Without it the sum has the type of the elements.
        block_size: work-items per block on a GPU, 1 to 1024.
        fast: as for `map`.

    It is a `reduce` with ``a + b`` and the identity 0: integers wrap, floats are added in a fixed order, each sum rounded to the type.
    """
    return _preset("sum", name, element, params, pre, block_size, fast)


def min(
    name: str, element: Any, params: Any = None, *, pre: Callable[..., Any] | None = None, block_size: int = 256, fast: bool = False
) -> KernelSpec:
    """The least element of an array; of an empty one the largest value of the type, infinity for floats. NaN wins, and -0 is below +0.

    Args: as `sum`.
    """
    return _preset("min", name, element, params, pre, block_size, fast)


def max(
    name: str, element: Any, params: Any = None, *, pre: Callable[..., Any] | None = None, block_size: int = 256, fast: bool = False
) -> KernelSpec:
    """The greatest element of an array; of an empty one the least value of the type, -infinity for floats. NaN wins, and +0 is above -0.

    Args: as `sum`.
    """
    return _preset("max", name, element, params, pre, block_size, fast)


def any(
    name: str, element: Any, params: Any = None, *, pre: Callable[..., Any] | None = None, block_size: int = 256, fast: bool = False
) -> KernelSpec:
    """Whether an element differs from 0: a bool, False for an empty array.

    Args: as `sum`, with integers or bool for the elements, or for what `pre` gives.
    """
    return _preset("any", name, element, params, pre, block_size, fast)


def all(
    name: str, element: Any, params: Any = None, *, pre: Callable[..., Any] | None = None, block_size: int = 256, fast: bool = False
) -> KernelSpec:
    """Whether every element differs from 0: a bool, True for an empty array.

    Args: as `any`.
    """
    return _preset("all", name, element, params, pre, block_size, fast)


def sum_scan(
    name: str,
    element: Any,
    params: Any = None,
    *,
    exclusive: bool = False,
    pre: Callable[..., Any] | None = None,
    block_size: int = 256,
    fast: bool = False,
) -> KernelSpec:
    """The running sum of an array: a `scan` with ``a + b`` and the identity 0.

    Args: as `sum`, and as `scan`.
    """
    return _preset("exclusive_sum_scan" if exclusive else "sum_scan", name, element, params, pre, block_size, fast)


def _combining(kind: str, function: Any, identity: Any, pre: Any, name: str | None, block_size: object, fast: object) -> Any:
    before, bindings = _before(kind, pre)
    given = Given(identity=identity.item() if hasattr(identity, "item") else identity)  # NumPy's scalars are no Python numbers

    def declare(combine: Any) -> KernelSpec:
        return KernelSpec(kind, (combine, *before), name, block_size, given=given, fast=fast, bindings=bindings)

    return declare if function is None else declare(function)


def _preset(kind: str, name: str, element: Any, params: Any, pre: Any, block_size: int, fast: bool) -> KernelSpec:
    element = BOOL if element is bool else element
    if not isinstance(element, ScalarType):
        raise CompileError(
            f'g.{_called(kind)}: the type of an element is a scalar type, not {element!r}; write g.{_called(kind)}("{name}", f32)'
        )
    problems: list[Fault] = []
    layout = _layout(kind, params, problems)
    before, bindings = _before(kind, pre)
    given = Given((element,), layout)
    return KernelSpec(kind, before, name, block_size, given=given, fast=fast, bindings=bindings, problems=tuple(problems))


def _before(kind: str, pre: Any) -> tuple[tuple[Callable[..., Any], ...], Bindings]:
    """The function that is applied to each element, that of a kernel in the kernel's place; and the types that an instance of a generic
    kernel fixes."""
    if pre is None:
        return (), {}
    functions, bindings = functions_of(_called(kind), (pre,))
    if len(functions) != 1:
        raise CompileError(f"g.{_called(kind)}: pre='{pre.name}' is fused of {len(functions)} functions; write one that calls them")
    if not isinstance(functions[0], FunctionType):
        raise CompileError(f"g.{_called(kind)}: pre is a function f(x, p) of one element, not {pre!r}; write a 'def' and pass its name")
    return functions, bindings


def _layout(kind: str, params: Any, problems: list[Fault]) -> ParamsType | None:
    if params is None:
        return None
    try:
        layout = params_type(params)
    except ParamsRejected as rejected:
        problems += [(f"{fault.path}: {fault.reason}", fault.fix) for fault in rejected.faults]
        return None
    if layout is None:
        raise CompileError(f"g.{_called(kind)}: params is a params class, not {params!r}; decorate a class with @g.params and pass it")
    return layout


def _called(kind: str) -> str:
    return kind.removeprefix("exclusive_")
