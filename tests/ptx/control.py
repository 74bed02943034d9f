"""Control flow: branches, calls, barriers, and the ends of threads. The machine carries them out; here they are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tests.ptx.compare import predicate
from tests.ptx.decode import Modifiers
from tests.ptx.faults import PtxError, Unknown
from tests.ptx.instructions import decode
from tests.ptx.syntax import KINDS, Function, Immediate, Instruction, Module, Operand, Pair, Symbol, Vector
from tests.ptx.threads import Array, Operands, Reader, Step, Writer
from tests.ptx.warps import mask_operand, mask_reader


@dataclass(frozen=True)
class Plain:
    """Anything that only changes registers and memory.

    Attributes:
        mask: of an instruction between the threads of a warp: which must meet.
    """

    step: Step
    mask: Reader | None = None


@dataclass(frozen=True)
class Branch:
    target: int


@dataclass(frozen=True)
class Indexed:
    """``brx.idx``: to the label that an index chooses."""

    index: Reader
    targets: tuple[int, ...]


@dataclass(frozen=True)
class Call:
    """A call; `given` and `taken` name the variables that hold the arguments and the results."""

    function: Function
    given: tuple[str, ...]
    taken: tuple[str, ...]


@dataclass(frozen=True)
class Return:
    pass


@dataclass(frozen=True)
class Exit:
    pass


@dataclass(frozen=True)
class Trap:
    pass


@dataclass(frozen=True)
class Barrier:
    """A barrier of a block.

    Attributes:
        number: which of the block's barriers.
        aligned: all threads of a warp execute the same instruction.
        combine: for ``bar.red``: the result from the predicates of one block's threads.
    """

    number: int
    aligned: bool
    value: Reader | None = None
    write: Writer | None = None
    combine: Callable[[Array], Array] | None = None


Action: TypeAlias = Plain | Branch | Indexed | Call | Return | Exit | Trap | Barrier


def action(module: Module, function: Function, instruction: Instruction) -> Action:
    """What an instruction does, its guard left aside."""
    modifiers, operands = Modifiers(instruction), Operands(function, instruction)
    name = modifiers.name
    if name == "bra":
        modifiers.given("uni")
        modifiers.done()
        return Branch(_label(function, instruction, operands[0]))
    if name == "brx":
        modifiers.need("idx")
        modifiers.done()
        table = operands[1]
        names = function.tables.get(table.name) if isinstance(table, Symbol) else None
        if names is None:
            raise PtxError(f"{instruction}: no such table of labels")
        return Indexed(operands.read(0, KINDS["u32"]), tuple(function.labels[each] for each in names))
    if name == "call":
        modifiers.given("uni")
        modifiers.done()
        return _call(module, instruction, operands)
    if name in ("ret", "exit", "trap"):
        modifiers.given("uni")
        modifiers.done()
        return {"ret": Return, "exit": Exit, "trap": Trap}[name]()
    if name == "barrier" or (name == "bar" and modifiers.rest[:1] != ["warp"]):
        return _barrier(modifiers, operands)
    mask = mask_operand(instruction)
    return Plain(decode(function, instruction), None if mask is None else mask_reader(operands, mask))


def _label(function: Function, instruction: Instruction, operand: Operand) -> int:
    if not isinstance(operand, Symbol) or operand.name not in function.labels:
        raise PtxError(f"{instruction}: no such label")
    return function.labels[operand.name]


def _call(module: Module, instruction: Instruction, operands: Operands) -> Call:
    """``call (results), name, (arguments)``, either list perhaps absent."""
    words = list(instruction.operands)
    taken = _names(words.pop(0)) if isinstance(words[0], Vector) else ()
    callee = words.pop(0)
    given = _names(words.pop(0)) if words else ()
    if words or not isinstance(callee, Symbol):
        raise Unknown(f"{instruction}: an indirect call")
    function = module.functions.get(callee.name)
    if function is None or not function.instructions:
        raise PtxError(f"{instruction}: {callee.name} is not defined")
    for what, formal, actual in (("arguments", function.parameters, given), ("results", function.results, taken)):
        if [each.size for each in formal] != [operands.function.variables[name].size for name in actual]:
            raise PtxError(f"{instruction}: the {what} of {callee.name} have other sizes")
    return Call(function, given, taken)


def _names(operand: Operand) -> tuple[str, ...]:
    assert isinstance(operand, Vector)
    return tuple(element.name for element in operand.elements if isinstance(element, Symbol))


def _barrier(modifiers: Modifiers, operands: Operands) -> Barrier:
    aligned = modifiers.name == "bar"
    modifiers.given("cta")
    what = modifiers.need("sync", "red")
    mode = modifiers.need("popc", "and", "or") if what == "red" else ""
    aligned = bool(modifiers.given("aligned")) or aligned
    if mode:
        modifiers.need("u32" if mode == "popc" else "pred")
    modifiers.done()
    number = operands[1 if mode else 0]
    if not isinstance(number, Immediate) or len(operands) != (3 if mode else 1):
        raise Unknown(f"{operands.instruction}: only barriers of all threads of a block, with a constant number")
    if not mode:
        return Barrier(number.bits, aligned)
    if isinstance(operands[0], Pair):
        raise Unknown(f"{operands.instruction}: a barrier has one result")
    kind = KINDS["u32" if mode == "popc" else "pred"]
    combine: Callable[[Array], Array] = {
        "popc": lambda values: np.count_nonzero(values, axis=None).__index__(),
        "and": np.all,
        "or": np.any,
    }[mode]  # type: ignore[assignment]
    return Barrier(number.bits, aligned, predicate(operands, operands[2]), operands.writer(operands[0], kind), combine)
