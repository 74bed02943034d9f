"""Type parameters: a kernel or device function written once for several scalar types.

    T = TypeVar("T", f32, f64)

    @g.map
    def half(x: T) -> T: ...

The constraints of a `typing.TypeVar` name the types, so that a type checker reads a generic kernel as it reads any generic function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias, TypeVar

from gompute.lang.types import BOOL, PointerType, ScalarType, ViewType

__all__ = ["Bindings", "Pattern", "bind", "choices", "combinations", "followed", "no_types", "parameters_of", "suffix_of"]

#: The scalar type that each type parameter stands for in an instance.
Bindings: TypeAlias = Mapping[TypeVar, ScalarType]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A type whose element is a type parameter: ``ptr[T]``, ``array[T, 2]``. `of` makes the type of an instance from the element's type."""

    parameter: TypeVar
    of: Callable[[ScalarType], PointerType | ViewType]
    spelled: str

    def __repr__(self) -> str:
        return self.spelled


def parameters_of(annotations: Iterable[Any]) -> tuple[TypeVar, ...]:
    """The type parameters in annotations, in order of first appearance."""
    parts = [annotation.parameter if isinstance(annotation, Pattern) else annotation for annotation in annotations]
    return tuple(dict.fromkeys(part for part in parts if isinstance(part, TypeVar)))


def choices(parameter: TypeVar) -> tuple[ScalarType, ...]:
    """The types that a parameter may stand for; none where it does not name scalar types."""
    kinds = tuple(BOOL if kind is bool else kind for kind in parameter.__constraints__)
    return kinds if all(isinstance(kind, ScalarType) for kind in kinds) else ()


def no_types(parameter: TypeVar) -> tuple[str, str]:
    """What is wrong with a parameter without choices, and what to write."""
    name = parameter.__name__
    return f"the type parameter {name} names no scalar types", f'write {name} = TypeVar("{name}", f32, f64)'


def combinations(parameters: tuple[TypeVar, ...]) -> Iterator[tuple[ScalarType, ...]]:
    """Every choice of types for the parameters, in the order of their constraints."""
    return product(*(choices(parameter) for parameter in parameters))


def bind(annotation: Any, bindings: Bindings) -> Any:
    """The annotation with types in the place of type parameters; one that is not bound stays."""
    if isinstance(annotation, TypeVar):
        return bindings.get(annotation, annotation)
    if isinstance(annotation, Pattern) and annotation.parameter in bindings:
        return annotation.of(bindings[annotation.parameter])
    return annotation


def followed(joints: Iterable[tuple[Any, Any]], known: Bindings) -> Bindings:
    """What type parameters stand for where the two annotations of each joint are one type: `known`, and what follows from it. A parameter
    that may not stand for the type that it meets stays open."""
    bindings = dict(known)
    waiting = [joint for pair in joints for joint in (pair, pair[::-1])]
    while True:
        fixed = {
            parameter: kind
            for parameter, other in waiting
            if isinstance(parameter, TypeVar) and (kind := bind(other, bindings)) in choices(parameter) and parameter not in bindings
        }
        if not fixed:
            return bindings
        bindings |= fixed


def suffix_of(types: tuple[ScalarType, ...]) -> str:
    """What an instance's name ends with: ``_f32``, ``_f32_i32``."""
    return "".join(f"_{kind.name}" for kind in types)
