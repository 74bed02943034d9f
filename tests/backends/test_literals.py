"""Literals in a table: the module means what it meant, and its code reads each from memory once more."""

from __future__ import annotations

import ctypes
import math

import pytest
from llvmlite import binding as llvm

from gompute.backends.literals import by_load
from gompute.targets import parse_target
from tests.backends.running import run

X86 = parse_target("x86-64-v3")

DOUBLE = """\
define double @f(double %x) {
entry:
  %a = fmul double %x, 1.500000e+00
  %b = fadd contract double 0x3FF3C0CA428C59FB, %a
  %c = fcmp olt double %b, -2.500000e-01
  %d = select i1 %c, double 3.125000e+00, double %b
  br i1 %c, label %low, label %end

low:
  %e = fdiv double 7.000000e+00, %d
  br label %end

end:
  %p = phi double [ 1.250000e+00, %entry ], [ %e, %low ]
  %g = tail call double @llvm.fma.f64(double %p, double 1.500000e+00, double 0.000000e+00)
  %s = fsub double -0.000000e+00, %g
  %h = tail call double @llvm.maximum.f64(double %s, double 0xFFF0000000000000)
  ret double %h
}
declare double @llvm.fma.f64(double, double, double)
declare double @llvm.maximum.f64(double, double)
"""
FLOAT = DOUBLE.replace("double", "float").replace("f64", "f32").replace("0x3FF3C0CA428C59FB", "0x3FF3C0CA40000000")


@pytest.mark.parametrize(("text", "kind"), [(DOUBLE, ctypes.c_double), (FLOAT, ctypes.c_float)])
def test_literals_are_read_and_the_result_is_the_same(text: str, kind: type[ctypes.c_double | ctypes.c_float]) -> None:
    printed = str(llvm.parse_assembly(f'target triple = "{X86.triple}"\n{text}'))
    made = by_load(printed)
    assert made.count(" = load ") == 7  # one value in two places is two loads
    assert made.splitlines()[-1].count(f"{'double' if kind is ctypes.c_double else 'float'} ") == 7
    for value in (-3.75, -0.5, 0.0, 1e30, math.inf):
        assert run(made, kind, value) == run(printed, kind, value)


@pytest.mark.parametrize(
    "text",
    [
        "define i64 @f(i64 %x) {\n  %y = add i64 %x, 5\n  ret i64 %y\n}\n",
        "define <2 x double> @f(<2 x double> %x) {\n  %y = fmul <2 x double> %x, splat (double 5.0)\n  ret <2 x double> %y\n}\n",
    ],
)
def test_a_module_without_literals_is_as_it_was(text: str) -> None:
    printed = str(llvm.parse_assembly(text))
    assert by_load(printed) == printed
