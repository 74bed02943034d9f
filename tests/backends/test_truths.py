"""Truths made again in the blocks that use them: the module means what it meant."""

from __future__ import annotations

import ctypes

import pytest
from llvmlite import binding as llvm

from gompute.backends.truths import made_again
from gompute.targets import parse_target
from tests.backends.running import run

X86 = parse_target("x86-64-v3")

TEXT = """\
define double @f(double %0) {
entry:
  %1 = fcmp olt double %0, 1.500000e+00
  %"a b" = fcmp ogt double %0, -4.000000e+00
  %both = and i1 %1, %"a b"
  %i = fptosi double %0 to i64
  %odd = trunc i64 %i to i1
  %c = select i1 %odd, i1 %both, i1 true
  br i1 %1, label %low, label %end

low:
  %2 = select i1 %c, double 2.000000e+00, double %0
  %3 = select i1 %c, double %2, double 5.000000e+00
  %4 = fcmp oeq double %3, 2.000000e+00
  br i1 %4, label %"the last", label %end

end:
  %p = phi i1 [ %c, %entry ], [ %4, %low ]
  %q = phi double [ %0, %entry ], [ %3, %low ]
  %r = select i1 %p, double %q, double 7.000000e+00
  br i1 %both, label %"the last", label %out

"the last":
  %s = phi double [ %r, %end ], [ 9.000000e+00, %low ]
  %t = select i1 %both, double %s, double 8.000000e+00
  ret double %t

out:
  %u = uitofp i1 %odd to double
  ret double %u
}
"""


def test_truths_are_made_again_and_the_result_is_the_same() -> None:
    printed = str(llvm.parse_assembly(f'target triple = "{X86.triple}"\n{TEXT}'))
    made = made_again(printed)
    llvm.parse_assembly(made).verify()
    for value in (-7.0, -4.0, -3.75, -1.0, 0.0, 1.0, 1.5, 2.0, 3.5):
        assert run(made, ctypes.c_double, value) == run(printed, ctypes.c_double, value)
    assert not far_away(made)
    assert far_away(printed)


def far_away(text: str) -> list[str]:
    """The instructions that use a truth of another block."""
    found = []
    (function,) = (function for function in llvm.parse_assembly(text).functions if not function.is_declaration)
    made = {str(instruction) for block in function.blocks for instruction in block.instructions}
    for block in function.blocks:
        own = {str(instruction) for instruction in block.instructions}
        for instruction in block.instructions:
            truths = made & {str(operand) for operand in instruction.operands if str(operand.type) == "i1"}
            if instruction.opcode != "phi" and any(" = phi " not in truth for truth in truths - own):
                found.append(str(instruction))
    return found


@pytest.mark.parametrize(
    "text", ["define i64 @f(i64 %x) {\n  %c = icmp eq i64 %x, 5\n  %y = select i1 %c, i64 %x, i64 1\n  ret i64 %y\n}\n", ""]
)
def test_a_module_without_truths_far_away_is_as_it_was(text: str) -> None:
    printed = str(llvm.parse_assembly(text))
    assert made_again(printed) == printed
