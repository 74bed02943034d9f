"""Float arithmetic, and the instructions that floats share with integers: min, max, abs, neg."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import numpy as np

from tests.ptx import exact
from tests.ptx.decode import Modifiers, elementwise, opcode
from tests.ptx.faults import Unknown
from tests.ptx.syntax import KINDS, Kind
from tests.ptx.threads import Operands, Step

Array = np.ndarray[Any, Any]

_FLOATS = ("f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64")
_FORMATS = {("f", 16): exact.F16, ("bf", 16): exact.BF16, ("f", 32): exact.F32, ("f", 64): exact.F64}


def format_of(kind: Kind) -> exact.Format:
    return _FORMATS[kind.letter, kind.bits]


def is_float(modifiers: Modifiers) -> bool:
    """Whether the instruction's type is a float."""
    return bool(modifiers.rest) and modifiers.rest[-1] in _FLOATS


def widened(values: Array, kind: Kind) -> Array:
    """Float values as f64; bfloat16 comes as its bits."""
    if kind.letter == "bf":
        return (values.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    return values.astype(np.float64)


def packed(values: Array, kind: Kind) -> Array:
    """f64 values that are numbers of the type, as it holds them."""
    if kind.letter == "bf":
        bits = values.astype(np.float32).view(np.uint32)
        return np.where(np.isnan(values), np.uint32(0x7FFF), bits >> np.uint32(16)).astype(np.uint16)
    return values.astype(f"f{kind.bits // 8}")


def narrow(values: Array, kind: Kind, mode: str = "rn") -> Array:
    """f64 values rounded to the type."""
    return packed(values if kind.bits == 64 else exact.narrowed(values, format_of(kind), mode), kind)


_NATIVE: dict[str, Callable[..., Array]] = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}


def _one_by_one(name: str, kind: Kind, mode: str) -> Callable[..., Array]:
    """The slow way, right in every mode."""
    rule = {"format": format_of(kind), "mode": mode}
    function: Callable[..., float] = {
        "add": partial(exact.rounded_sum, **rule),
        "sub": lambda a, b: exact.rounded_sum(a, -b, **rule),
        "mul": partial(exact.rounded_product, **rule),
        "div": partial(exact.rounded_quotient, **rule),
        "fma": partial(exact.rounded_fma, **rule),
        "sqrt": partial(exact.rounded_root, **rule),
        "rcp": lambda a: exact.rounded_quotient(1.0, a, **rule),
    }[name]
    return lambda *operands: packed(exact.each(function, *(widened(operand, kind) for operand in operands)), kind)


def arithmetic(name: str, kind: Kind, mode: str) -> Callable[..., Array]:
    """An operation on arrays of the type, rounded once."""
    if mode != "rn":
        return _one_by_one(name, kind, mode)
    native = kind.letter == "f" and kind.bits in (32, 64)
    if native and name in _NATIVE:
        return _NATIVE[name]
    if native and name == "sqrt":
        return np.sqrt
    if native and name == "rcp":
        return lambda a: a.dtype.type(1) / a
    if name == "fma":
        if kind.bits == 64:
            return exact.fma64
        return lambda *operands: packed(exact.fma_narrow(*(widened(each, kind) for each in operands), format_of(kind)), kind)
    if name in ("add", "sub", "mul"):
        ones = {"add": (1.0, 1.0), "sub": (1.0, -1.0)}.get(name)

        def function(a: Array, b: Array) -> Array:
            x, y = widened(a, kind), widened(b, kind)
            if ones is not None:
                return packed(exact.sum_narrow(x, y * ones[1], format_of(kind)), kind)
            return narrow(x * y, kind)  # of 11 digits each: exact before it is rounded

        return function
    return _one_by_one(name, kind, mode)


