"""Calls: casts, builtins, the functions of the kernel language, and device functions."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, get_args

from gompute.frontend import typed
from gompute.frontend.check import together
from gompute.frontend.check.annotations import type_parameters
from gompute.frontend.check.context import Context
from gompute.frontend.check.convert import cast, coerce, condition, to_value, weak_to
from gompute.frontend.check.generics import infer
from gompute.frontend.check.math_calls import call_math
from gompute.frontend.check.names import instead_of
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
    array_argument,
    constant,
    describe,
    number_of,
    numpy_scalar_type,
)
from gompute.frontend.faults import KernelFault, raise_together
from gompute.lang import block, numeric, promotion
from gompute.lang import builtins as language
from gompute.lang.builtins import Table
from gompute.lang.generic import Bindings
from gompute.lang.math_function import MathFunction
from gompute.lang.params import params_type
from gompute.lang.promotion import PromotionRefused
from gompute.lang.spec import KernelSpec
from gompute.lang.types import BOOL, U64, PointerType, ScalarType, TypedInt

__all__ = ["call", "call_function"]

Choose = Callable[[typed.Expression, Operand, Operand, ast.AST, type[typed.Conditional | typed.Select]], Value]


def call(context: Context, node: ast.Call, choose: Choose) -> Operand | typed.Call | typed.Barrier:
    """Check a call. A device function that returns nothing gives the bare `typed.Call`, for use as a statement, and so does a barrier."""
    callee = context.expression(node.func)
    if not isinstance(callee, Static):
        raise KernelFault(node.func, f"{describe(callee)} is no function", "call a function by its name")
    target = callee.object
    if isinstance(target, ScalarType):
        return _scalar_cast(context, node, target)
    if target is language.select:
        test, then, otherwise = _positional(context, node, "select", 3)
        return choose(condition(test, node.args[0]), then, otherwise, node, typed.Select)
    if isinstance(target, MathFunction):
        return call_math(context, node, target, _positional(context, node, f"g.math.{target.__name__}", target.arity), node.args)
    if target is block.barrier:
        return together.barrier(context, node)
    handler = _handler(target)
    if handler is not None:
        return handler(context, node)
    bindings: Bindings = {}
    if isinstance(target, KernelSpec):
        bindings = target.bindings
        if target.kind == "kernel":
            raise KernelFault(
                node, f"'{target.name}' is a raw kernel; a kernel cannot launch another", "move the shared part into a function"
            )
        if len(target.body) != 1:
            fix = "index the array: data[i]" if not target.body else "call its parts one after the other"
            raise KernelFault(node, f"'{target.name}' is a {target.kind} kernel, which has no function of its own", fix)
        (target,) = target.body
    if isinstance(target, FunctionType) and _is_of_the_host(target):
        raise KernelFault(node, *_of_the_host(target.__name__))
    if isinstance(target, FunctionType):
        return call_function(context, node, target, bindings)
    _refuse(node, target)
    raise AssertionError("unreachable")


def _is_of_the_host(function: FunctionType) -> bool:
    """Whether a function is Gompute's own and none that kernels call."""
    package, _, module = function.__module__.partition(".")
    return package == "gompute" and not module.startswith("math.") and module != "lang.random"


def _of_the_host(name: str) -> tuple[str, str]:
    if hasattr(builtins, name):
        return f"'{name}' is gompute's here, not Python's", f"write 'import gompute as g', and g.{name} for the declaration of a kernel"
    return f"'{name}' of gompute is no function for a kernel", "call it on the host, and pass what it gives"


def _handler(target: object) -> Callable[[Context, ast.Call], Operand] | None:
    """The handler of a builtin, found by identity; an unhashable object is none."""
    try:
        return _HANDLERS.get(target)
    except TypeError:
        return None


