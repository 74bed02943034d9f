"""Instructions between the threads of a warp: each waits until all threads that its mask names execute it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.ptx.compare import predicate
from tests.ptx.decode import Modifiers, opcode
from tests.ptx.faults import Undefined, Unknown
from tests.ptx.syntax import KINDS, Instruction, Operand, Pair, Sink
from tests.ptx.threads import WARP, Array, Operands, Reader, Step, Threads, dtype_of

#: What a lane that is not there gives.
GARBAGE = 0xDEADBEEF
_U32, _PRED = KINDS["u32"], KINDS["pred"]


def mask_operand(instruction: Instruction) -> Operand | None:
    """The operand with the mask of threads that must meet; None for an instruction that waits for nobody."""
    name, *rest = instruction.opcode
    if name in ("shfl", "vote", "match", "redux") and "sync" in rest:
        return instruction.operands[-1]
    return instruction.operands[0] if tuple(rest) == ("warp", "sync") and name == "bar" else None


def missing(threads: Threads, mask: Array) -> Array:
    """For each thread: whether one that its mask names, and that has not exited, is not among these."""
    state = threads.state
    lane = state.linear % WARP
    here = np.zeros(state.count, bool)
    here[threads.places] = True
    warps = int(state.warp_of.max()) + 1
    present = np.zeros((warps, WARP), bool)
    present[state.warp_of[here], lane[here]] = True
    alive = np.zeros((warps, WARP), bool)
    alive[state.warp_of[state.alive], lane[state.alive]] = True
    warp = threads.of(state.warp_of)
    mask = np.broadcast_to(mask, threads.places.shape)
    named = (mask[:, None] >> np.arange(WARP, dtype=np.uint32) & np.uint32(1)).astype(bool)
    if not named[np.arange(warp.size), threads.of(lane)].all():
        raise Undefined("a thread executes an instruction of a warp whose mask leaves it out")
    absent: Array = (named & alive[warp] & ~present[warp]).any(axis=1)
    return absent


def _table(threads: Threads, values: Array) -> tuple[Array, Array, Array, Array]:
    """Values by warp and lane, which lanes are there, and each thread's warp and lane."""
    state = threads.state
    warp, lane = threads.of(state.warp_of), threads.of(state.linear) % WARP
    warps = int(state.warp_of.max()) + 1
    table = np.full((warps, WARP), GARBAGE if values.dtype != bool else False, values.dtype)
    there = np.zeros((warps, WARP), bool)
    table[warp, lane], there[warp, lane] = values, True
    return table, there, warp, lane


@opcode("shfl")
def _shuffle(modifiers: Modifiers, operands: Operands) -> Step:
    modifiers.need("sync")
    mode = modifiers.need("up", "down", "bfly", "idx")
    modifiers.kind("b32")
    modifiers.done()
    operands.expect(5)
    first = operands[0]
    target, flag = (first.first, first.second) if isinstance(first, Pair) else (first, Sink())
    write, tell = operands.writer(target, _U32), operands.writer(flag, _PRED)
    value, amount, limits = (operands.read(i, _U32) for i in (1, 2, 3))

    def step(threads: Threads) -> None:
        shape = threads.places.shape
        table, _, warp, lane = _table(threads, np.broadcast_to(value(threads), shape))
        b = (np.broadcast_to(amount(threads), shape) & np.uint32(0x1F)).astype(np.int64)
        c = np.broadcast_to(limits(threads), shape).astype(np.int64)
        clamp, segment = c & 0x1F, c >> 8 & 0x1F
        most, least = (lane & segment) | (clamp & ~segment), lane & segment
        source = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": least | (b & ~segment)}[mode]
        inside = source >= most if mode == "up" else source <= most
        write(threads, table[warp, np.where(inside, source, lane)])
        tell(threads, inside)

    return step


