"""Generated kernels are what an author would write by hand: each element read once and written once, one check of the bound, and all
that the compilers of the vendors can be told."""

from __future__ import annotations

import re
from functools import cache

import pytest

from gompute.backends.pipeline import compile_piece, join_pieces
from gompute.frontend import RootIR, compile_root
from gompute.lang.operation import Elementwise, Fused, Indirect, Raw
from gompute.lang.tiled import Tiled
from gompute.lang.types import PointerType
from gompute.targets import parse_target
from tests.conformance.loading import SOURCE, spec

DEVICES = ("sm_90", "gfx1100", "gfx942")
#: Elementwise kernels without a comparison of their own, one of each operation, of small, large, 16-bit and mixed elements.
STRAIGHT = (
    *("halve", "halves", "double_plus_i8", "double_plus_u64", "powers", "squares", "taps", "no_params"),  # map
    *("same_type", "widen", "is_even", "axpy", "place", "ramp", "doubled_back", "renamed"),  # map_to, zip, map_indexed, fused, unary
)


@cache
def _root(target: str) -> RootIR:
    return compile_root(SOURCE, name="kernels", imports=None, target=parse_target(target))


@cache
def _code(target: str) -> str:
    """The assembly of some kernels."""
    parsed, emit = parse_target(target), frozenset({"asm"})
    wanted = {*STRAIGHT, "gather_u64", "scatter_f32", "scatter_add_f32"}
    units = [unit for unit in _root(target).units if {kernel.name for kernel in unit.kernels} & wanted]
    pieces = [compile_piece(unit.ir, unit.kernels, parsed, emit=emit) for unit in units]
    return join_pieces(pieces, parsed, emit=emit).listings["asm"]


def _body(target: str, kernel: str) -> str:
    text = _code(target)
    if target.startswith("sm_"):
        start = text.index(f".entry {kernel}(")
        return text[start : text.index("\n}", start)]
    start = text.index(f"\n{kernel}:")
    return text[start : text.index("s_endpgm", start)]


LOADS = {"sm": r"\bld\.global", "gfx": r"\b(?:global|flat|buffer)_load"}
STORES = {"sm": r"\bst\.global", "gfx": r"\b(?:global|flat|buffer)_store"}
COMPARISONS = {"sm": r"\bsetp\.", "gfx": r"\b[vs]_cmpx?_"}


@pytest.mark.parametrize("target", DEVICES)
@pytest.mark.parametrize("kernel", STRAIGHT)
def test_an_element_is_read_and_written_once_behind_one_check(kernel: str, target: str) -> None:
    declared, body, vendor = spec(kernel), _body(target, kernel), "sm" if target.startswith("sm_") else "gfx"
    arrays = sum(isinstance(argument.type, PointerType) for argument in declared.launch_arguments)
    assert len(re.findall(LOADS[vendor], body)) == max(1, arrays - 1)
    assert len(re.findall(STORES[vendor], body)) == 1
    assert len(re.findall(COMPARISONS[vendor], body)) == 1


@pytest.mark.parametrize("target", DEVICES)
def test_an_index_is_read_once_and_checked_once(target: str) -> None:
    vendor = "sm" if target.startswith("sm_") else "gfx"
    for kernel, stores in (("gather_u64", 1), ("scatter_f32", 1), ("scatter_add_f32", 0)):
        body = _body(target, kernel)
        assert [len(re.findall(pattern[vendor], body)) for pattern in (LOADS, STORES, COMPARISONS)] == [2, stores, 2], kernel
    added = {"sm_90": r"\b(red|atom)\.[\w.]*add\.f32", "gfx1100": r"\bglobal_atomic_add_f32", "gfx942": r"\bglobal_atomic_add_f32"}
    assert len(re.findall(added[target], _body(target, "scatter_add_f32"))) == 1


@pytest.mark.parametrize("target", DEVICES)
def test_the_compiler_of_the_vendor_is_told_all(target: str) -> None:
    """The size of blocks, how pointers are aligned, which of them lead to memory of their own, and which are only read."""
    heads = dict(re.findall(r"^define (?:ptx|amdgpu)_kernel void (@\w+)(\(.*)$", _root(target).ir, re.MULTILINE))
    assert len(heads) == len(_root(target).kernels)
    for entry in _root(target).kernels:
        declared, head = spec(entry.name), heads[f"@{entry.name}"]
        x, y, z = entry.block_size
        exact = not isinstance(declared.operation, Raw)
        if target.startswith("sm_"):
            size = f'"nvvm.{"reqntid" if exact else "maxntid"}"="{x},{y},{z}"'
        else:
            size = f'"amdgpu-flat-work-group-size"="{x * y * z if exact else 1},{x * y * z}"'
        assert size in head
        for argument in declared.launch_arguments:
            if isinstance(argument.type, PointerType):
                (words,) = re.findall(rf"ptr addrspace\(1\)([^%]*) %{argument.name}[,)]", head)
                assert f" align {argument.type.element.size}" in words
                assert ("noalias" in words) == _is_apart(entry.name, argument.name)
                assert ("readonly" in words) == (exact and argument.name not in ("data", "out", "partials")) or argument.name == "data"


def _is_apart(kernel: str, argument: str) -> bool:
    """Whether a launch may give nothing else in the memory of an argument: the output of some operations may be an input of theirs, and
    what the pointers of a raw kernel lead to, only its author knows."""
    operation = spec(kernel).operation
    if isinstance(operation, Tiled) and operation.scan and not operation.exclusive:
        return argument == "partials"
    if isinstance(operation, Elementwise):
        return operation.in_place
    return isinstance(operation, Fused | Indirect | Tiled)
