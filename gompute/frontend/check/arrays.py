"""Declarations of arrays: local ones, and those that a block shares."""

from __future__ import annotations

import ast
from math import prod

from gompute.frontend import typed
from gompute.frontend.check.context import Context
from gompute.frontend.check.expressions import is_call_of
from gompute.frontend.check.operands import ArrayPlace, Operand, Static, describe
from gompute.frontend.faults import KernelFault
from gompute.lang import block
from gompute.lang import builtins as language
from gompute.lang.spec import argument_type
from gompute.lang.types import LocalArrayType, ScalarType, SharedArrayType

__all__ = ["array_maker", "declare"]

_LARGEST = {"local": 2**16, "shared": 2**20}
_EXAMPLES = {"local": "buffer = g.local(f32, 8)", "shared": "tile = g.shared(f32, 256)", "dynamic_shared": "tile = g.dynamic_shared(f32)"}


def array_maker(context: Context, node: ast.expr) -> str | None:
    """The name of the function that declares an array, where `node` is a call of one."""
    makers = {"local": language.local, "shared": block.shared, "dynamic_shared": block.dynamic_shared}
    return next((name for name, maker in makers.items() if is_call_of(context, node, maker)), None)


def declare(context: Context, maker: str, targets: list[ast.expr], node: ast.Call, *, nested: bool) -> list[typed.Statement]:
    """``name = g.local(...)`` and its like.

    Args:
        nested: the line stands in a branch or a loop.
    """
    target, example = targets[0], _EXAMPLES[maker]
    kind = "local" if maker == "local" else "shared"
    if len(targets) != 1 or not isinstance(target, ast.Name):
        raise KernelFault(node, f"a {kind} array needs one name", f"write {example}")
    if nested and kind == "shared":
        what = "a shared array is made once for the block, outside branches and loops"
        raise KernelFault(node, what, "move this line to the start of the function")
    element, shape = _described(context, maker, node)
    length = prod(shape) if shape else None
    made = LocalArrayType(element, length or 0) if kind == "local" else SharedArrayType(element, length)
    known = context.places.get(target.id)
    if known is not None or target.id in context.variables:
        # The same line may run again, or its twin in another branch; a shared array has its one line.
        again = isinstance(known, ArrayPlace) and known.slot.type == made and known.shape == shape and known.slot in context.locals
        if not again or kind == "shared":
            raise KernelFault(target, f"'{target.id}' already names something else", "use another name")
        assert isinstance(known, ArrayPlace)
        context.assigned.add(target.id)
        return [typed.Clear(known.slot)]
    slot = typed.Slot(target.id, made)
    context.places[target.id] = ArrayPlace(slot, element, shape)
    context.assigned.add(target.id)
    if kind == "shared":
        context.uses.add("shared")
        context.shared.append(slot)
        return []
    context.locals.append(slot)
    return [typed.Clear(slot)]


def _described(context: Context, maker: str, node: ast.Call) -> tuple[ScalarType, tuple[int, ...]]:
    """The element type and the shape; no shape where the launch gives the size."""
    example = _EXAMPLES[maker].partition(" = ")[2]
    dynamic = maker == "dynamic_shared"
    if len(node.args) != (1 if dynamic else 2) or node.keywords:
        wanted = "an element type" if dynamic else "an element type and a length or a shape"
        raise KernelFault(node, f"'{maker}' takes {wanted}", f"write {example}")
    element, *rest = context.expressions(*node.args)
    kind = argument_type(element.object) if isinstance(element, Static) else None
    if not isinstance(kind, ScalarType):
        raise KernelFault(node.args[0], f"{describe(element)} is no scalar type", f"write {example}")
    if dynamic:
        return kind, ()
    largest = _LARGEST[maker]
    shape = _shape(rest[0], largest)
    if shape is None:
        what = f"the length of a {maker} array is a constant from 1 to {largest}, or a tuple of such with a product in that range"
        raise KernelFault(node.args[1], what, f"write {example}")
    return kind, shape


def _shape(operand: Operand, largest: int) -> tuple[int, ...] | None:
    given = operand.object if isinstance(operand, Static) else None
    lengths = given if isinstance(given, tuple) else (given,)
    if not lengths or not all(isinstance(n, int) and not isinstance(n, bool) and n >= 1 for n in lengths):
        return None
    found = tuple(int(n) for n in lengths)
    return found if prod(found) <= largest else None
