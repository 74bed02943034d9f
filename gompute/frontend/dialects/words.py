"""Scalar values as 32-bit words, which is what the lanes of a warp exchange."""

from __future__ import annotations

from collections.abc import Callable

from gompute.frontend.irtext.text import FunctionText
from gompute.frontend.irtext.values import value_type
from gompute.lang.types import ScalarType

__all__ = ["move_words"]


def move_words(text: FunctionText, scalar: ScalarType, value: str, move: Callable[[str], str]) -> str:
    """Take a value apart, `move` each of its words, an i32, and put them together again."""
    register = value_type(scalar)
    if scalar.kind == "bool":
        moved = move(text.value(f"zext i1 {value} to i32"))
        return text.value(f"trunc i32 {moved} to i1")
    bits = f"i{scalar.bits}"
    number = value if register == bits else text.value(f"bitcast {register} {value} to {bits}")
    if scalar.bits < 32:
        moved = move(text.value(f"zext {bits} {number} to i32"))
        number = text.value(f"trunc i32 {moved} to {bits}")
    elif scalar.bits == 32:
        number = move(number)
    else:
        upper = text.value(f"lshr i64 {number}, 32")
        halves = [move(text.value(f"trunc i64 {half} to i32")) for half in (number, upper)]
        low, high = (text.value(f"zext i32 {half} to i64") for half in halves)
        shifted = text.value(f"shl i64 {high}, 32")
        number = text.value(f"or i64 {shifted}, {low}")
    return number if register == bits else text.value(f"bitcast {bits} {number} to {register}")