def _refuse(node: ast.Call, target: Any) -> None:
    name = getattr(target, "__name__", type(target).__name__)
    if target in (int, float) and any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in node.args):
        raise KernelFault(node, f"'{name}' of text is not supported in a kernel", "write the number, math.inf or math.nan")
    if target in (int, float):
        widths = "i32(...) or i64(...)" if target is int else "f32(...) or f64(...)"
        raise KernelFault(node, f"'{name}' has no fixed width", f"write {widths}")
    if target is range:
        raise KernelFault(node, "'range' is only for the head of a for loop", "write for i in range(n):")
    if target is print:
        raise KernelFault(node, "'print' is not supported in a kernel", "write values to an array and print them on the host")
    if isinstance(target, type) and params_type(target) is not None:
        raise KernelFault(node, f"a kernel cannot make a {name}", "pass its values as arguments")
    if target in (sum, sorted, enumerate, zip, map, filter, list, tuple, dict, set, str):
        raise KernelFault(node, f"'{name}' is not supported in a kernel", "write a for loop over range")
    if target in (pow, divmod):
        raise KernelFault(node, f"'{name}' is not supported in a kernel", "write the operators: x * x, x // y, x % y")
    if getattr(target, "__module__", None) == "math":
        raise KernelFault(node, f"math.{name} cannot be compiled for a device", instead_of(name))
    scalar = numpy_scalar_type(target) if getattr(target, "__module__", None) == "numpy" else None
    if scalar is not None:
        raise KernelFault(node, f"numpy.{name} is not supported in a kernel", f"write {scalar}(...)")
    raise KernelFault(node, f"'{name}' cannot be called in a kernel", "call a Python function with annotated arguments")


def _positional(context: Context, node: ast.Call, name: str, count: int, at_least: bool = False) -> list[Operand]:
    if node.keywords:
        raise KernelFault(node, f"'{name}' takes no keyword arguments", "give them by position")
    if len(node.args) != count and not (at_least and len(node.args) > count):
        few = f"{'at least ' if at_least else ''}{count} argument{'s' if count != 1 else ''}"
        raise KernelFault(node, f"'{name}' takes {few}, and {len(node.args)} are given", "check the call")
    return context.expressions(*node.args)


def _scalar_cast(context: Context, node: ast.Call, kind: ScalarType) -> Value:
    (operand,) = _positional(context, node, kind.name, 1)
    return _convert(operand, kind, node)


def _convert(operand: Operand, kind: ScalarType, node: ast.AST) -> Value:
    """An explicit conversion: it may lose digits, and takes any number."""
    found = number_of(operand.object) if isinstance(operand, Static) else None
    if found is not None:
        return constant(numeric.convert(found[0], kind), kind)
    return cast(Value(to_value(operand, node).node), kind)


def _cast_function(context: Context, node: ast.Call) -> Value:
    value, kind = _positional(context, node, "cast", 2)
    return _convert(value, _scalar_type(kind, node, "cast(x, i32)"), node)


def _scalar_type(operand: Operand, node: ast.AST, example: str) -> ScalarType:
    if isinstance(operand, Static) and operand.object is bool:
        return BOOL
    if isinstance(operand, Static) and isinstance(operand.object, ScalarType):
        return operand.object
    raise KernelFault(node, f"{describe(operand)} is no scalar type", f"write {example}")


def _bool(context: Context, node: ast.Call) -> Value:
    (operand,) = _positional(context, node, "bool", 1)
    return Value(condition(operand, node))


def _bitcast(context: Context, node: ast.Call) -> Value:
    operand, wanted = _positional(context, node, "bitcast", 2)
    kind, value = _scalar_type(wanted, node, "bitcast(x, u32)"), to_value(operand, node)
    if value.weak or value.type.bits != kind.bits or BOOL in (value.type, kind):
        raise KernelFault(node, f"bitcast from {describe(operand)} to {kind} is not possible", "both need a declared type of one width")
    if isinstance(value.node, typed.Constant):
        return constant(numeric.intrinsic("bitcast", (value.node.value,), kind, value.type), kind)
    return Value(typed.Intrinsic(kind, "bitcast", (value.node,)))


def _extreme(name: typed.IntrinsicName) -> Callable[[Context, ast.Call], Operand]:
    def handler(context: Context, node: ast.Call) -> Operand:
        first, *rest = _positional(context, node, name, 2, at_least=True)
        result = first
        for other in rest:
            result = _extreme_of_two(name, result, other, node)
        return result

    return handler


