"""Functions whose calls nobody notices but by their results."""

from __future__ import annotations

from functools import lru_cache

from gompute.frontend import typed
from gompute.lang.types import ScalarType

__all__ = ["is_quiet"]


@lru_cache(maxsize=256)
def is_quiet(function: typed.Function) -> bool:
    """Whether a call with any numbers ends and does nothing else than give a result: the function takes nothing but numbers, does not meet
    other work-items, checks nothing, and neither it nor what it calls has a loop that a wrong number may keep going."""
    if not function.uses <= {"index"} or not all(isinstance(slot.type, ScalarType) for slot in function.parameters):
        return False
    return _all_quiet(function.body)


def _all_quiet(node: object) -> bool:
    """Of a part of a function, with all its parts: nodes are tuples."""
    if isinstance(node, typed.While):
        return False
    if isinstance(node, typed.ForRange) and not all(isinstance(end, typed.Constant) for end in (node.start, node.stop, node.step)):
        return False
    if isinstance(node, typed.Call) and not is_quiet(node.function):
        return False
    return not isinstance(node, tuple) or all(map(_all_quiet, node))
