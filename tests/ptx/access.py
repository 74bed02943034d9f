"""Loads, stores, addresses and atomics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.ptx.decode import Modifiers, elementwise, opcode
from tests.ptx.faults import PtxError, Undefined, Unknown
from tests.ptx.floats import arithmetic, extreme
from tests.ptx.memory import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_SIZE, word
from tests.ptx.syntax import KINDS, Address, Kind, Operand, Sink, Symbol, Vector
from tests.ptx.threads import Array, Operands, Reader, Step, Threads, address_of, dtype_of

_SPACES = ("global", "const", "shared", "local", "param")
_KINDS = tuple(name for name, kind in KINDS.items() if kind.lanes == 1 and name not in ("pred", "f16", "bf16"))
_WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAM_WINDOW}


def _space(modifiers: Modifiers) -> str:
    """The state space; nothing for a generic address. `::cta` is the block's own shared memory."""
    for space, word_ in (("shared", "shared::cta"), ("param", "param::entry"), ("param", "param::func")):
        if modifiers.given(word_):
            return space
    return modifiers.given(*_SPACES)


def _order(modifiers: Modifiers, *orders: str) -> None:
    """Memory order and scope. One instruction after the other is as strong as any order asks for."""
    if modifiers.given(*orders) not in ("", "weak", "volatile"):
        modifiers.need("cta", "gpu", "sys")


# ---- where an address leads ----


def address_reader(operands: Operands, operand: Operand) -> Reader:
    """The addresses of ``[base + offset]``, as u64."""
    if not isinstance(operand, Address):
        raise PtxError(f"{operands.instruction}: {operand} is no address")
    base, offset = operand.base, np.uint64(operand.offset & (2**64 - 1))
    if isinstance(base, Symbol):
        return lambda threads: np.full(threads.places.size, address_of(threads, base)[1], np.uint64) + offset
    width = 64 if not hasattr(base, "name") else operands.width(base)
    read = operands.bits(base, width)
    return lambda threads: np.broadcast_to(read(threads).astype(np.uint64) + offset, threads.places.shape)


def by_space(threads: Threads, addresses: Array, space: str) -> list[tuple[str, Threads, Array, Array | slice]]:
    """The threads whose addresses lead to each space, with their addresses in it. A generic address says it by its window."""
    if space:
        return [(space, threads, addresses, slice(None))]
    found: list[tuple[str, Threads, Array, Array | slice]] = []
    rest = np.ones(addresses.size, bool)
    for name, start in _WINDOWS.items():
        inside = (addresses >= np.uint64(start)) & (addresses < np.uint64(start + WINDOW_SIZE))
        if inside.any():
            found.append((name, threads.subset(inside), addresses[inside] - np.uint64(start), np.flatnonzero(inside)))
            rest &= ~inside
    if rest.all():
        return [("global", threads, addresses, slice(None))]
    if rest.any():
        found.append(("global", threads.subset(rest), addresses[rest], np.flatnonzero(rest)))
    return found


def load(threads: Threads, addresses: Array, size: int, space: str, frozen: bool = False) -> Array:
    """Words of so many bytes."""
    result = np.empty(addresses.size, word(size))
    for name, some, at, chosen in by_space(threads, addresses, space):
        state = some.state
        if name in ("global", "const"):
            result[chosen] = state.memory.load(at, size, name, frozen)
        elif name == "shared":
            result[chosen] = state.shared.load(some.of(state.block_of), at, size)
        elif name == "local":
            result[chosen] = state.local.load(some.places, at, size)
        else:
            result[chosen] = state.bank.load(at, size)
    return result


def store(threads: Threads, addresses: Array, values: Array, space: str) -> None:
    for name, some, at, chosen in by_space(threads, addresses, space):
        state, mine = some.state, values[chosen]
        if name == "global":
            state.memory.store(at, mine)
        elif name == "shared":
            state.shared.store(some.of(state.block_of), at, mine)
        elif name == "local":
            state.local.store(some.places, at, mine)
        else:
            raise Undefined(f"a store to {name} memory")


# ---- parameters of calls ----


def _call_parameter(operands: Operands, operand: Operand, space: str) -> tuple[str, int] | None:
    """Name and offset, where the address is that of a parameter of a device function: of the one that is called, or of this one."""
    function = operands.function
    if space != "param" or not isinstance(operand, Address) or not isinstance(operand.base, Symbol):
        return None
    name = operand.base.name
    own = not function.entry and name in {each.name for each in (*function.parameters, *function.results)}
    called = name in function.variables and function.variables[name].space == "param"
    return (name, operand.offset + operand.base.offset) if own or called else None


