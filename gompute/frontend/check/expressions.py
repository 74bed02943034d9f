"""Expressions: each kind of syntax node to an operand."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from gompute.errors import CompileError
from gompute.frontend import typed
from gompute.frontend.check import arithmetic, calls, names
from gompute.frontend.check.context import Context
from gompute.frontend.check.convert import condition, join, kind_of, to_value, weak_to
from gompute.frontend.check.operands import (
    ArrayPlace,
    Operand,
    ParamArrayPlace,
    PointerPlace,
    ShapePlace,
    Static,
    StructPlace,
    Value,
    ViewPlace,
    describe,
    number_of,
)
from gompute.frontend.check.places import element_at, element_index, extent_of
from gompute.frontend.faults import FollowingFault, KernelFault
from gompute.lang.builtins import Table, static
from gompute.lang.spec import KernelSpec
from gompute.lang.types import F64, I64, U64, ParamsType, ScalarType, TableType, TypedInt

__all__ = ["expression", "is_call_of"]


def expression(context: Context, node: ast.expr) -> Operand:
    """Check an expression of any kind."""
    handler = _HANDLERS.get(type(node))
    if handler is None:
        what, fix = _REFUSED.get(type(node), (f"'{type(node).__name__}' is not supported in a kernel", "write it with numbers and calls"))
        raise KernelFault(node, what, fix)
    return handler(context, node)


_REFUSED: dict[type[ast.expr], tuple[str, str]] = {
    ast.List: ("a list is not supported in a kernel", "use g.local(f32, N) for working space, or a module-level tuple"),
    ast.ListComp: ("a list comprehension is not supported in a kernel", "write a for loop over range"),
    ast.SetComp: ("a set comprehension is not supported in a kernel", "write a for loop over range"),
    ast.DictComp: ("a dict comprehension is not supported in a kernel", "write a for loop over range"),
    ast.GeneratorExp: ("a generator expression is not supported in a kernel", "write a for loop over range"),
    ast.Dict: ("a dict is not supported in a kernel", "use a module-level tuple, or an enum"),
    ast.Set: ("a set is not supported in a kernel", "compare with each value"),
    ast.Lambda: ("a lambda inside a kernel is not supported", "define a function at module level and call it"),
    ast.JoinedStr: ("an f-string is not supported in a kernel", "kernels have no text; return a number or an enum value"),
    ast.Yield: ("'yield' is not supported in a kernel", "write results to an array"),
    ast.YieldFrom: ("'yield from' is not supported in a kernel", "write results to an array"),
    ast.Await: ("'await' is not supported in a kernel", "a kernel runs to its end without waiting"),
    ast.NamedExpr: ("':=' is not supported in a kernel", "assign on a line of its own"),
    ast.Starred: ("'*' unpacking is not supported in a kernel", "write each argument"),
    ast.Slice: ("a slice is not supported in a kernel", "index single elements in a loop"),
}


def _constant(context: Context, node: ast.Constant) -> Operand:
    if isinstance(node.value, (bool, int, float, str)):
        return Static(node.value)
    word = {type(None): "None", complex: "a complex number", bytes: "a bytes literal"}.get(type(node.value), repr(node.value))
    raise KernelFault(node, f"{word} is not supported in a kernel", "use an integer, a float or a bool")


def _name(context: Context, node: ast.Name) -> Operand:
    name = node.id
    if name in context.places:
        place = context.places[name]
        if isinstance(place, ArrayPlace) and name not in context.assigned:
            raise KernelFault(node, f"'{name}' may have no value here", f"assign '{name}' before this line on every path")
        return place
    if name in context.poisoned:
        raise FollowingFault(node, f"'{name}' comes from a faulty line", "")
    if name in context.local_names:
        variable = context.variables.get(name)
        if variable is None or name not in context.assigned:
            raise KernelFault(node, f"'{name}' may have no value here", f"assign '{name}' before this line on every path")
        kind, weak = variable.kind
        return Value(typed.ReadLocal(kind, variable.slot), weak)
    return names.free_name(context, node)


def _attribute(context: Context, node: ast.Attribute) -> Operand:
    base = context.expression(node.value)
    if isinstance(base, StructPlace):
        return _field(base, node)
    if isinstance(base, ViewPlace) or (isinstance(base, ArrayPlace) and base.shape):
        return _of_view(base, node)
    if isinstance(base, Static):
        return names.attribute(context, base.object, node)
    raise KernelFault(node, f"{describe(base)} has no attribute '{node.attr}'", "only params, modules, enums and g.target have attributes")


def _of_view(view: ViewPlace | ArrayPlace, node: ast.Attribute) -> Operand:
    if node.attr == "shape":
        if isinstance(view, ArrayPlace):
            return Static(tuple(TypedInt(length, U64) for length in view.shape))
        return ShapePlace(view.slot, view.ndim)
    if node.attr == "ndim":
        return Static(view.ndim if isinstance(view, ViewPlace) else len(view.shape))
    raise KernelFault(
        node, f"{describe(view)} has no attribute '{node.attr}'{names.nearest(node.attr, ['shape', 'ndim'])}", "it has shape, ndim"
    )


def _field(base: StructPlace, node: ast.Attribute) -> Operand:
    for field in base.layout.fields:
        if field.name == node.attr:
            offset = base.offset + field.offset
            if isinstance(field.type, ParamsType):
                return StructPlace(base.slot, field.type, offset)
            if field.count is not None:
                return ParamArrayPlace(base.slot, field.type, offset, field.count)
            return Value(typed.ReadParam(field.type, base.slot, offset))
    known = [field.name for field in base.layout.fields]
    raise KernelFault(node, f"{base.layout.name} has no field '{node.attr}'{names.nearest(node.attr, known)}", f"it has {', '.join(known)}")


def _subscript(context: Context, node: ast.Subscript) -> Operand:
    base = context.expression(node.value)
    if isinstance(base, Static) and isinstance(base.object, KernelSpec):
        return _instance(context, base.object, node)
    if isinstance(base, (PointerPlace, ViewPlace, ArrayPlace)):
        return Value(typed.Load(base.element, base.slot, element_at(context, base, node)))
    if isinstance(node.slice, ast.Tuple):
        raise KernelFault(node, f"{describe(base)} takes one index", "compute the position: data[row * width + column]")
    if isinstance(base, ShapePlace):
        return extent_of(context, base, node.slice)
    if isinstance(base, ParamArrayPlace):
        index = element_index(context, node.slice, base.length, describe(base), ast.unparse(node.value))
        return Value(typed.ReadParam(base.element, base.slot, base.offset, index, base.length))
    if isinstance(base, Static) and isinstance(base.object, (tuple, Table)):
        return _table_element(context, base.object, node)
    raise KernelFault(
        node, f"{describe(base)} cannot be indexed", "index a ptr, an array, a g.local array, a tuple, a g.table or a fixed array of params"
    )


def _instance(context: Context, spec: KernelSpec, node: ast.Subscript) -> Operand:
    """An instance of a generic kernel, whose function is called."""
    types = context.expression(node.slice)
    if not isinstance(types, Static):
        raise KernelFault(node.slice, f"{describe(types)} is no scalar type", f"write {spec.name}[f32]")
    try:
        return Static(spec[types.object])
    except CompileError as error:
        what, _, fix = str(error).partition("; ")
        raise KernelFault(node, what, fix) from None


def _table_element(context: Context, values: tuple[Any, ...] | Table, node: ast.Subscript) -> Operand:
    what = f"a table of {len(values)}" if isinstance(values, Table) else f"a tuple of {len(values)}"
    index = element_index(context, node.slice, len(values), what, ast.unparse(node.value))
    if isinstance(index, typed.Constant):
        element = values[int(index.value)]
        return Value(typed.Constant(values.type.element, element)) if isinstance(values, Table) else Static(element)
    kind, weak = (values.type, False) if isinstance(values, Table) else _tuple_table(values, node)
    return Value(typed.Load(kind.element, kind, index), weak)


def _tuple_table(values: tuple[Any, ...], node: ast.AST) -> tuple[TableType, bool]:
    """A tuple that is indexed by a variable, as a table, and whether its elements are Python numbers, which stay weak."""
    found = [number_of(value) for value in values]
    numbers = [number for number in found if number is not None]
    kinds = {kind for _, kind in numbers}
    if not values or len(numbers) != len(values) or len(kinds) != 1:
        raise KernelFault(node, "a tuple indexed by a variable needs numbers of one type", "write g.table(f32, (...)), or a constant index")
    declared = next(iter(kinds))
    element: ScalarType = declared or (F64 if any(isinstance(value, float) for value, _ in numbers) else I64)
    return TableType(element, tuple(_in_table(value, element, node) for value, _ in numbers)), declared is None


def _in_table(value: float, element: ScalarType, node: ast.AST) -> float:
    made = weak_to(Static(value), element, node).node
    assert isinstance(made, typed.Constant)
    return made.value


def is_call_of(context: Context, node: ast.expr, builtin: object) -> bool:
    """Whether `node` is a call of that function of the kernel language."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Name, ast.Attribute)):
        return False
    try:
        callee = context.expression(node.func)
    except KernelFault:
        return False  # reported when the call itself is checked
    return isinstance(callee, Static) and callee.object is builtin


