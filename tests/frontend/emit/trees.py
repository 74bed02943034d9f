"""Short words for typed trees, and kernels around expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gompute.frontend import typed
from gompute.frontend.typed import Expression, Function, Location, Slot, Statement
from gompute.lang.types import BOOL, F32, U64, ParamsField, ParamsType, PointerType, ScalarType

HERE = Location("kernels.py", 1, 1)

SCALE = ParamsType("Params", (ParamsField("scale", F32, 0),), 4, 4)


def constant(scalar: ScalarType, value: float) -> typed.Constant:
    return typed.Constant(scalar, value)


def read(slot: Slot) -> typed.ReadLocal:
    assert isinstance(slot.type, ScalarType)
    return typed.ReadLocal(slot.type, slot)


def binary(op: typed.BinaryOp, left: Expression, right: Expression) -> typed.Binary:
    assert left.type is not None
    return typed.Binary(left.type, op, left, right)


def compare(op: typed.CompareOp, left: Expression, right: Expression) -> typed.Compare:
    return typed.Compare(op, left, right, BOOL)


def index(name: typed.IndexName = "global_id", dim: int = 0) -> typed.Index:
    return typed.Index(U64, name, dim)


def element(pointer: Slot, at: Expression) -> typed.Load:
    assert isinstance(pointer.type, PointerType)
    return typed.Load(pointer.type.element, pointer, at)


def function(
    symbol: str,
    parameters: Sequence[Slot],
    result: ScalarType | None,
    *body: Statement,
    variables: Sequence[Slot] = (),
    uses_index: bool = False,
) -> Function:
    uses: frozenset[typed.Use] = frozenset(("index",) if uses_index else ())
    return Function(symbol, tuple(parameters), result, HERE, list(variables), (*zeros(variables), *body), uses)


def zeros(variables: Sequence[Slot]) -> tuple[Statement, ...]:
    """Assign 0 to those that hold a number, so that a body may read them anywhere."""
    return tuple(typed.Assign(slot, constant(slot.type, 0)) for slot in variables if isinstance(slot.type, ScalarType))


def module(kernels: Sequence[typed.Kernel], *callees: Function) -> typed.Module:
    """A module of kernels, sorted, with `callees` before their own functions."""
    ordered = tuple(sorted(kernels, key=lambda kernel: kernel.name))
    own = [_function_of(kernel) for kernel in ordered]
    return typed.Module("root", ordered, (*callees, *(function for function in own if function is not None)))


def _function_of(kernel: typed.Kernel) -> Function | None:
    if isinstance(kernel, typed.IndirectKernel):
        return kernel.add
    return kernel.combine if isinstance(kernel, typed.TiledKernel) else kernel.function


def elementwise(name: str, operands: Sequence[ScalarType], makes: Sequence[Callable[..., Expression]]) -> typed.RawKernel:
    """``out0[i] = makes[0](a0[i], a1[i], ...)`` and so on for i < n, with arguments (a0, a1, ..., out0, out1, ..., n)."""
    pointers = [Slot(f"a{position}", PointerType(scalar)) for position, scalar in enumerate(operands)]
    read_once = [Slot(f"x{position}", scalar) for position, scalar in enumerate(operands)]
    length, at = Slot("n", U64), Slot("i", U64)
    results = [make(*map(read, read_once)) for make in makes]
    outs = []
    stores: list[Statement] = []
    for position, result in enumerate(results):
        assert result.type is not None
        outs.append(Slot(f"out{position}", PointerType(result.type)))
        stores.append(typed.Store(outs[-1], read(at), result))
    loads = [typed.Assign(slot, element(pointer, read(at))) for slot, pointer in zip(read_once, pointers, strict=True)]
    body = (typed.Assign(at, index()), typed.If(compare("lt", read(at), read(length)), (*loads, *stores), ()))
    made = function(f"{name}_body", (*pointers, *outs, length), None, *body, variables=(at, *read_once), uses_index=True)
    return typed.RawKernel(name, made, (256, 1, 1))


def map_over(name: str, scalar: ScalarType, made: Function) -> typed.ElementwiseKernel:
    """``data[i] = made(data[i], params)``."""
    return typed.ElementwiseKernel(name, (typed.Array("data", scalar),), True, False, made, (256, 1, 1))


def map_kernel(name: str, scalar: ScalarType, make: Callable[[Expression], Expression], p: Slot | None = None) -> typed.ElementwiseKernel:
    """``data[i] = make(data[i])``; `make` may read the params slot `p`."""
    x = Slot("x", scalar)
    parameters = (x,) if p is None else (x, p)
    body = function(f"{name}_body", parameters, scalar, typed.Return(make(read(x))))
    return map_over(name, scalar, body)


def scale_relu() -> typed.ElementwiseKernel:
    """``y = x * p.scale; return y if y > 0 else 0.0``."""
    x, p, y = Slot("x", F32), Slot("p", SCALE), Slot("y", F32)
    product = binary("mul", read(x), typed.ReadParam(F32, p, 0))
    positive = compare("gt", read(y), constant(F32, 0.0))
    body = function(
        "scale_relu_body",
        (x, p),
        F32,
        typed.Assign(y, product),
        typed.Return(typed.Conditional(F32, positive, read(y), constant(F32, 0.0))),
        variables=(y,),
    )
    return map_over("scale_relu", F32, body)
