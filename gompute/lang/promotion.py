"""Which type an operation on two types happens in: NumPy 2's rules (NEP 50), with bfloat16 beside them.

Types that were declared are strong; a Python literal is weak and takes the type that it meets. Where NumPy's answer would lose integer
digits, or would read like something else than it does (``True + True`` is ``True`` in NumPy), the mix is refused with the ways to say
which meaning is wanted.
"""

from __future__ import annotations

import math

from gompute.lang import numeric
from gompute.lang.numeric import Number
from gompute.lang.types import BOOL, F32, F64, I16, I32, I64, ScalarType

__all__ = [
    "PromotionRefused",
    "comparison_type",
    "fits",
    "literal",
    "operation_type",
    "promote",
    "spelled",
    "unary_type",
    "weak_type",
    "where_outside",
]

_SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "and": "&",
    "or": "|",
    "xor": "^",
    "shl": "<<",
    "shr": ">>",
    "neg": "-",
    "invert": "~",
}


class PromotionRefused(Exception):
    """Two types, or a literal and a type, do not go together.

    Attributes:
        reason: what is wrong, without a place in the source.
        fixes: what to write instead, any one of them.
    """

    def __init__(self, reason: str, fixes: tuple[str, ...]) -> None:
        super().__init__(f"{reason}; {' or '.join(fixes)}")
        self.reason = reason
        self.fixes = fixes


# ---- two declared types ----


def promote(a: ScalarType, b: ScalarType) -> ScalarType:
    """The common type of two types, as ``numpy.promote_types`` gives it. Two bools give bool.

    bfloat16 stands beside float16: it holds 8-bit integers as float16 does, and the two meet in float32.

    Raises:
        PromotionRefused: u64 with a signed integer; NumPy gives f64, which holds 53 of the 64 digits.
    """
    if a == b or b.kind == "bool":
        return a
    if a.kind == "bool":
        return b
    if a.is_float and b.is_float:
        if a.bits == b.bits:
            return F32
        return a if a.bits > b.bits else b
    if a.is_float or b.is_float:
        number, integer = (a, b) if a.is_float else (b, a)
        exact = {8: number, 16: F32}.get(integer.bits, F64)  # the narrowest float for every integer of that width (64 bits: the widest)
        return number if number.bits >= exact.bits else exact
    if a.kind == b.kind:
        return a if a.bits > b.bits else b
    signed, unsigned = (a, b) if a.kind == "int" else (b, a)
    if signed.bits > unsigned.bits:
        return signed
    wider = {8: I16, 16: I32, 32: I64}.get(unsigned.bits)
    if wider is None:
        raise PromotionRefused(
            f"no integer type holds all values of both {a} and {b}, and the f64 that NumPy takes loses digits",
            (f"write i64(...) around the {unsigned} operand", f"write u64(...) around the {signed} operand"),
        )
    return wider


def operation_type(op: str, a: ScalarType, b: ScalarType) -> ScalarType:
    """The type to which both operands of ``a op b`` are converted, and which the result has.

    ``truediv`` of integers is a division of f64, as in NumPy, also for u64 by a signed integer: each is converted by itself.

    Args:
        op: one of `gompute.frontend.typed.BinaryOp`.

    Raises:
        PromotionRefused: as `promote`; arithmetic of two bools; a bit operation or a shift of floats.
    """
    symbol = _SYMBOLS[op]
    if op in ("and", "or", "xor", "shl", "shr"):
        for operand in (a, b):
            if operand.is_float:
                raise PromotionRefused(
                    f"`{symbol}` works on {'integers' if op in ('shl', 'shr') else 'integers and bool'}, not on {operand}",
                    (f"write i{operand.bits}(...) or another integer type around the {operand} operand",),
                )
    if a.kind == b.kind == "bool" and op not in ("and", "or", "xor"):
        logical = {"add": ("write `|` for a bool",), "sub": ("write `^` for a bool",), "mul": ("write `&` for a bool",)}.get(op, ())
        raise PromotionRefused(f"`{symbol}` does not work on two bools", ("write i32(...) around an operand to count", *logical))
    if op == "truediv" and not a.is_float and not b.is_float:
        return F64
    return promote(a, b)


