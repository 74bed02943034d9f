"""Operators: which type an operation happens in, and the tree that says so."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from gompute.frontend import typed
from gompute.frontend.check.context import Context
from gompute.frontend.check.convert import cast, condition, to_value, weak_to
from gompute.frontend.check.operands import Operand, Static, Value, constant, describe, number_of
from gompute.frontend.check.power import power
from gompute.frontend.faults import KernelFault
from gompute.lang import numeric, promotion
from gompute.lang.promotion import PromotionRefused
from gompute.lang.types import BOOL, F64, I64, U64, ScalarType

__all__ = ["binary", "compare", "logical", "unary"]

_BINARY: dict[type[ast.operator], tuple[typed.BinaryOp, Callable[[Any, Any], Any]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.Div: ("truediv", operator.truediv),
    ast.FloorDiv: ("floordiv", operator.floordiv),
    ast.Mod: ("mod", operator.mod),
    ast.BitAnd: ("and", operator.and_),
    ast.BitOr: ("or", operator.or_),
    ast.BitXor: ("xor", operator.xor),
    ast.LShift: ("shl", operator.lshift),
    ast.RShift: ("shr", operator.rshift),
}
_COMPARE: dict[type[ast.cmpop], tuple[typed.CompareOp, Callable[[Any, Any], bool]]] = {
    ast.Eq: ("eq", operator.eq),
    ast.NotEq: ("ne", operator.ne),
    ast.Lt: ("lt", operator.lt),
    ast.LtE: ("le", operator.le),
    ast.Gt: ("gt", operator.gt),
    ast.GtE: ("ge", operator.ge),
}
_SWAPPED: dict[typed.CompareOp, typed.CompareOp] = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
# A literal is at most this long: a shift that Python would work on for minutes is a mistake.
_LITERAL_BITS = 4096


def _weak_literal(operand: Operand) -> int | float | None:
    """The number of a weak literal, None for anything else."""
    if isinstance(operand, Static):
        found = number_of(operand.object)
        if found is not None and found[1] is None:
            return found[0]
    return None


def _is_weak(operand: Operand) -> bool:
    return _weak_literal(operand) is not None or (isinstance(operand, Value) and operand.weak)


def _fold_weak(node: ast.AST, function: Callable[..., Any], *numbers: int | float) -> Static:
    """Arithmetic of literals as Python does it."""
    if function is operator.lshift and not 0 <= numbers[1] <= _LITERAL_BITS:
        raise KernelFault(node, f"a shift by {numbers[1]} is out of range for a literal", "shift by 0 to 63")
    base, exponent = (*numbers, 0)[:2]
    if function is operator.pow and isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * exponent > 2**16:
        raise KernelFault(node, f"this power of a literal has more than {2**16} bits", "write a float, or a smaller number")
    try:
        return Static(function(*numbers))
    except (ArithmeticError, ValueError, TypeError) as error:
        raise KernelFault(node, f"this cannot be computed: {error}", "check the numbers") from None


def binary(context: Context, node: ast.AST, op: ast.operator, left: Operand, right: Operand) -> Operand:
    """``left op right``."""
    literals = _weak_literal(left), _weak_literal(right)
    if isinstance(op, ast.Pow):
        if literals[0] is not None and literals[1] is not None:
            return _fold_weak(node, operator.pow, literals[0], literals[1])
        try:
            return power(context, node, left, right)
        except PromotionRefused as refused:
            raise KernelFault(node, refused.reason, " or ".join(refused.fixes)) from None
    if isinstance(op, ast.MatMult):
        raise KernelFault(node, "'@' is not supported in a kernel", "write the loops")
    name, function = _BINARY[type(op)]
    if literals[0] is not None and literals[1] is not None:
        return _fold_weak(node, function, literals[0], literals[1])
    try:
        return _typed_binary(context, node, name, left, right)
    except PromotionRefused as refused:
        raise KernelFault(node, refused.reason, " or ".join(refused.fixes)) from None


def _typed_binary(context: Context, node: ast.AST, name: typed.BinaryOp, left: Operand, right: Operand) -> Value:
    left_value, right_value = to_value(left, node), to_value(right, node)
    both_weak = _is_weak(left) and _is_weak(right)
    if both_weak:
        floats = left_value.type == F64 or right_value.type == F64 or name == "truediv"
        kind = promotion.operation_type(name, left_value.type, right_value.type) if name != "truediv" and not floats else F64
        if floats and name in ("and", "or", "xor", "shl", "shr"):
            kind = promotion.operation_type(name, left_value.type, right_value.type)
        left_value, right_value = cast(left_value, kind), cast(right_value, kind)
    else:
        left_value = _meet(left, left_value, right_value.type, node)
        right_value = _meet(right, right_value, left_value.type, node)
        kind = promotion.operation_type(name, left_value.type, right_value.type)
        left_value, right_value = cast(left_value, kind), cast(right_value, kind)
    site = _site(context, name, kind, right_value.node, node) if context.checked else None
    if site is None and isinstance(left_value.node, typed.Constant) and isinstance(right_value.node, typed.Constant):
        folded = numeric.binary(name, left_value.node.value, right_value.node.value, kind)
        return Value(typed.Constant(kind, folded), both_weak)
    return Value(typed.Binary(kind, name, left_value.node, right_value.node, site), both_weak)


def _site(context: Context, name: typed.BinaryOp, kind: ScalarType, right: typed.Expression, node: ast.AST) -> typed.Site | None:
    """The check of a division or a shift of integers that may go wrong."""
    known = int(right.value) if isinstance(right, typed.Constant) else None
    if name in ("floordiv", "mod") and kind.is_integer and not known:
        return context.site("division", "//" if name == "floordiv" else "%", node)
    if name in ("shl", "shr") and (known is None or not 0 <= known < kind.bits):
        return context.site("shift", "<<" if name == "shl" else ">>", node)
    return None


def _meet(operand: Operand, value: Value, other: ScalarType, node: ast.AST) -> Value:
    """A weak operand in the type that it takes beside `other`; a strong one as it is."""
    if not _is_weak(operand):
        return value
    return weak_to(operand, promotion.weak_type(1.0 if value.type == F64 else 1, other), node)


def unary(node: ast.AST, op: ast.unaryop, operand: Operand) -> Operand:
    """``op operand``."""
    if isinstance(op, ast.Not):
        truth = condition(operand, node)
        if isinstance(operand, Static):
            return Static(not operand.object)
        return Value(typed.Unary(BOOL, "not", truth))
    literal = _weak_literal(operand)
    functions: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
    if literal is not None:
        return _fold_weak(node, functions[type(op)], literal)
    value = to_value(operand, node)
    if isinstance(op, ast.UAdd):
        return value
    name: typed.UnaryOp = "neg" if isinstance(op, ast.USub) else "invert"
    try:
        kind = promotion.unary_type(name, value.type)
    except PromotionRefused as refused:
        raise KernelFault(node, refused.reason, " or ".join(refused.fixes)) from None
    if isinstance(value.node, typed.Constant):
        return constant(numeric.unary(name, value.node.value, kind), kind)
    return Value(typed.Unary(kind, name, value.node), value.weak)


def logical(context: Context, node: ast.BoolOp) -> Operand:
    """``a and b``, ``a or b``: of bools, since Python's form gives back an operand, whose type may differ from path to path."""
    is_and = isinstance(node.op, ast.And)
    result: Operand = Static(is_and)
    for part in node.values:
        if isinstance(result, Static) and bool(result.object) != is_and:
            return Static(not is_and)  # a constant decides: what follows is never evaluated
        value = _bool_operand(context.expression(part), part, "and" if is_and else "or")
        if isinstance(result, Static):
            result = value
        elif isinstance(value, Value) or value.object != is_and:
            left, right = to_value(result, node), to_value(value, part)
            result = Value(typed.Logical("and" if is_and else "or", left.node, right.node, BOOL))
    return result


