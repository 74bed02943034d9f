"""Floor division and modulo of floats, step for step as NumPy takes them, on an exact remainder of our own.

LLVM's frem is a library call on the CPU and wrong on NVPTX, so the remainder is computed here. Where x / y is below 2**(digits - 1), its
rounded quotient cut to an integer is the true one or one more, and fma(-quotient, y, x) is exact: it is a multiple of the last place of
the smaller operand and no larger than y. A negative result means "one more". Larger quotients are taken in the same way from y times a
power of two, about 22 (f32) or 51 (f64) digits of the quotient at a time; scaling y up to at most x is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

from gompute.frontend.irtext.text import FunctionText, ModuleText
from gompute.frontend.irtext.values import float_literal


@dataclass(frozen=True, slots=True)
class _Format:
    """The numbers of one float format: `digits` of the significand, `width` in bits, exponent `bias`; `lift` is a power of two that makes
    every subnormal a normal number."""

    register: str
    suffix: str
    width: int
    digits: int
    bias: int
    lift: int


_FORMATS = {
    "float": _Format("float", "f32", 32, 24, 127, 32),
    "double": _Format("double", "f64", 64, 53, 1023, 64),
}


_FMOD = """\
define internal {T} @{symbol}({T} %a, {T} %b) #0 {{
entry:
  %x = call {T} @llvm.fabs.{S}({T} %a)
  %y = call {T} @llvm.fabs.{S}({T} %b)
  %q = fdiv {T} %x, %y
  %t = call {T} @llvm.trunc.{S}({T} %q)
  %minus.t = fneg {T} %t
  %r = call {T} @llvm.fma.{S}({T} %minus.t, {T} %y, {T} %x)
  %r.negative = fcmp olt {T} %r, {zero}
  %r.up = fadd {T} %r, %y
  %near = select i1 %r.negative, {T} %r.up, {T} %r
  %q.small = fcmp olt {T} %q, {direct}
  %y.finite = fcmp olt {T} %y, {infinity}
  %direct = and i1 %q.small, %y.finite
  br i1 %direct, label %done, label %special
special:
  %x.infinite = fcmp ueq {T} %x, {infinity}
  %y.zero = fcmp ueq {T} %y, {zero}
  %undefined = or i1 %x.infinite, %y.zero
  br i1 %undefined, label %no.number, label %large
no.number:
  ret {T} {nan}
large:
  %y.infinite = fcmp oeq {T} %y, {infinity}
  br i1 %y.infinite, label %done, label %reduce
reduce:
  %z = phi {T} [ %x, %large ], [ %rest, %reduce ]
  %z.small = fcmp olt {T} %z, {smallest_normal}
  %z.lifted = fmul {T} %z, {lift_factor}
  %z.normal = select i1 %z.small, {T} %z.lifted, {T} %z
  %z.bits = bitcast {T} %z.normal to {I}
  %z.field = lshr {I} %z.bits, {fraction_bits}
  %z.drop = select i1 %z.small, {I} {lift}, {I} 0
  %z.exponent = sub {I} %z.field, %z.drop
  %y.small = fcmp olt {T} %y, {smallest_normal}
  %y.lifted = fmul {T} %y, {lift_factor}
  %y.normal = select i1 %y.small, {T} %y.lifted, {T} %y
  %y.bits = bitcast {T} %y.normal to {I}
  %y.field = lshr {I} %y.bits, {fraction_bits}
  %y.drop = select i1 %y.small, {I} {lift}, {I} 0
  %y.exponent = sub {I} %y.field, %y.drop
  %apart = sub {I} %z.exponent, %y.exponent
  %excess = sub {I} %apart, {direct_exponents}
  %more = icmp sgt {I} %excess, 0
  %scale = select i1 %more, {I} %excess, {I} 0
  %first = lshr {I} %scale, 1
  %second = sub {I} %scale, %first
  %first.field = add {I} %first, {bias}
  %first.bits = shl {I} %first.field, {fraction_bits}
  %first.power = bitcast {I} %first.bits to {T}
  %second.field = add {I} %second, {bias}
  %second.bits = shl {I} %second.field, {fraction_bits}
  %second.power = bitcast {I} %second.bits to {T}
  %y.raised = fmul {T} %y, %first.power
  %s = fmul {T} %y.raised, %second.power
  %u = fdiv {T} %z, %s
  %v = call {T} @llvm.trunc.{S}({T} %u)
  %minus.v = fneg {T} %v
  %w = call {T} @llvm.fma.{S}({T} %minus.v, {T} %s, {T} %z)
  %w.negative = fcmp olt {T} %w, {zero}
  %w.up = fadd {T} %w, %s
  %rest = select i1 %w.negative, {T} %w.up, {T} %w
  br i1 %more, label %reduce, label %done
