"""What work-items do together: barriers, atomic operations, exchanges within a warp."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import get_args

from gompute.frontend import typed
from gompute.frontend.check.context import Context
from gompute.frontend.check.convert import cast, coerce, condition, to_value
from gompute.frontend.check.operands import ArrayPlace, Operand, PointerPlace, Static, Value, ViewPlace, array_argument, describe
from gompute.frontend.check.places import position
from gompute.frontend.faults import KernelFault, raise_together
from gompute.lang import block
from gompute.lang.types import BOOL, F32, F64, I32, I64, U32, U64, LocalArrayType

__all__ = ["atomic", "barrier", "depends_on_item", "lane_id", "warp"]

_ATOMIC_TYPES = (I32, U32, I64, U64, F32, F64)
_SCOPES: tuple[typed.Scope, ...] = get_args(typed.Scope)
# NVIDIA's first architectures with an operation: LLVM has no code for older ones.
_FIRST_WITH_SYSTEM_SCOPE = (6, 0)
_FIRST_WITH_WARPS = (7, 0)


def _bind(node: ast.Call, name: str, required: tuple[str, ...], optional: str) -> tuple[list[ast.expr], ast.expr | None]:
    """The arguments by position, and the one that goes by keyword where it is given."""
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    wanted = f"({', '.join(required)}{f', {optional}=...' if optional else ''})"
    if any(isinstance(argument, ast.Starred) for argument in node.args) or len(node.args) != len(required) or keywords.keys() - {optional}:
        given = ", ".join([*("..." for _ in node.args), *(f"{word or '**'}=..." for word in keywords)])
        raise KernelFault(node, f"'{name}' takes {wanted}, and ({given}) is given", f"write g.{name}({', '.join(required)})")
    return node.args, keywords.get(optional)


def barrier(context: Context, node: ast.Call) -> typed.Barrier:
    """``g.barrier()``."""
    if node.args or node.keywords:
        raise KernelFault(node, "'barrier' takes no arguments", "write g.barrier()")
    context.uses.add("barrier")
    context.barriers.append(node)
    return typed.Barrier()


def lane_id(context: Context, node: ast.Call) -> Operand:
    """``g.lane_id()``."""
    if node.args or node.keywords:
        raise KernelFault(node, "'lane_id' takes no arguments", "write g.lane_id()")
    context.uses.add("warp")
    return Value(typed.Index(U64, "lane_id", 0))


def atomic(op: typed.AtomicOp) -> Callable[[Context, ast.Call], Operand]:
    """The handler of an atomic function."""
    name = block.ATOMICS[op].__name__
    required = ("place", "index", *(("expected", "value") if op == "cas" else ("value",)))

    def handler(context: Context, node: ast.Call) -> Operand:
        (where, index, *values), scope_node = _bind(node, name, required, "scope")
        place = context.expression(where)
        memory = array_argument(place)
        if memory is not None and isinstance(memory.type, LocalArrayType):
            fix = f"write '{ast.unparse(where)}[...] = ...': no other work-item sees it"
            raise KernelFault(where, f"an atomic operation on {describe(place)} has no purpose", fix)
        if not isinstance(place, (PointerPlace, ViewPlace, ArrayPlace)):
            fix = f"write g.{name}({', '.join(('data', 'i', *required[2:]))}) with a ptr, an array or a shared array"
            raise KernelFault(where, f"'{name}' works on an element of memory, and this is {describe(place)}", fix)
        kind = place.element
        if kind not in _ATOMIC_TYPES:
            raise KernelFault(where, f"no target has atomic operations on {kind}", f"use one of {', '.join(map(str, _ATOMIC_TYPES))}")
        if kind.is_float and op in ("and", "or", "xor"):
            raise KernelFault(where, f"'{name}' works on integers, and these are {kind}", "use an integer array, and g.bitcast")
        operands: list[typed.Expression] = []
        faults: list[KernelFault] = []
        at: typed.Expression | None = None
        try:
            at = position(context, place, index, index, ast.unparse(where))
        except KernelFault as fault:
            faults.append(fault)
        for value, word in zip(values, required[2:], strict=True):
            try:
                operands.append(coerce(context.expression(value), kind, value, f"argument '{word}' of '{name}'").node)
            except KernelFault as fault:
                faults.append(fault)
        raise_together(faults)
        assert at is not None
        scope: typed.Scope = "device" if scope_node is None else _scope(context, scope_node, name)
        if memory is not None:
            scope = "block"
        return Value(typed.Atomic(kind, op, place.slot, at, tuple(operands), scope))

    return handler


def _scope(context: Context, node: ast.expr, name: str) -> typed.Scope:
    given = context.expression(node)
    scope = next((scope for scope in _SCOPES if isinstance(given, Static) and given.object == scope), None)
    if scope is None:
        known = " or ".join(f'"{scope}"' for scope in _SCOPES)
        raise KernelFault(node, f"the scope of '{name}' is {known}, and a constant", f'write scope="{_SCOPES[1]}"')
    target = context.target
    if scope == "system" and target.backend == "cuda" and target.number < _FIRST_WITH_SYSTEM_SCOPE:
        what = f'{target.name} has no atomic operations of the scope "system"; the first that has is sm_60'
        raise KernelFault(node, what, 'leave out the target, or write scope="device"')
    return scope


def warp(operation: typed.WarpName) -> Callable[[Context, ast.Call], Operand]:
    """The handler of a warp function."""
    name = block.WARP_OPERATIONS[operation].__name__
    second = {"shuffle": "lane", "shuffle_up": "delta", "shuffle_down": "delta", "shuffle_xor": "lane_mask"}.get(operation)
    required = ("condition",) if second is None else ("value", second)

    def handler(context: Context, node: ast.Call) -> Operand:
        target = context.target
        if target.backend == "cuda" and target.number < _FIRST_WITH_WARPS:
            what = f"{target.name} has no '{name}' that waits for its warp; the first that has is sm_70"
            raise KernelFault(node, what, "leave out the target, or exchange through g.shared with barriers")
        given, mask_node = _bind(node, name, required, "mask")
        first, *rest = context.expressions(*given, *([] if mask_node is None else [mask_node]))
        mask = None if mask_node is None else _integer(rest.pop(), mask_node, f"the mask of '{name}'", "u64")
        context.uses.add("warp")
        if second is None:
            result = U64 if operation == "ballot" else BOOL
            return Value(typed.Warp(result, operation, (condition(first, given[0]),), mask))
        value = to_value(first, given[0])
        if value.weak:
            raise KernelFault(
                given[0], f"'{name}' exchanges values of a declared type, and this is {describe(first)}", "write f32(...) around it"
            )
        lane = _integer(rest[0], given[1], f"argument '{second}' of '{name}'", "u32")
        return Value(typed.Warp(value.type, operation, (value.node, lane), mask))

    return handler


def _integer(operand: Operand, node: ast.expr, what: str, wanted: str) -> typed.Expression:
    value = to_value(operand, node)
    if not value.type.is_integer:
        raise KernelFault(node, f"{what} is an integer, and this is {describe(operand)}", f"write {wanted}(...) around it")
    return cast(value, U64 if wanted == "u64" else U32).node


_ONE_ITEMS = ("global_id", "local_id", "lane_id")


def depends_on_item(node: typed.Expression, context: Context) -> bool:
    """Whether a value plainly differs between the work-items of a block. Differences and quotients may be the same for all of them
    (``global_id(0) - local_id(0)``), and nothing is said of what lies in memory."""
    if isinstance(node, typed.Index):
        return node.name in _ONE_ITEMS
    if isinstance(node, typed.ReadLocal):
        return node.slot.name in context.divergent
    if isinstance(node, (typed.Unary, typed.Cast)):
        return depends_on_item(node.operand, context)
    if isinstance(node, (typed.Compare, typed.Logical)) or (isinstance(node, typed.Binary) and node.op not in ("sub", "floordiv")):
        return depends_on_item(node.left, context) or depends_on_item(node.right, context)
    return False
