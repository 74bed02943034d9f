"""The hash of what a function of `gompute.math` computes: of its checked tree with all that it calls, and of no name, comment or place."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from gompute.frontend import typed
from gompute.frontend.math_values import checked_body
from gompute.lang.math_function import MathFunction
from gompute.lang.types import ScalarType, TableType

__all__ = ["fingerprint"]


def fingerprint(function: MathFunction, kind: ScalarType) -> str:
    """A SHA-256 in hex of the body for a type; of an exact function, that has none, of its name."""
    if function.exact:
        return hashlib.sha256(function.__name__.encode()).hexdigest()
    return hashlib.sha256("\0".join(_words(checked_body(function, kind), {})).encode()).hexdigest()


def _words(thing: object, numbers: dict[int, int]) -> Iterator[str]:
    """A tree as words. Variables and functions are numbered as they come."""
    if isinstance(thing, (typed.Slot, typed.Function)):
        first = id(thing) not in numbers
        number = numbers.setdefault(id(thing), len(numbers))
        yield f"#{number}"
        if first:
            held = (thing.type,) if isinstance(thing, typed.Slot) else (thing.parameters, thing.result, thing.body)
            for part in held:
                yield from _words(part, numbers)
    elif isinstance(thing, ScalarType):
        yield thing.name
    elif isinstance(thing, TableType):
        yield from _words((thing.element, *thing.values), numbers)
    elif isinstance(thing, tuple):
        held = thing[:-1] if isinstance(thing, typed.Binary) else thing  # the place of a check is no part of what is computed
        yield f"{type(thing).__name__}{len(held)}"
        for part in held:
            yield from _words(part, numbers)
    elif isinstance(thing, float):
        yield thing.hex()
    elif thing is None or isinstance(thing, (int, str)):
        yield repr(thing)
    else:
        raise TypeError(f"no words for {thing!r}")
