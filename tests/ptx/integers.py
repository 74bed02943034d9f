"""Integer arithmetic, logic and shifts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.ptx.decode import Modifiers, elementwise, opcode
from tests.ptx.faults import Undefined, Unknown
from tests.ptx.floats import float_arithmetic, is_float
from tests.ptx.syntax import KINDS, Kind
from tests.ptx.threads import Operands, Step, Threads, dtype_of

Array = np.ndarray[Any, Any]

_WORDS = ("s16", "u16", "s32", "u32", "s64", "u64")
_BITS = ("b16", "b32", "b64")
_PACKED = ("s16x2", "u16x2")


def _limits(kind: Kind) -> tuple[int, int]:
    info = np.iinfo(dtype_of(kind))
    return int(info.min), int(info.max)


def _wider(kind: Kind) -> Kind:
    return KINDS[f"{kind.letter}{kind.bits * 2}"]


# ---- products ----


def high_half(a: Array, b: Array) -> Array:
    """The upper half of the product of two integers of one type."""
    bits, signed = a.dtype.itemsize * 8, a.dtype.kind == "i"
    if bits < 64:
        wide = np.dtype(f"{a.dtype.kind}{bits // 4}")
        return ((a.astype(wide) * b.astype(wide)) >> wide.type(bits)).astype(a.dtype)
    x, y = a.view(np.uint64), b.view(np.uint64)
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    (xl, xh), (yl, yh) = (x & mask, x >> half), (y & mask, y >> half)
    middle = xh * yl + ((xl * yl) >> half)
    other = xl * yh + (middle & mask)
    high = xh * yh + (middle >> half) + (other >> half)
    if signed:
        high = high - np.where(a < 0, y, np.uint64(0)) - np.where(b < 0, x, np.uint64(0))
    return high.view(a.dtype)


def _product(part: str, kind: Kind) -> Callable[[Array, Array], Array]:
    if part == "lo":
        return lambda a, b: a * b
    if part == "hi":
        return high_half
    wide = dtype_of(_wider(kind))
    return lambda a, b: a.astype(wide) * b.astype(wide)


@opcode("mul", "mad")
def _multiply(modifiers: Modifiers, operands: Operands) -> Step:
    if is_float(modifiers):
        return float_arithmetic(modifiers, operands)
    part = modifiers.need("lo", "hi", "wide")
    kind = modifiers.kind(*(_WORDS if part != "wide" else _WORDS[:4]))
    modifiers.done()
    product, result = _product(part, kind), _wider(kind) if part == "wide" else kind
    if modifiers.name == "mul":
        return elementwise(operands, product, result, kind, kind)
    return elementwise(operands, lambda a, b, c: product(a, b) + c, result, kind, kind, result)


@opcode("mul24", "mad24")
def _multiply24(modifiers: Modifiers, operands: Operands) -> Step:
    modifiers.need("lo")
    kind = modifiers.kind("s32", "u32")
    modifiers.done()

    def low(a: Array) -> Array:
        eight = a.dtype.type(8)
        return (a << eight) >> eight

    if modifiers.name == "mul24":
        return elementwise(operands, lambda a, b: low(a) * low(b), kind, kind, kind)
    return elementwise(operands, lambda a, b, c: low(a) * low(b) + c, kind, kind, kind, kind)


# ---- sums ----


def _saturated(kind: Kind, function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    low, high = _limits(kind)
    return lambda a, b: np.clip(function(a.astype(np.int64), b.astype(np.int64)), low, high).astype(dtype_of(kind))


@opcode("add", "sub")
def _add(modifiers: Modifiers, operands: Operands) -> Step:
    if is_float(modifiers):
        return float_arithmetic(modifiers, operands)
    function: Callable[[Array, Array], Array] = np.add if modifiers.name == "add" else np.subtract
    if modifiers.given("cc"):
        return _with_carry(modifiers, operands, takes=False)
    saturate = bool(modifiers.given("sat"))
    kind = modifiers.kind(*(("s32",) if saturate else _WORDS + _PACKED if modifiers.name == "add" else _WORDS))
    modifiers.done()
    return elementwise(operands, _saturated(kind, function) if saturate else function, kind, kind, kind)


@opcode("addc", "subc")
def _add_carried(modifiers: Modifiers, operands: Operands) -> Step:
    return _with_carry(modifiers, operands, takes=True)


def _with_carry(modifiers: Modifiers, operands: Operands, takes: bool) -> Step:
    """Sums of long integers, part by part; the carry is a register of its own. Of a difference it holds the borrow."""
    gives = not takes or bool(modifiers.given("cc"))
    kind = modifiers.kind("s32", "u32", "s64", "u64")
    modifiers.done()
    operands.expect(3)
    unsigned = KINDS[f"u{kind.bits}"]
    left, right, write = operands.read(1, unsigned), operands.read(2, unsigned), operands.write(0, unsigned)
    subtract = modifiers.name.startswith("sub")

    def step(threads: Threads) -> None:
        a, b = left(threads), right(threads)
        carry = threads.read("%carry").astype(a.dtype) if takes else np.zeros(1, a.dtype)
        if subtract:
            result = a - b - carry
            out = (a < b) | ((a == b) & (carry != 0))
        else:
            result = a + b + carry
            out = (result < a) | ((carry != 0) & (result == a))
        write(threads, result)
        if gives:
            threads.write("%carry", out)

    return step


@opcode("sad")
def _sad(modifiers: Modifiers, operands: Operands) -> Step:
    kind = modifiers.kind(*_WORDS)
    modifiers.done()
    return elementwise(operands, lambda a, b, c: c + np.where(a < b, b - a, a - b), kind, kind, kind, kind)


# ---- quotients ----


def _divide(a: Array, b: Array) -> tuple[Array, Array]:
    """Quotient and remainder cut towards zero. A division by zero gives a machine-specific value, so nobody may rely on it; the
    smallest integer by -1 does not fit."""
    if (b == 0).any():
        raise Undefined("an integer division by zero")
    if a.dtype.kind == "u":
        return a // b, a % b
    if ((b == -1) & (a == np.iinfo(a.dtype).min)).any():
        raise Undefined("the smallest integer divided by -1")
    quotient, remainder = a // b, a % b
    fix = (remainder != 0) & ((a < 0) != (b < 0))
    return quotient + fix, remainder - np.where(fix, b, b.dtype.type(0))


@opcode("div")
def _quotient(modifiers: Modifiers, operands: Operands) -> Step:
    if is_float(modifiers):
        return float_arithmetic(modifiers, operands)
    kind = modifiers.kind(*_WORDS)
    modifiers.done()
    return elementwise(operands, lambda a, b: _divide(a, b)[0], kind, kind, kind)


@opcode("rem")
def _remainder(modifiers: Modifiers, operands: Operands) -> Step:
    kind = modifiers.kind(*_WORDS)
    modifiers.done()
    return elementwise(operands, lambda a, b: _divide(a, b)[1], kind, kind, kind)


# ---- bits ----


@opcode("and", "or", "xor")
def _logic(modifiers: Modifiers, operands: Operands) -> Step:
    kind = modifiers.kind("pred", *_BITS)
    modifiers.done()
    function = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[modifiers.name]
    return elementwise(operands, function, kind, kind, kind)


@opcode("not")
def _not(modifiers: Modifiers, operands: Operands) -> Step:
    kind = modifiers.kind("pred", *_BITS)
    modifiers.done()
    return elementwise(operands, np.invert, kind, kind)


@opcode("cnot")
def _cnot(modifiers: Modifiers, operands: Operands) -> Step:
    kind = modifiers.kind(*_BITS)
    modifiers.done()
    return elementwise(operands, lambda a: a == 0, kind, kind)


@opcode("lop3")
def _lop3(modifiers: Modifiers, operands: Operands) -> Step:
    kind = modifiers.kind("b32")
    modifiers.done()
    operands.expect(5)
    table = operands.instruction.operands[4]
    readers = [operands.read(i, kind) for i in (1, 2, 3)]
    write = operands.write(0, kind)
    chosen = getattr(table, "bits", None)
    if chosen is None:
        raise Unknown(f"{operands.instruction}: the table of lop3 is a constant")

    def step(threads: Threads) -> None:
        a, b, c = (read(threads) for read in readers)
        result = np.zeros(1, np.uint32)
        for row in range(8):
            if chosen >> row & 1:
                result = result | (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
        write(threads, result)

    return step


@opcode("shl", "shr")
def _shift(modifiers: Modifiers, operands: Operands) -> Step:
    """Amounts past the width count as the width; a signed right shift brings in the sign."""
    left = modifiers.name == "shl"
    kind = modifiers.kind(*(_BITS if left else _WORDS + _BITS))
    modifiers.done()

    def function(a: Array, amount: Array) -> Array:
        past = amount >= kind.bits
        small = np.where(past, 0, amount).astype(a.dtype)
        if left:
            return np.where(past, a.dtype.type(0), a << small)
        if kind.letter == "s":
            return a >> np.minimum(amount, kind.bits - 1).astype(a.dtype)
        return np.where(past, a.dtype.type(0), a >> small)

    return elementwise(operands, function, kind, kind, KINDS["b32"])


@opcode("shf")
def _funnel(modifiers: Modifiers, operands: Operands) -> Step:
    side, mode = modifiers.need("l", "r"), modifiers.need("clamp", "wrap")
    kind = modifiers.kind("b32")
    modifiers.done()

    def function(low: Array, high: Array, amount: Array) -> Array:
        count = (np.minimum(amount, 32) if mode == "clamp" else amount & np.uint32(31)).astype(np.uint64)
        both = high.astype(np.uint64) << np.uint64(32) | low
        moved = (both << count) >> np.uint64(32) if side == "l" else both >> count
        return moved.astype(np.uint32)

    return elementwise(operands, function, kind, kind, kind, kind)


@opcode("bfe")
def _extract(modifiers: Modifiers, operands: Operands) -> Step:
    kind = modifiers.kind("s32", "u32", "s64", "u64")
    modifiers.done()
    size = kind.bits
    unsigned = np.dtype(f"u{size // 8}")

    def function(a: Array, position: Array, length: Array) -> Array:
        start, count = (position & np.uint32(0xFF)).astype(np.int64), (length & np.uint32(0xFF)).astype(np.int64)
        bits = a.view(unsigned)
        one = unsigned.type(1)
        if kind.letter == "s":
            sign = bits >> np.minimum(np.maximum(start + count - 1, 0), size - 1).astype(unsigned) & one
            fill = np.where(count == 0, unsigned.type(0), sign)
        else:
            fill = np.zeros(1, unsigned)
        moved = np.where(start < size, bits >> np.minimum(start, size - 1).astype(unsigned), unsigned.type(0))
        kept = np.maximum(np.minimum(count, size - start), 0)
        full = kept >= size
        mask = np.where(full, ~unsigned.type(0), (one << np.where(full, 0, kept).astype(unsigned)) - one)
        return ((moved & mask) | np.where(fill != 0, ~mask, unsigned.type(0))).view(dtype_of(kind))

    return elementwise(operands, function, kind, kind, KINDS["u32"], KINDS["u32"])


@opcode("bfi")
def _insert(modifiers: Modifiers, operands: Operands) -> Step:
    kind = modifiers.kind("b32", "b64")
    modifiers.done()
    unsigned, size = dtype_of(kind), kind.bits

    def function(a: Array, b: Array, position: Array, length: Array) -> Array:
        start, count = (position & np.uint32(0xFF)).astype(np.int64), (length & np.uint32(0xFF)).astype(np.int64)
        one = unsigned.type(1)
        kept = np.maximum(np.minimum(count, size - start), 0)
        full = kept >= size
        mask = np.where(full, ~unsigned.type(0), (one << np.where(full, 0, kept).astype(unsigned)) - one)
        at = np.minimum(start, size - 1).astype(unsigned)
        return (b & ~(mask << at)) | ((a & mask) << at)

    return elementwise(operands, function, kind, kind, kind, KINDS["u32"], KINDS["u32"])


@opcode("prmt")
def _permute(modifiers: Modifiers, operands: Operands) -> Step:
    kind = modifiers.kind("b32")
    modifiers.done()

    def function(a: Array, b: Array, selector: Array) -> Array:
        both = b.astype(np.uint64) << np.uint64(32) | a
        result = np.zeros(1, np.uint32)
        for place in range(4):
            chosen = (selector >> np.uint32(4 * place)) & np.uint32(0xF)
            byte = (both >> ((chosen & np.uint32(7)) * np.uint32(8)).astype(np.uint64)) & np.uint64(0xFF)
            sign = np.where(byte & np.uint64(0x80), np.uint64(0xFF), np.uint64(0))
            result = result | np.where(chosen & np.uint32(8), sign, byte).astype(np.uint32) << np.uint32(8 * place)
        return result

    return elementwise(operands, function, kind, kind, kind, kind)


def _reversed(a: Array) -> Array:
    size = a.dtype.itemsize * 8
    result = np.zeros_like(a)
    for place in range(size):
        result |= (a >> a.dtype.type(place) & a.dtype.type(1)) << a.dtype.type(size - 1 - place)
    return result


@opcode("brev")
def _reverse(modifiers: Modifiers, operands: Operands) -> Step:
    kind = modifiers.kind("b32", "b64")
    modifiers.done()
    return elementwise(operands, _reversed, kind, kind)


def _top_bit(a: Array) -> Array:
    """The number of the highest bit that is set; -1 where none is."""
    result, rest = np.full(a.shape, -1, np.int64), a
    for place in range(a.dtype.itemsize * 8):
        result = np.where(rest >> a.dtype.type(place) & a.dtype.type(1), place, result)
    return result


@opcode("popc", "clz")
def _count(modifiers: Modifiers, operands: Operands) -> Step:
    kind = modifiers.kind("b32", "b64")
    modifiers.done()
    if modifiers.name == "popc":
        return elementwise(operands, lambda a: np.bitwise_count(a).astype(np.uint32), KINDS["u32"], kind)
    return elementwise(operands, lambda a: (kind.bits - 1 - _top_bit(a)).astype(np.uint32), KINDS["u32"], kind)


@opcode("bfind")
def _find(modifiers: Modifiers, operands: Operands) -> Step:
    amount = bool(modifiers.given("shiftamt"))
    kind = modifiers.kind("s32", "u32", "s64", "u64")
    modifiers.done()

    def function(a: Array) -> Array:
        bits = np.where(a < 0, ~a, a).view(f"u{kind.size}")
        top = _top_bit(bits)
        return np.where(amount & (top >= 0), kind.bits - 1 - top, top).astype(np.int32).view(np.uint32)

    return elementwise(operands, function, KINDS["u32"], kind)
