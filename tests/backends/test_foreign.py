"""Rewritten modules of other compilers, through the tools that the backends use: what comes out bears the public names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from llvmlite import binding as llvm

from gompute.backends import codeobject, lld, ptx, ptxas
from gompute.ir.rewrite import rewrite
from gompute.targets import parse_target

GOLDEN = Path(__file__).resolve().parent.parent.parent / "checks" / "golden" / "ir"
ZIG_16 = ["raw_scale", "raw_add", "raw_add_again"]
# Of two names for one function Zig 0.17 exports the last.
ZIG_17 = ["raw_scale", "raw_add_again"]
CLANG = ["raw_scale", "raw_add"]


def _module(name: str, target: str) -> tuple[llvm.ModuleRef, llvm.TargetMachine]:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    text = rewrite((GOLDEN / name).read_bytes(), name).text
    # Another LLVM's list of features is not this one's.
    module = llvm.parse_assembly(re.sub(r'"target-(?:cpu|features)"="[^"]*" ?', "", text))
    found = parse_target(target)
    return module, llvm.Target.from_triple(found.triple).create_target_machine(cpu=found.cpu, features=found.features, opt=3)


@pytest.mark.parametrize(("name", "kernels"), [("zig-0.16-nvptx64", ZIG_16), ("zig-0.17-nvptx64", ZIG_17), ("clang-nvptx64", CLANG)])
def test_ptxas_takes_the_kernels_under_their_names(name: str, kernels: list[str]) -> None:
    module, machine = _module(f"{name}.ll", "sm_89")
    text = ptx.strip_header(machine.emit_assembly(module))
    assert sorted(ptx.read(text).kernels) == sorted(kernels)
    assembled = ptxas.assemble(text.encode(), "sm_89", name)
    assert sorted(assembled.resources) == sorted(kernels)


@pytest.mark.parametrize(("name", "kernels"), [("zig-0.16-amdgcn", ZIG_16), ("zig-0.17-amdgcn", ZIG_17), ("clang-amdgcn", CLANG)])
def test_a_code_object_has_the_kernels_under_their_names(name: str, kernels: list[str]) -> None:
    module, machine = _module(f"{name}.ll", "gfx1100")
    found = codeobject.read(lld.link([machine.emit_object(module)], (), name))
    assert sorted(found.kernels) == sorted(kernels)
    arguments = [(argument.offset, argument.size) for argument in found.kernels["raw_scale"].arguments]
    assert arguments[:3] == [(0, 8), (8, 8), (16, 4)]
