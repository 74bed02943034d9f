"""Annotations of a live function: the objects behind them, and what to say of one that is no kernel type."""

from __future__ import annotations

from contextlib import suppress
from types import FunctionType
from typing import Any, TypeVar

from gompute.frontend.check.names import closure_values
from gompute.lang.generic import Pattern, choices, no_types, parameters_of

__all__ = ["instead", "resolve", "spelled", "type_parameters"]


def resolve(function: FunctionType, name: str) -> Any:
    """The object behind an annotation, evaluated where it is text."""
    annotation = function.__annotations__[name]
    if not isinstance(annotation, str):
        return annotation
    own = {parameter.__name__: parameter for parameter in getattr(function, "__type_params__", ())}
    # The author's own annotation, as typing.get_type_hints evaluates it.
    return eval(annotation, function.__globals__, own | closure_values(function))


def type_parameters(function: FunctionType) -> tuple[TypeVar, ...]:
    """The type parameters of a function's arguments; those of an annotation that cannot be resolved are left out."""
    annotations: list[Any] = []
    for name in function.__annotations__:
        if name != "return":
            with suppress(Exception):  # whatever an annotation's own code raises: the header reports it
                annotations.append(resolve(function, name))
    return parameters_of(annotations)


def spelled(annotation: object) -> str:
    """An annotation in words."""
    if isinstance(annotation, TypeVar):
        return annotation.__name__
    return f"'{annotation.__name__}'" if isinstance(annotation, type) else repr(annotation)


def instead(annotation: object, *, result: bool = False) -> str:
    """What to write in the place of an annotation that is no kernel type; of a result's, that is no scalar type."""
    if isinstance(annotation, TypeVar) and not choices(annotation):
        return no_types(annotation)[1]
    if isinstance(annotation, TypeVar | Pattern):
        return "use the type parameter in an argument too: a call fixes it there"
    if annotation is int:
        return "write i32 or i64: 'int' has no fixed width"
    if annotation is float:
        return "write f32 or f64: 'float' has no fixed width"
    if result:
        return "return one number, such as f32, and write others to an array that is passed"
    if isinstance(annotation, type) and not issubclass(annotation, (str, bytes, list, tuple, dict, set)):
        return f"write a scalar type such as f32, ptr[f32], or decorate {annotation.__name__} with @g.params"
    return "write a scalar type such as f32, ptr[f32], or a @g.params class"
