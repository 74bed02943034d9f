"""How scalar values are spelled in LLVM IR.

A bool is an i1 as a value and a byte in memory. bf16 is an i16 holding its bits, as LLVM's own bfloat would call library functions on
some targets; f16 is LLVM's half. Signedness is in the instruction, not in the type.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from gompute.lang.types import ScalarType

if TYPE_CHECKING:
    from gompute.frontend.irtext.text import FunctionText

_VALUE_TYPES = {
    "bool": "i1",
    "i8": "i8",
    "i16": "i16",
    "i32": "i32",
    "i64": "i64",
    "u8": "i8",
    "u16": "i16",
    "u32": "i32",
    "u64": "i64",
    "f16": "half",
    "bf16": "i16",
    "f32": "float",
    "f64": "double",
}


def value_type(scalar: ScalarType) -> str:
    """The IR type of a value in a register."""
    return _VALUE_TYPES[scalar.name]


def memory_type(scalar: ScalarType) -> str:
    """The IR type of a value in memory."""
    return "i8" if scalar.kind == "bool" else _VALUE_TYPES[scalar.name]


def float_bits(value: float, code: str) -> int:
    """The bits of `value` in the format of a struct code (``e``, ``f`` or ``d``); every NaN has one pattern."""
    if value != value:
        return {"e": 0x7E00, "f": 0x7FC00000, "d": 0x7FF8000000000000}[code]
    return int.from_bytes(struct.pack(f"<{code}", value), "little")


def float_literal(value: float) -> str:
    """A ``float`` or ``double`` constant: LLVM writes both as the bits of the double."""
    return f"0x{float_bits(value, 'd'):016X}"


def integer_literal(value: int, bits: int) -> str:
    """An integer constant of `bits` bits, written as the signed number with the same bits."""
    value &= (1 << bits) - 1
    return str(value - (1 << bits) if value >> (bits - 1) else value)


def constant(scalar: ScalarType, value: float, *, in_memory: bool = False) -> str:
    """A constant exactly representable in `scalar`."""
    if scalar.kind == "bool":
        return str(int(bool(value))) if in_memory else ("true" if value else "false")
    if scalar.kind != "float":
        return integer_literal(int(value), scalar.bits)
    if scalar.bits >= 32:
        return float_literal(value)
    if scalar.name == "f16":
        return f"0xH{float_bits(value, 'e'):04X}"
    return integer_literal(float_bits(value, "f") >> 16, 16)


def load(text: FunctionText, scalar: ScalarType, pointer: str, address: str, suffix: str = "") -> str:
    """Read a scalar: `pointer` is the pointer's type, `suffix` metadata to attach."""
    if scalar.kind == "bool":
        byte = text.value(f"load i8, {pointer} {address}, align 1{suffix}")
        return text.value(f"icmp ne i8 {byte}, 0")
    return text.value(f"load {_VALUE_TYPES[scalar.name]}, {pointer} {address}, align {scalar.size}{suffix}")


def store(text: FunctionText, scalar: ScalarType, value: str, pointer: str, address: str, suffix: str = "") -> None:
    """Write a scalar; a bool becomes 0 or 1. `suffix` is metadata to attach."""
    if scalar.kind == "bool":
        value = text.value(f"zext i1 {value} to i8")
    text.effect(f"store {memory_type(scalar)} {value}, {pointer} {address}, align {scalar.size}{suffix}")


def element_address(text: FunctionText, scalar: ScalarType, pointer: str, base: str, index: str) -> str:
    """The address of element `index` (an i64) of an array of `scalar`."""
    # inbounds holds for every access that is defined at all: an address is made only to be read or written at once.
    return text.value(f"getelementptr inbounds {memory_type(scalar)}, {pointer} {base}, i64 {index}")
