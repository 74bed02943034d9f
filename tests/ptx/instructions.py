"""All instructions that change registers and memory."""

from __future__ import annotations

from tests.ptx import access, compare, convert, floats, integers, warps
from tests.ptx.decode import DECODERS, Modifiers
from tests.ptx.faults import Unknown
from tests.ptx.syntax import Function, Instruction
from tests.ptx.threads import Operands, Step

#: Each registers its instructions.
FAMILIES = (access, compare, convert, floats, integers, warps)


def decode(function: Function, instruction: Instruction) -> Step:
    """What the instruction does."""
    name = instruction.opcode[0]
    if name not in DECODERS:
        raise Unknown(f"{instruction}: the instruction is not known")
    return DECODERS[name](Modifiers(instruction), Operands(function, instruction))
