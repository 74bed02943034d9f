"""Functions in which a check may fail, and how their callers hear of it.

Such a function gives, beside its result, whether a check has failed, and takes one argument more, the address of a note on the stack of the
kernel's entry point: what failed is written there. A caller that hears of a failure leaves its own work and hands it on, up to the entry
point. No unwinding and no instruction that ends a thread takes part, so this works alike on every backend, and where functions are inlined
nothing of it is left but jumps. The note is written as if others read it: LLVM would otherwise carry its values along every way out, and a
model has thousands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from gompute.frontend.irtext.text import FunctionText
from gompute.frontend.irtext.values import value_type
from gompute.lang.types import BOOL, ScalarType

__all__ = [
    "LIKELY",
    "NOTE",
    "WEIGHTS",
    "Failure",
    "Failures",
    "call_failing",
    "failed",
    "failing_type",
    "given_back",
    "make_note",
    "read_note",
]

NOTE = "%gompute.note"
"""The value that holds the address of the note: no name of an author's has a dot."""
#: To attach to a jump that is taken to its first block unless something is wrong.
LIKELY = ", !prof !90"
#: What `LIKELY` refers to.
WEIGHTS = '!90 = !{!"branch_weights", i32 1048575, i32 1}'
# Offset and type of the parts of a note.
_PARTS = ((0, "i32"), (8, "i64"), (16, "i64"))
_SIZE = 24


class Failure(NamedTuple):
    """Operands: the number of the check, an i32, then two i64 that its kind gives a meaning to."""

    check: str
    value: str
    bound: str


def failing_type(result: ScalarType | None) -> str:
    """The IR type of what a function with that result gives."""
    return "i1" if result is None else f"{{ {value_type(result)}, i1 }}"


def given_back(text: FunctionText, result: ScalarType | None, value: str | None) -> str:
    """What to return where nothing has failed, type and operand."""
    kind = failing_type(result)
    if result is None:
        return f"{kind} false"
    return f"{kind} {text.value(f'insertvalue {kind} zeroinitializer, {value_type(result)} {value}, 0')}"


def failed(text: FunctionText, result: ScalarType | None) -> str:
    """What to return where a check has failed, type and operand."""
    kind = failing_type(result)
    return f"{kind} true" if result is None else f"{kind} {text.value(f'insertvalue {kind} zeroinitializer, i1 true, 1')}"


def call_failing(text: FunctionText, result: ScalarType | None, symbol: str, arguments: list[str], pointer: str) -> tuple[str, str]:
    """Call such a function with a note of the type `pointer`; gives its result (empty where it has none), and an i1: nothing failed."""
    kind = failing_type(result)
    made = text.value(f"call {kind} @{symbol}({', '.join([*arguments, f'{pointer} {NOTE}'])})")
    value = "" if result is None else text.value(f"extractvalue {kind} {made}, 0")
    wrong = made if result is None else text.value(f"extractvalue {kind} {made}, 1")
    return value, text.value(f"xor i1 {wrong}, true")


def make_note(text: FunctionText, pointer: str, *, clear: bool = False) -> None:
    """Room for a note, in an entry point; the text is in the entry block. With `clear` it is one of the check 0."""
    place = text.alloca(f"[{_SIZE} x i8]", 8, "note")
    text.effect(f"{NOTE} = getelementptr inbounds i8, {pointer} {place}, i64 0")
    if clear:
        text.effect(f"store volatile i32 0, {pointer} {NOTE}, align 4")


def read_note(text: FunctionText, pointer: str) -> Failure:
    """What failed."""
    parts = []
    for offset, register in _PARTS:
        address = text.value(f"getelementptr inbounds i8, {pointer} {NOTE}, i64 {offset}")
        parts.append(text.value(f"load volatile {register}, {pointer} {address}, align {int(register[1:]) // 8}"))
    return Failure(*parts)


class Warp(Protocol):
    """What a dialect has for the work-items of a warp."""

    def warp(self, text: FunctionText, name: Literal["ballot"], scalar: ScalarType, operands: tuple[str, ...], mask: None) -> str:
        """The lanes that are here with a true operand, as bits of an i64."""

    def index(self, text: FunctionText, name: Literal["lane_id"], dim: int) -> str:
        """The number of this lane, an i64."""


_TOGETHER = 8
"""So many checks at most go into one jump: what they would report is kept until then."""


