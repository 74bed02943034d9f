"""Atomic operations: read an element, combine it, write it back, with nothing in between.

All are relaxed: they order no other access. Of floats `add` rounds once, `min` and `max` have the meaning of those of the language (NaN
propagates, -0 < +0), which no hardware has, so they are compare-and-swap loops; `exchange` and `cas` move and compare bits.
"""

from __future__ import annotations

from gompute.errors import InternalError
from gompute.frontend import typed
from gompute.frontend.irtext.text import FunctionText
from gompute.frontend.irtext.values import value_type
from gompute.lang.types import ScalarType

__all__ = ["converted", "emit_atomic"]

_INSTRUCTIONS: dict[str, dict[typed.AtomicOp, str]] = {
    "int": {"add": "add", "min": "min", "max": "max", "and": "and", "or": "or", "xor": "xor"},
    "uint": {"add": "add", "min": "umin", "max": "umax", "and": "and", "or": "or", "xor": "xor"},
    "float": {"add": "fadd", "min": "fminimum", "max": "fmaximum"},
}


def emit_atomic(
    text: FunctionText,
    op: typed.AtomicOp,
    scalar: ScalarType,
    pointer: str,
    address: str,
    operands: tuple[str, ...],
    scope: str = "",
    metadata: str = "",
) -> str:
    """Append the operation as an instruction; gives the value that the element had before.

    Args:
        scalar: of 32 or 64 bits; for `cas` of any.
        pointer: the type of `address`.
        operands: the value; for `cas` the expected value, then the new one.
        scope: with a blank after it; that of the system where it is empty.
        metadata: to attach to an instruction that reads and writes, with a comma before it.

    Raises:
        InternalError: `scalar` has no such operation.
    """
    register = value_type(scalar)
    instruction = _INSTRUCTIONS.get(scalar.kind, {}).get(op)
    if scalar.bits < 32 and op != "cas":
        raise InternalError(f"no atomic operation on {scalar}")
    if instruction is not None:
        (value,) = operands
        return text.value(
            f"atomicrmw {instruction} {pointer} {address}, {register} {value} {scope}monotonic, align {scalar.size}{metadata}"
        )
    bits = f"i{scalar.bits}"
    words = [converted(text, operand, register, bits) for operand in operands]
    if op == "exchange":
        old = text.value(f"atomicrmw xchg {pointer} {address}, {bits} {words[0]} {scope}monotonic, align {scalar.size}{metadata}")
    elif op == "cas":
        swap = f"cmpxchg {pointer} {address}, {bits} {words[0]}, {bits} {words[1]} {scope}monotonic monotonic, align {scalar.size}"
        old = text.value(f"extractvalue {{ {bits}, i1 }} {text.value(swap)}, 0")
    else:
        raise InternalError(f"no atomic {op!r} on {scalar}")
    return converted(text, old, bits, register)


def converted(text: FunctionText, operand: str, source: str, target: str) -> str:
    """The bits of an operand as another type of the same width."""
    return operand if source == target else text.value(f"bitcast {source} {operand} to {target}")