def float_arithmetic(modifiers: Modifiers, operands: Operands) -> Step:
    """add, sub, mul, div, fma, sqrt, rcp. ``.ftz`` and approximations are not what the language means, and not known."""
    name = {"mad": "fma"}.get(modifiers.name, modifiers.name)
    mode = modifiers.given(*exact.ROUNDERS)
    saturate = bool(modifiers.given("sat")) if name in ("add", "sub", "mul", "fma") else False
    kind = modifiers.kind(*_FLOATS)
    narrow_kind = modifiers.kind("f16", "bf16") if kind is KINDS["f32"] and name in ("add", "sub", "fma") and modifiers.rest else None
    modifiers.done()
    if not mode:
        # Without a mode add, sub and mul of f32 and f64 may be contracted by the assembler: only of 16 bits are they plain.
        if kind.bits != 16 or name not in ("add", "sub", "mul"):
            raise Unknown(f"{operands.instruction}: without a rounding mode this may be fused or approximated")
        mode = "rn"
    if kind.bits == 16 and (mode != "rn" or name in ("div", "sqrt", "rcp")):
        raise Unknown(f"{operands.instruction}: no such instruction of 16 bits")
    function = arithmetic(name, kind, mode)
    if saturate:
        inner = function

        def function(*values: Array) -> Array:
            return clamped(inner(*values), kind)

    count = {"fma": 3, "sqrt": 1, "rcp": 1}.get(name, 2)
    if narrow_kind is not None:
        return _mixed(operands, function, kind, narrow_kind, count)
    return elementwise(operands, function, kind, *[kind] * count)


def _mixed(operands: Operands, function: Callable[..., Array], kind: Kind, narrow_kind: Kind, count: int) -> Step:
    """``add.rn.f32.f16 d, a, c``: all operands but the last are of 16 bits, and are widened first."""

    def widening(*values: Array) -> Array:
        *narrow_values, last = values
        return function(*(widened(value, narrow_kind).astype(np.float32) for value in narrow_values), last)

    return elementwise(operands, widening, kind, *[narrow_kind] * (count - 1), kind)


def clamped(values: Array, kind: Kind) -> Array:
    """``.sat``: into [0, 1]; NaN gives 0."""
    numbers = widened(values, kind)
    return packed(np.where(np.isnan(numbers) | (numbers <= 0), 0.0, np.minimum(numbers, 1.0)), kind)


@opcode("fma", "sqrt", "rcp")
def _float_only(modifiers: Modifiers, operands: Operands) -> Step:
    if modifiers.name == "sqrt" and modifiers.rest[:1] == ["approx"]:
        return _approximation(modifiers, operands)
    return float_arithmetic(modifiers, operands)


# ---- approximations ----

#: The right result, rounded, is within every bound that a document states.
_APPROXIMATED: dict[str, Callable[[Array], Array]] = {
    "ex2": np.exp2,
    "lg2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "sqrt": np.sqrt,
    "rsqrt": lambda a: 1 / np.sqrt(a),
    "tanh": np.tanh,
}
_allowed: ContextVar[bool] = ContextVar("_allowed", default=False)


@contextmanager
def approximations_allowed() -> Iterator[None]:
    """Of kernels that ask for them. Their results are no machine's."""
    before = _allowed.set(True)
    try:
        yield
    finally:
        _allowed.reset(before)


@opcode(*(name for name in _APPROXIMATED if name != "sqrt"))
def _approximation(modifiers: Modifiers, operands: Operands) -> Step:
    if not _allowed.get():
        raise Unknown(f"{operands.instruction}: an approximation, whose value no document states")
    function = _APPROXIMATED[modifiers.name]
    modifiers.need("approx")
    kind = modifiers.kind("f32")
    modifiers.done()
    return elementwise(operands, lambda a: function(a.astype(np.float64)).astype(np.float32), kind, kind)


# ---- shared with integers ----

_INTEGERS = ("s16", "u16", "s32", "u32", "s64", "u64", "s16x2", "u16x2")


def _sign_mask(kind: Kind) -> np.unsignedinteger[Any]:
    return np.dtype(f"u{kind.bits // 8}").type(1 << (kind.bits - 1))


