"""Limits of a target are said with limit and value, for every kernel at once."""

from __future__ import annotations

import pytest

from gompute.artifacts.entry import ArgumentEntry
from gompute.backends.limits import argument_offsets, check_limits
from gompute.backends.pipeline import generate
from gompute.errors import CompileError
from gompute.targets import Target, parse_target
from tests.backends.modules import entry, head, kernel

SM_89, SM_90A, GFX942, GFX950, X86 = (parse_target(name) for name in ("sm_89", "sm_90a", "gfx942", "gfx950", "x86-64-v3"))


def _params(size: int) -> ArgumentEntry:
    return ArgumentEntry("params", "params", "Big", size, 4)


def _shared(target: Target, size: int) -> None:
    before = f"@tile = internal addrspace(3) global [{size} x i8] poison, align 4"
    body = "  %i = load i64, ptr %data\n  %p = getelementptr i8, ptr addrspace(3) @tile, i64 %i\n  store volatile i8 1, ptr addrspace(3) %p"
    generate(*kernel(target, body, before=before), target)


def test_offsets() -> None:
    arguments = [ArgumentEntry(name, "scalar", "", size, size) for name, size in (("a", 8), ("b", 1), ("c", 4), ("d", 2), ("e", 8))]
    assert argument_offsets(entry("k", arguments=arguments)) == ((0, 8, 12, 16, 24), 32)
    assert argument_offsets(entry("k", arguments=())) == ((), 0)


@pytest.mark.parametrize("target", [SM_89, GFX942, GFX950], ids=str)
def test_static_shared_memory(target: Target) -> None:
    limit = target.max_static_shared
    assert limit is not None
    _shared(target, limit)
    with pytest.raises(CompileError) as caught:
        _shared(target, limit + 1)
    said = f"it declares {limit + 1} bytes of static shared memory, and {target.name} has at most {limit}; use smaller shared arrays"
    assert str(caught.value).splitlines() == [f"1 limit of {target.name} exceeded", f"  kernel `probe`: {said}"]


@pytest.mark.parametrize("target", [SM_89, SM_90A, GFX942], ids=str)
def test_arguments(target: Target) -> None:
    limit = target.max_params
    assert limit is not None
    check_limits([entry("k", arguments=[_params(limit)])], {"k": 0}, target)
    with pytest.raises(CompileError) as caught:
        check_limits([entry("k", arguments=[ArgumentEntry("n", "scalar", "u8", 1, 1), _params(limit)])], {"k": 0}, target)
    assert f"kernel `k`: its arguments take {limit + 4} bytes, and {target.name} passes at most {limit}" in str(caught.value)
    assert f"(the largest is `params`, {limit} bytes)" in str(caught.value)


def test_over_long_arguments_do_not_reach_llvm() -> None:
    ir = head(SM_89) + 'define ptx_kernel void @k(ptr byval([5000 x i8]) align 4 %p) "nvvm.reqntid"="256" {\n  ret void\n}'
    with pytest.raises(CompileError, match="its arguments take 5000 bytes, and sm_89 passes at most"):
        generate(ir, (entry("k", arguments=[_params(5000)]),), SM_89)


def test_block() -> None:
    check_limits([entry("k", block_size=(32, 8, 4))], {"k": 0}, SM_89)
    with pytest.raises(CompileError, match=r"its block of 32 x 8 x 5 has 1280 work-items, and sm_89 runs at most 1024"):
        check_limits([entry("k", block_size=(32, 8, 5))], {"k": 0}, SM_89)


def test_a_cpu_has_no_limit_of_arguments_and_as_much_shared_memory_as_any_gpu() -> None:
    check_limits([entry("k", arguments=[_params(10**6)])], {"k": 320 * 1024}, X86)
    with pytest.raises(CompileError, match="it declares 327681 bytes of static shared memory, and x86-64-v3 has at most 327680"):
        check_limits([entry("k")], {"k": 320 * 1024 + 1}, X86)


def test_all_kernels_come_in_one_error() -> None:
    kernels = [entry("a", block_size=(2048, 1, 1)), entry("b", arguments=[_params(10**5)])]
    with pytest.raises(CompileError) as caught:
        check_limits(kernels, {"a": 10**6, "b": 0}, SM_89)
    lines = str(caught.value).splitlines()
    assert lines[0] == "3 limits of sm_89 exceeded"
    assert [line.partition(":")[0] for line in lines[1:]] == ["  kernel `a`", "  kernel `a`", "  kernel `b`"]
