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


STRAIGHT = """
import gompute as g
from gompute import f32, i32, u64


def third(x: i32) -> i32:
    return i32(g.math.exp(f32(x))) if x > 7 else x % 3


def twice_third(x: i32) -> i32:
    return third(x) + third(x)


def repeated(x: i32) -> i32:
    for k in range(x):
        x = x + k
    return x


def loaded(data: g.ptr[i32]) -> i32:
    return data[0]


def counted(x: i32) -> i32:
    while x != 0:
        x = x - 1
    return x


@g.kernel(block_size=64)
def checks(data: g.ptr[i32], a: i32, b: i32) -> None:
    assert a > 0
    c = third(a)
    assert b > 0
    d = a // b
    BETWEEN
    assert d > c
    data[0] = d + c
"""


def lowered(folder: Path, target: str, source: str = ROOT) -> str:
    """The IR of the root in safe mode."""
    (folder / "root.py").write_text(source)
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


#: A statement, and how many jumps four checks take with it before the last one.
BETWEEN = {
    "pass": 1,
    "c = twice_third(c)": 1,
    "data[1] = 1": 2,
    "c = data[1]": 2,
    "c = loaded(data)": 2,
    "own = g.dynamic_shared(i32)\n    c = own[a]": 2,
    "own = g.shared(i32, 4)\n    c = own[a]": 2,
    "own = g.local(i32, 4)\n    c = own[a]": 1,
    "c = counted(c)": 2,
    "c = repeated(c)": 2,
    "g.barrier()": 2,
    "c = g.atomic_add(data, 0, 1)": 2,
    "c = g.shuffle(c, 0)": 2,
    "c = i32(g.global_id(0))": 1,
}


@pytest.mark.parametrize(
    ("between", "target"),
    [
        (between, target)
        for between in BETWEEN
        for target in ("sm_89", "gfx1100", "x86-64-v3")
        if "shuffle" not in between or target[0] != "x"
    ],
)
def test_checks_share_a_jump_where_nothing_else_happens(between: str, target: str, tmp_path: Path) -> None:
    text = lowered(tmp_path, target, STRAIGHT.replace("BETWEEN", between))
    assert len(re.findall(r"br i1 %\d+, label %passed\S*, label %wrong", text)) == BETWEEN[between]


def test_so_many_checks_share_a_jump_at_most(tmp_path: Path) -> None:
    text = lowered(tmp_path, "sm_89", STRAIGHT.replace("BETWEEN", "\n    ".join(["assert c > 1"] * 21)))
    assert len(re.findall(r"br i1 %\d+, label %passed\S*, label %wrong", text)) == 4  # 24 checks and one
