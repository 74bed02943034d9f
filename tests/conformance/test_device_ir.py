"""What is compiled for AMD is what is compiled for NVIDIA, but for what the backends own; and its code is of the kind that keeps values."""

from __future__ import annotations

import difflib
import re
from functools import cache
from pathlib import Path

import pytest

from gompute.backends.pipeline import compile_piece, join_pieces
from gompute.frontend import RootIR, compile_root
from gompute.targets import parse_target
from tests.conformance import device_ir
from tests.conformance.conftest import TARGETS
from tests.conformance.loading import SOURCE
from tests.conformance.sets import ROOTS

AMD = [target for target in TARGETS if target.startswith("gfx")]


#: What has no common form: warps, and on NVIDIA atomics that the whole system sees. Their numbers are compared in tests of values.
OWN = re.compile(r"@llvm\.(nvvm\.(atomic\.|shfl\.sync|vote\.|read\.ptx\.sreg\.laneid)|amdgcn\.(ds\.bpermute|mbcnt\.|ballot\.))")


@cache
def _root(target: str, source: Path = SOURCE) -> RootIR:
    return compile_root(source, name=source.stem, imports=None, target=parse_target(target))


@cache
def _isa(target: str) -> str:
    parsed, emit = parse_target(target), frozenset({"asm"})
    pieces = [compile_piece(unit.ir, unit.kernels, parsed, emit=emit) for unit in _root(target).units]
    return join_pieces(pieces, parsed, emit=emit).listings["asm"]


@pytest.mark.parametrize("source", ROOTS, ids=[root.stem for root in ROOTS])
@pytest.mark.parametrize("target", AMD)
def test_the_ir_differs_from_nvidias_only_in_what_the_backends_own(target: str, source: Path) -> None:
    nvidia, amd = _root("sm_90", source).ir, _root(target, source).ir
    assert device_ir.tables(nvidia) == device_ir.tables(amd)
    left, right = device_ir.functions(nvidia), device_ir.functions(amd)
    assert left.keys() == right.keys()
    compared = 0
    for name, body in left.items():
        owned = device_ir.owned(body) | device_ir.owned(right[name])
        assert all(map(OWN.match, owned)), f"{name}: device_ir.py does not know how to compare {sorted(owned)}"
        if not owned:
            difference = "\n".join(difflib.unified_diff(body.splitlines(), right[name].splitlines(), "nvidia", "amd", lineterm=""))
            assert not difference, f"{name}:\n{difference}"
            compared += 1
    assert compared > 0.6 * len(left)


def test_a_difference_in_meaning_is_seen() -> None:
    """The common form hides no operation, type, order or constant."""
    body = "define internal i32 @f(i32 %a, ptr addrspace(1) %p) #0 {\nentry:\n  %0 = sub i32 %a, 7\n  ret i32 %0\n}"
    common = device_ir.functions(body)["f"]
    for changed in (
        body.replace("sub", "add"),
        body.replace("7", "8"),
        body.replace("%a, 7", "7, %a"),
        body.replace("i32 %0\n}", "i64 %0\n}"),
    ):
        assert device_ir.functions(changed)["f"] != common
    assert device_ir.functions(body.replace("addrspace(1)", "addrspace(4)").replace("%0", "%9"))["f"] == common
    assert device_ir.owned("  %0 = call i32 @llvm.amdgcn.ballot.i32(i1 %p)") == {"@llvm.amdgcn.ballot.i32"}


@pytest.mark.parametrize("target", AMD)
def test_the_isa_text_keeps_denormals_and_calls_nothing(target: str) -> None:
    text, kernels = _isa(target), len(_root(target).kernels)
    for setting in ("float_denorm_mode_32 3", "float_denorm_mode_16_64 3", "float_round_mode_32 0", "float_round_mode_16_64 0"):
        assert len(re.findall(rf"\.amdhsa_{setting}\b", text)) == kernels, setting
    instructions = set(re.findall(r"^\t([a-z][a-z0-9_]+)", text, re.MULTILINE))
    assert len(instructions) > 100
    # Every pointer's address space is known, every function is inlined, and nothing is approximated but the first guess of a division.
    bad = {name for name in instructions if re.match(r"flat_|s_swappc|s_setpc|v_(sin|cos|exp|log|rsq|sqrt)_", name)}
    assert not bad


@pytest.mark.parametrize("target", AMD)
def test_a_product_and_a_sum_are_not_fused_on_amd(target: str) -> None:
    text = _isa(target)
    body = text[text.index("\ntaps:") : text.index(".Lfunc_end", text.index("\ntaps:"))]
    assert re.search(r"v_(dual_)?mul_f32", body)
    assert re.search(r"v_(dual_)?add_f32", body)
    assert not re.search(r"v_(dual_)?(fma|fmac|mac|mad)(ak|mk)?_f32", body)
