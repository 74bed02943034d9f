"""Conversions between scalar types, each rounded once.

No target of ours converts everything in one instruction (f64 to f16 is a library call on x86-64-v3), so the narrow formats are reached
through a wider one "rounded to odd": cut, with the last digit set when anything was lost. The set digit lies below those that decide the
second rounding and only says "not a tie".
"""

from __future__ import annotations

from gompute.frontend.irtext.text import FunctionText, ModuleText
from gompute.frontend.irtext.values import constant, integer_literal, value_type
from gompute.lang.types import BF16, F32, ScalarType


def cast(text: FunctionText, source: ScalarType, target: ScalarType, operand: str) -> str:
    """`operand` of type `source` converted by value to `target`."""
    if source == target:
        return operand
    if target.kind == "bool":
        return _to_bool(text, source, operand)
    if target.kind == "float":
        if source.kind == "float":
            return _float_to_float(text, source, target, operand)
        return _integer_to_float(text, source, target, operand)
    if source.kind == "float":
        return _float_to_integer(text, source, target, operand)
    return _integer_to_integer(text, source, target, operand)


def _to_bool(text: FunctionText, source: ScalarType, operand: str) -> str:
    if source.name == "bf16":
        magnitude = text.value(f"and i16 {operand}, {0x7FFF}")
        return text.value(f"icmp ne i16 {magnitude}, 0")
    if source.kind == "float":
        return text.value(f"fcmp une {value_type(source)} {operand}, {constant(source, 0.0)}")
    return text.value(f"icmp ne {value_type(source)} {operand}, 0")


def _integer_to_integer(text: FunctionText, source: ScalarType, target: ScalarType, operand: str) -> str:
    before, after = value_type(source), value_type(target)
    if before == after:
        return operand
    if source.kind == "bool" or source.bits < target.bits:
        return text.value(f"{'sext' if source.kind == 'int' else 'zext'} {before} {operand} to {after}")
    return text.value(f"trunc {before} {operand} to {after}")


def _float_to_integer(text: FunctionText, source: ScalarType, target: ScalarType, operand: str) -> str:
    if source.bits == 16:
        operand, source = widen_float(text, source, operand), F32
    register, result = value_type(source), value_type(target)
    sign = "s" if target.kind == "int" else "u"
    return text.intrinsic(f"llvm.fpto{sign}i.sat.{result}.f{source.bits}", result, (register, operand))


# ---- to floats ----


def widen_float(text: FunctionText, scalar: ScalarType, operand: str) -> str:
    """A value of f16 or bf16 as a ``float``; exact."""
    if scalar.name == "f16":
        return text.value(f"fpext half {operand} to float")
    word = text.value(f"zext i16 {operand} to i32")
    bits = text.value(f"shl i32 {word}, 16")
    return text.value(f"bitcast i32 {bits} to float")


def narrow_float(text: FunctionText, scalar: ScalarType, operand: str) -> str:
    """A ``float`` rounded to f16 or bf16."""
    if scalar.name == "f16":
        return text.value(f"fptrunc float {operand} to half")
    return text.value(f"call i16 @{text.module.support('gompute_bf16_from_f32', _bf16_from_f32)}(float {operand})")


def narrow_exact(text: FunctionText, scalar: ScalarType, operand: str) -> str:
    """A ``float`` that is a value of f16 or bf16 (or NaN) as that type, without rounding code."""
    if scalar.name == "f16":
        return text.value(f"fptrunc float {operand} to half")
    bits = text.value(f"bitcast float {operand} to i32")
    upper = text.value(f"lshr i32 {bits}, 16")
    return text.value(f"trunc i32 {upper} to i16")


def _float_to_float(text: FunctionText, source: ScalarType, target: ScalarType, operand: str) -> str:
    if source.bits == 16:
        operand = widen_float(text, source, operand)
        if target.bits == 64:
            return text.value(f"fpext float {operand} to double")
        return operand if target.bits == 32 else narrow_float(text, target, operand)
    if source.bits == 32:
        if target.bits == 64:
            return text.value(f"fpext float {operand} to double")
        return narrow_float(text, target, operand)
    if target.bits == 32:
        return text.value(f"fptrunc double {operand} to float")
    return narrow_float(text, target, _narrow_to_odd(text, operand))


