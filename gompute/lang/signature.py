"""The words in which operations are described: functions and arguments, interfaces, what a launch does to its arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gompute.lang.types import U64, ParamsType, PointerType, ScalarType, ViewType

__all__ = [
    "READ",
    "UPDATED",
    "WRITTEN",
    "Argument",
    "Fault",
    "Given",
    "KernelInterface",
    "Signature",
    "Use",
    "elements_of",
    "example",
    "params_argument",
    "params_of",
    "scalars",
    "types_of",
]

#: What is wrong, and what to write.
Fault: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Argument:
    """One parameter of a kernel or of its function: its name and type."""

    name: str
    type: PointerType | ViewType | ScalarType | ParamsType


@dataclass(frozen=True, slots=True)
class Signature:
    """A function as its author wrote it; `result` is None where it returns nothing."""

    name: str
    arguments: tuple[Argument, ...]
    result: ScalarType | None


@dataclass(frozen=True, slots=True)
class KernelInterface:
    """What the host must know of a kernel.

    Attributes:
        arguments: those of its function in order; of an operation without one, its arrays as scalars.
        output: the element of an array that is not among them and takes the function's results.
        params: the params type that an operation's functions share, if any; those of a raw kernel are among its arguments.
    """

    arguments: tuple[Argument, ...]
    output: ScalarType | None
    params: ParamsType | None


@dataclass(frozen=True, slots=True)
class Use:
    """What a launch does to one of its arrays.

    Attributes:
        reads: what the array holds before matters (for an output: elements may be skipped).
        writes: it holds something else afterwards.
        bounded: its elements are reached by index; every other array but the following has one element a work-item.
        scratch: it holds what one launch leaves for the next; whoever launches provides it, and nobody else sees it.
        single: it has one element.
    """

    reads: bool
    writes: bool
    bounded: bool = False
    scratch: bool = False
    single: bool = False


READ, WRITTEN, UPDATED = Use(True, False), Use(False, True), Use(True, True)


@dataclass(frozen=True, slots=True)
class Given:
    """What a declaration says beside its functions.

    Attributes:
        types: for an operation without a function, those of its elements.
        params: the params type, where it is named and not taken from a function.
        identity: the result of combining nothing; any object, None where none is given.
    """

    types: tuple[ScalarType, ...] = ()
    params: ParamsType | None = None
    identity: object = None


def elements_of(function: Signature, indexed: bool) -> list[ScalarType]:
    """The types of its elements, when its arguments are elements, then the index where there is one, then perhaps params; else none."""
    kinds = [argument.type for argument in function.arguments]
    if kinds and isinstance(kinds[-1], ParamsType):
        kinds.pop()
    if indexed and (not kinds or kinds.pop() != U64):
        return []
    elements = [kind for kind in kinds if isinstance(kind, ScalarType)]
    return elements if len(elements) == len(kinds) else []


def scalars(arguments: Sequence[Argument]) -> list[ScalarType]:
    return [argument.type for argument in arguments if isinstance(argument.type, ScalarType)]


def params_of(arguments: Sequence[Argument]) -> ParamsType | None:
    """The last, where there are several."""
    return next((argument.type for argument in reversed(arguments) if isinstance(argument.type, ParamsType)), None)


def params_argument(interface: KernelInterface) -> tuple[Argument, ...]:
    return () if interface.params is None else (Argument("params", interface.params),)


def example(name: str, takes: str, returns: str) -> str:
    return f"write def {name}({takes}) -> {returns}, or with a params struct: ({takes}, p: Params) -> {returns}"


def types_of(function: Signature) -> str:
    return ", ".join(str(argument.type) for argument in function.arguments)
