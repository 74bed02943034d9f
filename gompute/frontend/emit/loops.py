"""``for slot in range(start, stop, step)`` for every integer type, without a counter that wraps.

The number of iterations is computed before the loop, in unsigned arithmetic of the type's own width, where it always fits: there are at
most 2**bits - 1. A step of one needs no count, since the counter cannot pass `stop` without meeting it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gompute.errors import InternalError
from gompute.frontend import typed
from gompute.frontend.irtext.text import FunctionText
from gompute.frontend.irtext.values import integer_literal, value_type
from gompute.lang.types import ScalarType

if TYPE_CHECKING:
    from gompute.frontend.emit.expression import ExpressionEmitter


@dataclass(frozen=True, slots=True)
class Range:
    """A loop whose body is being emitted.

    Attributes:
        head: the block that decides on the next iteration.
        step: the block that `continue` goes to.
        end: the block after the loop.
        register: the IR type of the counter.
        counter: the address of the next value.
        value: the current value.
        by: the step, as an operand.
        left: the address of the number of iterations still to run, and that number now; None where the counter itself decides.
    """

    head: str
    step: str
    end: str
    register: str
    counter: str
    value: str
    by: str
    left: tuple[str, str] | None

    def finish(self, emitter: ExpressionEmitter) -> None:
        """Advance, go back to the head, and go on after the loop."""
        text, register, pointer = emitter.text, self.register, emitter.dialect.private_pointer
        emitter.start(self.step)
        following = text.value(f"add {register} {self.value}, {self.by}")
        text.effect(f"store {register} {following}, {pointer} {self.counter}")
        if self.left is not None:
            place, count = self.left
            fewer = text.value(f"sub {register} {count}, 1")
            text.effect(f"store {register} {fewer}, {pointer} {place}")
        text.branch(self.head)
        emitter.start(self.end)


def begin_range(emitter: ExpressionEmitter, node: typed.ForRange) -> Range:
    """Emit a loop up to the start of its body; the body follows, then `Range.finish`."""
    scalar = node.slot.type
    if not isinstance(scalar, ScalarType) or not scalar.is_integer:
        raise InternalError(f"the loop variable {node.slot.name!r} has the type {scalar}")
    text, register, pointer = emitter.text, value_type(scalar), emitter.dialect.private_pointer
    start, stop, step = emitter.expression(node.start), emitter.expression(node.stop), emitter.expression(node.step)
    constant = int(node.step.value) if isinstance(node.step, typed.Constant) else None

    counter = text.alloca(register, scalar.size, f"{node.slot.name}.next")
    text.effect(f"store {register} {start}, {pointer} {counter}")
    place = None
    if constant not in (1, -1):
        place = text.alloca(register, scalar.size, f"{node.slot.name}.left")
        count = _iterations(text, scalar, start, stop, step, constant)
        text.effect(f"store {register} {count}, {pointer} {place}")

    head, body, advance, end = (text.new_block(purpose) for purpose in ("for", "body", "step", "end"))
    emitter.start(head)
    value = text.value(f"load {register}, {pointer} {counter}")
    left = None
    if place is None:
        sign = "s" if scalar.kind == "int" else "u"
        more = text.value(f"icmp {sign}{'lt' if constant == 1 else 'gt'} {register} {value}, {stop}")
    else:
        left = (place, text.value(f"load {register}, {pointer} {place}"))
        more = text.value(f"icmp ne {register} {left[1]}, 0")
    text.branch_if(more, body, end)
    emitter.start(body)
    emitter.assign(node.slot, value)
    return Range(head, advance, end, register, counter, value, step, left)


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
