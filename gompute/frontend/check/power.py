"""``x ** y``: products for the powers that are products, integers by squaring, floats by `gompute.math`."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import cast as assume

from gompute.frontend import typed
from gompute.frontend.check.context import Context
from gompute.frontend.check.convert import cast, to_value, weak_to
from gompute.frontend.check.math_calls import call_math
from gompute.frontend.check.operands import Operand, Static, Value, constant, describe, number_of
from gompute.frontend.faults import KernelFault
from gompute.lang import promotion
from gompute.lang.types import BOOL, U64, ScalarType

__all__ = ["power"]


def power(context: Context, node: ast.AST, left: Operand, right: Operand) -> Value:
    """One of the operands is no literal. Raises PromotionRefused for types that do not mix."""
    base, exponent = to_value(left, node), to_value(right, node)
    if BOOL in (base.type, exponent.type):
        raise KernelFault(node, "`**` does not work on bools", "write i32(...) around the operand")
    kind = _kind(base, exponent)
    weak = base.weak and exponent.weak
    literal = _integer(right)
    if not kind.is_float:
        made = _of_integers(context, node, _as(left, base, kind, node), exponent, literal, right)
    elif literal in (1, 2):
        made = _product(context, _as(left, base, kind, node), literal)
    else:
        from gompute.math import pow  # bodies in the kernel language, which kernels without a power do not need

        operands = _as(left, base, kind, node), _as(right, exponent, kind, node)
        made = call_math(context, node, pow, operands, (node, node))
    return Value(made.node, weak)


def _kind(base: Value, exponent: Value) -> ScalarType:
    """The type of the result; that of the base where both are integers and the exponent is a Python number."""
    if exponent.weak and not base.weak:
        return promotion.promote(base.type, promotion.weak_type(1.0 if exponent.type.is_float else 1, base.type))
    if base.weak and not exponent.weak:
        return promotion.promote(promotion.weak_type(1.0 if base.type.is_float else 1, exponent.type), exponent.type)
    return promotion.promote(base.type, exponent.type)


def _as(operand: Operand, value: Value, kind: ScalarType, node: ast.AST) -> Value:
    return weak_to(operand, kind, node) if value.weak and not isinstance(operand, Value) else cast(value, kind)


def _integer(operand: Operand) -> int | None:
    """An exponent that is a constant integer."""
    number = number_of(operand.object) if isinstance(operand, Static) else None
    return number[0] if number is not None and isinstance(number[0], int) and not isinstance(number[0], bool) else None


def _of_integers(context: Context, node: ast.AST, base: Value, exponent: Value, literal: int | None, right: Operand) -> Value:
    if literal is not None and literal < 0:
        raise KernelFault(node, f"an integer to the power {literal} is no integer", f"write f64(...) ** {literal}")
    if literal is not None:
        return _product(context, base, literal)
    if exponent.type.kind != "uint":
        raise KernelFault(node, f"the exponent is {describe(right)}, which may be negative", "write u32(...) around the exponent")
    from gompute.math import integer

    instance = context.instance(assume(FunctionType, integer.power), {integer.Integer: base.type}, node)
    return Value(typed.Call(base.type, instance, (base.node, cast(exponent, U64).node)))


def _product(context: Context, base: Value, exponent: int) -> Value:
    """`base` to a constant power, by squaring; `base` is evaluated once."""
    kind = base.type
    if exponent == 0:
        return constant(1, kind)
    held = context.temporary(kind)
    square: typed.Expression = typed.ReadLocal(kind, held)
    steps: list[tuple[typed.Slot, typed.Expression]] = [(held, base.node)]
    factors: list[typed.Expression] = []
    while True:
        if exponent & 1:
            factors.append(square)
        exponent >>= 1
        if not exponent:
            break
        slot = context.temporary(kind)
        steps.append((slot, typed.Binary(kind, "mul", square, square)))
        square = typed.ReadLocal(kind, slot)
    result = factors[0]
    for factor in factors[1:]:
        result = typed.Binary(kind, "mul", result, factor)
    for slot, value in reversed(steps):
        result = typed.Sequence(kind, slot, value, result)
    return Value(result)
