"""``for slot in range(start, stop, step)`` for every integer type, without a counter that wraps.

The number of iterations is computed before the loop, in unsigned arithmetic of the type's own width, where it always fits: there are at
most 2**bits - 1. A step of one needs no count, since the counter cannot pass `stop` without meeting it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gompute.errors import InternalError
from gompute.frontend import typed
from gompute.frontend.emit.variables import Join, Loop, assigned_in
from gompute.frontend.irtext.text import FunctionText
from gompute.frontend.irtext.values import integer_literal, value_type
from gompute.lang.types import ScalarType

if TYPE_CHECKING:
    from gompute.frontend.emit.expression import ExpressionEmitter


@dataclass(frozen=True, slots=True)
class Range:
    """A loop whose body is being emitted.

    Attributes:
        loop: its head, which decides on the next iteration.
        end: the block after the loop.
        register: the IR type of the counter.
        value: the current value of the counter.
        by: the step, as an operand.
        left: the number of iterations still to run; None where the counter itself decides.
        phis: the place of the phi of each of the two, and what it is at first.
    """

    loop: Loop
    end: Join
    register: str
    value: str
    by: str
    left: str | None
    phis: tuple[tuple[int, str], ...]

    def advance(self, text: FunctionText) -> None:
        """Advance, where one iteration is over; the jump to the head follows in the same block."""
        following = [text.value(f"add {self.register} {self.value}, {self.by}")]
        if self.left is not None:
            following.append(text.value(f"sub {self.register} {self.left}, 1"))
        for (place, first), operand in zip(self.phis, following, strict=True):
            text.close_phi(place, [(first, self.loop.before), (operand, text.block)])

    def end_after_one(self, text: FunctionText) -> None:
        """Every path through the body leaves the loop."""
        for place, first in self.phis:
            text.close_phi(place, [(first, self.loop.before)])


def begin_range(emitter: ExpressionEmitter, node: typed.ForRange) -> Range:
    """Emit a loop up to the start of its body, which begins with the loop variable's assignment."""
    scalar = node.slot.type
    if not isinstance(scalar, ScalarType) or not scalar.is_integer:
        raise InternalError(f"the loop variable {node.slot.name!r} has the type {scalar}")
    text, variables, register = emitter.text, emitter.variables, value_type(scalar)
    start, stop, step = emitter.expression(node.start), emitter.expression(node.stop), emitter.expression(node.step)
    constant = int(node.step.value) if isinstance(node.step, typed.Constant) else None
    first = [start]
    if constant not in (1, -1):
        first.append(_iterations(text, scalar, start, stop, step, constant))

    loop, end = variables.begin_loop("for", assigned_in((node,))), variables.join("end")
    opened = [text.open_phi(register) for _ in first]
    value = opened[0][0]
    left = opened[1][0] if len(opened) == 2 else None
    if left is None:
        sign = "s" if scalar.kind == "int" else "u"
        more = text.value(f"icmp {sign}{'lt' if constant == 1 else 'gt'} {register} {value}, {stop}")
    else:
        more = text.value(f"icmp ne {register} {left}, 0")
    body = text.new_block("body")
    variables.reach(end)
    text.branch_if(more, body, end.block)
    text.start(body)
    phis = tuple((place, operand) for (_, place), operand in zip(opened, first, strict=True))
    return Range(loop, end, register, value, step, left, phis)


def _iterations(text: FunctionText, scalar: ScalarType, start: str, stop: str, step: str, constant: int | None) -> str:
    """How often the loop runs: ceil(distance / |step|) where the step leads from start to stop, else 0."""
    register = value_type(scalar)
    less = "slt" if scalar.kind == "int" else "ult"
    up = _way(text, register, less, start, stop)
    down = _way(text, register, less, stop, start) if scalar.kind == "int" else None
    if constant is not None:
        if constant == 0 or (constant < 0 and down is None):
            return "0"
        runs, distance = up if constant > 0 or down is None else down
        size = integer_literal(abs(constant), scalar.bits)
    elif down is None:
        runs, distance = up
        nonzero = text.value(f"icmp ne {register} {step}, 0")
        runs = text.value(f"and i1 {runs}, {nonzero}")
        size = text.intrinsic(f"llvm.umax.{register}", register, (register, step), (register, "1"))
    else:
        forward = text.value(f"icmp sgt {register} {step}, 0")
        backward = text.value(f"icmp slt {register} {step}, 0")
        down_runs = text.value(f"and i1 {backward}, {down[0]}")
        runs = text.value(f"select i1 {forward}, i1 {up[0]}, i1 {down_runs}")
        distance = text.value(f"select i1 {forward}, {register} {up[1]}, {register} {down[1]}")
        magnitude = text.intrinsic(f"llvm.abs.{register}", register, (register, step), ("i1", "false"))
        size = text.intrinsic(f"llvm.umax.{register}", register, (register, magnitude), (register, "1"))
    shorter = text.value(f"sub {register} {distance}, 1")
    whole = text.value(f"udiv {register} {shorter}, {size}")
    count = text.value(f"add {register} {whole}, 1")
    return text.value(f"select i1 {runs}, {register} {count}, {register} 0")


def _way(text: FunctionText, register: str, less: str, near: str, far: str) -> tuple[str, str]:
    """Whether `near` is below `far`, and how far, as an unsigned number."""
    return text.value(f"icmp {less} {register} {near}, {far}"), text.value(f"sub {register} {far}, {near}")