def extreme(name: str, kind: Kind, propagate: bool) -> Callable[[Array, Array], Array]:
    """min or max of floats: -0 is below +0; of a number and NaN the number, or NaN with ``.NaN``."""
    mask, unsigned = _sign_mask(kind), f"u{kind.bits // 8}"
    nan = {("f", 16): 0x7FFF, ("bf", 16): 0x7FFF, ("f", 32): 0x7FFFFFFF}.get((kind.letter, kind.bits), 0x7FF8000000000000)

    def function(a: Array, b: Array) -> Array:
        x, y = widened(a, kind), widened(b, kind)
        abits, bbits = np.broadcast_arrays(a.view(unsigned), b.view(unsigned))
        first_lower = (x < y) | ((x == y) & ((abits & mask) != 0))
        take_first = first_lower if name == "min" else ~first_lower
        chosen = np.where(take_first, abits, bbits)
        missing = np.isnan(x) | np.isnan(y)
        other = np.where(np.isnan(x), bbits, abits)
        both = np.isnan(x) & np.isnan(y)
        quiet = np.dtype(unsigned).type(nan)
        result = np.where(missing, quiet if propagate else np.where(both, quiet, other), chosen)
        return result.view(a.dtype)

    return function


@opcode("min", "max")
def _extreme(modifiers: Modifiers, operands: Operands) -> Step:
    name = modifiers.name
    if not is_float(modifiers):
        kind = modifiers.kind(*_INTEGERS)
        modifiers.done()
        return elementwise(operands, np.minimum if name == "min" else np.maximum, kind, kind, kind)
    propagate = bool(modifiers.given("NaN"))
    kind = modifiers.kind(*_FLOATS)
    modifiers.done()
    if kind.bits == 64 and propagate:
        raise Unknown(f"{operands.instruction}: min and max of f64 do not propagate NaN")
    return elementwise(operands, extreme(name, kind, propagate), kind, kind, kind)


@opcode("abs", "neg")
def _sign(modifiers: Modifiers, operands: Operands) -> Step:
    absolute = modifiers.name == "abs"
    if not is_float(modifiers):
        kind = modifiers.kind("s16", "s32", "s64")
        modifiers.done()
        return elementwise(operands, np.abs if absolute else np.negative, kind, kind)
    kind = modifiers.kind(*_FLOATS)
    modifiers.done()
    mask, unsigned = _sign_mask(kind), f"u{kind.bits // 8}"

    def function(a: Array) -> Array:
        bits = a.view(unsigned)
        return (bits & ~mask if absolute else bits ^ mask).view(a.dtype)

    return elementwise(operands, function, kind, kind)


@opcode("copysign")
def _copy_sign(modifiers: Modifiers, operands: Operands) -> Step:
    """The sign of the first operand, and the magnitude of the second."""
    kind = modifiers.kind("f32", "f64")
    modifiers.done()
    bits = KINDS[f"u{kind.bits}"]
    mask = _sign_mask(kind)
    return elementwise(operands, lambda a, b: (a & mask) | (b & ~mask), bits, bits, bits) if _same(operands, kind) else _refuse(operands)


def _same(operands: Operands, kind: Kind) -> bool:
    """Whether float immediates have the type's width; they are read as bits."""
    return all(getattr(operand, "float_bits", kind.bits) == kind.bits for operand in operands.instruction.operands)


def _refuse(operands: Operands) -> Step:
    raise Unknown(f"{operands.instruction}: an operand of another type")


@opcode("testp")
def _test(modifiers: Modifiers, operands: Operands) -> Step:
    question = modifiers.need("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    kind = modifiers.kind("f32", "f64")
    modifiers.done()
    least = {32: 2.0**-126, 64: 2.0**-1022}[kind.bits]
    functions: dict[str, Callable[[Array], Array]] = {
        "finite": np.isfinite,
        "infinite": np.isinf,
        "number": lambda a: ~np.isnan(a),
        "notanumber": np.isnan,
        "normal": lambda a: np.isfinite(a) & (np.abs(a) >= least),
        "subnormal": lambda a: (a != 0) & (np.abs(a) < least),
    }
    return elementwise(operands, functions[question], KINDS["pred"], kind)
