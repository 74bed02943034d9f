"""What each operation of the kernel language does to numbers: the one definition.

The checker folds constants with it, a call on the host runs on it, and the code made for every target is tested against it. Values are
plain Python numbers: an int for integer types, a bool for ``bool``, a float for float types (a float64 holds every value of the narrower
formats exactly). Every function takes the type that the result has and gives a value exactly representable in it. The operands of an
operation are values of its type already; `convert` is the only one that takes any number.

NaN is one value here: its sign and payload are not part of what an operation promises.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from gompute.lang import exact

if TYPE_CHECKING:
    from gompute.lang.types import ScalarType

__all__ = [
    "Number",
    "binary",
    "compare",
    "convert",
    "divide",
    "from_bits",
    "intrinsic",
    "limits",
    "round_float",
    "to_bits",
    "unary",
    "wrap",
]

Number: TypeAlias = int | float
"""A value of a kernel type; a bool is an int."""

# ---- rounding to a float format ----


def _round_f16(value: float) -> float:
    try:
        rounded: float = struct.unpack("<e", struct.pack("<e", value))[0]
    except OverflowError:  # struct refuses what rounds to infinity
        return math.copysign(math.inf, value)
    return rounded


def _round_f32(value: float) -> float:
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def _round_bf16(value: float) -> float:
    # Not by way of f32: rounding twice would make a tie out of what is none.
    if value == 0 or not math.isfinite(value):
        return value
    exponent = math.frexp(value)[1]  # 2**(exponent - 1) <= |value| < 2**exponent
    unit = max(exponent - 8, -133)  # weight of the last of 8 digits; 2**-133 is the smallest subnormal
    digits = round(math.ldexp(value, -unit))  # half to even; the scaling is exact, since it only moves the exponent
    if abs(digits) << (unit + 133) >= 1 << (128 + 133):
        return math.copysign(math.inf, value)
    return math.copysign(math.ldexp(digits, unit), value)  # the sign of a value that vanished stays


def _round_f64(value: float) -> float:
    return value


_ROUND: dict[str, Callable[[float], float]] = {"f16": _round_f16, "bf16": _round_bf16, "f32": _round_f32, "f64": _round_f64}


def round_float(value: float, dtype: ScalarType) -> float:
    """The value of the float `dtype` nearest to `value`, ties to even; beyond the largest it is infinite."""
    return _ROUND[dtype.name](float(value))


def _int_to_float(value: int, dtype: ScalarType) -> float:
    """The value of the float `dtype` nearest to an integer of any size: one rounding, ties to even."""
    if dtype.name == "f64":
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    # Cut to 53 digits with the last one set when anything was cut ("round to odd"). The narrower formats keep at most 24 digits, so the
    # set digit lies below the one that decides their rounding and only says "not a tie".
    excess = abs(value).bit_length() - 53
    if excess <= 0:
        return round_float(float(value), dtype)
    kept = abs(value) >> excess
    if kept << excess != abs(value):
        kept |= 1
    try:
        magnitude = math.ldexp(kept, excess)
    except OverflowError:
        magnitude = math.inf
    return round_float(magnitude if value > 0 else -magnitude, dtype)


# ---- integers ----


def limits(dtype: ScalarType) -> tuple[int, int]:
    """The smallest and the largest value of an integer type or of bool."""
    if dtype.kind == "bool":
        return 0, 1
    if dtype.kind == "uint":
        return 0, (1 << dtype.bits) - 1
    return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1


def wrap(value: int, dtype: ScalarType) -> int:
    """`value` modulo 2**bits, in the range of the integer `dtype`."""
    value &= (1 << dtype.bits) - 1
    if dtype.kind == "int" and value >> (dtype.bits - 1):
        value -= 1 << dtype.bits
    return value


# ---- conversion ----


def _plain(value: object) -> Number:
    """A Python number from one of Python's or from anything that turns into one without loss (an enum, a NumPy scalar)."""
    if isinstance(value, float):
        return value
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        if hasattr(value, "__float__"):
            return float(value)
        raise TypeError(f"a number is needed, not {value!r}") from None


def convert(value: Number, dtype: ScalarType) -> Number:
    """`value` as `dtype`, as a cast does it on every target.

    Integer to integer wraps. Float to integer drops the fraction, saturates at the ends of the type and takes NaN to 0. Anything to a
    float rounds once, to nearest even. Anything to bool asks whether it differs from 0, so NaN is true.

    Raises:
        TypeError: `value` is no number.
    """
    number = _plain(value)
    if dtype.kind == "bool":
        return number != 0
    if dtype.kind == "float":
        return round_float(number, dtype) if isinstance(number, float) else _int_to_float(number, dtype)
    if not isinstance(number, float):
        return wrap(number, dtype)
    if math.isnan(number):
        return 0
    low, high = limits(dtype)
    if number >= high:  # a comparison of a Python float and int is exact
        return high
    return low if number <= low else int(number)


