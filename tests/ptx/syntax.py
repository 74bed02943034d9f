"""The syntax of a PTX module: variables, functions, instructions and their operands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from tests.ptx.faults import Unknown


@dataclass(frozen=True)
class Kind:
    """A fundamental type.

    Attributes:
        letter: ``s``, ``u``, ``b``, ``f`` (IEEE), ``bf`` (bfloat16) or ``pred``.
        bits: of one lane.
        lanes: 2 for ``f16x2`` and its kin.
    """

    name: str
    letter: str
    bits: int
    lanes: int = 1

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return self.bits * self.lanes // 8

    @property
    def width(self) -> int:
        """Bits in a register."""
        return self.bits * self.lanes


KINDS = {
    kind.name: kind
    for kind in (
        *(Kind(f"{letter}{bits}", letter, bits) for letter in "sub" for bits in (8, 16, 32, 64)),
        *(Kind(f"f{bits}", "f", bits) for bits in (16, 32, 64)),
        Kind("bf16", "bf", 16),
        Kind("f16x2", "f", 16, 2),
        Kind("bf16x2", "bf", 16, 2),
        Kind("f32x2", "f", 32, 2),
        Kind("s16x2", "s", 16, 2),
        Kind("u16x2", "u", 16, 2),
        Kind("pred", "pred", 1),
    )
}


def kind_named(name: str) -> Kind:
    if name not in KINDS:
        raise Unknown(f"the type .{name} is not known")
    return KINDS[name]


# ---- operands ----


@dataclass(frozen=True)
class Register:
    name: str


@dataclass(frozen=True)
class Special:
    """A read-only register of the machine: ``%tid.x``."""

    name: str


@dataclass(frozen=True)
class Immediate:
    """A number.

    Attributes:
        bits: of a float, its encoding.
        float_bits: 32 or 64 for a float, 0 for an integer.
    """

    bits: int
    float_bits: int = 0


@dataclass(frozen=True)
class Symbol:
    """The address of a variable, or a label or function."""

    name: str
    offset: int = 0


@dataclass(frozen=True)
class Address:
    """``[base + offset]``."""

    base: Register | Symbol | Immediate
    offset: int = 0


@dataclass(frozen=True)
class Vector:
    """``{a, b, ...}``; a call's lists of arguments are vectors too."""

    elements: tuple[Operand, ...]


@dataclass(frozen=True)
class Pair:
    """``p|q``: two results."""

    first: Operand
    second: Operand


@dataclass(frozen=True)
class Not:
    """``!p``: a negated predicate."""

    operand: Operand


@dataclass(frozen=True)
class Sink:
    """``_``: a result that nobody wants."""


Operand: TypeAlias = Register | Special | Immediate | Symbol | Address | Vector | Pair | Not | Sink

# ---- statements ----


@dataclass(frozen=True)
class Instruction:
    """One instruction.

    Attributes:
        opcode: with its modifiers, as written: ``("add", "rn", "f32")``.
        guard: the predicate it is executed under, and the value that it needs.
        line: in the text, from 1.
    """

    opcode: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: tuple[str, bool] | None
    line: int

    def __str__(self) -> str:
        return f"line {self.line}: {'.'.join(self.opcode)}"


@dataclass(frozen=True)
class Variable:
    """A variable in memory.

    Attributes:
        space: ``global``, ``const``, ``shared``, ``local`` or ``param``.
        size: bytes; 0 for an array of unknown length, which is dynamic shared memory.
        data: what it starts with; None where nothing is said.
    """

    name: str
    space: str
    align: int
    size: int
    data: bytes | None = None


@dataclass
class Function:
    """A kernel or a device function.

    Attributes:
        registers: their widths in bits by name; 1 for a predicate.
        labels: the index of the instruction that each stands before.
        tables: the lists of labels of ``.branchtargets``.
        limits: ``.reqntid`` and ``.maxntid``.
    """

    name: str
    entry: bool
    results: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    registers: dict[str, int] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    limits: dict[str, tuple[int, int, int]] = field(default_factory=dict)


@dataclass
class Module:
    version: tuple[int, int]
    target: str
    variables: dict[str, Variable]
    functions: dict[str, Function]
