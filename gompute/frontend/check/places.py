"""Elements of arrays: which memory, and the number of the element there."""

from __future__ import annotations

import ast
from typing import TypeAlias

from gompute.frontend import typed
from gompute.frontend.check.context import Context
from gompute.frontend.check.convert import cast, to_value
from gompute.frontend.check.operands import ArrayPlace, PointerPlace, ShapePlace, Static, Value, ViewPlace, describe, number_of
from gompute.frontend.faults import KernelFault, raise_together
from gompute.lang.types import I64, U64

__all__ = ["Memory", "element_at", "element_index", "extent_of", "place_of", "position"]

Memory: TypeAlias = PointerPlace | ViewPlace | ArrayPlace
"""What a kernel can write to."""


def place_of(context: Context, node: ast.expr) -> Memory:
    """The memory that ``node[...]`` writes to."""
    base = context.expression(node)
    if isinstance(base, (PointerPlace, ViewPlace, ArrayPlace)):
        return base
    fix = "write results to a ptr argument or a g.local array"
    raise KernelFault(node, f"{describe(base)} cannot be written to", fix)


def element_at(context: Context, place: Memory, node: ast.Subscript) -> typed.Expression:
    """The number of the element ``place[...]``, as u64 or i64. Raises KernelFault."""
    return position(context, place, node.slice, node, ast.unparse(node.value))


def position(context: Context, place: Memory, index: ast.expr, node: ast.AST, name: str) -> typed.Expression:
    """The number of the element that an index, or a tuple of them, means.

    Args:
        node: what to show where their number is wrong.
        name: the array as the author calls it.
    """
    indices = index.elts if isinstance(index, ast.Tuple) else [index]
    if isinstance(place, PointerPlace) or (isinstance(place, ArrayPlace) and not place.shape):
        if isinstance(index, ast.Tuple):
            raise KernelFault(node, f"{describe(place)} takes one index", "compute the position: data[row * width + column]")
        return element_index(context, index, None, describe(place))
    extents = _extents(place)
    if len(indices) != len(extents):
        wanted = f"{len(extents)} indices" if len(extents) > 1 else "one index"
        given = f"{len(indices)} are given" if len(indices) > 1 else "one is given"
        example = ", ".join("ijklmnop"[: len(extents)])
        raise KernelFault(node, f"{describe(place)} takes {wanted}, and {given}", f"write {name}[{example}]")
    found: list[typed.Expression] = []
    faults: list[KernelFault] = []
    for axis, (each, extent) in enumerate(zip(indices, extents, strict=True)):
        dimension = "" if len(extents) == 1 else f"dimension {axis} of "
        what = f"{dimension}{describe(place)}"
        try:
            found.append(element_index(context, each, extent, what, f"{dimension}{name}"))
        except KernelFault as fault:
            faults.append(fault)
    raise_together(faults)
    at = found[0]
    for following, extent in zip(found[1:], extents[1:], strict=True):
        at = _sum(_product(_unsigned(at), extent), _unsigned(following))
    return at


def _extents(place: ViewPlace | ArrayPlace) -> list[int | typed.Extent]:
    if isinstance(place, ArrayPlace):
        return list(place.shape)
    return [typed.Extent(U64, place.slot, axis) for axis in range(place.ndim)]


def _unsigned(node: typed.Expression) -> typed.Expression:
    """A negative index wraps, and comes right again in the sum."""
    return cast(Value(node), U64).node


def _product(node: typed.Expression, extent: int | typed.Extent) -> typed.Expression:
    factor = typed.Constant(U64, extent) if isinstance(extent, int) else extent
    if isinstance(node, typed.Constant) and isinstance(factor, typed.Constant):
        return typed.Constant(U64, int(node.value) * int(factor.value) % 2**64)
    return typed.Binary(U64, "mul", node, factor)


def _sum(node: typed.Expression, other: typed.Expression) -> typed.Expression:
    if isinstance(node, typed.Constant) and isinstance(other, typed.Constant):
        return typed.Constant(U64, (int(node.value) + int(other.value)) % 2**64)
    return typed.Binary(U64, "add", node, other)


def element_index(context: Context, node: ast.expr, extent: int | typed.Extent | None, what: str, name: str = "") -> typed.Expression:
    """An index as u64 or i64. A constant is checked against the extent, where that is known now, and may then count from the end. In a
    checked build the others are checked as they run.

    Args:
        what: what is indexed, for a fault.
        name: what is indexed as the author calls it, for a check.
    """
    length = extent if isinstance(extent, int) else None
    operand = context.expression(node)
    literal = number_of(operand.object) if isinstance(operand, Static) else None
    if literal is not None and isinstance(literal[0], int) and not isinstance(literal[0], bool):
        position = literal[0]
        if length is not None and position < 0:
            position += length
        if position < 0 or (length is not None and position >= length):
            bounds = "an index counts from 0" if length is None else f"it has {length} elements"
            raise KernelFault(node, f"index {literal[0]} is out of range for {what}", bounds)
        found = typed.Constant(U64, position) if position >= 2**63 else typed.Constant(I64, position)
        return found if length is not None else _bounded(context, found, extent, name, node)
    if isinstance(operand, Static) and literal is None:
        to_value(operand, node)
    value = to_value(operand, node)
    if not value.type.is_integer:
        raise KernelFault(node, f"an index is an integer, and this is {describe(operand)}", "write i64(...) around it")
    return _bounded(context, cast(Value(value.node), U64 if value.type.kind == "uint" else I64).node, extent, name, node)


def _bounded(context: Context, index: typed.Expression, extent: int | typed.Extent | None, name: str, node: ast.AST) -> typed.Expression:
    if extent is None or not context.checked or index.type is None:
        return index
    bound = typed.Constant(U64, extent) if isinstance(extent, int) else extent
    return typed.Bounded(index.type, index, bound, context.site("index", name, node))


def extent_of(context: Context, shape: ShapePlace, node: ast.expr) -> Value:
    """``shape[axis]``."""
    axis = element_index(context, node, shape.ndim, describe(shape))
    if not isinstance(axis, typed.Constant):
        raise KernelFault(node, "the dimension of a shape is a constant", "write a.shape[0]")
    return shape.extents[int(axis.value)]