def unary_type(op: str, dtype: ScalarType) -> ScalarType:
    """The type of ``neg`` or ``invert`` of a `dtype`: `dtype` itself. (``not`` takes any type's truth and gives bool.)

    Raises:
        PromotionRefused: ``neg`` of bool, ``invert`` of a float.
    """
    if op == "neg" and dtype.kind == "bool":
        raise PromotionRefused("`-` does not work on bool", ("write `not` for the opposite", "write i32(...) around the operand to count"))
    if op == "invert" and dtype.is_float:
        raise PromotionRefused(f"`~` works on integers and bool, not on {dtype}", (f"write i{dtype.bits}(...) around the operand",))
    return dtype


def comparison_type(a: ScalarType, b: ScalarType) -> ScalarType | None:
    """The type in which two types are compared; None where no type holds both, which is u64 with a signed integer.

    That comparison is exact, as in NumPy, and so needs more than a conversion: where the signed operand is negative it is the lesser one;
    elsewhere both are compared as u64.
    """
    try:
        return promote(a, b)
    except PromotionRefused:
        return None


# ---- a literal and a declared type ----


def weak_type(value: Number, other: ScalarType) -> ScalarType:
    """The type in which an operation of a Python literal and a declared type happens.

    ``True`` and ``False`` give way to any type; an int to any but bool, where it counts as i64; a float to float types, and counts as f64
    elsewhere. Whether the value fits that type is for `literal` to say.
    """
    if isinstance(value, bool) or other.is_float:
        return other
    if isinstance(value, float):
        return F64
    return I64 if other == BOOL else other


def fits(value: Number, dtype: ScalarType) -> bool:
    """Whether a literal may become a constant of `dtype`: an int within its range, or not past f64's for a float type; a float only in a
    float type, where it rounds (past the largest value to infinity, as in NumPy)."""
    if dtype.is_float:
        return isinstance(value, float) or math.isfinite(numeric.convert(value, F64))
    return not isinstance(value, float) and where_outside(value, dtype) == 0


def where_outside(value: int, dtype: ScalarType) -> int:
    """-1 where `value` lies below all values of an integer type or bool, 1 where it lies above, 0 within.

    A comparison with a literal that lies outside has a known result, which NumPy gives too: ``u8(1) < 300`` is true.
    """
    low, high = numeric.limits(dtype)
    return (value > high) - (value < low)


def literal(value: Number, dtype: ScalarType) -> Number:
    """The constant of `dtype` that a literal becomes, rounded once where `dtype` is a float.

    Raises:
        PromotionRefused: it does not fit.
    """
    if fits(value, dtype):
        return numeric.convert(value, dtype)
    if isinstance(value, float):
        raise PromotionRefused(f"{value!r} is a float, and {dtype} is not a float type", (f"write {dtype}({value!r}) to convert it",))
    if dtype.is_float:
        raise PromotionRefused(f"the integer {spelled(value)} is too large for {dtype}", ("write it as a float",))
    if dtype == BOOL:
        raise PromotionRefused(f"{spelled(value)} is not a bool", ("write True or False", "compare it with 0"))
    low, high = numeric.limits(dtype)
    raise PromotionRefused(
        f"{spelled(value)} is out of range for {dtype} ({low} to {high})",
        (f"write {dtype}({spelled(value)}) to wrap it", "convert the other operand to a wider type"),
    )


def spelled(value: Number) -> str:
    """The digits of a number, or of a long int its size; Python refuses to print more than some thousand digits."""
    return f"of {value.bit_length()} bits" if isinstance(value, int) and value.bit_length() > 256 else repr(value)
