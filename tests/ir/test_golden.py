"""Modules of other compilers, and what a rewrite makes of them: `checks/golden/ir`.

`pytest tests/ir/test_golden.py --update` writes the expected files anew and shows the differences.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import re
from pathlib import Path

import pytest
from llvmlite import binding as llvm

from gompute.ir.rewrite import bitcode, kernels, prune, rewrite

GOLDEN = Path(__file__).resolve().parent.parent.parent / "checks" / "golden" / "ir"
INPUTS = sorted(GOLDEN.glob("*.ll"))

# Names of the inputs, so that one that is lost is missed.
CASES = {
    *("attachments", "chains", "clang-amdgcn", "clang-nvptx64", "crlf", "debug", "names"),
    *("cuda-nvptx64", "hip-amdgcn", "rust-amdgcn", "rust-nvptx64"),
    *("zig-0.16-amdgcn", "zig-0.16-nvptx64", "zig-0.17-amdgcn", "zig-0.17-nvptx64"),
}


def _expect(name: str, made: str, request: pytest.FixtureRequest) -> None:
    file = GOLDEN / "expected" / name
    before = file.read_text() if file.exists() else ""
    lines = difflib.unified_diff(before.splitlines(), made.splitlines(), f"expected/{name}", "made now", lineterm="")
    difference = "\n".join(lines)
    if request.config.getoption("--update", default=False):
        if difference:
            file.parent.mkdir(exist_ok=True)
            file.write_text(made)
            capture = request.config.pluginmanager.getplugin("capturemanager")
            with capture.global_and_fixture_disabled():
                print(f"\n{difference}")
    else:
        assert not difference, f"\n{difference}\nIf this is as it should be: pytest tests/ir/test_golden.py --update"


def test_all_inputs_are_there() -> None:
    assert {path.stem for path in INPUTS} == CASES


@pytest.mark.parametrize("file", INPUTS, ids=lambda path: path.stem)
def test_golden(file: Path, request: pytest.FixtureRequest) -> None:
    data = file.read_bytes()
    made = rewrite(data, file.name)
    _expect(f"{file.stem}.ll", made.text, request)
    _expect(f"{file.stem}.json", json.dumps(made.names, indent=1, ensure_ascii=False) + "\n", request)
    first = kernels(data, file.name)[0].public
    _expect(f"{file.stem}.pruned.ll", prune(data, file.name, [first]).text, request)


@pytest.mark.parametrize("file", INPUTS, ids=lambda path: path.stem)
def test_a_rewrite_leaves_nothing_to_rewrite(file: Path) -> None:
    once = rewrite(file.read_bytes(), file.name)
    twice = rewrite(once.text.encode(), file.name)
    assert llvm_text(twice.text) == llvm_text(once.text)
    assert twice.names == {symbol: symbol for symbol in once.names.values()}
    assert not twice.warnings


@pytest.mark.parametrize("file", INPUTS, ids=lambda path: path.stem)
def test_bitcode_is_read_as_text_is(file: Path) -> None:
    once = rewrite(file.read_bytes(), file.name)
    module = bitcode(once.text, file.name)
    assert module.startswith(b"BC")
    assert rewrite(module, file.name).names == rewrite(once.text.encode(), file.name).names


def llvm_text(text: str) -> str:
    """The text in LLVM's own form; in a context of its own, since two modules of one cannot both have a type of one name."""
    context = llvm.create_context()
    with contextlib.closing(llvm.parse_assembly(text, context)) as module:
        return str(module)


@pytest.mark.parametrize("name", ["zig-0.16-nvptx64", "zig-0.17-nvptx64", "clang-nvptx64", "cuda-nvptx64", "rust-nvptx64", "crlf", "names"])
def test_the_nvptx_backend_takes_the_kernels(name: str) -> None:
    data = (GOLDEN / f"{name}.ll").read_bytes()
    made = prune(data, name, [kernel.public for kernel in kernels(data, name)])
    assembly = _machine("nvptx64-nvidia-cuda", "sm_89").emit_assembly(_for_any_processor(made.text))
    for symbol in made.names.values():
        assert f".visible .entry {symbol}(" in assembly


@pytest.mark.parametrize("name", ["zig-0.16-amdgcn", "zig-0.17-amdgcn", "clang-amdgcn", "hip-amdgcn", "rust-amdgcn", "debug"])
def test_the_metadata_of_a_code_object_bear_the_public_names(name: str) -> None:
    made = rewrite((GOLDEN / f"{name}.ll").read_bytes(), name)
    assembly = _machine("amdgcn-amd-amdhsa", "gfx1100").emit_assembly(_for_any_processor(made.text))
    named = {line.split()[-1] for line in assembly.splitlines() if line.startswith("    .name: ")}
    assert set(made.names.values()) <= named
    assert not any(".impl" in name or "k." in name for name in named)


def _machine(triple: str, processor: str) -> llvm.TargetMachine:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(triple).create_target_machine(cpu=processor)


def _for_any_processor(text: str) -> llvm.ModuleRef:
    """The module without attributes that name a processor."""
    return llvm.parse_assembly(re.sub(r'"target-(?:cpu|features)"="[^"]*" ?', "", text))
