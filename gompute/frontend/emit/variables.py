"""Scalar variables: which value each has where the text is now.

A variable has no place in memory. An assignment only notes which value it has from there on; where paths meet that gave it different
values, a phi chooses between them. LLVM could do the same from loads and stores, in a time that grows with the number of variables times
the length of the function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from gompute.errors import InternalError
from gompute.frontend import typed
from gompute.frontend.irtext.text import FunctionText
from gompute.frontend.irtext.values import value_type
from gompute.lang.types import ScalarType

__all__ = ["Join", "Loop", "Variables", "assigned_in", "scalar_of"]


class _Edge(NamedTuple):
    """A jump: the block that it leaves, and the values of what was assigned since the join was made."""

    block: str
    values: dict[typed.Slot, str]


@dataclass(frozen=True, slots=True)
class Join:
    """A block that several paths lead to.

    Attributes:
        block: its name.
        depth: how many scopes were open where it was made. It begins where as many are open, with nothing assigned in them since.
        edges: the jumps to it so far.
    """

    block: str
    depth: int
    edges: list[_Edge] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Loop:
    """The head of a loop, which has begun.

    Attributes:
        head: what the jumps back lead to.
        before: the block before the loop.
        phis: of each variable that the body assigns and that had a value before: the place of its phi, and that value.
    """

    head: Join
    before: str
    phis: dict[typed.Slot, tuple[int, str]]


class Variables:
    """The variables of one function whose text is being made."""

    def __init__(self, text: FunctionText) -> None:
        self._text = text
        self._values: dict[typed.Slot, str] = {}
        # For each scope the variables that were assigned in it, with the value from before.
        self._scopes: list[dict[typed.Slot, str | None]] = []

    def __getitem__(self, slot: typed.Slot) -> str:
        value = self._values.get(slot)
        if value is None:
            raise InternalError(f"the variable {slot.name!r} is read where it has no value")
        return value

    def __setitem__(self, slot: typed.Slot, value: str) -> None:
        if self._scopes:
            self._scopes[-1].setdefault(slot, self._values.get(slot))
        self._values[slot] = value

    def open(self) -> None:
        """Begin a scope, of code that not every path runs through."""
        self._scopes.append({})

    def close(self) -> None:
        """End a scope: what was assigned in it is as it was before."""
        for slot, value in self._scopes.pop().items():
            if value is None:
                del self._values[slot]
            else:
                self._values[slot] = value

    def join(self, purpose: str) -> Join:
        """A new block that jumps from here on lead to."""
        return Join(self._text.new_block(purpose), len(self._scopes))

    def reach(self, join: Join) -> None:
        """Note that the current block, which another instruction ends, may go on at `join`."""
        values = {slot: self._values[slot] for scope in self._scopes[join.depth :] for slot in scope}
        join.edges.append(_Edge(self._text.block, values))

    def go(self, join: Join) -> None:
        """End the current block with a jump to `join`."""
        self.reach(join)
        self._text.branch(join.block)

    def arrive(self, join: Join) -> None:
        """Begin the block of `join`, which something leads to. A variable that some paths gave no value has none."""
        text, edges = self._text, join.edges
        if text.open or not edges or len(self._scopes) != join.depth:
            raise InternalError(f"the block {join.block} begins where it cannot")
        text.start(join.block)
        for slot in dict.fromkeys(slot for edge in edges for slot in edge.values):
            before = self._values.get(slot)
            values = [edge.values.get(slot, before) for edge in edges]
            given = [value for value in values if value is not None]
            if len(given) < len(values):
                continue
            if given.count(given[0]) < len(given):
                incoming = [(value, edge.block) for value, edge in zip(given, edges, strict=True)]
                self[slot] = text.phi(value_type(scalar_of(slot)), incoming)
            else:
                self[slot] = given[0]

    def begin_loop(self, purpose: str, assigned: Iterable[typed.Slot]) -> Loop:
        """Go on into a new block, which jumps may come back to.

        Args:
            assigned: every variable that the loop may assign and that may be read in the next iteration, or after the loop.
        """
        text, before = self._text, self._text.block
        head = self.join(purpose)
        text.start(head.block)
        phis: dict[typed.Slot, tuple[int, str]] = {}
        for slot in dict.fromkeys(assigned):
            value = self._values.get(slot)
            if value is not None:
                self[slot], place = text.open_phi(value_type(scalar_of(slot)))
                phis[slot] = place, value
        return Loop(head, before, phis)

    def end_loop(self, loop: Loop) -> None:
        """Tell the phis of the head what the jumps back bring, all of which have been made."""
        for slot, (place, first) in loop.phis.items():
            back = [(edge.values.get(slot, self._values[slot]), edge.block) for edge in loop.head.edges]
            self._text.close_phi(place, [(first, loop.before), *back])


def assigned_in(body: Iterable[typed.Statement]) -> Iterator[typed.Slot]:
    """The variables that statements assign, some repeatedly; not those of a `Sequence`, which are read in it alone."""
    for statement in body:
        if isinstance(statement, typed.Assign):
            yield statement.slot
        elif isinstance(statement, typed.If):
            yield from assigned_in(statement.then)
            yield from assigned_in(statement.otherwise)
        elif isinstance(statement, typed.While):
            yield from assigned_in(statement.body)
        elif isinstance(statement, typed.ForRange):
            yield statement.slot
            yield from assigned_in(statement.body)


def scalar_of(slot: typed.Slot) -> ScalarType:
    """The type of a variable that holds a number."""
    if not isinstance(slot.type, ScalarType):
        raise InternalError(f"{slot.name!r} of type {slot.type} is used as a number")
    return slot.type
