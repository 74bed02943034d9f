"""Conversions between operands: to a value, to a declared type, to the type that two branches share."""

from __future__ import annotations

import ast

from gompute.frontend import typed
from gompute.frontend.check.operands import Operand, Static, Value, constant, describe, number_of, weak_kind
from gompute.frontend.faults import KernelFault
from gompute.lang import numeric, promotion
from gompute.lang.promotion import PromotionRefused
from gompute.lang.types import BOOL, F64, I64, U64, ScalarType

__all__ = ["Kind", "cast", "coerce", "condition", "join", "kind_of", "to_value"]

Kind = tuple[ScalarType, bool]
"""A type, and whether it is weak."""


def to_value(operand: Operand, node: ast.AST) -> Value:
    """The operand as a typed expression; a weak literal stays weak. Faults where it is no number."""
    if isinstance(operand, Value):
        return operand
    if isinstance(operand, Static):
        found = number_of(operand.object)
        if found is not None:
            number, kind = found
            if kind is not None:
                return constant(numeric.convert(number, kind), kind)
            held = weak_kind(number)
            if not promotion.fits(number, held):
                if promotion.fits(number, U64):
                    return constant(int(number), U64)  # no signed type holds it, so there is nothing left for it to take on
                raise KernelFault(
                    node, f"the integer {promotion.spelled(number)} does not fit 64 bits", "write a smaller number, or a float"
                )
            return Value(typed.Constant(held, numeric.convert(number, held)), weak=True)
    raise KernelFault(node, f"{describe(operand)} is no value to compute with", "use a number, a variable, or an element of an array")


def kind_of(operand: Operand, node: ast.AST) -> Kind:
    value = to_value(operand, node)
    return value.type, value.weak


def cast(value: Value, kind: ScalarType) -> Value:
    """The value as `kind`, strong; a constant is converted now, by the rules that hold when it is run."""
    if value.type == kind:
        return Value(value.node)
    if isinstance(value.node, typed.Constant):
        return constant(numeric.convert(value.node.value, kind), kind)
    return Value(typed.Cast(kind, value.node))


def weak_to(operand: Operand, kind: ScalarType, node: ast.AST) -> Value:
    """A weak number as the type that it meets. Faults where a literal does not fit."""
    if isinstance(operand, Static):
        found = number_of(operand.object)
        if found is not None:
            try:
                return constant(promotion.literal(found[0], kind), kind)
            except PromotionRefused as refused:
                raise KernelFault(node, refused.reason, " or ".join(refused.fixes)) from None
    return cast(to_value(operand, node), kind)


def _keeps_every_value(source: ScalarType, target: ScalarType) -> bool:
    if source.is_integer and source.bits == 64 and target.is_float:
        return False  # NumPy promotes it, but f64 holds 53 of its 64 digits
    try:
        return promotion.promote(source, target) == target
    except PromotionRefused:
        return False


def coerce(operand: Operand, kind: ScalarType, node: ast.AST, what: str) -> Value:
    """The operand as the declared `kind`. A weak number takes it, a narrower type widens; a conversion that could lose something has to
    be written by the author.

    Args:
        what: the receiver, for the fault ("argument 'x' of 'half'", "the result").
    """
    value = to_value(operand, node)
    if value.type == kind and not value.weak:
        return value
    if value.weak:
        if kind == BOOL or (value.type.is_float and not kind.is_float):
            fix = f"write {kind}(...) to convert it"
            if kind == BOOL:
                fix = "write True or False" if isinstance(operand, Static) else "compare it with 0"
            raise KernelFault(node, f"{what} is {kind}, and this is {describe(operand)}", fix)
        return weak_to(operand, kind, node)
    if _keeps_every_value(value.type, kind):
        return cast(value, kind)
    fix = "compare it with 0" if kind == BOOL else f"write {kind}(...) to convert it"
    raise KernelFault(node, f"{what} is {kind}, and this is {value.type}: the conversion could lose digits", fix)


def join(a: Kind, b: Kind) -> Kind | None:
    """The kind of a variable or conditional that is `a` on one path and `b` on another; None where there is none.

    Two declared types do not mix here: which of them is meant, only the author knows.
    """
    (left, left_weak), (right, right_weak) = a, b
    if left_weak and right_weak:
        return (F64 if F64 in (left, right) else I64), True
    if not left_weak and not right_weak:
        return a if left == right else None
    (declared, _), (weak, _) = (b, a) if left_weak else (a, b)
    if declared == BOOL or (weak.is_float and not declared.is_float):
        return None
    return declared, False


def condition(operand: Operand, node: ast.AST) -> typed.Expression:
    """The truth of an operand: a bool as it is, a number where it differs from 0."""
    value = to_value(operand, node)
    return value.node if value.type == BOOL else cast(value, BOOL).node