def _parameter_bytes(threads: Threads, name: str) -> Array:
    params = threads.frame.params
    if name not in params:
        size = threads.frame.function.variables[name].size
        params[name] = np.full((threads.state.count, size), 0xA5, np.uint8)
    return params[name]


# ---- ld and st ----


@opcode("ld", "ldu")
def _load(modifiers: Modifiers, operands: Operands) -> Step:
    _order(modifiers, "weak", "relaxed", "acquire", "volatile")
    space = _space(modifiers)
    frozen = bool(modifiers.given("nc")) if space == "global" else False
    kind, count = _element(modifiers)
    operands.expect(2)
    writers = [operands.writer(target, kind, extend=True) for target in _vector(operands, operands[0], count)]
    parameter = _call_parameter(operands, operands[1], space)
    if parameter is not None:
        return _load_parameter(*parameter, kind, operands, count)
    read = address_reader(operands, operands[1])
    size, dtype = kind.size, dtype_of(kind)

    def step(threads: Threads) -> None:
        addresses = read(threads)
        _check_vector(addresses, size * count)
        for position, write in enumerate(writers):
            write(threads, load(threads, addresses + np.uint64(size * position), size, space, frozen).view(dtype))

    return step


@opcode("st")
def _store(modifiers: Modifiers, operands: Operands) -> Step:
    _order(modifiers, "weak", "relaxed", "release", "volatile")
    space = _space(modifiers)
    kind, count = _element(modifiers)
    operands.expect(2)
    unsigned = KINDS[f"u{kind.bits}"]
    readers = [operands.bits(source, unsigned.bits, wider=True) for source in _vector(operands, operands[1], count)]
    parameter = _call_parameter(operands, operands[0], space)
    if parameter is not None:
        return _store_parameter(*parameter, kind, readers)
    read = address_reader(operands, operands[0])

    def step(threads: Threads) -> None:
        addresses = read(threads)
        _check_vector(addresses, kind.size * count)
        for position, source in enumerate(readers):
            values = np.broadcast_to(source(threads), addresses.shape)
            store(threads, addresses + np.uint64(kind.size * position), values, space)

    return step


def _element(modifiers: Modifiers) -> tuple[Kind, int]:
    """The type of an access and how many elements it has."""
    vector = modifiers.given("v2", "v4", "v8")
    kind = modifiers.kind(*_KINDS)
    modifiers.done()
    return kind, int(vector[1:]) if vector else 1


def _vector(operands: Operands, operand: Operand, count: int) -> tuple[Operand, ...]:
    elements = operand.elements if isinstance(operand, Vector) else (operand,)
    if len(elements) != count or (count == 1 and isinstance(operand, Vector)):
        raise PtxError(f"{operands.instruction}: {len(elements)} elements, not {count}")
    return elements


def _check_vector(addresses: Array, size: int) -> None:
    if (addresses & np.uint64(size - 1)).any():
        raise Undefined(f"an access of {size} bytes that is not aligned")


def _load_parameter(name: str, offset: int, kind: Kind, operands: Operands, count: int) -> Step:
    targets = _vector(operands, operands[0], count)
    writers = [operands.writer(target, kind, extend=True) for target in targets]

    def step(threads: Threads) -> None:
        rows = threads.of(_parameter_bytes(threads, name))
        for position, write in enumerate(writers):
            start = offset + position * kind.size
            write(threads, np.ascontiguousarray(rows[:, start : start + kind.size]).view(dtype_of(kind)).reshape(-1))

    return step


def _store_parameter(name: str, offset: int, kind: Kind, readers: list[Reader]) -> Step:
    def step(threads: Threads) -> None:
        rows = _parameter_bytes(threads, name)
        for position, read in enumerate(readers):
            values = np.ascontiguousarray(np.broadcast_to(read(threads), threads.places.shape))
            start = offset + position * kind.size
            if start + kind.size > rows.shape[1]:
                raise Undefined(f"a store past the end of the parameter {name}")
            rows[threads.places, start : start + kind.size] = values.view(np.uint8).reshape(-1, kind.size)

    return step


# ---- addresses ----


@opcode("cvta")
def _cvta(modifiers: Modifiers, operands: Operands) -> Step:
    """From a state space to generic addresses, or back."""
    back = bool(modifiers.given("to"))
    space = _space(modifiers)
    kind = modifiers.kind("u64")
    modifiers.done()
    if not space:
        raise modifiers.unknown()
    start = np.uint64(_WINDOWS.get(space, 0))
    return elementwise(operands, lambda a: a - start if back else a + start, kind, kind)


@opcode("isspacep")
def _isspacep(modifiers: Modifiers, operands: Operands) -> Step:
    space = _space(modifiers)
    modifiers.done()

    def inside(addresses: Array) -> Array:
        held = {name: (addresses >= np.uint64(start)) & (addresses < np.uint64(start + WINDOW_SIZE)) for name, start in _WINDOWS.items()}
        return held[space] if space in held else ~(held["shared"] | held["local"] | held["param"])

    return elementwise(operands, inside, KINDS["pred"], KINDS["u64"])