@opcode("vote")
def _vote(modifiers: Modifiers, operands: Operands) -> Step:
    modifiers.need("sync")
    mode = modifiers.need("all", "any", "uni", "ballot")
    kind = modifiers.kind("b32" if mode == "ballot" else "pred")
    modifiers.done()
    operands.expect(3)
    write, read = operands.writer(operands[0], kind), predicate(operands, operands[1])

    def step(threads: Threads) -> None:
        table, there, warp, _ = _table(threads, np.broadcast_to(read(threads), threads.places.shape))
        if mode == "ballot":
            bits = (table.astype(np.uint32) << np.arange(WARP, dtype=np.uint32)).sum(axis=1, dtype=np.uint32)
            write(threads, bits[warp])
            return
        every, some = (table | ~there).all(axis=1), table.any(axis=1)
        write(threads, {"all": every, "any": some, "uni": every | ~some}[mode][warp])

    return step


@opcode("activemask")
def _active(modifiers: Modifiers, operands: Operands) -> Step:
    modifiers.kind("b32")
    modifiers.done()
    operands.expect(1)
    write = operands.writer(operands[0], _U32)

    def step(threads: Threads) -> None:
        _, there, warp, _ = _table(threads, np.ones(threads.places.size, bool))
        write(threads, (there.astype(np.uint32) << np.arange(WARP, dtype=np.uint32)).sum(axis=1, dtype=np.uint32)[warp])

    return step


@opcode("match")
def _match(modifiers: Modifiers, operands: Operands) -> Step:
    mode = modifiers.need("any", "all")
    modifiers.need("sync")
    kind = modifiers.kind("b32", "b64")
    modifiers.done()
    operands.expect(3)
    first = operands[0]
    target, flag = (first.first, first.second) if isinstance(first, Pair) else (first, Sink())
    if isinstance(first, Pair) and mode == "any":
        raise Unknown(f"{operands.instruction}: match.any has one result")
    write, tell, read = operands.writer(target, _U32), operands.writer(flag, _PRED), operands.read(1, kind)

    def step(threads: Threads) -> None:
        values = np.broadcast_to(read(threads), threads.places.shape)
        table, there, warp, lane = _table(threads, values)
        equal = (table[:, :, None] == table[:, None, :]) & there[:, None, :] & there[:, :, None]
        masks = (equal.astype(np.uint32) << np.arange(WARP, dtype=np.uint32)).sum(axis=2, dtype=np.uint32)
        mine = masks[warp, lane]
        if mode == "any":
            write(threads, mine)
            return
        everyone = (there.astype(np.uint32) << np.arange(WARP, dtype=np.uint32)).sum(axis=1, dtype=np.uint32)[warp]
        write(threads, np.where(mine == everyone, mine, np.uint32(0)))
        tell(threads, mine == everyone)

    return step


_REDUCTIONS: dict[str, tuple[str, Callable[..., Array]]] = {
    "add": ("us", np.add.reduce),
    "min": ("us", np.minimum.reduce),
    "max": ("us", np.maximum.reduce),
    "and": ("b", np.bitwise_and.reduce),
    "or": ("b", np.bitwise_or.reduce),
    "xor": ("b", np.bitwise_xor.reduce),
}


@opcode("redux")
def _redux(modifiers: Modifiers, operands: Operands) -> Step:
    modifiers.need("sync")
    letters, reduce = _REDUCTIONS[modifiers.need(*_REDUCTIONS)]
    kind = modifiers.kind(*(f"{letter}32" for letter in letters))
    modifiers.done()
    operands.expect(3)
    write, read = operands.writer(operands[0], kind), operands.read(1, kind)

    def step(threads: Threads) -> None:
        values = np.broadcast_to(read(threads), threads.places.shape)
        warp = threads.of(threads.state.warp_of)
        result = np.empty(values.shape, dtype_of(kind))
        for each in np.unique(warp):
            result[warp == each] = reduce(values[warp == each], dtype=values.dtype) if kind.letter != "b" else reduce(values[warp == each])
        write(threads, result)

    return step


@opcode("bar")
def _warp_barrier(modifiers: Modifiers, operands: Operands) -> Step:
    """``bar.warp.sync``; the barriers of blocks are the machine's own."""
    modifiers.need("warp")
    modifiers.need("sync")
    modifiers.done()
    operands.expect(1)
    return lambda threads: None


def mask_reader(operands: Operands, operand: Operand) -> Reader:
    return operands.bits(operand, 32)
