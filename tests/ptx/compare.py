"""Comparisons, selection and moves between registers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.ptx.decode import Modifiers, elementwise, opcode
from tests.ptx.faults import PtxError, Unknown
from tests.ptx.floats import widened
from tests.ptx.syntax import KINDS, Kind, Not, Operand, Pair, Sink, Symbol, Vector
from tests.ptx.threads import Array, Operands, Reader, Step, Threads

_PRED = KINDS["pred"]
_INTEGERS = tuple(f"{letter}{bits}" for letter in "sub" for bits in (16, 32, 64))
_FLOATS = ("f16", "bf16", "f32", "f64")
_ORDERED: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def _integer_comparison(modifiers: Modifiers, name: str, kind: Kind) -> Callable[[Array, Array], Array]:
    if name in _UNSIGNED and kind.letter == "u":
        return _ORDERED[_UNSIGNED[name]]
    if name in ("eq", "ne") or (name in _ORDERED and kind.letter in "su"):
        return _ORDERED[name]
    raise Unknown(f"{modifiers.instruction}: no such comparison of {kind.name}")


def _float_comparison(modifiers: Modifiers, name: str, kind: Kind) -> Callable[[Array, Array], Array]:
    def unordered(a: Array, b: Array) -> Array:
        return np.isnan(a) | np.isnan(b)

    def compared(a: Array, b: Array) -> Array:
        x, y = widened(a, kind), widened(b, kind)
        if name == "num":
            return ~unordered(x, y)
        if name == "nan":
            return unordered(x, y)
        if name.endswith("u"):
            return _ORDERED[name[:-1]](x, y) | unordered(x, y)
        return _ORDERED[name](x, y) & ~unordered(x, y)

    if name not in ("num", "nan", *_ORDERED, *(f"{each}u" for each in _ORDERED)):
        raise Unknown(f"{modifiers.instruction}: no such comparison of floats")
    return compared


def predicate(operands: Operands, operand: Operand) -> Reader:
    """A predicate, perhaps negated."""
    if isinstance(operand, Not):
        inner = operands.bits(operand.operand, 1)
        return lambda threads: ~inner(threads)
    return operands.bits(operand, 1)


@opcode("setp")
def _setp(modifiers: Modifiers, operands: Operands) -> Step:
    """``setp.lt.and.f32 p|q, a, b, c``: p = (a < b) and c, q = not (a < b) and c."""
    *_, last = modifiers.rest
    name = modifiers.rest.pop(0)
    combined = modifiers.given("and", "or", "xor")
    kind = modifiers.kind(*_INTEGERS, *_FLOATS)
    modifiers.done()
    compare = (_float_comparison if last in _FLOATS else _integer_comparison)(modifiers, name, kind)
    operands.expect(4 if combined else 3)
    left, right = operands.read(1, kind), operands.read(2, kind)
    results = operands[0]
    targets = (results.first, results.second) if isinstance(results, Pair) else (results, Sink())
    writers = [operands.writer(target, _PRED) for target in targets]
    given = predicate(operands, operands[3]) if combined else None
    join = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}.get(combined)

    def step(threads: Threads) -> None:
        holds = compare(left(threads), right(threads))
        both = [holds, ~holds]
        if given is not None and join is not None:
            other = given(threads)
            both = [join(each, other) for each in both]
        for write, value in zip(writers, both, strict=True):
            write(threads, value)

    return step


@opcode("set")
def _set(modifiers: Modifiers, operands: Operands) -> Step:
    """All ones, or 1.0, where the comparison holds."""
    *_, last = modifiers.rest
    name = modifiers.rest.pop(0)
    result = modifiers.kind("u32", "s32", "f32")
    kind = modifiers.kind(*_INTEGERS, *_FLOATS)
    modifiers.done()
    compare = (_float_comparison if last in _FLOATS else _integer_comparison)(modifiers, name, kind)
    true = np.float32(1) if result.letter == "f" else -1
    return elementwise(operands, lambda a, b: np.where(compare(a, b), true, 0), result, kind, kind)


@opcode("selp")
def _selp(modifiers: Modifiers, operands: Operands) -> Step:
    name = modifiers.rest[0] if modifiers.rest else ""
    kind = modifiers.kind(*_INTEGERS, "f32", "f64")
    modifiers.done()
    bits = KINDS[f"b{kind.bits}"]
    return elementwise(operands, lambda a, b, p: np.where(p, a, b), bits if name else kind, bits, bits, _PRED)


@opcode("slct")
def _slct(modifiers: Modifiers, operands: Operands) -> Step:
    """The first operand where the third is at least 0; NaN is not."""
    kind = modifiers.kind(*_INTEGERS, "f32", "f64")
    sign = modifiers.kind("s32", "f32")
    modifiers.done()
    bits = KINDS[f"b{kind.bits}"]
    return elementwise(operands, lambda a, b, c: np.where(c >= 0, a, b), bits, bits, bits, sign)


# ---- moves ----


@opcode("mov")
def _mov(modifiers: Modifiers, operands: Operands) -> Step:
    kind = modifiers.kind("pred", *_INTEGERS, "f32", "f64")
    modifiers.done()
    operands.expect(2)
    target, source = operands[0], operands[1]
    if isinstance(target, Vector):
        return _unpack(operands, target, kind)
    if isinstance(source, Vector):
        return _pack(operands, source, kind)
    bits = kind if kind is _PRED else KINDS[f"b{kind.bits}"]
    if isinstance(source, Symbol) and kind.bits != 64:
        raise Unknown(f"{operands.instruction}: an address has 64 bits")
    read, write = operands.read(1, bits), operands.write(0, bits)
    return lambda threads: write(threads, read(threads))


def _parts(operands: Operands, vector: Vector, kind: Kind) -> Kind:
    count = len(vector.elements)
    if kind.letter != "b" or count not in (2, 4) or kind.bits // count < 16:
        raise PtxError(f"{operands.instruction}: {kind.bits} bits in {count} parts")
    return KINDS[f"b{kind.bits // count}"]


def _unpack(operands: Operands, vector: Vector, kind: Kind) -> Step:
    """The first element gets the lowest bits."""
    part = _parts(operands, vector, kind)
    read = operands.read(1, kind)
    writers = [operands.writer(element, part) for element in vector.elements]
    mask = (1 << part.bits) - 1

    def step(threads: Threads) -> None:
        bits = read(threads)
        for position, write in enumerate(writers):
            write(threads, bits >> bits.dtype.type(part.bits * position) & bits.dtype.type(mask))

    return step


def _pack(operands: Operands, vector: Vector, kind: Kind) -> Step:
    part = _parts(operands, vector, kind)
    readers = [operands.bits(element, part.bits) for element in vector.elements]
    write = operands.write(0, kind)
    unsigned = np.dtype(f"u{kind.size}")

    def step(threads: Threads) -> None:
        result = np.zeros(1, unsigned)
        for position, read in enumerate(readers):
            result = result | read(threads).astype(unsigned) << unsigned.type(part.bits * position)
        write(threads, result)

    return step
