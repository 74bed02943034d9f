"""Floor division and modulo of integers, for every divisor: by 0 both give 0, and the smallest value by -1 gives itself and 0."""

from __future__ import annotations

from gompute.frontend.irtext.text import FunctionText
from gompute.frontend.irtext.values import integer_literal, value_type
from gompute.lang.types import ScalarType


def floor_divide(text: FunctionText, scalar: ScalarType, left: str, right: str, constant: int | None) -> str:
    """``left // right``; `constant` is the value of `right` where it is known."""
    register = value_type(scalar)
    if constant is not None:
        if constant == 0:
            return "0"
        if constant == -1:
            return text.value(f"sub {register} 0, {left}")
        if constant & (constant - 1) == 0 and constant > 0:
            places = constant.bit_length() - 1
            return text.value(f"{'ashr' if scalar.kind == 'int' else 'lshr'} {register} {left}, {places}")
        if scalar.kind == "uint":
            return text.value(f"udiv {register} {left}, {right}")
        return _floor_quotient(text, register, left, right)
    divisor, by_zero = _safe_divisor(text, scalar, left, right)
    quotient = text.value(f"udiv {register} {left}, {divisor}") if scalar.kind == "uint" else _floor_quotient(text, register, left, divisor)
    return text.value(f"select i1 {by_zero}, {register} 0, {register} {quotient}")


def floor_modulo(text: FunctionText, scalar: ScalarType, left: str, right: str, constant: int | None) -> str:
    """``left % right``, with the sign of `right`; `constant` is the value of `right` where it is known."""
    register = value_type(scalar)
    if constant is not None:
        if constant in (0, 1, -1):
            return "0"
        if constant & (constant - 1) == 0 and constant > 0:
            return text.value(f"and {register} {left}, {constant - 1}")
        divisor = right
    else:
        divisor, _ = _safe_divisor(text, scalar, left, right)  # anything modulo 1 is 0, which is right for a divisor of 0 too
    if scalar.kind == "uint":
        return text.value(f"urem {register} {left}, {divisor}")
    remainder = text.value(f"srem {register} {left}, {divisor}")
    moved = text.value(f"add {register} {remainder}, {divisor}")
    move = _signs_differ(text, register, remainder, divisor)
    return text.value(f"select i1 {move}, {register} {moved}, {register} {remainder}")


def _safe_divisor(text: FunctionText, scalar: ScalarType, left: str, right: str) -> tuple[str, str]:
    """The divisor with 1 for those that LLVM leaves undefined (0, and -1 under the smallest value, where 1 gives the wrapped result),
    and whether it was 0."""
    register = value_type(scalar)
    by_zero = text.value(f"icmp eq {register} {right}, 0")
    unsafe = by_zero
    if scalar.kind == "int":
        smallest = text.value(f"icmp eq {register} {left}, {integer_literal(1 << (scalar.bits - 1), scalar.bits)}")
        by_minus_one = text.value(f"icmp eq {register} {right}, -1")
        overflows = text.value(f"and i1 {smallest}, {by_minus_one}")
        unsafe = text.value(f"or i1 {by_zero}, {overflows}")
    return text.value(f"select i1 {unsafe}, {register} 1, {register} {right}"), by_zero


def _floor_quotient(text: FunctionText, register: str, left: str, divisor: str) -> str:
    quotient = text.value(f"sdiv {register} {left}, {divisor}")
    remainder = text.value(f"srem {register} {left}, {divisor}")
    move = _signs_differ(text, register, remainder, divisor)
    below = text.value(f"add {register} {quotient}, -1")
    return text.value(f"select i1 {move}, {register} {below}, {register} {quotient}")


def _signs_differ(text: FunctionText, register: str, remainder: str, divisor: str) -> str:
    """Whether a cut division must be moved down to be a floor: there is a remainder, and its sign is not the divisor's."""
    exact = text.value(f"icmp ne {register} {remainder}, 0")
    signs = text.value(f"xor {register} {remainder}, {divisor}")
    differ = text.value(f"icmp slt {register} {signs}, 0")
    return text.value(f"and i1 {exact}, {differ}")
