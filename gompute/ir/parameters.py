"""The parameters of a function as LLVM prints them."""

from __future__ import annotations

import re
from typing import NamedTuple

from gompute.ir.printout import Definition, decoded, split_commas

__all__ = ["Parameter", "parameters"]

_TYPE_WORD = re.compile(r'ptr(?: addrspace\(\d+\))?|%"[^"]*"|%[-a-zA-Z$._0-9]+|[a-z_]+\d*')
_IN_MEMORY = re.compile(r"\b(?:byval|byref)\(")
_ALIGN = re.compile(r'"[^"]*"|\balign (\d+)\b')
_NAME = re.compile(r'%("[^"]*"|[-a-zA-Z$._0-9]+)$')
_WORD = re.compile(r'"[^"]*"|\b(signext|zeroext)\b')


class Parameter(NamedTuple):
    """One parameter.

    Attributes:
        type: as LLVM writes it.
        in_memory: `byval(T)` or `byref(T)`, where the caller passes the bytes of a T; else None.
        align: bytes, where it is said.
        extension: `signext` or `zeroext`, where it is said.
        name: without the `%`; a number where it has none.
    """

    type: str
    in_memory: str | None
    align: int | None
    extension: str | None
    name: str

    @property
    def value_type(self) -> str:
        """The type of what a launch passes."""
        return self.in_memory[self.in_memory.index("(") + 1 : -1] if self.in_memory is not None else self.type

    def __str__(self) -> str:
        return f"{self.type} {self.in_memory}" if self.in_memory is not None else self.type


def parameters(function: Definition) -> list[Parameter]:
    """The parameters of a definition, in order."""
    inside = function.after[1 : closing(function.after, 0)]
    return [_parameter(text) for text in split_commas(inside)] if inside else []


def _parameter(text: str) -> Parameter:
    word = _TYPE_WORD.match(text)
    type_text = word[0] if word is not None else text[: closing(text, 0) + 1]
    memory = _IN_MEMORY.search(text, len(type_text))
    in_memory = text[memory.start() : closing(text, memory.end() - 1) + 1] if memory is not None else None
    bare = text if in_memory is None else text.replace(in_memory, "")
    align = next((int(found[1]) for found in _ALIGN.finditer(bare) if found[1]), None)
    extension = next((found[1] for found in _WORD.finditer(bare) if found[1]), None)
    name = _NAME.search(text)
    return Parameter(type_text, in_memory, align, extension, decoded(name[0]) if name is not None else "")


def closing(text: str, start: int) -> int:
    """Where the bracket that opens at `start` closes; the end of the text where none opens there."""
    depth = 0
    for token in re.finditer(r'"[^"]*"|[(\[{<]|[)\]}>]', text[start:]):
        if token[0][0] != '"':
            depth += 1 if token[0] in "([{<" else -1
            if depth == 0:
                return start + token.start()
    return len(text)