def to_bits(value: Number, dtype: ScalarType) -> int:
    """The bits of a value of `dtype`, as a number from 0 to 2**bits - 1."""
    if dtype.kind != "float":
        return int(value) & ((1 << dtype.bits) - 1)
    if dtype.name == "bf16":
        if math.isnan(value):
            return 0x7FC0  # the upper half of a NaN's f32 may hold no payload, which would read as infinity
        return int.from_bytes(struct.pack("<f", value), "little") >> 16
    return int.from_bytes(struct.pack(_FLOAT_CODES[dtype.name], value), "little")


def from_bits(bits: int, dtype: ScalarType) -> Number:
    """The value of `dtype` that has these bits; `bits` is from 0 to 2**bits - 1. A bool is true unless all are 0."""
    if dtype.kind == "bool":
        return bits != 0
    if dtype.kind != "float":
        return wrap(bits, dtype)
    if dtype.name == "bf16":
        bits <<= 16
    value: float = struct.unpack(_FLOAT_CODES[dtype.name], bits.to_bytes(4 if dtype.name == "bf16" else dtype.size, "little"))[0]
    return value


_FLOAT_CODES = {"f16": "<e", "bf16": "<f", "f32": "<f", "f64": "<d"}

# ---- float arithmetic ----
#
# + - * / of f16, bf16 and f32 are computed in f64 and rounded again. The second rounding does no harm: where the format has p digits and
# f64 has 53 >= 2p + 2 (p = 24 gives 50), an f64 result is never a tie of the narrow format unless the exact result is that tie
# (Figueroa 1995). Below the narrow format's normal range, where that argument does not reach, a sum and a product are exact in f64 (a sum
# of two multiples of the smallest subnormal; a product has at most 2p = 48 digits and its exponent is in range), and a quotient stays as
# far from ties with fewer digits as from those with p.


def divide(a: float, b: float) -> float:
    """``a / b`` of IEEE 754 in f64: division by zero is infinite, or NaN for 0 / 0."""
    if b != 0:
        return a / b  # NaN comes here too
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _float_divmod(a: float, b: float, rounded: Callable[[float], float]) -> tuple[float, float]:
    """Quotient and remainder of NumPy's floor division, step by step in the precision that `rounded` gives."""
    remainder = exact.fmod(a, b)
    if b == 0:
        return divide(a, b), remainder
    quotient = rounded(rounded(a - remainder) / b)  # very near an integer
    if remainder != 0:  # true for NaN too
        if (b < 0) != (remainder < 0):
            remainder = rounded(remainder + b)
            quotient = rounded(quotient - 1.0)
    else:
        remainder = math.copysign(0.0, b)
    if quotient == 0:
        return math.copysign(0.0, a / b), remainder
    if not math.isfinite(quotient):
        return quotient, remainder
    floor = float(math.floor(quotient))
    if quotient - floor > 0.5:
        floor = rounded(floor + 1.0)
    return floor, remainder


def _float_binary(op: str, a: float, b: float, dtype: ScalarType) -> float:
    if op == "add":
        result = a + b
    elif op == "sub":
        result = a - b
    elif op == "mul":
        result = a * b
    elif op == "truediv":
        result = divide(a, b)
    elif op in ("floordiv", "mod"):
        # As NumPy does it: the steps for f16 (and for bf16, by the same rule) are taken in f32 and the result is rounded at the end.
        quotient, remainder = _float_divmod(a, b, _round_f64 if dtype.name == "f64" else _round_f32)
        result = quotient if op == "floordiv" else remainder
    else:
        raise ValueError(f"no operation {op!r} on {dtype.name}")
    return round_float(result, dtype)


# ---- integer arithmetic ----


def _int_binary(op: str, a: int, b: int, dtype: ScalarType) -> int:
    if op == "add":
        result = a + b
    elif op == "sub":
        result = a - b
    elif op == "mul":
        result = a * b
    elif op == "floordiv":
        result = a // b if b else 0
    elif op == "mod":
        result = a % b if b else 0
    elif op == "and":
        result = a & b
    elif op == "or":
        result = a | b
    elif op == "xor":
        result = a ^ b
    elif op in ("shl", "shr"):
        amount = min(to_bits(b, dtype), dtype.bits)  # a negative amount is a large one; past the width nothing more happens
        result = a << amount if op == "shl" else a >> amount
    else:
        raise ValueError(f"no operation {op!r} on {dtype.name}")
    return wrap(result, dtype)


