"""Generated sources: long sums, long elif chains and long chains of calls are accepted, however deep the caller stands."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

import gompute as g
from gompute.frontend.recursion import deep_recursion
from tests.frontend.authoring import compiled, write


def test_long_sums_branches_and_call_chains_compile(tmp_path: Path) -> None:
    branches = "".join(f"    elif x == {i}:\n        return {7 * i}\n" for i in range(1, 600))
    chain = "def f0(x: i32) -> i32:\n    return x\n" + "".join(
        f"def f{i}(x: i32) -> i32:\n    return f{i - 1}(x) + 1\n" for i in range(1, 400)
    )
    body = f"@g.map\ndef total(x: f32) -> f32:\n    return {' + '.join(['x'] * 1000)}\n"
    body += f"@g.map\ndef branch(x: i32) -> i32:\n    if x == 0:\n        return 5\n{branches}    return 0\n"
    body += f"{chain}@g.map\ndef chained(x: i32) -> i32:\n    return f399(x)\n"
    assert [kernel.name for kernel in compiled(write(tmp_path, body)).kernels] == ["branch", "chained", "total"]


def test_an_elif_chain_that_no_kernel_reaches_does_no_harm(tmp_path: Path) -> None:
    branches = "".join(f"    elif x == {i}:\n        return {7 * i}\n" for i in range(1, 900))
    body = f"def host(x):\n    if x == 0:\n        return 5\n{branches}\n@g.map\ndef f(x: f32) -> f32:\n    return x\n"
    assert [kernel.name for kernel in compiled(write(tmp_path, body)).kernels] == ["f"]


@g.map
def long_sum(x: g.f32) -> g.f32:
    return x + (x + (x + (x + (x + (x + (x + (x + (x + (x + (x + (x + (x + (x + (x + (x + (x + (x + (x + (x + x)))))))))))))))))))


def test_a_host_call_does_not_depend_on_the_callers_depth() -> None:
    def from_depth(levels: int, call: Callable[[], float]) -> float:
        return call() if levels == 0 else from_depth(levels - 1, call)

    room = sys.getrecursionlimit() - 150
    assert from_depth(room // 2, lambda: long_sum(1.0)) == 21.0
    assert from_depth(room - 120, lambda: long_sum(2.0)) == 42.0


def test_threads_that_overlap_leave_the_limit_that_they_found() -> None:
    """One goes while another is still at it: what it puts back must not be what that one had lifted, nor be taken from it."""
    before = sys.getrecursionlimit()
    first, second = ExitStack(), ExitStack()
    first.enter_context(deep_recursion())
    second.enter_context(deep_recursion())
    first.close()
    assert sys.getrecursionlimit() > before
    second.close()
    assert sys.getrecursionlimit() == before


def test_json_that_nests_without_end_is_an_error_and_no_crash_meanwhile() -> None:
    with deep_recursion(), pytest.raises(RecursionError):
        json.loads("[" * 200_000)
