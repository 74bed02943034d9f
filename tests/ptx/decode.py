"""From an instruction to what it does: a table of opcodes, and a strict reading of their modifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.ptx.faults import Unknown
from tests.ptx.syntax import KINDS, Instruction, Kind
from tests.ptx.threads import Operands, Step

Array = np.ndarray[Any, Any]


class Modifiers:
    """What follows the name of an instruction. Each must be taken; one that is left over is not known."""

    def __init__(self, instruction: Instruction) -> None:
        self.instruction = instruction
        self.name, *self.rest = instruction.opcode

    def given(self, *words: str) -> str:
        """The next modifier, where it is one of these; else nothing."""
        if self.rest and self.rest[0] in words:
            return self.rest.pop(0)
        return ""

    def need(self, *words: str) -> str:
        found = self.given(*words)
        if not found:
            raise self.unknown()
        return found

    def kind(self, *names: str) -> Kind:
        """The next modifier, which is one of these types."""
        return KINDS[self.need(*names)]

    def done(self) -> None:
        if self.rest:
            raise self.unknown()

    def unknown(self) -> Unknown:
        return Unknown(f"{self.instruction}: the modifiers {'.'.join(self.rest) or '(none)'} are not known here")


Decoder = Callable[[Modifiers, Operands], Step]
DECODERS: dict[str, Decoder] = {}


def opcode(*names: str) -> Callable[[Decoder], Decoder]:
    """Registers the decoder of these instructions."""

    def register(decoder: Decoder) -> Decoder:
        for name in names:
            assert name not in DECODERS, name
            DECODERS[name] = decoder
        return decoder

    return register


def elementwise(operands: Operands, function: Callable[..., Array], result: Kind, *sources: Kind, extend: bool = False) -> Step:
    """``d = function(a, b, ...)`` with an operand of each of these types; packed types by lane."""
    operands.expect(1 + len(sources))
    readers = [operands.read(1 + i, kind) for i, kind in enumerate(sources)]
    write = operands.write(0, result, extend)
    return lambda threads: write(threads, function(*(read(threads) for read in readers)))
