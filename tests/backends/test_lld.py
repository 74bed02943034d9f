"""The linker: what it is given by name, and what it says when it fails."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from llvmlite import binding as llvm

from gompute.backends import cpu, lld
from gompute.backends.elf import ElfFile
from gompute.backends.pipeline import generate, prepare
from gompute.errors import CompileError, InternalError
from gompute.targets import parse_target
from tests.backends.modules import scale_relu

X86 = parse_target("x86-64-v3")


def test_version_is_the_one_in_what_it_links() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", lld.version())
    assert lld.version_of(generate(*scale_relu(X86), X86).blobs[0].data) == lld.version()


def _object(functions: str = "define void @f() {\n  ret void\n}") -> bytes:
    prepare(["cpu"])
    item: bytes = cpu.machine(X86).emit_object(llvm.parse_assembly(f'target triple = "{X86.triple}"\n{functions}'))
    return item


def test_what_it_refuses_is_our_fault() -> None:
    with pytest.raises(InternalError, match=r"(?s)^unit: the linker refused the objects\n  .*unknown argument '--no-such-option'"):
        lld.link([_object()], ("--no-such-option",), "unit")


def test_object_that_cannot_be_read() -> None:
    with pytest.raises(InternalError, match=r"^unit: LLVM wrote an object that cannot be read: no 64-bit little-endian ELF header$"):
        lld.refuse_calls(b"no object", "unit")


def test_object_that_calls_what_is_not_there() -> None:
    calls = "declare void @gone()\ndefine void @f() {\n  call void @gone()\n  ret void\n}"
    with pytest.raises(CompileError, match=r"(?s)^unit: some operations .*\n  function `f` calls `gone`$"):
        lld.refuse_calls(_object(calls), "unit")


def test_linker_that_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "zig"
    program.write_text("#!/bin/sh\necho out of room >&2\nkill -9 $$\n")
    program.chmod(0o755)
    monkeypatch.setattr(lld, "_find", lambda: program)
    with pytest.raises(CompileError, match=r"^unit: the linker was killed by signal 9; it said: out of room$"):
        lld.link([_object()], (), "unit")


def test_large_object_passes() -> None:
    ir, kernels = scale_relu(X86)
    values = ", ".join(f"i32 {number}" for number in range(1, 60001))
    table = f"@table = internal constant [60000 x i32] [{values}]"
    ir = ir.replace("define void @scale_relu", f"{table}\ndefine void @scale_relu").replace(
        "%scale = load float, ptr %params, align 4",
        "%row = load volatile i32, ptr %params, align 4\n  %place = getelementptr i32, ptr @table, i32 %row\n"
        "  %entry.value = load volatile i32, ptr %place\n  %scale = bitcast i32 %entry.value to float",
    )
    assert len(generate(ir, kernels, X86).blobs[0].data) > 240000


def test_elf_of_an_object_lists_what_it_misses() -> None:
    functions = "declare void @gone()\ndeclare void @away()\ndefine void @f() {\n  call void @gone()\n  ret void\n}\n"
    functions += "define void @g() {\n  call void @gone()\n  call void @away()\n  ret void\n}"
    assert ElfFile.parse(_object(functions)).undefined() == {"gone": {"f", "g"}, "away": {"g"}}