done:
  %magnitude = phi {T} [ %near, %entry ], [ %x, %large ], [ %rest, %reduce ]
  %result = call {T} @llvm.copysign.{S}({T} %magnitude, {T} %a)
  ret {T} %result
}}"""

_MODULO = """\
define internal {T} @{symbol}({T} %a, {T} %b) #0 {{
  %r = call {T} @{fmod}({T} %a, {T} %b)
  %left = fcmp une {T} %r, {zero}
  %r.negative = fcmp olt {T} %r, {zero}
  %b.negative = fcmp olt {T} %b, {zero}
  %differ = xor i1 %r.negative, %b.negative
  %r.moved = fadd {T} %r, %b
  %floored = select i1 %differ, {T} %r.moved, {T} %r
  %signed.zero = call {T} @llvm.copysign.{S}({T} {zero}, {T} %b)
  %result = select i1 %left, {T} %floored, {T} %signed.zero
  ret {T} %result
}}"""

_FLOOR_DIVIDE = """\
define internal {T} @{symbol}({T} %a, {T} %b) #0 {{
  %r = call {T} @{fmod}({T} %a, {T} %b)
  %plain = fdiv {T} %a, %b
  %multiple = fsub {T} %a, %r
  %quotient = fdiv {T} %multiple, %b
  %left = fcmp une {T} %r, {zero}
  %r.negative = fcmp olt {T} %r, {zero}
  %b.negative = fcmp olt {T} %b, {zero}
  %differ = xor i1 %r.negative, %b.negative
  %move = and i1 %left, %differ
  %quotient.below = fsub {T} %quotient, {one}
  %moved = select i1 %move, {T} %quotient.below, {T} %quotient
  %floor = call {T} @llvm.floor.{S}({T} %moved)
  %above = fsub {T} %moved, %floor
  %round.up = fcmp ogt {T} %above, {half}
  %floor.next = fadd {T} %floor, {one}
  %whole = select i1 %round.up, {T} %floor.next, {T} %floor
  %nothing = fcmp oeq {T} %moved, {zero}
  %signed.zero = call {T} @llvm.copysign.{S}({T} {zero}, {T} %plain)
  %finished = select i1 %nothing, {T} %signed.zero, {T} %whole
  %by.zero = fcmp oeq {T} %b, {zero}
  %result = select i1 %by.zero, {T} %plain, {T} %finished
  ret {T} %result
}}"""


def float_floor_divide(text: FunctionText, register: str, left: str, right: str) -> str:
    """NumPy's ``left // right`` of two ``float`` or ``double`` values."""
    return _call(text, "floordiv", _FLOOR_DIVIDE, register, left, right)


def float_modulo(text: FunctionText, register: str, left: str, right: str) -> str:
    """NumPy's ``left % right`` of two ``float`` or ``double`` values."""
    return _call(text, "mod", _MODULO, register, left, right)


def float_remainder(text: FunctionText, register: str, left: str, right: str) -> str:
    """C's ``fmod(left, right)`` of two ``float`` or ``double`` values."""
    return text.value(f"call {register} @{_fmod(text.module, _FORMATS[register])}({register} {left}, {register} {right})")


def _fmod(module: ModuleText, form: _Format) -> str:
    return module.support(f"gompute_fmod_{form.suffix}", lambda module, symbol: _expand(module, _FMOD, form, symbol, ""))


def _call(text: FunctionText, name: str, body: str, register: str, left: str, right: str) -> str:
    form = _FORMATS[register]

    def define(module: ModuleText, symbol: str) -> str:
        return _expand(module, body, form, symbol, _fmod(module, form))

    symbol = text.module.support(f"gompute_{name}_{form.suffix}", define)
    return text.value(f"call {register} @{symbol}({register} {left}, {register} {right})")


def _expand(module: ModuleText, body: str, form: _Format, symbol: str, fmod: str) -> str:
    """Fill in a template below and declare the intrinsics that it calls."""
    arities = {"fabs": 1, "trunc": 1, "floor": 1, "copysign": 2, "fma": 3}
    for name, arity in arities.items():
        if f"@llvm.{name}." in body:
            module.declare(f"llvm.{name}.{form.suffix}", form.register, ", ".join([form.register] * arity))
    return body.format(
        T=form.register,
        S=form.suffix,
        I=f"i{form.width}",
        symbol=symbol,
        fmod=fmod,
        fraction_bits=form.digits - 1,
        direct=float_literal(2.0 ** (form.digits - 1)),
        direct_exponents=form.digits - 2,
        infinity=float_literal(float("inf")),
        nan=float_literal(float("nan")),
        zero=float_literal(0.0),
        half=float_literal(0.5),
        one=float_literal(1.0),
        smallest_normal=float_literal(2.0 ** (1 - form.bias)),
        lift=form.lift,
        lift_factor=float_literal(2.0**form.lift),
        bias=form.bias,
    )
