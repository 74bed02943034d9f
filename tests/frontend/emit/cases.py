"""Every operation of the typed tree as an expression, beside what `gompute.lang.numeric` says it means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import get_args

from gompute.frontend import typed
from gompute.frontend.typed import Expression
from gompute.lang import numeric
from gompute.lang.types import BOOL, SCALARS, ScalarType
from tests.frontend.emit.trees import binary, compare, constant

BITWISE: tuple[typed.BinaryOp, ...] = ("and", "or", "xor")


@dataclass(frozen=True)
class Case:
    """One expression over the operands: `make` builds it, `expect` is its meaning on Python numbers."""

    name: str
    result: ScalarType
    make: Callable[..., Expression]
    expect: Callable[..., numeric.Number]


def binary_case(scalar: ScalarType, op: typed.BinaryOp) -> Case:
    return Case(op, scalar, partial(binary, op), partial(numeric.binary, op, dtype=scalar))


def two_operand_cases(scalar: ScalarType) -> list[Case]:
    """All operations on two values of a type."""
    ops: tuple[typed.BinaryOp, ...] = BITWISE
    if scalar.is_float:
        ops = ("add", "sub", "mul", "truediv", "floordiv", "mod")
    elif scalar.is_integer:
        ops = ("add", "sub", "mul", "floordiv", "mod", *BITWISE, "shl", "shr")
    cases = [binary_case(scalar, op) for op in ops]
    cases += [Case(op, BOOL, partial(compare, op), partial(numeric.compare, op)) for op in get_args(typed.CompareOp)]
    return cases + [_intrinsic_case(scalar, name, scalar) for name in ("min", "max")]


def one_operand_cases(scalar: ScalarType) -> list[Case]:
    """All operations on one value of a type but bitcasts."""
    ops: tuple[typed.UnaryOp, ...] = ("not",) if scalar.kind == "bool" else ("neg", "invert") if scalar.is_integer else ("neg",)
    cases = [Case(op, scalar, partial(typed.Unary, scalar, op), partial(numeric.unary, op, dtype=scalar)) for op in ops]
    cases += [_intrinsic_case(scalar, name, scalar) for name in ("abs", "round")]
    for other in SCALARS.values():
        cases.append(Case(f"cast to {other}", other, partial(typed.Cast, other), partial(numeric.convert, dtype=other)))
    return cases


def bitcast_cases(scalar: ScalarType) -> list[Case]:
    """Bitcasts to every type of the same width."""
    return [_intrinsic_case(scalar, "bitcast", other) for other in SCALARS.values() if other.bits == scalar.bits]


def constant_cases(scalar: ScalarType) -> list[Case]:
    """Division and shifts of an integer by constants."""
    low, high = numeric.limits(scalar)
    divisors = [0, 1, 2, 3, 7, 10, 64, high] + ([-1, -2, -3, -64, low] if scalar.kind == "int" else [])
    amounts = [0, 1, 3, scalar.bits - 1, scalar.bits, high] + ([-1] if scalar.kind == "int" else [])
    cases = [_constant_case(scalar, op, divisor) for op in ("floordiv", "mod") for divisor in divisors]
    return cases + [_constant_case(scalar, op, amount) for op in ("shl", "shr") for amount in amounts]


def _constant_case(scalar: ScalarType, op: typed.BinaryOp, number: int) -> Case:
    def make(x: Expression) -> Expression:
        return binary(op, x, constant(scalar, number))

    def expect(x: numeric.Number) -> numeric.Number:
        return numeric.binary(op, x, number, scalar)

    return Case(f"{op} {number}", scalar, make, expect)


def _intrinsic_case(scalar: ScalarType, name: typed.IntrinsicName, result: ScalarType) -> Case:
    def make(*operands: Expression) -> Expression:
        return typed.Intrinsic(result, name, operands)

    def expect(*operands: numeric.Number) -> numeric.Number:
        return numeric.intrinsic(name, operands, result, scalar)

    return Case(f"{name} {result}", result, make, expect)
