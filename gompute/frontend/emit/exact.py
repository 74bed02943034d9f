"""The exact functions of floats: `sqrt`, `floor`, `ceil`, `trunc`, `copysign`, `fmod`, `fma`, with one right result on every target.

f16 and bf16 are computed in f32 and rounded once more. That is right for sqrt (f32 has more than twice their digits, and 2 more) and exact
for the others but fma, which is computed in f64 and rounded to odd.
"""

from __future__ import annotations

from gompute.errors import InternalError
from gompute.frontend.emit.conversion import cast, narrow_exact, narrow_float, widen_float
from gompute.frontend.emit.remainder import float_remainder
from gompute.frontend.irtext.text import FunctionText, ModuleText
from gompute.lang.types import F64, ScalarType

_INTRINSICS = {"sqrt": 1, "floor": 1, "ceil": 1, "trunc": 1, "copysign": 2, "fma": 3}


def evaluate(text: FunctionText, scalar: ScalarType, name: str, *operands: str) -> str:
    """A function of values of the float `scalar`."""
    if name == "fma" and scalar.bits == 16:
        return _fma_of_16_bits(text, scalar, *operands)
    small = scalar.bits == 16
    if small:
        operands = tuple(widen_float(text, scalar, operand) for operand in operands)
    register = "double" if scalar.bits == 64 else "float"
    if name == "fmod":
        result = float_remainder(text, register, *operands)
    elif name in _INTRINSICS:
        result = text.intrinsic(f"llvm.{name}.f{max(scalar.bits, 32)}", register, *((register, operand) for operand in operands))
    else:
        raise InternalError(f"no intrinsic {name!r}")
    if not small:
        return result
    return narrow_float(text, scalar, result) if name == "sqrt" else narrow_exact(text, scalar, result)


def _fma_of_16_bits(text: FunctionText, scalar: ScalarType, *operands: str) -> str:
    wide = ", ".join(f"double {cast(text, scalar, F64, operand)}" for operand in operands)
    odd = text.value(f"call double @{text.module.support('gompute_fma_odd', _fma_odd)}({wide})")
    return cast(text, F64, scalar, odd)


def _fma_odd(module: ModuleText, symbol: str) -> str:
    """``a * b + c`` of numbers of at most 11 digits, rounded to odd: the product is exact, and the sum's error is found by Knuth's
    two-sum. What is no number (and infinity) has an error that is none either, and stays."""
    return f"""\
define internal double @{symbol}(double %a, double %b, double %c) #1 {{
  %p = fmul double %a, %b
  %s = fadd double %p, %c
  %c.back = fsub double %s, %p
  %p.back = fsub double %s, %c.back
  %c.lost = fsub double %c, %c.back
  %p.lost = fsub double %p, %p.back
  %lost = fadd double %p.lost, %c.lost
  %inexact = fcmp one double %lost, 0.0
  %bits = bitcast double %s to i64
  %last = trunc i64 %bits to i1
  %even = xor i1 %last, true
  %move = and i1 %inexact, %even
  %lost.bits = bitcast double %lost to i64
  %differ = xor i64 %bits, %lost.bits
  %inward = icmp slt i64 %differ, 0
  %step = select i1 %inward, i64 -1, i64 1
  %moved = add i64 %bits, %step
  %odd = select i1 %move, i64 %moved, i64 %bits
  %result = bitcast i64 %odd to double
  ret double %result
}}"""
