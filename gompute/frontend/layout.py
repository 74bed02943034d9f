"""Where the statements at the top level of a module begin and end, told without a parse: of a long module few functions are looked at."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Layout", "layout_of", "without_comments"]

_QUOTED = re.compile(
    r'#[^\n]*|"""(?:[^"\\]|\\.|"(?!""))*"""|'
    r"'''(?:[^'\\]|\\.|'(?!''))*'''|"
    r'"(?:[^"\\\n]|\\.)*"|'
    r"'(?:[^'\\\n]|\\.)*'",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Layout:
    """The lines of a module, counted from 1.

    Attributes:
        code: the lines without comments, and with a null character for each line of a string.
        starts: the lines in which the logical lines that are not indented begin, in order, and the one after the last line.
    """

    code: tuple[str, ...]
    starts: tuple[int, ...]

    def begins(self, line: int, *words: str) -> bool:
        """Whether a line begins with one of these; false where there is no such line."""
        return 0 < line <= len(self.code) and self.code[line - 1].startswith(words)

    def end(self, first: int) -> int:
        """The last line with code of what begins at `first`, a start."""
        last = self.starts[bisect_right(self.starts, first)] - 1
        while last > first and not self.code[last - 1].strip():
            last -= 1
        return last

    def end_of_function(self, first: int) -> int | None:
        """The last line of the function that begins at `first`, with its decorators; None where none does at the top level."""
        at = bisect_left(self.starts, first)
        if at == len(self.starts) or self.starts[at] != first:
            return None
        while self.begins(self.starts[at], "@"):
            at += 1
        return self.end(self.starts[at]) if self.begins(self.starts[at], "def ", "async def ") else None


def layout_of(text: str) -> Layout | None:
    """The layout of a module's text, whose line ends are newlines; None where it cannot be told, as in what is no Python."""
    if "\f" in text or "\0" in text:  # Python counts columns from the first, and reads nothing with the second
        return None
    code = _QUOTED.sub(lambda found: "" if found[0][0] == "#" else "\0" + "\n \0" * found[0].count("\n"), text)
    if '"' in code or "'" in code:
        return None  # a string that does not end, or a formatted one inside another
    lines = code.split("\n")
    begins = [number for number, line in enumerate(lines, 1) if line and line[0] not in " \t)]}" and not _goes_on(lines, number)]
    starts: list[int] = []
    depth = 0
    for first, following in pairwise([*begins, len(lines) + 1]):
        if not depth:
            starts.append(first)
        part = "\n".join(lines[first - 1 : following - 1])
        depth += sum(map(part.count, "([{")) - sum(map(part.count, ")]}"))
    return None if depth else Layout(tuple(lines), (*starts, len(lines) + 1))


def without_comments(lines: Sequence[str], layout: Layout) -> list[str | None]:
    """The lines of a module as they would be without comments; None for those without code."""
    text = "\n".join(lines)
    bare = _QUOTED.sub(lambda found: "" if found[0][0] == "#" else found[0], text).split("\n") if "#" in text else lines
    ends = (now if now == before else now.rstrip() for now, before in zip(bare, lines, strict=True))
    return [line if code.strip() else None for line, code in zip(ends, layout.code, strict=True)]


def _goes_on(lines: list[str], number: int) -> bool:
    """Whether the line is the rest of the one before it."""
    return number > 1 and lines[number - 2].endswith("\\")
