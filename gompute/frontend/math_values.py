"""Functions of `gompute.math` on numbers, evaluated on the host without a compiler, with the bits that every target gives."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from gompute.errors import InvalidArgument
from gompute.frontend import evaluate, typed
from gompute.frontend.check.function import Functions
from gompute.frontend.check.operands import number_of
from gompute.frontend.faults import Faults
from gompute.frontend.recursion import deep_recursion
from gompute.frontend.source import Sources
from gompute.lang import numeric, promotion
from gompute.lang.math_function import MathFunction
from gompute.lang.types import F64, ScalarType
from gompute.targets import FAST, parse_target

__all__ = ["checked_body", "value"]


def value(function: MathFunction, arguments: Sequence[Any]) -> Any:
    """The value of `function`, of its arguments' type; a Python float where all are plain Python numbers.

    Raises InvalidArgument for a wrong count, and for what is no float.
    """
    name = f"g.math.{function.__name__}"
    if len(arguments) != function.arity:
        raise InvalidArgument(f"{name} takes {function.arity} argument{'s' if function.arity > 1 else ''}, and {len(arguments)} are given")
    numbers = []
    for argument in arguments:
        number = number_of(argument)
        if number is None or (number[1] is not None and not number[1].is_float):
            given = repr(argument) if number is None else str(number[1])
            raise InvalidArgument(f"{name} takes floats, and this is {given}; write g.f32(...) or g.f64(...) around it")
        numbers.append(number)
    strong = [kind for _, kind in numbers if kind is not None]
    kind = strong[0] if strong else F64
    for other in strong[1:]:
        kind = promotion.promote(kind, other)
    values = [numeric.convert(number, kind) for number, _ in numbers]
    result = numeric.convert(_computed(function, kind, values), kind)
    return kind(result) if strong else result


def _computed(function: MathFunction, kind: ScalarType, values: list[numeric.Number]) -> numeric.Number:
    if function.exact:
        return numeric.intrinsic(function.__name__, values, kind, kind)
    with deep_recursion():
        result = evaluate.run(checked_body(function, kind), values)
    assert result is not None, "a body returns a number"
    return result


def checked_body(function: MathFunction, kind: ScalarType) -> typed.Function:
    """The body of a function for a type, as a typed tree."""
    return _checked(function.body(kind))


@cache
def _checked(body: FunctionType) -> typed.Function:
    """A body as a typed tree. What `g.target` says in it is of no consequence: the numbers do not depend on it."""
    folder = Path(body.__code__.co_filename).parent
    faults = Faults()
    checked = Functions(Sources(folder, str(folder)), faults, parse_target("x86-64-v3"), FAST).instance(body, {})
    faults.raise_if_any()
    assert checked is not None, "a function without a fault was checked"
    return checked
