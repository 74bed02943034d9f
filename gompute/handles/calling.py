"""Arguments of a launch given by name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from gompute.errors import InvalidArgument

__all__ = ["in_order"]


def in_order(head: str, names: Sequence[str], given: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
    """All arguments in the order of `names`: those given by position, then those given by name.

    Args:
        head: what takes which arguments, for the message.

    Raises:
        InvalidArgument: a name that is none of them, one that is given twice, too many, or a missing one.
    """
    for name in named:
        if name not in names:
            close = difflib.get_close_matches(name, names, 1)
            raise InvalidArgument(f"{head}: it has no argument {name!r}{f' (did you mean {close[0]!r}?)' if close else ''}")
        if name in names[: len(given)]:
            raise InvalidArgument(f"{head}: {name} is given by position and by name")
    missing = [name for name in names[len(given) :] if name not in named]
    if missing:
        raise InvalidArgument(f"{head}: {', '.join(missing)} missing")
    if len(given) > len(names):
        raise InvalidArgument(f"{head}: got {len(given)}, {len(given) - len(names)} too many")
    return (*given, *(named[name] for name in names[len(given) :]))
