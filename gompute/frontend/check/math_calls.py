"""Calls of `gompute.math`: the body is picked by the type of the arguments."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import cast as assume

from gompute.errors import CompileError
from gompute.frontend import typed
from gompute.frontend.check.approximations import approximated
from gompute.frontend.check.context import Context
from gompute.frontend.check.convert import cast, to_value, weak_to
from gompute.frontend.check.operands import Operand, Value, describe
from gompute.frontend.faults import KernelFault
from gompute.lang import numeric, promotion
from gompute.lang.math_function import MathFunction
from gompute.lang.types import F64, ScalarType

__all__ = ["call_math"]


def call_math(context: Context, node: ast.AST, function: MathFunction, operands: Sequence[Operand], places: Sequence[ast.AST]) -> Value:
    """``g.math.f(...)``. The arguments are floats; a Python number takes the type of the others, and is f64 where there is no other."""
    values = [to_value(operand, place) for operand, place in zip(operands, places, strict=True)]
    for operand, value, place in zip(operands, values, places, strict=True):
        if not value.type.is_float and not value.weak:
            what = f"'g.math.{function.__name__}' takes floats, and this is {describe(operand)}"
            raise KernelFault(place, what, "write f32(...) or f64(...) around it")
    strong = [value.type for value in values if not value.weak]
    kind = F64
    if strong:
        kind = strong[0]
        for other in strong[1:]:
            kind = promotion.promote(kind, other)
    converted = [
        weak_to(operand, kind, place) if value.weak else cast(value, kind)
        for operand, value, place in zip(operands, values, places, strict=True)
    ]
    return Value(_computed(context, node, function, kind, converted), weak=not strong)


def _computed(context: Context, node: ast.AST, function: MathFunction, kind: ScalarType, values: list[Value]) -> typed.Expression:
    if context.approximate and (made := approximated(function.__name__, kind, values, context.target)) is not None:
        return made
    if function.exact:
        name = assume(typed.IntrinsicName, function.__name__)
        constants = [value.node.value for value in values if isinstance(value.node, typed.Constant)]
        if len(constants) == len(values):
            return typed.Constant(kind, numeric.intrinsic(name, constants, kind, kind))
        return typed.Intrinsic(kind, name, tuple(value.node for value in values))
    try:
        body = function.body(kind)
    except CompileError as error:
        raise KernelFault(node, str(error), "compute it in another type") from None
    instance = context.instance(body, {}, node)
    called = typed.Call(F64, instance, tuple(cast(value, F64).node for value in values))
    return called if kind == F64 else typed.Cast(kind, called)
