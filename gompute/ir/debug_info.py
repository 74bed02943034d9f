"""Debug info of a function that is copied or renamed.

A `DISubprogram` belongs to one function, and every location in that function leads to it. A copy therefore needs a copy of the subprogram
and of all that hangs below it (blocks, variables, labels, locations), while types, files and the compile unit are shared: what LLVM's own
cloning does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from gompute.ir.printout import NAME, decoded

__all__ = ["DebugInfo"]

_LINE = re.compile(r"^!(\d+) = ([^\n]*)", re.MULTILINE)
_ANNOTATIONS = re.compile(r"^(!nvvm\.annotations = !\{)(!\d+(?:, !\d+)*)\}$", re.MULTILINE)
_ANNOTATION = re.compile(rf"!\{{ptr ({NAME}), (.*)")
_TOKEN = re.compile(r'"[^"]*"|;[^\n]*|!(\d+)\b')
_ATTACHMENT = re.compile(r'"[^"]*"|!dbg !(\d+)')
_SHARED = re.compile(
    r"(?:distinct )?!DI(?:CompileUnit|File|Module|Namespace|\w*Type|GlobalVariable|GlobalVariableExpression|Enumerator|Subrange|"
    r"GenericSubrange|TemplateTypeParameter|TemplateValueParameter|Macro|MacroFile|CommonBlock|ImportedEntity|Subprogram)\("
)
_LINKAGE_NAME = re.compile(r'linkageName: "([^"]*)"')


class DebugInfo:
    """The numbered metadata of one printed module; read when first needed.

    Args:
        text: `str(module)`.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._renamed: dict[int, str] = {}
        self._added: list[str] = []
        self._annotations: list[int] = []

    @cached_property
    def _nodes(self) -> dict[int, str]:
        first = self._text.find("\n!0 = ")
        return {int(match[1]): match[2] for match in _LINE.finditer(self._text, first + 1)} if first >= 0 else {}

    @cached_property
    def _annotated(self) -> dict[str, list[str]]:
        """By the name of a global as printed: what follows it in each of its annotations."""
        found: dict[str, list[str]] = {}
        line = _ANNOTATIONS.search(self._text)
        for number in _numbers(line[2]) if line is not None else ():
            if (match := _ANNOTATION.fullmatch(self._nodes[number])) is not None:
                found.setdefault(match[1], []).append(match[2])
        return found

    def _new_number(self) -> int:
        return len(self._nodes) + len(self._added)  # LLVM numbers nodes without gaps

    def subprogram(self, head: str) -> int | None:
        """The number of the subprogram that a function's head is attached to."""
        return next((int(match[1]) for match in _ATTACHMENT.finditer(head) if match[1]), None)

    def rename(self, head: str, old: str, new: str) -> None:
        """Note that the function with this head is called `new` from now on: its linkage name follows, where it was its name."""
        number = self.subprogram(head)
        if number is not None and (text := self._with_linkage_name(self._nodes[number], old, new)) != self._nodes[number]:
            self._renamed[number] = text

    def copied(self, head: str, body: str, old: str, new: str) -> tuple[str, str]:
        """Head and body for a copy of the function, called `new`, that refer to debug info of their own."""
        subprogram = self.subprogram(head)
        if subprogram is None:
            return head, body
        mine = self._own(subprogram, [*_numbers(head), *_numbers(body)])
        next_number = self._new_number()
        numbers = {number: next_number + place for place, number in enumerate(sorted(mine))}
        for number, copy in numbers.items():
            text = self._nodes[number]
            if number == subprogram:
                text = self._with_linkage_name(text, old, new)
            self._added.append(f"!{copy} = {_renumbered(text, numbers)}\n")
        return _renumbered(head, numbers), _renumbered(body, numbers)

    def annotate_copy(self, kernel: str, copy: str) -> None:
        """Give a copied kernel what `!nvvm.annotations` still says of the kernel; names as printed."""
        for rest in self._annotated.get(kernel, ()):
            self._annotations.append(self._new_number())
            self._added.append(f"!{self._annotations[-1]} = !{{ptr {copy}, {rest}\n")

    def applied(self, text: str) -> str:
        """A part of the module's text with its metadata lines as they are now."""
        if self._annotations:
            numbers = ", ".join(f"!{number}" for number in self._annotations)
            text = _ANNOTATIONS.sub(lambda line: f"{line[1]}{line[2]}, {numbers}}}", text)
        if not self._renamed:
            return text
        return _LINE.sub(lambda line: f"!{line[1]} = {self._renamed[int(line[1])]}" if int(line[1]) in self._renamed else line[0], text)

    def added(self) -> str:
        """The lines of all new nodes."""
        return "".join(self._added)

    def _own(self, subprogram: int, roots: list[int]) -> set[int]:
        """Nodes that are reached from the function and lead to its subprogram, shared kinds aside."""
        users: dict[int, list[int]] = {}
        seen: set[int] = set()
        waiting = [subprogram, *roots]
        while waiting:
            number = waiting.pop()
            if number in seen or (number != subprogram and _SHARED.match(self._nodes[number]) is not None):
                continue
            seen.add(number)
            for used in _numbers(self._nodes[number]):
                users.setdefault(used, []).append(number)
                waiting.append(used)
        mine: set[int] = set()
        waiting = [subprogram]
        while waiting:
            number = waiting.pop()
            if number not in mine:
                mine.add(number)
                waiting += users.get(number, ())
        return mine

    @staticmethod
    def _with_linkage_name(text: str, old: str, new: str) -> str:
        match = _LINKAGE_NAME.search(text)
        if match is None or decoded(f'@"{match[1]}"') != decoded(old):
            return text
        return f'{text[: match.start()]}linkageName: "{new[1:].strip(chr(34))}"{text[match.end() :]}'


def _numbers(text: str) -> Iterator[int]:
    return (int(match[1]) for match in _TOKEN.finditer(text) if match[1])


def _renumbered(text: str, numbers: dict[int, int]) -> str:
    return _TOKEN.sub(lambda match: f"!{numbers.get(int(match[1]), int(match[1]))}" if match[1] else match[0], text)