@dataclass(slots=True)
class _Jump:
    """A jump that is taken unless one of its checks fails.

    Attributes:
        before, out: the block that it ends, and the way out, where the failure is noted.
        checks: in the order of the text, each with whether it passed.
        passed: whether all did.
        lanes: those of the warp in which one failed, where a warp leaves together.
    """

    before: str
    out: str
    checks: list[tuple[str, Failure]]
    passed: str
    lanes: str
    mark: str


class Failures:
    """The ways out of one function.

    A jump for each check would make a model of thousands of them as many blocks long, and a code generator takes the square of that. So a
    check goes into the jump of the one before it where nothing that counts has happened since then: the operations of the language have a
    result for every operand, and what they make of a wrong one is dropped.

    Args:
        pointer: the type of the address of the note.
        warp: where the work-items of a warp leave together. One that leaves for another's failure keeps a note of the check 0. A way out is
            told of the lanes by an integer: a truth that is wanted far away takes AMD's code generator the length of that way.
    """

    def __init__(self, pointer: str, warp: Warp | None = None) -> None:
        self._pointer = pointer
        self._warp = warp
        self._jumps: list[_Jump] = []
        self._open: tuple[str, int] | None = None
        self.any = False

    def leave_unless(self, text: FunctionText, passed: str, failure: Failure) -> None:
        """Go on where `passed`, an i1, is true; else leave, with a note of the failure."""
        self.any = True
        jump = self._joined(text, passed, failure)
        if jump is None:
            jump = _Jump(text.block, text.new_block("wrong"), [(passed, failure)], passed, "", text.mark)
            self._jumps.append(jump)
        after = text.new_block("passed")
        jump.lanes, going = self._lanes(text, jump.passed)
        self._open = after, text.choose(going, after, jump.out, LIKELY)

    def leave_with_note(self, text: FunctionText, passed: str) -> None:
        """Go on where `passed`, an i1, is true; else leave: there is a note."""
        self.any = True
        self.seal()
        _, going = self._lanes(text, passed)
        text.choose(going, text.new_block("passed"), "failed", LIKELY)

    @property
    def may_join(self) -> bool:
        """Whether the next check could go into the jump of the one before it."""
        return self._open is not None

    def seal(self) -> None:
        """Something follows that must not happen where a check before it failed, as it may be seen elsewhere or go on for ever."""
        self._open = None

    def _joined(self, text: FunctionText, passed: str, failure: Failure) -> _Jump | None:
        """The jump before, with this check in it; None where they must stay two."""
        if self._open is None or self._open[0] != text.block or len(self._jumps[-1].checks) == _TOGETHER:
            return None
        jump = self._jumps[-1]
        text.unchoose(self._open[1], jump.before)
        jump.checks.append((passed, failure))
        jump.passed = text.value(f"and i1 {jump.passed}, {passed}")
        return jump

    def _lanes(self, text: FunctionText, passed: str) -> tuple[str, str]:
        """The lanes in which a check failed, where they matter, and whether to go on."""
        if self._warp is None:
            return "", passed
        lanes = self._warp.warp(text, "ballot", BOOL, (text.value(f"xor i1 {passed}, true"),), None)
        return lanes, text.value(f"icmp eq i64 {lanes}, 0")

    def gather(self, text: FunctionText) -> None:
        """Begin the block "failed", which every way out leads to; the text before it must be closed."""
        for jump in self._jumps:
            text.start(jump.out)
            text.mark = jump.mark
            failure = _first(text, jump.checks)
            if self._warp is not None:
                own = text.value(f"lshr i64 {jump.lanes}, {self._warp.index(text, 'lane_id', 0)}")
                own = text.value(f"trunc i64 {own} to i1")
                failure = failure._replace(check=text.value(f"select i1 {own}, i32 {failure.check}, i32 0"))
            for (offset, register), operand in zip(_PARTS, failure, strict=True):
                address = text.value(f"getelementptr inbounds i8, {self._pointer} {NOTE}, i64 {offset}")
                text.effect(f"store volatile {register} {operand}, {self._pointer} {address}, align {int(register[1:]) // 8}")
            text.branch("failed")
        text.start("failed")


def _first(text: FunctionText, checks: list[tuple[str, Failure]]) -> Failure:
    """What the first failed check of several would note."""
    _, found = checks[-1]
    for passed, failure in reversed(checks[:-1]):
        parts = [
            text.value(f"select i1 {passed}, {register} {later}, {register} {earlier}")
            for (_, register), later, earlier in zip(_PARTS, found, failure, strict=True)
        ]
        found = Failure(*parts)
    return found
