"""What a name or an expression stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tests.language import numbers

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Value:
    """Numbers of one type, one for each work-item. A weak one is a Python number in a variable: i64 or f64 until it meets a type."""

    type: str
    data: Array
    weak: bool = False


@dataclass(frozen=True)
class Literal:
    """A Python number, or one of a declared type that is known at compile time."""

    number: int | float | bool


@dataclass(frozen=True)
class Memory:
    """Something to index: an array that all share, or each work-item's own, whose second axis counts the work-items."""

    type: str
    data: Array
    own: bool


@dataclass(frozen=True)
class Thing:
    """Any other object: a module, a type, a function, a params instance."""

    object: Any


Operand: TypeAlias = Value | Literal | Memory | Thing

#: A variable's type, and whether it is weak.
Kind: TypeAlias = tuple[str, bool]


class Misunderstood(Exception):
    """The source has something that this interpreter does not know."""


def joined(a: Kind, b: Kind) -> Kind:
    """The kind of a variable that is `a` here and `b` there."""
    if a[1] and b[1]:
        return ("f64" if "f64" in (a[0], b[0]) else "i64"), True
    if not a[1] and not b[1]:
        if a != b:
            raise Misunderstood(f"{a[0]} and {b[0]} in one variable")
        return a
    return (b if a[1] else a)[0], False


def kind_of(operand: Operand) -> Kind:
    if isinstance(operand, Literal):
        if isinstance(operand.number, bool):
            return "bool", False
        return ("f64" if isinstance(operand.number, float) else "i64"), True
    if isinstance(operand, Value):
        return operand.type, operand.weak
    raise Misunderstood(f"{operand} is no number")


def is_weak(operand: Operand) -> bool:
    return kind_of(operand)[1]


def typed(operand: Operand, kind: str, count: int) -> Array:
    """The numbers as a type."""
    if isinstance(operand, Literal):
        if isinstance(operand.number, bool):
            return numbers.cast(np.full(count, operand.number), "bool", kind)
        return numbers.literal(operand.number, kind, count)
    assert isinstance(operand, Value)
    return numbers.cast(operand.data, operand.type, kind)


def meeting(operand: Operand, other: str) -> str:
    """The type that an operand takes beside one of the type `other`."""
    kind, weak = kind_of(operand)
    if not weak or (isinstance(operand, Literal) and isinstance(operand.number, bool)):
        return kind
    if other in numbers.FLOATS:
        return other
    if kind == "f64":
        return "f64"
    return "i64" if other == "bool" else other
