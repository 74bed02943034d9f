"""Roots of other compilers: from their files to modules that the backends take, and name tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from gompute.backends import pipeline
from gompute.errors import CompileError
from gompute.frontend import KernelIR
from gompute.ir.root import foreign_root
from gompute.targets import parse_target

GOLDEN = Path(__file__).resolve().parent.parent.parent / "checks" / "golden" / "ir"

HEAD = 'target triple = "nvptx64-nvidia-cuda"\n'


def root(folder: Path, text: str, target: str = "sm_89", kernels: list[str] | None = None) -> KernelIR:
    file = folder / "foreign.ll"
    file.write_text(text)
    return only(file, target, kernels)[0]


def only(file: Path, target: str, kernels: list[str] | None = None) -> tuple[KernelIR, tuple[str, ...]]:
    """The module of a root and the kernels that are left out."""
    lowering, _ = foreign_root(file, name="foreign", target=parse_target(target), kernels=kernels)
    (unit,) = lowering.units
    assert lowering.count == 1
    assert lowering.foreign
    assert list(lowering.reads().sources) == [str(file.resolve())]
    return unit, lowering.left_out


def refusal(folder: Path, text: str, target: str = "sm_89", kernels: list[str] | None = None) -> str:
    with pytest.raises(CompileError) as caught:
        root(folder, text, target, kernels)
    return str(caught.value).replace(f"{folder}/", "")


@pytest.mark.parametrize(
    ("name", "target", "kernels"),
    [
        ("zig-0.16-nvptx64", "sm_89", ["raw_add", "raw_add_again", "raw_scale"]),
        ("zig-0.16-amdgcn", "gfx1100", ["raw_add", "raw_add_again", "raw_scale"]),
        ("zig-0.17-nvptx64", "sm_120", ["raw_add_again", "raw_scale"]),
        ("zig-0.17-amdgcn", "gfx11-generic", ["raw_add_again", "raw_scale"]),
        ("clang-nvptx64", "sm_75", ["raw_add", "raw_scale"]),
        ("clang-amdgcn", "gfx942", ["raw_add", "raw_scale"]),
        ("debug", "gfx1100", ["raw_add", "raw_scale", "raw_scale_again"]),
    ],
)
def test_what_other_compilers_emit_becomes_code_under_the_public_names(name: str, target: str, kernels: list[str]) -> None:
    """The backends read the code back, and hold names, argument sizes, places and blocks against the name table."""
    made, _ = only(GOLDEN / f"{name}.ll", target)
    assert [kernel.name for kernel in made.kernels] == kernels
    block = {"debug": "256,1,1", "clang-amdgcn": "256,1,1"}.get(name, "1024,1,1")
    assert {kernel.signature for kernel in made.kernels} == {f"kernel(arg0: ptr[any], arg1: i64, arg2: f32) block<={block}"}
    generated = pipeline.generate(made.ir, made.kernels, parse_target(target))
    assert [kernel.symbol for kernel in generated.kernels] == kernels


def test_only_some_kernels_are_kept(tmp_path: Path) -> None:
    made, left_out = only(GOLDEN / "zig-0.16-nvptx64.ll", "sm_89", ["raw_add"])
    assert [kernel.name for kernel in made.kernels] == ["raw_add"]
    assert left_out == ("raw_add_again", "raw_scale")
    assert "raw_scale" not in made.ir
    assert refusal(tmp_path, (GOLDEN / "zig-0.16-nvptx64.ll").read_text(), kernels=["raw_ad", "zzz"]) == (
        "foreign.ll: root 'foreign' does not make these kernels; it makes raw_add, raw_add_again, raw_scale\n"
        "  raw_ad; did you mean raw_add or raw_scale or raw_add_again?\n  zzz\n"
        "  `gompute manifest check PATH`, PATH being the host code, says which lines launch them."
    )


ARGUMENTS = """
%pair = type { i32, double }
define CONVENTION void @k(ptr %any, ptr addrspace(1) noalias align 16 %data, i8 zeroext %a, i16 signext %b, i32 %c, i64 %d, half %e,
    bfloat %f, float %g, double %h, i1 zeroext %i, MEMORY(%pair) align 8 %j, <4 x float> %k, [3 x i16] %l, MEMORY([5 x i8]) %0) {
  ret void
}
"""


@pytest.mark.parametrize(
    ("triple", "target", "convention", "memory"),
    [
        ("nvptx64-nvidia-cuda", "sm_89", "ptx_kernel", "ptr byval"),
        ("amdgcn-amd-amdhsa", "gfx1100", "amdgpu_kernel", "ptr addrspace(4) byref"),
    ],
)
def test_arguments_are_read_from_the_module(tmp_path: Path, triple: str, target: str, convention: str, memory: str) -> None:
    made = root(tmp_path, f'target triple = "{triple}"\n' + ARGUMENTS.replace("CONVENTION", convention).replace("MEMORY", memory), target)
    assert made.kernels[0].signature == (
        "kernel(any: ptr[any], data: ptr[any], a: u8, b: i16, c: i32, d: i64, e: f16, f: bf16, g: f32, h: f64, i: bool, "
        "j: bytes[16, align 8], k: bytes[16, align 16], l: bytes[6, align 2], arg14: bytes[5, align 1]) block<=1024,1,1"
    )
    pipeline.generate(made.ir, made.kernels, parse_target(target))


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("ptr addrspace(3) %p", "`ptr addrspace(3)`, a pointer to memory of one block or work-item; declare that memory in the kernel"),
        ("i128 %p", "`i128`, an integer of no size that a launch passes; take i8, i16, i32 or i64"),
        ("i24 %p", "`i24`, an integer of no size that a launch passes; take i8, i16, i32 or i64"),
        ("ptr byval([70000 x i8]) %p", "`[70000 x i8]` of 70000 bytes aligned to 1; pass a pointer to what is large"),
    ],
)
def test_an_argument_that_no_launch_can_pass_is_told_with_its_kernel(tmp_path: Path, argument: str, says: str) -> None:
    text = f"{HEAD}define ptx_kernel void @k(i32 %n, {argument}) {{\n  ret void\n}}\n"
    assert refusal(tmp_path, text) == f"foreign.ll: no launch can pass what these kernels take\n  kernel `k`: its argument 2 is {says}"


def test_a_module_of_the_other_vendor_is_told_with_what_to_write(tmp_path: Path) -> None:
    assert refusal(tmp_path, f"{HEAD}define ptx_kernel void @k() {{\n  ret void\n}}\n", "gfx1100") == (
        "foreign.ll: the module is for nvptx64-nvidia-cuda, and cannot be compiled for gfx1100.\n"
        "  Say which file is for which backend, in pyproject.toml: "
        '[tool.gompute.roots.foreign] source = { cuda = "foreign.ll", hip = "..." }; '
        "a backend that is left out gets none of the root."
    )


def test_aliases_odd_names_and_foreign_attributes_are_brought_into_form(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
@.str.1 = private unnamed_addr constant [4 x i8] c"abcd"
@"we ird\\22" = internal global i32 7
@0 = private constant i32 5
@table = alias i8, getelementptr (i8, ptr @.str.1, i64 1)
@table.again = internal alias i8, ptr @table
@helper = alias void (ptr), ptr @"odd.helper"

define internal void @"odd.helper"(ptr %p) {
  %a = load i8, ptr @table.again
  %b = load i32, ptr @"we ird\\22"
  %c = load i32, ptr @0
  %d = sext i8 %a to i32
  %e = add i32 %b, %d
  %f = add i32 %e, %c
  store i32 %f, ptr %p
  ret void
}

define ptx_kernel void @k(ptr %p) #0 {
  call void @helper(ptr %p)
  ret void
}

attributes #0 = { nounwind "target-cpu"="sm_90" "target-features"="+ptx80" "nvvm.maxntid"="64,2" }
"""
    )
    made = root(tmp_path, text)
    assert "alias" not in made.ir
    assert "target-cpu" not in made.ir
    assert "target-features" not in made.ir
    assert made.kernels[0].block_size == (64, 2, 1)
    generated = pipeline.generate(made.ir, made.kernels, parse_target("sm_89"))
    assert b".maxntid 64, 2" in generated.blobs[0].data


def test_what_the_backends_refuse_is_told_with_its_function(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
declare float @llvm.sin.f32(float)
declare void @printf()
define internal float @bad(float %x) {
  %y = call float @llvm.sin.f32(float %x)
  call void @printf()
  ret float %y
}
define ptx_kernel void @k(ptr %p) {
  %y = call float @bad(float 1.0)
  store float %y, ptr %p
  ret void
}
"""
    )
    made = root(tmp_path, text)
    with pytest.raises(CompileError) as caught:
        pipeline.examine(made.ir, made.kernels, parse_target("sm_89"))
    assert "kernel `k` (in `bad`): it needs the function `printf`, which the module only declares" in str(caught.value)
    assert "kernel `k` (in `bad`): the intrinsic `llvm.sin.f32` is not allowed" in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"BC\xc0\xde\x00\x01", b"define", b"\xff\xfe", b'target triple = "x86_64-linux-gnu"\n'])
def test_a_file_that_is_no_such_module_is_refused(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "broken.bc"
    file.write_bytes(data)
    with pytest.raises(CompileError, match="broken.bc"):
        foreign_root(file, name="r", target=parse_target("sm_89"))
