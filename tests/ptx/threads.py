"""Threads at work: registers, operands, and the state that instructions act on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.ptx.faults import PtxError, Undefined, Unknown
from tests.ptx.memory import GlobalMemory, ParamBank, Rows, word
from tests.ptx.syntax import Function, Immediate, Instruction, Kind, Operand, Register, Sink, Special, Symbol

Array = np.ndarray[Any, Any]
WARP = 32


@dataclass
class State:
    """Some whole blocks of a launch.

    Attributes:
        count: threads; those of a block follow each other, x fastest.
        specials: the special registers that are the same at all times.
        block_of: each thread's block, counted from 0 within these blocks.
        linear: each thread's number in its block.
        alive: the threads that have not exited.
        symbols: space and address of each variable of the module, and of the kernel's parameters.
    """

    count: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    specials: dict[str, Array]
    block_of: Array
    linear: Array
    memory: GlobalMemory
    shared: Rows
    local: Rows
    bank: ParamBank
    symbols: dict[str, tuple[str, int]]
    alive: Array
    local_top: int = 0

    @property
    def warp_of(self) -> Array:
        """Each thread's warp, counted over all blocks here."""
        x, y, z = self.block
        return self.block_of * (-(-x * y * z // WARP)) + self.linear // WARP


@dataclass(eq=False)
class Frame:
    """A call of a function, by all threads that made it together.

    Attributes:
        registers: bits by name, of all threads of the state.
        partial: for registers that not all threads have written: which have.
        params: the bytes of parameters of calls, per thread.
        local: where the function's local variables begin, by name.
        parent, resume: the caller, and where it goes on.
    """

    function: Function
    depth: int = 0
    parent: Frame | None = None
    resume: int = 0
    registers: dict[str, Array] = field(default_factory=dict)
    partial: dict[str, Array] = field(default_factory=dict)
    params: dict[str, Array] = field(default_factory=dict)
    local: dict[str, int] = field(default_factory=dict)


class Threads:
    """The threads that execute an instruction together.

    Attributes:
        places: their numbers in the state, ascending.
        full: they are all threads of the state.
    """

    __slots__ = ("frame", "full", "places", "state")

    def __init__(self, state: State, frame: Frame, places: Array) -> None:
        self.state = state
        self.frame = frame
        self.places = places
        self.full = places.size == state.count

    def subset(self, chosen: Array) -> Threads:
        """Those for which `chosen` (bool) holds."""
        return Threads(self.state, self.frame, self.places[chosen])

    def of(self, array: Array) -> Array:
        """Their elements of an array with one for each thread of the state."""
        return array if self.full else array[self.places]

    def read(self, name: str) -> Array:
        frame = self.frame
        bits = frame.registers.get(name)
        if bits is None or (name in frame.partial and not self.of(frame.partial[name]).all()):
            raise Undefined(f"the register {name} is read before it is written")
        return self.of(bits)

    def write(self, name: str, bits: Array) -> None:
        frame = self.frame
        if bits.shape != self.places.shape:
            bits = np.broadcast_to(bits, self.places.shape)
        if self.full:
            frame.registers[name] = bits
            frame.partial.pop(name, None)
            return
        known = frame.registers.get(name)
        if known is None:
            known = np.zeros(self.state.count, bits.dtype)
            frame.partial[name] = np.zeros(self.state.count, bool)
        else:
            known = known.copy()  # a register that was copied from this one may be the same array
        known[self.places] = bits
        frame.registers[name] = known
        if name in frame.partial:
            frame.partial[name][self.places] = True


Step = Callable[[Threads], None]
Reader = Callable[[Threads], Array]
Writer = Callable[[Threads, Array], None]


def register_word(width: int) -> np.dtype[Any]:
    return np.dtype(bool) if width == 1 else word(width // 8)


def dtype_of(kind: Kind) -> np.dtype[Any]:
    """How one lane of a type is computed with; bfloat16 as its bits."""
    if kind.letter == "pred":
        return np.dtype(bool)
    code = {"s": "i", "u": "u", "b": "u", "f": "f", "bf": "u"}[kind.letter]
    if kind.letter == "f" and kind.bits == 8:
        raise Unknown("8-bit floats are not known")
    return np.dtype(f"{code}{kind.bits // 8}")


class Operands:
    """The operands of one instruction of a function, as readers and writers of typed values."""

    def __init__(self, function: Function, instruction: Instruction) -> None:
        self.function = function
        self.instruction = instruction

    def __len__(self) -> int:
        return len(self.instruction.operands)

    def __getitem__(self, position: int) -> Operand:
        if position >= len(self):
            raise PtxError(f"{self.instruction}: operand {position + 1} is missing")
        return self.instruction.operands[position]

    def expect(self, count: int) -> None:
        if len(self) != count:
            raise PtxError(f"{self.instruction}: {len(self)} operands, not {count}")

    def width(self, operand: Operand) -> int:
        """The bits of a register."""
        if not isinstance(operand, Register):
            raise Unknown(f"{self.instruction}: {operand} is no register")
        return self.function.registers[operand.name]

    def bits(self, operand: Operand, width: int, wider: bool = False) -> Reader:
        """The low `width` bits, unsigned.

        Args:
            wider: the register may hold more.
        """
        if isinstance(operand, Register):
            name, have = operand.name, self.width(operand)
            if have == width:
                return lambda threads: threads.read(name)
            if not wider or have < width or width == 1:
                raise PtxError(f"{self.instruction}: {name} has {have} bits, where {width} are read")
            kind = word(width // 8)
            return lambda threads: threads.read(name).astype(kind)
        if isinstance(operand, Immediate) and width == 1 and not operand.float_bits and operand.bits in (-1, 0, 1):
            truth = np.array([operand.bits != 0])
            return lambda threads: truth
        if isinstance(operand, Immediate):
            if width == 1 or (operand.float_bits and operand.float_bits != width):
                raise PtxError(f"{self.instruction}: {operand} as {width} bits")
            if not -(1 << (width - 1)) <= operand.bits < 1 << width:
                raise PtxError(f"{self.instruction}: {operand.bits} does not fit {width} bits")
            value = np.array([operand.bits & ((1 << width) - 1)], word(width // 8))
            return lambda threads: value
        if isinstance(operand, Special):
            return self._special(operand.name, width, wider)
        if isinstance(operand, Symbol) and width == 64:
            return self._address(operand)
        raise Unknown(f"{self.instruction}: {operand} cannot be read as {width} bits")

    def _special(self, name: str, width: int, wider: bool) -> Reader:
        def read(threads: Threads) -> Array:
            found = threads.state.specials.get(name)
            if found is None:
                raise Unknown(f"the special register {name} is not known")
            have = found.dtype.itemsize * 8
            if have != width and not (wider and have > width):
                raise PtxError(f"{self.instruction}: {name} has {have} bits, where {width} are read")
            return threads.of(found).astype(word(width // 8), copy=False)

        return read

    def _address(self, symbol: Symbol) -> Reader:
        def read(threads: Threads) -> Array:
            return np.array([address_of(threads, symbol)[1]], np.uint64)

        return read

    def read(self, position: int, kind: Kind, wider: bool = False) -> Reader:
        """The operand at a position as values of a type; the lanes of a packed type follow each other in a last dimension of 2."""
        bits, dtype = self.bits(self[position], kind.width, wider), dtype_of(kind)
        if kind.lanes == 1:
            return bits if dtype.kind in "bu" else lambda threads: bits(threads).view(dtype)
        return lambda threads: np.ascontiguousarray(bits(threads)).view(dtype).reshape(-1, 2)

    def write(self, position: int, kind: Kind, extend: bool = False) -> Writer:
        return self.writer(self[position], kind, extend)

    def writer(self, operand: Operand, kind: Kind, extend: bool = False) -> Writer:
        """Takes values of a type.

        Args:
            extend: the register may be wider: then it gets the value extended, by its sign for a signed type.
        """
        if isinstance(operand, Sink):
            return lambda threads, values: None
        width = self.width(operand)
        assert isinstance(operand, Register)
        name = operand.name
        if width != kind.width and not (extend and width > kind.width and kind.letter in "sub"):
            raise PtxError(f"{self.instruction}: {name} has {width} bits, where {kind.width} are written")
        target, dtype = register_word(width), dtype_of(kind)
        if width == kind.width:

            def write(threads: Threads, values: Array) -> None:
                bits = np.ascontiguousarray(values.astype(dtype, copy=False)).view(target)
                threads.write(name, bits.reshape(-1) if kind.lanes == 2 else bits)

            return write
        middle = np.dtype(f"{'i' if kind.letter == 's' else 'u'}{width // 8}")
        return lambda threads, values: threads.write(name, values.astype(dtype, copy=False).astype(middle).view(target))


def address_of(threads: Threads, symbol: Symbol) -> tuple[str, int]:
    """The state space and the address of a variable, within that space."""
    local = threads.frame.local.get(symbol.name)
    space, address = ("local", local) if local is not None else threads.state.symbols.get(symbol.name, ("", 0))
    if not space:
        raise Unknown(f"the symbol {symbol.name!r} has no address")
    return space, address + symbol.offset
