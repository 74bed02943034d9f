"""JSON that is not trusted: parsed strictly, every value checked before it is used, and what is wrong said with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final, NoReturn

from gompute.artifacts.names import is_identifier
from gompute.errors import ArtifactError
from gompute.lang.types import SCALARS

__all__ = ["Node", "Wrong", "parse_json", "shown"]


class Wrong(ArtifactError):
    """A value that must not stand at its place; the message names the place, and whoever knows the file adds its name."""


def parse_json(data: bytes) -> Node:
    """The top of a JSON document in UTF-8. A key may stand once in an object, and NaN and Infinity are no numbers.

    Raises:
        Wrong: not such a document.
    """
    try:
        return Node(json.loads(data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_constant))
    except RecursionError:
        raise Wrong("nested too deeply") from None
    except ValueError as error:
        # Of the decoder, of the parser, or of int() for a number of thousands of digits.
        raise Wrong(f"not valid JSON: {error}") from None


def shown(value: object) -> str:
    """A value for a message: a list or an object by its kind alone, else cut to 60 characters."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise Wrong(f"the key {shown(key)} stands twice in one object")
            seen.add(key)
    return made


def _constant(name: str) -> NoReturn:
    raise Wrong(f"{name} is no JSON number")


class Node:
    """A JSON value and its place (``roots.scale.sm_89.kernels``), with the checks that turn it into what the reader wants."""

    __slots__ = ("_key", "_parent", "value")

    def __init__(self, value: object, parent: Node | None = None, key: str | int = "") -> None:
        self.value: Final = value
        self._parent = parent
        self._key = key

    @property
    def where(self) -> str:
        """The place in words; put together only where something is wrong, which spares most of the time that reading takes."""
        if self._parent is None:
            return ""
        above = self._parent.where
        if isinstance(self._key, int):
            return f"{above}[{self._key}]"
        return f"{above}.{self._key}" if above else self._key

    def wrong(self, message: str) -> NoReturn:
        """Refuse this value."""
        raise Wrong(f"{where}: {message}" if (where := self.where) else message)

    def members(self, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Node]:
        """The members of an object that has all of `required`, perhaps some of `optional`, and no other."""
        members = self.mapping()
        for key in required:
            if key not in members:
                self.wrong(f"lacks {key!r}")
        for key in members:
            if key not in required and key not in optional:
                self.wrong(f"has an unknown key {shown(key)}")
        return members

    def mapping(self, is_key: Callable[[str], object] | None = None, what: str = "") -> dict[str, Node]:
        """The members of an object whose keys are data; `what` says what a key must be."""
        if not isinstance(self.value, dict):
            self.wrong(f"must be an object, is {shown(self.value)}")
        if is_key is not None:
            for key in self.value:
                if not is_key(key):
                    self.wrong(f"{shown(key)} is no {what}")
        return {key: Node(value, self, key) for key, value in self.value.items()}

    def items(self) -> list[Node]:
        """The items of a list."""
        if not isinstance(self.value, list):
            self.wrong(f"must be a list, is {shown(self.value)}")
        return [Node(value, self, number) for number, value in enumerate(self.value)]

    def text(self, limit: int = 255) -> str:
        """A string of 1 to `limit` characters, all printable or line ends. That leaves out lone surrogates, which cannot be encoded."""
        if not isinstance(self.value, str):
            self.wrong(f"must be a string, is {shown(self.value)}")
        if not 0 < len(self.value) <= limit or not (self.value.isprintable() or self.value.replace("\n", "").isprintable()):
            self.wrong(f"must be 1 to {limit} printable characters, is {shown(self.value)}")
        return self.value

    def matching(self, pattern: re.Pattern[str], what: str) -> str:
        """A string of a pattern; `what` says which."""
        text = self.text()
        if not pattern.fullmatch(text):
            self.wrong(f"must be {what}, is {shown(text)}")
        return text

    def identifier(self) -> str:
        """A C identifier."""
        text = self.text()
        if not is_identifier(text):
            self.wrong(f"must be a C identifier, is {shown(text)}")
        return text

    def scalar(self) -> str:
        """The name of a scalar type."""
        text = self.text()
        if text not in SCALARS:
            self.wrong(f"must be one of {', '.join(SCALARS)}, is {shown(text)}")
        return text

    def integer(self, low: int, high: int) -> int:
        """An integer in a range, ends included."""
        # A bool is an int to Python and not to us.
        if type(self.value) is not int or not low <= self.value <= high:
            self.wrong(f"must be an integer from {low} to {high}, is {shown(self.value)}")
        return self.value
