"""Powers of integers."""

from __future__ import annotations

from typing import TypeVar

from gompute.lang.names import i8, i16, i32, i64, u8, u16, u32, u64

__all__ = ["Integer", "power"]

Integer = TypeVar("Integer", i8, i16, i32, i64, u8, u16, u32, u64)


def power(base: Integer, exponent: u64) -> Integer:
    """`base` multiplied with itself, wrapping; 1 for an exponent of 0. By squaring, in as many steps as the exponent has bits."""
    result = base * 0 + 1
    while exponent != 0:
        if (exponent & 1) != 0:
            result *= base
        base *= base
        exponent >>= 1
    return result
