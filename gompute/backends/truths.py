"""Comparisons of very long functions, made again where their results are used.

On AMD a truth (an i1) is a bit for each work-item, and LLVM's pass that makes it so looks at every block between the comparison and a use
in another one: 25,000 operations with checks took 20 s to generate, 7 s of them there. Where a processor has one place for a truth, LLVM
itself makes comparisons again in the blocks that use them.
"""

from __future__ import annotations

import re

from gompute.backends.blocks import LABEL

__all__ = ["made_again"]

_NAME = r'%(?:"[^"]*"|[\w.$-]+)'
_TRUTH = re.compile(rf"  ({_NAME}) = ((?:[if]cmp |(?:and|or|xor) i1 |select i1 {_NAME}, i1 |trunc .* to i1$).*)")
_NAMES = re.compile(_NAME)


def made_again(ir: str) -> str:
    """The module with every truth that an operation makes of its operands in each block that uses it, but for the uses of phis.

    Args:
        ir: a module as LLVM prints it: an instruction a line.
    """
    made: list[str] = []
    body: list[str] = []
    inside = False
    for line in ir.split("\n"):
        if inside and line != "}":
            body.append(line)
            continue
        if inside:
            made += _Function(body).lines
            body = []
        inside = line.startswith("define ")
        made.append(line)
    return "\n".join(made)


class _Function:
    """One body, and what comes of it."""

    def __init__(self, body: list[str]) -> None:
        self.lines: list[str] = []
        self._truths: dict[str, tuple[int, str]] = {}
        self._number = 0
        block = 0
        for line in body:
            block += LABEL.match(line) is not None
            if (truth := _TRUTH.match(line)) is not None:
                self._truths[truth[1]] = block, truth[2]
        block, again = 0, dict[str, str]()
        for line in body:
            if LABEL.match(line) is not None:
                block, again = block + 1, {}
            if line.startswith("  ") and " = phi " not in line:
                line = self._with_own(line, block, again)
            self.lines.append(line)

    def _with_own(self, text: str, block: int, again: dict[str, str]) -> str:
        """An instruction with the block's own truths in place of other blocks'; what makes them goes before it. `again` has those that the
        block has made again."""

        def own(found: re.Match[str]) -> str:
            name = found[0]
            home, operation = self._truths.get(name, (block, ""))
            if home == block:
                return name
            if name not in again:
                operation = self._with_own(operation, block, again)
                self._number += 1
                again[name] = f"%gompute.truth.{self._number}"
                self.lines.append(f"  {again[name]} = {operation}")
            return again[name]

        return _NAMES.sub(own, text)
