"""Faults in kernel source: gathered while a module is checked, reported all together.

A fault says where (path, line, column and the source line with a caret), what is wrong, and what to write instead.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass

from gompute.errors import CompileError
from gompute.frontend.source import SourceFile

__all__ = ["Fault", "Faults", "FollowingFault", "KernelFault", "raise_together"]


# Longer lines are not shown.
_LONGEST = 400


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One mistake of the author. `line` and `column` count from 1; `length` is the width of the marked text in its line."""

    path: str
    line: int
    column: int
    what: str
    fix: str
    text: str = ""
    length: int = 1

    def render(self) -> str:
        """``path:line:col: what``, the source line, the caret, and the fix."""
        lines = [f"{self.path}:{self.line}:{self.column}: {self.what}"]
        if self.text.strip():
            shown = self.text.expandtabs(1)
            lines += [f"    {shown}", "    " + " " * (self.column - 1) + "^" + "~" * (self.length - 1)]
        if self.fix:
            lines.append(f"  {self.fix}")
        return "\n".join(lines)


class KernelFault(Exception):
    """Raised inside the checker to leave the expression or statement at hand; the checker records it and goes on with the next one."""

    def __init__(self, node: ast.AST, what: str, fix: str, others: tuple[KernelFault, ...] = ()) -> None:
        super().__init__(what)
        self.node = node
        self.what = what
        self.fix = fix
        self.others = others

    def all(self) -> Iterator[KernelFault]:
        """This fault and those found beside it in the same expression, but for mere consequences of others."""
        if not isinstance(self, FollowingFault):
            yield self
        for other in self.others:
            yield from other.all()


def raise_together(found: list[KernelFault]) -> None:
    """Raise the faults of several operands as one; nothing where there are none."""
    if found:
        raise type(found[0])(found[0].node, found[0].what, found[0].fix, (*found[0].others, *found[1:]))


class FollowingFault(KernelFault):
    """A consequence of a fault that is already recorded; it ends the statement and is not reported."""


class Faults:
    """The faults of one root, in the order of the source, each once."""

    def __init__(self) -> None:
        self._found: set[Fault] = set()

    def __len__(self) -> int:
        return len(self._found)

    def add(self, source: SourceFile, node: ast.AST, what: str, fix: str) -> None:
        """Record a fault at a syntax node."""
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        text = source.line(line)
        if len(text) > _LONGEST:
            text = ""  # generated code: the place says enough, and a caret far to the right shows nothing
        # Python counts columns in UTF-8 bytes; people and terminals count characters.
        encoded = text.encode()
        column = len(encoded[:offset].decode(errors="replace")) + 1
        end = getattr(node, "end_col_offset", None) if getattr(node, "end_lineno", None) == line else len(encoded)
        length = max(1, len(encoded[offset : end if end is not None else offset + 1].decode(errors="replace").rstrip()))
        self._found.add(Fault(source.shown, line, column, what, fix, text, length))

    def update(self, other: Faults) -> None:
        """Take over what another pass recorded."""
        self._found |= other._found

    def raise_if_any(self) -> None:
        """Raise one CompileError that lists every fault."""
        if not self._found:
            return
        listed = sorted(self._found)
        blocks = [fault.render() for fault in listed]
        if len(listed) > 1:
            files = sorted({fault.path for fault in listed})
            blocks.append(f"{len(listed)} faults in {', '.join(os.path.basename(path) for path in files)}")
        raise CompileError("\n\n".join(blocks))
