"""How work-items leave a function when a check fails: on AMD those of a warp together, elsewhere each by itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gompute.frontend.root import lower_root
from gompute.targets import Mode, parse_target

ROOT = """
import gompute as g
from gompute import i32, u64


def share(x: i32, y: i32) -> i32:
    return x // y


@g.kernel(block_size=64)
def divide(data: g.ptr[i32], n: u64) -> None:
    i = g.global_id(0)
    if i < n:
        data[i] = share(data[i], data[i + 1]) << data[i]
"""


def lowered(folder: Path, target: str) -> str:
    """The IR of the root in safe mode."""
    (folder / "root.py").write_text(ROOT)
    lowering = lower_root(folder / "root.py", name="root", imports=None, target=parse_target(target), mode=Mode("safe", False))
    (unit,) = lowering.units
    return unit.ir


@pytest.mark.parametrize(("target", "word"), [("gfx1100", "i32"), ("gfx90a", "i64")])
def test_the_lanes_of_a_warp_leave_together(target: str, word: str, tmp_path: Path) -> None:
    text = lowered(tmp_path, target)
    functions = [part for part in re.split(r"\n(?=define )", text) if re.search(r"label %(wrong\.b\d+|failed), ", part)]
    assert len(functions) == 2
    for function in functions:
        assert " convergent {" in function.split("\n", 1)[0]
        ways = re.findall(r"br i1 (%\d+), label %passed\S*, label %(\S+),", function)
        assert ways
        for condition, way in ways:
            lanes = re.search(rf"  {condition} = icmp eq i64 (%\d+), 0\n", function)
            assert lanes is not None
            ballot = f"{lanes[1]} = call i64 @llvm.amdgcn.ballot.i64" if word == "i64" else f"{lanes[1]} = zext i32"
            assert ballot in function
            if way != "failed":  # there the lanes that did not fail keep a note of no check
                block = function[function.index(f"\n{way}:") :]
                assert re.match(rf"\n{re.escape(way)}:\n.*?lshr i64 {lanes[1]}, .*?select i1 %\d+, i32 \d+, i32 0", block, re.DOTALL)
    entry = text[text.index("define amdgpu_kernel") :]
    assert "store volatile i32 0, ptr addrspace(5) %gompute.note" in entry
    assert entry.index("icmp ne i32") < entry.index("cmpxchg"), "a note of no check takes no record"


@pytest.mark.parametrize("target", ["sm_89", "x86-64-v3"])
def test_elsewhere_each_leaves_by_itself(target: str, tmp_path: Path) -> None:
    text = lowered(tmp_path, target)
    assert re.search(r"br i1 %\d+, label %passed\S*, label %wrong", text)
    assert "ballot" not in text
    assert "vote" not in text