def _conditional(context: Context, node: ast.IfExp) -> Operand:
    test = context.expression(node.test)
    if is_call_of(context, node.test, static) and isinstance(test, Static):
        return context.expression(node.body if test.object else node.orelse)
    truth = condition(test, node.test)
    then, otherwise = context.expressions(node.body, node.orelse)
    return choose(truth, then, otherwise, node, typed.Conditional)


def choose(
    truth: typed.Expression, then: Operand, otherwise: Operand, node: ast.AST, made: type[typed.Conditional | typed.Select]
) -> Value:
    """One of two operands, both in the type that they share: a node of the kind `made`."""
    kinds = kind_of(then, node), kind_of(otherwise, node)
    shared = join(*kinds)
    if shared is None:
        a, b = describe(then), describe(otherwise)
        raise KernelFault(
            node, f"the two sides have different types: {a} and {b}", f"convert one: {kinds[0][0]}(...) or {kinds[1][0]}(...)"
        )
    kind, weak = shared
    sides = [weak_to(side, kind, node) if own[1] else to_value(side, node) for side, own in zip((then, otherwise), kinds, strict=True)]
    return Value(made(kind, truth, sides[0].node, sides[1].node), weak)


def _tuple(context: Context, node: ast.Tuple) -> Operand:
    elements = context.expressions(*node.elts)
    if all(isinstance(element, Static) for element in elements):
        return Static(tuple(element.object for element in elements if isinstance(element, Static)))
    raise KernelFault(node, "a tuple of values is no value", "assign its elements one by one: a, b = x, y")


def _call(context: Context, node: ast.Call) -> Operand:
    made = calls.call(context, node, choose)
    if isinstance(made, Value | Static):
        return made
    raise KernelFault(node, f"'{ast.unparse(node.func)}' returns nothing", "call it on a line of its own")


_HANDLERS: dict[type[ast.expr], Callable[[Context, Any], Operand]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.IfExp: _conditional,
    ast.Tuple: _tuple,
    ast.Call: _call,
    ast.BinOp: lambda context, node: arithmetic.binary(context, node, node.op, *context.expressions(node.left, node.right)),
    ast.UnaryOp: lambda context, node: arithmetic.unary(node, node.op, context.expression(node.operand)),
    ast.BoolOp: arithmetic.logical,
    ast.Compare: arithmetic.compare,
}