# ---- atomics ----


def _swap(kind: Kind) -> dict[str, Callable[[Array, Array], Array]]:
    """New values from old ones and an operand."""
    if kind.letter in ("f", "bf"):
        return {"add": arithmetic("add", kind, "rn"), **({"min": extreme("min", kind, False)} if kind.bits == 16 else {})}
    bits: dict[str, Callable[[Array, Array], Array]] = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
    if kind.letter == "b":
        return {**bits, "exch": lambda old, b: b}
    numbers: dict[str, Callable[[Array, Array], Array]] = {"add": np.add, "min": np.minimum, "max": np.maximum}
    if kind.name == "u32":
        one = np.uint32(1)
        numbers["inc"] = lambda old, b: np.where(old >= b, np.uint32(0), old + one)
        numbers["dec"] = lambda old, b: np.where((old == 0) | (old > b), b, old - one)
    return numbers


@opcode("atom", "red")
def _atomic(modifiers: Modifiers, operands: Operands) -> Step:
    """Threads take turns, in the order of their numbers."""
    gives = modifiers.name == "atom"
    modifiers.given("relaxed", "acquire", "release", "acq_rel")
    modifiers.given("cta", "gpu", "sys")
    space = _space(modifiers)
    if space not in ("", "global", "shared"):
        raise modifiers.unknown()
    modifiers.given("cta", "gpu", "sys")
    name = modifiers.need("and", "or", "xor", "exch", "cas", "add", "inc", "dec", "min", "max")
    rounding = modifiers.given("noftz")
    kind = modifiers.kind("b32", "b64", "b16", "u32", "u64", "s32", "s64", "f16", "bf16", "f32", "f64")
    modifiers.done()
    if bool(rounding) != (kind.letter in ("f", "bf") and kind.bits == 16):
        raise Unknown(f"{operands.instruction}: .noftz belongs to floats of 16 bits")
    functions = _swap(kind)
    swap = name == "cas"
    if (not (swap and kind.letter == "b") and name not in functions) or (kind.bits == 16 and not swap and kind.letter == "b"):
        raise Unknown(f"{operands.instruction}: no such operation of {kind.name}")
    operands.expect(1 + gives + 1 + swap)
    address = address_reader(operands, operands[int(gives)])
    sources = [operands.read(i, kind) for i in range(1 + gives, len(operands))]
    write = operands.writer(operands[0] if gives else Sink(), kind)

    def step(threads: Threads) -> None:
        addresses = address(threads)
        values = [np.broadcast_to(read(threads), addresses.shape) for read in sources]
        result = np.empty(addresses.size, dtype_of(kind))
        for turn in _turns(threads, addresses, space):
            some, at = Threads(threads.state, threads.frame, threads.places[turn]), addresses[turn]
            old = load(some, at, kind.size, space).view(dtype_of(kind))
            mine = [each[turn] for each in values]
            new = np.where(old == mine[0], mine[1], old) if swap else functions[name](old, mine[0])
            store(some, at, np.ascontiguousarray(new).astype(dtype_of(kind)).view(word(kind.size)), space)
            result[turn] = old
        write(threads, result)

    return step


def _turns(threads: Threads, addresses: Array, space: str) -> list[Array]:
    """Threads in groups in which no two have one address; shared and local addresses count by block."""
    block = threads.of(threads.state.block_of) if space == "shared" or not space else np.zeros(addresses.size, np.int64)
    order = np.lexsort((np.arange(addresses.size), block, addresses))
    sorted_, blocks = addresses[order], block[order]
    fresh = np.ones(order.size, bool)
    fresh[1:] = sorted_[1:] != sorted_[:-1]
    if space == "shared":
        fresh[1:] |= blocks[1:] != blocks[:-1]
    starts = np.flatnonzero(fresh)
    rank = np.arange(order.size) - np.repeat(starts, np.diff(np.append(starts, order.size)))
    by_rank = np.argsort(rank, kind="stable")
    counts = np.bincount(rank)
    return np.split(order[by_rank], np.cumsum(counts)[:-1]) if counts.size > 1 else [order]


@opcode("membar", "fence")
def _fence(modifiers: Modifiers, operands: Operands) -> Step:
    """Nothing to do: instructions are executed one after the other."""
    if modifiers.name == "membar":
        modifiers.need("cta", "gl", "sys")
    else:
        modifiers.given("sc", "acq_rel", "acquire", "release")
        modifiers.need("cta", "gpu", "sys")
    modifiers.done()
    operands.expect(0)
    return lambda threads: None