def _bool_operand(operand: Operand, node: ast.expr, word: str) -> Value | Static:
    if isinstance(operand, Static) and isinstance(operand.object, bool):
        return operand
    value = to_value(operand, node)
    if value.type != BOOL:
        raise KernelFault(node, f"'{word}' needs bools, and this is {describe(operand)}", "write the comparison: x != 0")
    return value


def compare(context: Context, node: ast.Compare) -> Operand:
    """A comparison, chained ones with each middle operand evaluated once and only as far as needed."""
    first = context.expression(node.left)
    return _chain(context, node, first, list(zip(node.ops, node.comparators, strict=True)))


def _chain(context: Context, node: ast.Compare, left: Operand, rest: list[tuple[ast.cmpop, ast.expr]]) -> Operand:
    (op, comparator), *more = rest
    right = context.expression(comparator)
    if not more:
        return _pair(context, node, op, left, right)
    binding: tuple[typed.Slot, typed.Expression] | None = None
    if isinstance(right, Value) and not isinstance(right.node, (typed.Constant, typed.ReadLocal)):
        slot = context.temporary(right.type)
        binding = (slot, right.node)
        right = Value(typed.ReadLocal(right.type, slot), right.weak)
    head = _pair(context, node, op, left, right)
    tail = _chain(context, node, right, more)
    if isinstance(head, Static) and isinstance(tail, Static):
        return Static(head.object and tail.object)
    joined: typed.Expression = typed.Logical("and", to_value(head, node).node, to_value(tail, node).node, BOOL)
    if binding is not None:
        joined = typed.Sequence(BOOL, binding[0], binding[1], joined)
    return Value(joined)


