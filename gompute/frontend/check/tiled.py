"""Reductions and scans: their kernels, and the functions of a preset, which nobody wrote."""

from __future__ import annotations

from collections.abc import Sequence

from gompute.errors import InternalError
from gompute.frontend import typed
from gompute.frontend.check.function import Functions
from gompute.lang.spec import KernelSpec
from gompute.lang.tiled import Tiled
from gompute.lang.types import BOOL, ScalarType

__all__ = ["preset", "tiled_kernel"]

_EXTREMES: dict[str, typed.IntrinsicName] = {"min": "min", "max": "max"}
_OPERATORS: dict[str, typed.BinaryOp] = {"sum": "add", "any": "or", "all": "and"}


def tiled_kernel(spec: KernelSpec, operation: Tiled, parts: Sequence[typed.Function], functions: Functions) -> typed.TiledKernel:
    """The kernel of a declaration without a fault; `parts` are its checked functions."""
    combine, pre = operation.roles(parts)
    element = _scalar(pre.parameters[0].type) if pre is not None else spec.given.types[0] if combine is None else _scalar(combine.result)
    if combine is None:
        if operation.preset in ("any", "all") and (element if pre is None else pre.result) != BOOL:
            pre = _truth(spec, element, pre, functions)
        assert operation.preset is not None
        combine = preset(spec, operation.preset, element if pre is None else _scalar(pre.result), functions)
    result = _scalar(combine.result)
    identity = typed.Constant(result, operation.identity(result, spec.given.identity))
    scan: typed.Scan | None = ("exclusive" if operation.exclusive else "inclusive") if operation.scan else None
    return typed.TiledKernel(spec.name, element, pre, combine, identity, scan, spec.block_size)


def preset(spec: KernelSpec, name: str, kind: ScalarType, functions: Functions) -> typed.Function:
    """What combines two values of `kind`: ``sum``, ``min``, ``max``, ``any`` or ``all``."""
    a, b = typed.Slot("a", kind), typed.Slot("b", kind)
    left, right = typed.ReadLocal(kind, a), typed.ReadLocal(kind, b)
    value: typed.Expression
    if name in _EXTREMES:
        value = typed.Intrinsic(kind, _EXTREMES[name], (left, right))
    else:
        value = typed.Binary(kind, _OPERATORS[name], left, right)
    return functions.define(f"{spec.name}_combine", (a, b), value, _location(spec, functions))


def _truth(spec: KernelSpec, element: ScalarType, pre: typed.Function | None, functions: Functions) -> typed.Function:
    """Whether an element, or what `pre` gives for it, differs from 0."""
    x = typed.Slot("x", element)
    parameters = (x,) if pre is None else (x, *(typed.Slot("p", slot.type) for slot in pre.parameters[1:]))
    value: typed.Expression = typed.ReadLocal(element, x)
    if pre is not None:
        value = typed.Call(pre.result, pre, (value, *parameters[1:]))
    return functions.define(
        f"{spec.name}_truth", parameters, typed.Cast(BOOL, value), _location(spec, functions), () if pre is None else (pre,)
    )


def _location(spec: KernelSpec, functions: Functions) -> typed.Location:
    place = spec.place
    if place is None:
        raise InternalError(f"the preset {spec.name!r} was not declared by a call")
    return typed.Location(functions.sources.read(place.file).relative, place.lineno, place.col_offset + 1)


def _scalar(kind: object) -> ScalarType:
    if not isinstance(kind, ScalarType):
        raise InternalError(f"a reduction or a scan of {kind} passed the checks")
    return kind