def _extreme_of_two(name: typed.IntrinsicName, left: Operand, right: Operand, node: ast.AST) -> Operand:
    a, b = to_value(left, node), to_value(right, node)
    if a.weak and b.weak:
        kind = promotion.promote(a.type, b.type)
    else:
        if a.weak:
            a = weak_to(left, promotion.weak_type(1.0 if a.type.is_float else 1, b.type), node)
        elif b.weak:
            b = weak_to(right, promotion.weak_type(1.0 if b.type.is_float else 1, a.type), node)
        try:
            kind = promotion.promote(a.type, b.type)
        except PromotionRefused as refused:
            raise KernelFault(node, refused.reason, " or ".join(refused.fixes)) from None
    weak = a.weak and b.weak
    a, b = cast(a, kind), cast(b, kind)
    if isinstance(a.node, typed.Constant) and isinstance(b.node, typed.Constant):
        folded = numeric.intrinsic(name, (a.node.value, b.node.value), kind, kind)
        return Static(folded) if weak else constant(folded, kind)
    return Value(typed.Intrinsic(kind, name, (a.node, b.node)), weak)


def _one_operand(name: typed.IntrinsicName) -> Callable[[Context, ast.Call], Operand]:
    def handler(context: Context, node: ast.Call) -> Operand:
        (operand,) = _positional(context, node, name, 1)
        value = to_value(operand, node)
        if value.type == BOOL:
            raise KernelFault(node, f"'{name}' of a bool is not supported", "write i32(...) around it")
        if name == "round" and not value.type.is_float:
            return value
        if isinstance(value.node, typed.Constant):
            folded = numeric.intrinsic(name, (value.node.value,), value.type, value.type)
            return Static(folded) if value.weak else constant(folded, value.type)
        return Value(typed.Intrinsic(value.type, name, (value.node,)), value.weak)

    return handler


def _length(context: Context, node: ast.Call) -> Operand:
    (operand,) = _positional(context, node, "len", 1)
    if isinstance(operand, ArrayPlace) and operand.shape:
        length = operand.shape[0]
        # What a function takes as a view has the lengths of one, whatever memory is behind it.
        return Static(TypedInt(length, U64) if operand.slot in context.header.parameters else length)
    if isinstance(operand, ViewPlace):
        return ShapePlace(operand.slot, operand.ndim).extents[0]
    if isinstance(operand, ShapePlace):
        return Static(operand.ndim)
    if isinstance(operand, ParamArrayPlace):
        return Static(operand.length)
    if isinstance(operand, Static) and isinstance(operand.object, (tuple, Table)):
        return Static(len(operand.object))
    raise KernelFault(node, f"{describe(operand)} has no length in a kernel", "pass the length as an argument")


def _character(context: Context, node: ast.Call) -> Operand:
    (operand,) = _positional(context, node, "ord", 1)
    if not isinstance(operand, Static) or not isinstance(operand.object, str) or len(operand.object) != 1:
        raise KernelFault(node, f"'ord' takes text of one character, and this is {describe(operand)}", 'write ord("a")')
    return Static(ord(operand.object))


def _static(context: Context, node: ast.Call) -> Operand:
    (operand,) = _positional(context, node, "static", 1)
    if not isinstance(operand, Static):
        raise KernelFault(node, "this condition is not known when the kernel is compiled", "use constants and g.target, or a plain if")
    return Static(bool(operand.object))


def _index(name: typed.IndexName) -> Callable[[Context, ast.Call], Operand]:
    def handler(context: Context, node: ast.Call) -> Operand:
        (operand,) = _positional(context, node, name, 1)
        if not isinstance(operand, Static) or isinstance(operand.object, bool) or operand.object not in (0, 1, 2):
            raise KernelFault(node, f"the dimension of '{name}' is 0, 1 or 2, and a constant", f"write g.{name}(0)")
        context.uses.add("index")
        return Value(typed.Index(U64, name, int(operand.object)))

    return handler


def _misplaced(name: str, example: str) -> Callable[[Context, ast.Call], Operand]:
    def handler(context: Context, node: ast.Call) -> Operand:
        raise KernelFault(node, f"'{name}' makes an array only as the whole right side of an assignment", f"write {example}")

    return handler