def _pair(context: Context, node: ast.AST, op: ast.cmpop, left: Operand, right: Operand) -> Operand:
    if type(op) not in _COMPARE:
        word = {ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}[type(op)]
        raise KernelFault(node, f"'{word}' is not supported in a kernel", "write == or != comparisons")
    name, function = _COMPARE[type(op)]
    if isinstance(left, Static) and isinstance(right, Static):
        numbers = number_of(left.object), number_of(right.object)
        if numbers[0] is not None and numbers[1] is not None and (numbers[0][1] is None) == (numbers[1][1] is None):
            return Static(bool(function(numbers[0][0], numbers[1][0])))
        if numbers[0] is None and numbers[1] is None and name in ("eq", "ne"):
            return Static(bool(function(left.object, right.object)))
    literals = _weak_literal(left), _weak_literal(right)
    if literals[1] is not None:
        return _against_literal(context, node, name, to_value(left, node), right, literals[1])
    if literals[0] is not None:
        return _against_literal(context, node, _SWAPPED[name], to_value(right, node), left, literals[0])
    a, b = to_value(left, node), to_value(right, node)
    # A Python int in a variable is compared as the i64 that holds it: converting it to a narrower type could change the answer.
    if a.weak and not b.weak and (a.type == F64 or b.type.is_float):
        a = _meet(a, a, b.type, node)
    elif b.weak and not a.weak and (b.type == F64 or a.type.is_float):
        b = _meet(b, b, a.type, node)
    return _same_type(context, name, a, b)


def _against_literal(context: Context, node: ast.AST, name: typed.CompareOp, value: Value, operand: Operand, literal: int | float) -> Value:
    kind = value.type
    if isinstance(literal, int) and not isinstance(literal, bool) and kind.is_integer:
        outside = promotion.where_outside(literal, kind)
        if outside:
            # The answer is known, as in NumPy; the comparison with the type's lowest value still evaluates the operand.
            holds = name == "ne" or ((name in ("lt", "le")) == (outside > 0) and name != "eq")
            lowest = typed.Constant(kind, numeric.limits(kind)[0])
            return Value(typed.Compare("ge" if holds else "lt", value.node, lowest, BOOL))
        return _same_type(context, name, Value(value.node), weak_to(operand, kind, node))
    meeting = promotion.weak_type(literal, kind)
    return _same_type(context, name, cast(value, promotion.promote(kind, meeting)), weak_to(operand, meeting, node))


def _same_type(context: Context, name: typed.CompareOp, a: Value, b: Value) -> Value:
    kind = promotion.comparison_type(a.type, b.type)
    if kind is None:
        return _signed_with_unsigned(context, name, a, b)
    left, right = cast(a, kind).node, cast(b, kind).node
    if isinstance(left, typed.Constant) and isinstance(right, typed.Constant):
        return constant(numeric.compare(name, left.value, right.value), BOOL)
    return Value(typed.Compare(name, left, right, BOOL))


def _signed_with_unsigned(context: Context, name: typed.CompareOp, a: Value, b: Value) -> Value:
    """An exact comparison of u64 with a signed integer: a negative one is the lesser, others compare as u64."""
    if a.type.kind == "uint":
        return _signed_with_unsigned(context, _SWAPPED[name], b, a)
    wide = cast(a, I64)
    signed, unsigned = context.temporary(I64), context.temporary(U64)
    read = typed.ReadLocal(I64, signed)
    negative = typed.Compare("lt", read, typed.Constant(I64, 0), BOOL)
    magnitude = typed.Compare(name, typed.Cast(U64, read), typed.ReadLocal(U64, unsigned), BOOL)
    if name in ("lt", "le", "ne"):
        result: typed.Expression = typed.Logical("or", negative, magnitude, BOOL)
    else:
        result = typed.Logical("and", typed.Unary(BOOL, "not", negative), magnitude, BOOL)
    return Value(typed.Sequence(BOOL, signed, wide.node, typed.Sequence(BOOL, unsigned, b.node, result)))
