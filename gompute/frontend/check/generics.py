"""Calls of generic functions: which types the arguments of a call give to the type parameters."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType
from typing import TypeVar

from gompute.frontend.check.annotations import resolve, type_parameters
from gompute.frontend.check.operands import ArrayPlace, Operand, PointerPlace, Static, Value, ViewPlace, number_of, weak_kind
from gompute.frontend.faults import KernelFault
from gompute.lang.generic import Bindings, Pattern, choices, no_types
from gompute.lang.types import ScalarType

__all__ = ["infer"]


def infer(function: FunctionType, given: Sequence[tuple[str, Operand]], known: Bindings, node: ast.AST) -> Bindings:
    """The types that a call fixes. Faults where two arguments disagree, and where nothing but Python numbers is given for a parameter that
    is not for what such a number is held in.

    Args:
        given: the name and operand of every argument.
        known: types that are fixed already.
    """
    return dict(known) | {
        parameter: _inferred(function, parameter, given, node) for parameter in type_parameters(function) if parameter not in known
    }


def _inferred(function: FunctionType, parameter: TypeVar, given: Sequence[tuple[str, Operand]], node: ast.AST) -> ScalarType:
    found: dict[ScalarType, str] = {}
    weak: list[ScalarType] = []
    for name, operand in given:
        annotation = resolve(function, name)
        if annotation is parameter:
            scalar, is_weak = _scalar_of(operand)
            if scalar is not None and is_weak:
                weak.append(scalar)
            elif scalar is not None:
                found.setdefault(scalar, name)
        elif (
            isinstance(annotation, Pattern)
            and annotation.parameter is parameter
            and isinstance(operand, (PointerPlace, ViewPlace, ArrayPlace))
        ):
            found.setdefault(operand.element, name)
    allowed = choices(parameter)
    if not allowed:
        raise KernelFault(node, *no_types(parameter))
    over = f"'{function.__name__}' is generic over {parameter.__name__} ({', '.join(map(str, allowed))})"
    if len(found) > 1:
        by = " and ".join(f"{kind} by '{name}'" for kind, name in found.items())
        raise KernelFault(node, f"{over}, and this call makes it {by}", "convert one of the arguments")
    held = [kind for kind in weak if kind.is_float] or weak
    kind = next(iter(found), held[0] if held else None)
    if kind is None or (kind not in allowed and not found):
        raise KernelFault(node, f"{over}, and no argument of this call says which", f"convert one: {allowed[0]}(...)")
    if kind not in allowed:
        raise KernelFault(node, f"{over}, and this call makes it {kind} by '{found[kind]}'", f"convert it: {allowed[0]}(...)")
    return kind


def _scalar_of(operand: Operand) -> tuple[ScalarType | None, bool]:
    """The type of an operand that is a number, and whether it is weak."""
    if isinstance(operand, Value):
        return operand.type, operand.weak
    number = number_of(operand.object) if isinstance(operand, Static) else None
    if number is None:
        return None, False
    value, kind = number
    return (weak_kind(value), True) if kind is None else (kind, False)