_HANDLERS: dict[object, Callable[[Context, ast.Call], Operand]] = {
    bool: _bool,
    min: _extreme("min"),
    max: _extreme("max"),
    abs: _one_operand("abs"),
    round: _one_operand("round"),
    len: _length,
    ord: _character,
    language.cast: _cast_function,
    language.bitcast: _bitcast,
    language.static: _static,
    language.local: _misplaced("local", "buffer = g.local(f32, 8)"),
    block.shared: _misplaced("shared", "tile = g.shared(f32, 256)"),
    block.dynamic_shared: _misplaced("dynamic_shared", "tile = g.dynamic_shared(f32)"),
    block.lane_id: together.lane_id,
    **{block.ATOMICS[op]: together.atomic(op) for op in get_args(typed.AtomicOp)},
    **{block.WARP_OPERATIONS[name]: together.warp(name) for name in get_args(typed.WarpName)},
    **{getattr(language, name): _index(name) for name in ("global_id", "local_id", "block_id", "block_dim", "grid_dim")},
}


def call_function(context: Context, node: ast.Call, function: FunctionType, bindings: Bindings) -> Operand | typed.Call:
    """A call of a device function, with what its type parameters stand for where that is known before its arguments are."""
    name = function.__name__
    open_ = any(parameter not in bindings for parameter in type_parameters(function))
    try:
        given = _bind(context, node, function)
    except KernelFault as fault:
        found = [fault]
        if not open_:
            try:
                context.instance(function, bindings, node)  # its own faults are told together with those of the call
            except KernelFault as own:
                found.append(own)
        raise_together(found)
        raise
    named = list(zip(inspect.signature(function).parameters, (operand for operand, _ in given), strict=True))
    arrays = {parameter: array for parameter, operand in named if (array := array_argument(operand)) is not None}
    instance = context.instance(function, infer(function, named, bindings, node) if open_ else bindings, node, arrays)
    arguments: list[typed.Expression | typed.Slot] = []
    for slot, (operand, place) in zip(instance.parameters, given, strict=True):
        what = f"argument '{slot.name}' of '{name}'"
        if isinstance(slot.type, ScalarType):
            arguments.append(coerce(operand, slot.type, place, what).node)
        elif (isinstance(operand, StructPlace) and operand.layout == slot.type and operand.offset == 0) or (
            isinstance(operand, (PointerPlace, ViewPlace, ArrayPlace))
            and (operand.slot.type == slot.type or (isinstance(operand, ViewPlace) and slot.type == PointerType(operand.element)))
        ):
            arguments.append(operand.slot)
        elif isinstance(operand, StructPlace) and operand.layout == slot.type:
            raise KernelFault(
                place, f"{what}: a nested params struct cannot be passed on", "pass the whole struct, or the fields that are needed"
            )
        else:
            raise KernelFault(place, f"{what} is {slot.type}, and this is {describe(operand)}", "pass an argument of that type on")
    context.uses |= instance.uses
    context.shared += instance.shared
    if "barrier" in instance.uses:
        context.barriers.append(node)
    made = typed.Call(instance.result, instance, tuple(arguments))
    return made if instance.result is None else Value(made)


def _bind(context: Context, node: ast.Call, function: FunctionType) -> list[tuple[Operand, ast.AST]]:
    """Operands in the order of the function's parameters, keywords and defaults put in their places."""
    positional: list[ast.expr] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            raise KernelFault(argument, "'*' unpacking is not supported in a kernel", "write each argument")
        positional.append(argument)
    keywords: dict[str, ast.expr] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise KernelFault(keyword, "'**' unpacking is not supported in a kernel", "write each argument")
        keywords[keyword.arg] = keyword.value
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*positional, **keywords)
    except TypeError as error:
        raise KernelFault(node, f"'{function.__name__}': {error}", f"its arguments are {signature}") from None
    given = [name for name in signature.parameters if name in bound.arguments]
    operands = dict(zip(given, context.expressions(*(bound.arguments[name] for name in given)), strict=True))
    return [
        (operands[name], bound.arguments[name]) if name in operands else (Static(parameter.default), node)
        for name, parameter in signature.parameters.items()
    ]
