"""What each operation does to whole arrays of a type, by NumPy.

bfloat16, which NumPy lacks, is held as float32 arrays of bfloat16's values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.ptx import exact

Array = np.ndarray[Any, Any]

SIGNED, UNSIGNED = ("i8", "i16", "i32", "i64"), ("u8", "u16", "u32", "u64")
INTEGERS, FLOATS = (*SIGNED, *UNSIGNED), ("f16", "bf16", "f32", "f64")
TYPES = ("bool", *INTEGERS, *FLOATS)
_FORMATS = {"f16": exact.F16, "bf16": exact.BF16, "f32": exact.F32}


def bits_of(kind: str) -> int:
    return {"bool": 8, "bf16": 16}.get(kind) or int(kind[1:])


def dtype_of(kind: str) -> np.dtype[Any]:
    """How values of the type are held."""
    if kind == "bool":
        return np.dtype(bool)
    if kind == "bf16":
        return np.dtype(np.float32)
    return np.dtype(f"{kind[0]}{bits_of(kind) // 8}")


def limits(kind: str) -> tuple[int, int]:
    if kind == "bool":
        return 0, 1
    info = np.iinfo(dtype_of(kind))
    return int(info.min), int(info.max)


# ---- NumPy 2's promotion ----


def promoted(a: str, b: str) -> str | None:
    """The common type of two; None where there is none without losing integer digits."""
    if a == b:
        return a
    if "bf16" in (a, b):
        other = b if a == "bf16" else a
        return {"bool": "bf16", "i8": "bf16", "u8": "bf16", "i16": "f32", "u16": "f32", "f16": "f32", "f32": "f32"}.get(other, "f64")
    if {a, b} & {"u64"} and {a, b} & set(SIGNED):
        return None
    made = np.promote_types(dtype_of(a), dtype_of(b))
    return next(kind for kind in TYPES if kind != "bf16" and dtype_of(kind) == made)


# ---- conversions ----


def from_bits(bits: Array, kind: str) -> Array:
    """Memory of a type as it is computed with."""
    if kind == "bf16":
        return (bits.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return bits.view(np.uint8) != 0 if kind == "bool" else bits.view(dtype_of(kind))


def to_bits(values: Array, kind: str) -> Array:
    """As it lies in memory."""
    if kind == "bf16":
        upper = values.view(np.uint32) >> 16
        return np.where(np.isnan(values), np.uint32(0x7FC0), upper).astype(np.uint16)
    return values.astype(np.uint8) if kind == "bool" else values.view(f"u{bits_of(kind) // 8}")


def rounded(values: Array, kind: str) -> Array:
    """f64 values in a float type, rounded once."""
    if kind == "f64":
        return values
    return exact.narrowed(values, _FORMATS[kind]).astype(dtype_of(kind))


def cast(values: Array, source: str, target: str) -> Array:
    """By value: integers wrap, floats round once, a float to an integer saturates and NaN gives 0."""
    if source == target:
        return values
    if target == "bool":
        return values != 0
    if target in FLOATS:
        if source in FLOATS:
            return rounded(values.astype(np.float64), target)
        if target in ("f32", "f64"):
            return values.astype(dtype_of(target))
        wide = values.astype(np.uint64 if source == "u64" else np.int64)
        return rounded(exact.integer_to_odd(wide), target)
    if source in FLOATS:
        made: Array = exact.truncated(values.astype(np.float64), "rz", bits_of(target), target in SIGNED)
        return made.astype(dtype_of(target))
    return values.astype(dtype_of(target))


def literal(value: float, kind: str, count: int) -> Array:
    """A Python number as a constant of a type; it fits."""
    if kind not in FLOATS:
        return np.full(count, value, dtype_of(kind))
    if isinstance(value, int):
        wide = np.array([value], np.int64 if value < 2**63 else np.uint64)
        return np.full(count, cast(wide, "i64" if value < 2**63 else "u64", kind)[0])
    return np.full(count, rounded(np.array([value], np.float64), kind)[0], dtype_of(kind))


# ---- arithmetic ----


def _floor_divide(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.floor_divide(a, b)
    return np.where(b == 0, a.dtype.type(0), np.floor_divide(a, np.where(b == 0, a.dtype.type(1), b)))


def _modulo(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.mod(a, b)
    return np.where(b == 0, a.dtype.type(0), np.mod(a, np.where(b == 0, a.dtype.type(1), b)))


def _shift(left: bool) -> Callable[[Array, Array], Array]:
    def function(a: Array, b: Array) -> Array:
        width = a.dtype.itemsize * 8
        amount = b.view(f"u{a.dtype.itemsize}")
        past = amount >= width
        small = np.where(past, 0, amount).astype(a.dtype)
        if left:
            return np.where(past, a.dtype.type(0), a << small)
        return np.where(past, np.where(a < 0, a.dtype.type(-1) if a.dtype.kind == "i" else a.dtype.type(0), a.dtype.type(0)), a >> small)

    return function


_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": _floor_divide,
    "%": _modulo,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
    "<<": _shift(left=True),
    ">>": _shift(left=False),
}


def binary(operator: str, a: Array, b: Array, kind: str) -> Array:
    """Both operands and the result are of the type."""
    made = _BINARY[operator](a, b)
    return rounded(made.astype(np.float64), "bf16") if kind == "bf16" else made


_COMPARE: dict[str, Callable[[Array, Array], Array]] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def compare(operator: str, a: Array, b: Array) -> Array:
    return _COMPARE[operator](a, b)


def compare_mixed(operator: str, a: Array, b: Array) -> Array:
    """u64 with a signed integer, exactly."""
    made = [bool(_COMPARE[operator](x, y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    return np.array(made, bool)


def extreme(name: str, a: Array, b: Array) -> Array:
    """min or max: NaN wins, and -0 is below +0."""
    if a.dtype.kind != "f":
        return np.minimum(a, b) if name == "min" else np.maximum(a, b)
    lower = (a < b) | ((a == b) & np.signbit(a))
    chosen = np.where(lower == (name == "min"), a, b)
    return np.where(np.isnan(a), a, np.where(np.isnan(b), b, chosen))


def bitcast(values: Array, source: str, target: str) -> Array:
    return from_bits(np.ascontiguousarray(to_bits(np.ascontiguousarray(values), source)), target)


def fused(a: Array, b: Array, c: Array, kind: str) -> Array:
    """a * b + c with one rounding."""
    if kind == "f64":
        return exact.fma64(a, b, c)
    return exact.fma_narrow(*(each.astype(np.float64) for each in (a, b, c)), format=_FORMATS[kind]).astype(dtype_of(kind))
