"""Cutting long blocks: the module means what it meant."""

from __future__ import annotations

import ctypes

from llvmlite import binding as llvm

from gompute.backends import blocks
from gompute.targets import parse_target
from tests.backends.running import run

X86 = parse_target("x86-64-v3")


def _long(count: int, entry: str) -> str:
    """A loop of three turns whose body and entry are long, with phis that name both; a value goes in and comes out changed."""
    head = [f"  %e{number} = add i64 %{'x' if number == 0 else f'e{number - 1}'}, {number}" for number in range(count)]
    body = ["  %b0 = mul i64 %v, 3"] + [f"  %b{number} = xor i64 %b{number - 1}, {number}" for number in range(1, count)]
    return "\n".join(
        [
            f'target triple = "{X86.triple}"',
            "define i64 @f(i64 %x) {",
            *([f"{entry}:"] if entry else []),
            *head,
            "  br label %loop",
            "loop:",
            f"  %i = phi i64 [ 0, %{entry or '0'} ], [ %j, %loop ]",
            f"  %v = phi i64 [ %e{count - 1}, %{entry or '0'} ], [ %b{count - 1}, %loop ]",
            *body,
            "  %j = add i64 %i, 1",
            "  %more = icmp ult i64 %j, 3",
            "  br i1 %more, label %loop, label %end",
            "end:",
            f"  ret i64 %b{count - 1}",
            "}",
        ]
    )


def test_a_module_of_short_blocks_is_left_alone() -> None:
    assert blocks.cut(str(llvm.parse_assembly(_long(100, "entry")))) is None


def test_long_blocks_are_cut_and_the_result_is_the_same() -> None:
    for entry in ("entry", ""):
        printed = str(llvm.parse_assembly(_long(blocks.LONGEST + 500, entry)))
        cut = blocks.cut(printed)
        assert cut is not None
        assert cut.count("gompute.piece.") > 4
        assert run(cut, ctypes.c_uint64, 7) == run(printed, ctypes.c_uint64, 7)
        assert blocks.cut(str(llvm.parse_assembly(cut))) is None
