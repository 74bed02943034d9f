"""The way through as a whole: the same bytes always, listings that change nothing, and errors that say where."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import gompute
from gompute.backends import lld, ptxas
from gompute.backends.pipeline import generate, prepare, toolchain
from gompute.errors import CompileError, InternalError
from gompute.targets import parse_target
from tests.backends.modules import entry, head, kernel, raw_fill, scale_relu

NAMES = ("sm_89", "gfx942", "gfx11-generic", "x86-64-v3", "aarch64")
SM_89 = parse_target("sm_89")

_HASHES = """
import hashlib, json, sys
from gompute.backends.pipeline import generate
from gompute.targets import parse_target
from tests.backends.modules import raw_fill, scale_relu
found = {}
for name in sys.argv[1:]:
    target = parse_target(name)
    for make in (scale_relu, raw_fill):
        for blob in generate(*make(target), target, emit=frozenset({"cubin"})).blobs:
            found[f"{name} {make.__name__} {blob.kind}"] = hashlib.sha256(blob.data).hexdigest()
print(json.dumps(found))
"""


def _hashes(names: tuple[str, ...], seed: str) -> dict[str, str]:
    """Hashes of the blobs of two roots for each target, made one after the other in one fresh process."""
    folder = str(Path(gompute.__path__[0]).parent)
    environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": folder, "HOME": f"/tmp/{seed}", "TZ": "Asia/Tokyo" if seed == "1" else "UTC"}
    done = subprocess.run([sys.executable, "-c", _HASHES, *names], capture_output=True, text=True, env=environment, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    hashes: dict[str, str] = json.loads(done.stdout)
    return hashes


def test_bytes_are_the_same_in_every_process_and_order() -> None:
    first = _hashes(NAMES, "1")
    assert first == _hashes(NAMES[::-1], "2")
    assert len(first) == 2 * len(NAMES) + 2
    assert len(set(first.values())) == len(first)


@pytest.mark.parametrize("name", NAMES)
def test_listings_change_no_byte(name: str) -> None:
    target = parse_target(name)
    ir, kernels = scale_relu(target)
    plain = generate(ir, kernels, target)
    listed = generate(ir, kernels, target, emit=frozenset({"ptx", "ir", "asm"}))
    assert listed.blobs == plain.blobs
    assert listed.kernels == plain.kernels
    assert plain.listings == {}
    assert listed.listings.keys() == {"ir", "asm"}
    assert "@scale_relu(" in listed.listings["ir"]
    assert "call float @scale_relu_body" not in listed.listings["ir"]  # optimised: the function is inlined
    assert "scale_relu" in listed.listings["asm"]


@pytest.mark.parametrize("name", NAMES)
def test_functions_that_are_not_inlined_stay_inside(name: str) -> None:
    target = parse_target(name)
    helper = "define i32 @helper(i32 %n) noinline {\n  %m = mul i32 %n, %n\n  ret i32 %m\n}"
    body = "  %n = load i32, ptr %data\n  %m = call i32 @helper(i32 %n)\n  store i32 %m, ptr %data"
    generated = generate(*kernel(target, body, before=helper), target, emit=frozenset({"ir"}))
    assert "define internal" in generated.listings["ir"]


def test_name_table_keeps_all_but_the_resources() -> None:
    ir, kernels = scale_relu(SM_89)
    (made,) = generate(ir, kernels, SM_89).kernels
    assert replace(made, resources=kernels[0].resources) == kernels[0]


def test_verification_comes_before_and_after_optimisation() -> None:
    before = kernel(SM_89, "  %v = call float @sinf(float 1.0)", before="declare float @sinf(float)")
    with pytest.raises(CompileError, match="before optimisation"):
        generate(*before, SM_89)
    # LLVM turns this loop into a call of memset where nothing forbids it.
    loop = """
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i8, ptr %data, i64 %i
  store i8 0, ptr %at
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, 100000
  br i1 %more, label %loop, label %finish
finish:"""
    cpu = parse_target("x86-64-v3")
    ir, kernels = kernel(cpu, loop)
    ir = ir.replace("{\n  %slot", "{\nentry:\n  %slot")
    assert generate(ir, kernels, cpu).blobs[0].kind == "so"
    with pytest.raises(CompileError) as caught:
        generate(ir.replace('"no-builtins"', ""), kernels, cpu)
    assert "after optimisation" in str(caught.value)
    assert "kernel `probe`: `llvm.memset.p0.i64` of more than 128 bytes" in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_ir_that_llvm_refuses(name: str) -> None:
    target = parse_target(name)
    with pytest.raises(CompileError, match=f"^kernel probe for {name}: LLVM cannot read the module\n"):
        generate(*kernel(target, "  %v = nonsense"), target)


def test_error_that_holds_the_module_can_be_collected_in_any_order() -> None:
    kept = []
    for _ in range(20):
        with pytest.raises(CompileError) as caught:
            generate(*kernel(SM_89, "  %v = call float @sinf(float 1.0)", before="declare float @sinf(float)"), SM_89)
        kept.append(caught.value)
    kept.clear()
    gc.collect()


def test_backend_that_is_not_known() -> None:
    with pytest.raises(InternalError, match="no backend is called 'metal'"):
        prepare(["metal"])


def test_prepare_compiles_nothing_and_can_be_repeated() -> None:
    prepare(["cuda", "hip", "cpu"])
    prepare(["cuda"])
    assert generate(*scale_relu(SM_89), SM_89).blobs[0].kind == "ptx"


def test_toolchain() -> None:
    found = toolchain()
    assert found == {"llvm": "22.1.0", "llvmlite": "0.50.0", "lld": lld.version(), "ptxas": ptxas.version()}


def test_toolchain_without_the_optional_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ptxas, "find_spec", lambda name: None)
    monkeypatch.setattr(lld, "find_spec", lambda name: None)
    assert toolchain().keys() == {"llvm", "llvmlite"}


def test_root_without_kernels() -> None:
    assert generate(head(SM_89), (), SM_89).blobs[0].data.startswith(b".version 7.8\n")


def test_nothing_is_left_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for name in NAMES:
        target = parse_target(name)
        generate(*raw_fill(target), target, emit=frozenset({"cubin"}))
    assert os.listdir(tmp_path) == []


def test_symbol_may_differ_from_the_public_name() -> None:
    ir, kernels = scale_relu(SM_89, "symbol_of_it")
    named = (replace(kernels[0], name="public"),)
    assert generate(ir, named, SM_89).kernels[0].name == "public"
    with pytest.raises(CompileError, match="kernel `public`: the function `elsewhere` that it names is not there"):
        generate(ir, (replace(entry("public"), symbol="elsewhere"),), SM_89)