def _integer_to_float(text: FunctionText, source: ScalarType, target: ScalarType, operand: str) -> str:
    if source.kind == "bool":
        return text.value(
            f"select i1 {operand}, {value_type(target)} {constant(target, 1.0)}, {value_type(target)} {constant(target, 0.0)}"
        )
    convert = "sitofp" if source.kind == "int" else "uitofp"
    register = value_type(source)
    if target.bits >= 32:
        return text.value(f"{convert} {register} {operand} to {value_type(target)}")
    if source.bits >= 32:
        if target.name == "f16":
            operand, register = _clamp_for_f16(text, source, operand), "i32"
        elif source.bits == 32:
            operand = _cut_to_odd(text, source, operand, digits=24, cut=8)
        else:
            operand = _cut_to_odd(text, source, operand, digits=53, cut=11)
            exact = text.value(f"{convert} i64 {operand} to double")
            return narrow_float(text, BF16, _narrow_to_odd(text, exact))
    return narrow_float(text, target, text.value(f"{convert} {register} {operand} to float"))


def _clamp_for_f16(text: FunctionText, source: ScalarType, operand: str) -> str:
    """An i32 that f16 rounds like `operand`: all from 65520 on is infinite, and up to 2**17 a ``float`` holds every integer."""
    register = value_type(source)
    limit = (1 << 17) - 1
    if source.kind == "uint":
        clamped = text.intrinsic(f"llvm.umin.{register}", register, (register, operand), (register, str(limit)))
    else:
        below = text.intrinsic(f"llvm.smin.{register}", register, (register, operand), (register, str(limit)))
        clamped = text.intrinsic(f"llvm.smax.{register}", register, (register, below), (register, str(-limit)))
    return clamped if source.bits == 32 else text.value(f"trunc i64 {clamped} to i32")


def _cut_to_odd(text: FunctionText, source: ScalarType, operand: str, *, digits: int, cut: int) -> str:
    """`operand` with its `cut` low digits rounded to odd where it is 2**digits or more in magnitude, so that a float of `digits` digits
    holds it exactly. In two's complement the neighbour below with its last digit set is the odd neighbour for either sign."""
    register, bits = value_type(source), source.bits
    low = text.value(f"and {register} {operand}, {(1 << cut) - 1}")
    lost = text.value(f"icmp ne {register} {low}, 0")
    sticky = text.value(f"select i1 {lost}, {register} {1 << cut}, {register} 0")
    kept = text.value(f"and {register} {operand}, {-(1 << cut)}")
    odd = text.value(f"or {register} {kept}, {sticky}")
    if source.kind == "int":
        shifted = text.value(f"add {register} {operand}, {1 << digits}")
        large = text.value(f"icmp ugt {register} {shifted}, {integer_literal(2 << digits, bits)}")
    else:
        large = text.value(f"icmp ugt {register} {operand}, {1 << digits}")
    return text.value(f"select i1 {large}, {register} {odd}, {register} {operand}")


def _narrow_to_odd(text: FunctionText, operand: str) -> str:
    return text.value(f"call float @{text.module.support('gompute_f32_odd_from_f64', _f32_odd_from_f64)}(double {operand})")


def _bf16_from_f32(module: ModuleText, symbol: str) -> str:
    """Nearest even on the bits; a NaN stays one, with the quiet bit set so that cutting its payload does not make infinity."""
    return f"""\
define internal i16 @{symbol}(float %value) #1 {{
  %bits = bitcast float %value to i32
  %upper = lshr i32 %bits, 16
  %odd = and i32 %upper, 1
  %biased = add i32 %bits, 32767
  %carried = add i32 %biased, %odd
  %rounded = lshr i32 %carried, 16
  %quiet = or i32 %upper, 64
  %nan = fcmp uno float %value, %value
  %result = select i1 %nan, i32 %quiet, i32 %rounded
  %short = trunc i32 %result to i16
  ret i16 %short
}}"""


def _f32_odd_from_f64(module: ModuleText, symbol: str) -> str:
    """Nearest, moved one step towards the operand where that was inexact and gave an even number; infinity from a finite operand becomes
    the largest float, which is odd, and 0 from another number the smallest subnormal."""
    module.declare("llvm.fabs.f64", "double", "double")
    return f"""\
define internal float @{symbol}(double %value) #1 {{
  %near = fptrunc double %value to float
  %back = fpext float %near to double
  %inexact = fcmp one double %back, %value
  %bits = bitcast float %near to i32
  %last = trunc i32 %bits to i1
  %even = xor i1 %last, true
  %move = and i1 %inexact, %even
  %far = call double @llvm.fabs.f64(double %back)
  %magnitude = call double @llvm.fabs.f64(double %value)
  %above = fcmp ogt double %far, %magnitude
  %step = select i1 %above, i32 -1, i32 1
  %moved = add i32 %bits, %step
  %odd = select i1 %move, i32 %moved, i32 %bits
  %result = bitcast i32 %odd to float
  ret float %result
}}"""
