"""Operations on scalars, with no undefined behaviour left to LLVM: what `gompute.lang.numeric` defines, as straight-line code.

Guards are selects rather than branches, so that loops over them vectorise. f16 and bf16 are computed in f32 and rounded once more, which
gives the correctly rounded result of one operation (f32 has more than twice their digits).
"""

from __future__ import annotations

from gompute.errors import InternalError
from gompute.frontend.emit.conversion import narrow_exact, narrow_float, widen_float
from gompute.frontend.emit.division import floor_divide, floor_modulo
from gompute.frontend.emit.remainder import float_floor_divide, float_modulo
from gompute.frontend.irtext.text import FunctionText
from gompute.frontend.irtext.values import integer_literal, value_type
from gompute.lang.types import ScalarType

_INTEGER = {"add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor"}
_FLOAT = {"add": "fadd", "sub": "fsub", "mul": "fmul", "truediv": "fdiv"}
_FLOAT_COMPARE = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}


def binary(text: FunctionText, scalar: ScalarType, op: str, left: str, right: str, constant_right: float | None) -> str:
    """`left op right`; `constant_right` is the right operand's value where it is a constant, which saves its guards."""
    if scalar.kind == "float":
        return _float_binary(text, scalar, op, left, right)
    instruction = _INTEGER.get(op)
    if instruction is not None:
        return text.value(f"{instruction} {value_type(scalar)} {left}, {right}")
    divisor = None if constant_right is None else int(constant_right)
    if op == "shl" or op == "shr":
        return _shift(text, scalar, op, left, right, divisor)
    if op == "floordiv":
        return floor_divide(text, scalar, left, right, divisor)
    if op == "mod":
        return floor_modulo(text, scalar, left, right, divisor)
    raise InternalError(f"no operation {op!r} on {scalar}")


def _float_binary(text: FunctionText, scalar: ScalarType, op: str, left: str, right: str) -> str:
    small = scalar.bits == 16
    if small:
        left, right = widen_float(text, scalar, left), widen_float(text, scalar, right)
    register = "double" if scalar.bits == 64 else "float"
    instruction = _FLOAT.get(op)
    if instruction is not None:
        result = text.value(f"{instruction} {register} {left}, {right}")
    elif op == "floordiv":
        result = float_floor_divide(text, register, left, right)
    elif op == "mod":
        result = float_modulo(text, register, left, right)
    else:
        raise InternalError(f"no operation {op!r} on {scalar}")
    return narrow_float(text, scalar, result) if small else result


def _shift(text: FunctionText, scalar: ScalarType, op: str, value: str, amount: str, constant: int | None) -> str:
    """The amount counts as unsigned; by the width or more the result is 0, or the sign for a signed `shr`."""
    bits, register = scalar.bits, value_type(scalar)
    arithmetic = op == "shr" and scalar.kind == "int"
    instruction = "ashr" if arithmetic else "lshr" if op == "shr" else "shl"
    if constant is not None:
        places = constant & ((1 << bits) - 1)
        if places >= bits and not arithmetic:
            return "0"
        return text.value(f"{instruction} {register} {value}, {min(places, bits - 1)}")
    if arithmetic:
        places_in_range = text.intrinsic(f"llvm.umin.{register}", register, (register, amount), (register, str(bits - 1)))
        return text.value(f"ashr {register} {value}, {places_in_range}")
    masked = text.value(f"and {register} {amount}, {bits - 1}")
    shifted = text.value(f"{instruction} {register} {value}, {masked}")
    in_range = text.value(f"icmp ult {register} {amount}, {bits}")
    return text.value(f"select i1 {in_range}, {register} {shifted}, {register} 0")