def _bool_binary(op: str, a: bool, b: bool) -> bool:
    if op == "and":
        return a and b
    if op == "or":
        return a or b
    if op == "xor":
        return a != b
    raise ValueError(f"no operation {op!r} on bool")


# ---- the operations of the typed tree ----


def binary(op: str, a: Number, b: Number, dtype: ScalarType) -> Number:
    """``a op b``, where both are values of `dtype`, and so is the result.

    Integers wrap; ``floordiv`` and ``mod`` floor, give 0 for a divisor of 0, and the smallest value and 0 for the smallest value by -1. A
    shift amount counts as unsigned; at the width or more, ``shl`` gives 0 and ``shr`` 0 or -1. Floats are rounded once, to nearest even;
    ``floordiv`` and ``mod`` of floats are NumPy's.

    Args:
        op: one of `gompute.frontend.typed.BinaryOp`.

    Raises:
        ValueError: `dtype` has no such operation (``truediv`` of integers, ``and`` of floats, arithmetic of bool).
    """
    if dtype.kind == "float":
        return _float_binary(op, float(a), float(b), dtype)
    if dtype.kind == "bool":
        return _bool_binary(op, bool(a), bool(b))
    return _int_binary(op, int(a), int(b), dtype)


def unary(op: str, a: Number, dtype: ScalarType) -> Number:
    """``neg`` (integers wrap, floats flip the sign), ``invert`` (all bits; ``not`` for bool) or ``not`` (of bool) of a value of `dtype`.

    Raises:
        ValueError: `dtype` has no such operation.
    """
    if op in ("not", "invert") and dtype.kind == "bool":
        return not a
    if op == "neg" and dtype.kind == "float":
        return -a
    if op == "neg" and dtype.kind != "bool":
        return wrap(-int(a), dtype)
    if op == "invert" and dtype.kind in ("int", "uint"):
        return wrap(~int(a), dtype)
    raise ValueError(f"no operation {op!r} on {dtype.name}")


_COMPARE: dict[str, Callable[[Number, Number], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def compare(op: str, a: Number, b: Number) -> bool:
    """``a op b`` of two values of one type: exact; with NaN everything is false but ``ne``; -0 equals +0."""
    return _COMPARE[op](a, b)


def intrinsic(name: str, operands: Sequence[Number], dtype: ScalarType, operand_type: ScalarType) -> Number:
    """The value of a built-in function.

    ``min`` and ``max`` take two values; NaN wins, and -0 is below +0. ``abs`` wraps for the smallest integer and clears a float's sign.
    ``round`` goes to the nearest integral value, ties to even, in the same float type, and keeps the sign of a zero; it leaves integers
    alone. ``sqrt``, ``floor``, ``ceil``, ``trunc``, ``copysign``, ``fmod`` and ``fma`` are of floats, and are rounded once. ``bitcast``
    reads the bits of a value of `operand_type` as `dtype`, which has the same width. All but ``bitcast`` have `operand_type` equal to
    `dtype`.

    Raises:
        ValueError: there is no such function.
    """
    if name == "bitcast":
        if dtype.bits != operand_type.bits:
            raise ValueError(f"bitcast from {operand_type.name} to {dtype.name} changes the width")
        return from_bits(to_bits(operands[0], operand_type), dtype)
    first = operands[0]
    if name in ("min", "max"):
        return _extreme(name, first, operands[1])
    if name == "abs":
        if dtype.kind == "float":
            return math.fabs(first)
        return wrap(abs(int(first)), dtype) if dtype.kind != "bool" else first
    if name == "round":
        return exact.round_half_even(float(first)) if dtype.kind == "float" else first
    if name == "fma":
        fused = exact.fused_multiply_add(*(float(operand) for operand in operands), to_odd=dtype.bits < 64)
        return round_float(fused, dtype)
    if name in exact.FUNCTIONS:
        return round_float(exact.FUNCTIONS[name]([float(operand) for operand in operands]), dtype)
    raise ValueError(f"no function {name!r}")


def _extreme(name: str, a: Number, b: Number) -> Number:
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == b == 0:  # of two zeros the one with the minus sign is the lesser; an integer has none
        a, b = (a, b) if math.copysign(1.0, a) < 0 else (b, a)
        return a if name == "min" else b
    return a if (a < b) == (name == "min") else b