def unary(text: FunctionText, scalar: ScalarType, op: str, operand: str) -> str:
    """``neg``, ``invert`` or ``not``."""
    register = value_type(scalar)
    if op == "not" or (op == "invert" and scalar.kind == "bool"):
        return text.value(f"xor i1 {operand}, true")
    if op == "invert":
        return text.value(f"xor {register} {operand}, -1")
    if op == "neg":
        if scalar.name == "bf16":
            return text.value(f"xor i16 {operand}, {integer_literal(0x8000, 16)}")
        if scalar.kind == "float":
            return text.value(f"fneg {register} {operand}")
        return text.value(f"sub {register} 0, {operand}")
    raise InternalError(f"no operation {op!r} on {scalar}")


def compare(text: FunctionText, scalar: ScalarType, op: str, left: str, right: str) -> str:
    """A comparison of two values of `scalar`; with NaN all are false but ``ne``."""
    if scalar.kind == "float":
        if scalar.bits == 16:
            left, right = widen_float(text, scalar, left), widen_float(text, scalar, right)
        return text.value(f"fcmp {_FLOAT_COMPARE[op]} {'double' if scalar.bits == 64 else 'float'} {left}, {right}")
    sign = "" if op in ("eq", "ne") else "s" if scalar.kind == "int" else "u"
    return text.value(f"icmp {sign}{op} {value_type(scalar)} {left}, {right}")


def extreme(text: FunctionText, scalar: ScalarType, name: str, left: str, right: str) -> str:
    """``min`` or ``max``; of floats NaN wins and -0 is below +0."""
    if scalar.kind == "bool":
        return text.value(f"{'and' if name == 'min' else 'or'} i1 {left}, {right}")
    if scalar.kind != "float":
        register = value_type(scalar)
        intrinsic = f"llvm.{'s' if scalar.kind == 'int' else 'u'}{name}.{register}"
        return text.intrinsic(intrinsic, register, (register, left), (register, right))
    small = scalar.bits == 16
    if small:
        left, right = widen_float(text, scalar, left), widen_float(text, scalar, right)
    register = "double" if scalar.bits == 64 else "float"
    intrinsic = f"llvm.{name}imum.f{max(scalar.bits, 32)}"
    result = text.intrinsic(intrinsic, register, (register, left), (register, right))
    return narrow_exact(text, scalar, result) if small else result


def absolute(text: FunctionText, scalar: ScalarType, operand: str) -> str:
    """``abs``: wraps for the smallest integer, clears a float's sign."""
    register = value_type(scalar)
    if scalar.kind == "int":
        return text.intrinsic(f"llvm.abs.{register}", register, (register, operand), ("i1", "false"))
    if scalar.name == "bf16":
        return text.value(f"and i16 {operand}, {0x7FFF}")
    if scalar.kind == "float":
        return text.intrinsic(f"llvm.fabs.f{scalar.bits}", register, (register, operand))
    return operand


def round_half_even(text: FunctionText, scalar: ScalarType, operand: str) -> str:
    """``round`` in the same type; the identity on integers and bool."""
    if scalar.kind != "float":
        return operand
    if scalar.bits == 16:
        operand = widen_float(text, scalar, operand)
    register = "double" if scalar.bits == 64 else "float"
    result = text.intrinsic(f"llvm.roundeven.f{max(scalar.bits, 32)}", register, (register, operand))
    return narrow_exact(text, scalar, result) if scalar.bits == 16 else result


def bitcast(text: FunctionText, source: ScalarType, target: ScalarType, operand: str) -> str:
    """The bits of a value of `source` as `target`; a bool is true unless all are 0."""
    if source.bits != target.bits:
        raise InternalError(f"bitcast from {source} to {target} changes the width")
    if source.kind == "bool" or target.kind == "bool":
        if source.kind == target.kind:
            return operand
        return text.value(f"zext i1 {operand} to i8" if source.kind == "bool" else f"icmp ne i8 {operand}, 0")
    if value_type(source) == value_type(target):
        return operand
    return text.value(f"bitcast {value_type(source)} {operand} to {value_type(target)}")
