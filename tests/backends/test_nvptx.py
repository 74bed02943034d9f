"""PTX and cubins: every target's is accepted by ptxas and says what the name table says."""

from __future__ import annotations

import re

import pytest

from gompute.artifacts.entry import ArgumentEntry
from gompute.backends import ptx, ptxas
from gompute.backends.pipeline import generate
from gompute.errors import CompileError, InternalError
from gompute.targets import Target, all_targets, parse_target
from tests.backends.modules import entry, kernel, raw_fill, scale_relu

NVIDIA = [target for target in all_targets() if target.backend == "cuda"]
SM_89 = parse_target("sm_89")


@pytest.mark.parametrize("target", NVIDIA, ids=str)
def test_ptx_of_every_target_is_accepted_by_ptxas(target: Target) -> None:
    for make in (scale_relu, raw_fill):
        ir, kernels = make(target)
        (blob,) = generate(ir, kernels, target).blobs
        assert blob.kind == "ptx"
        read = ptx.read(blob.data.decode())
        assert (read.target, read.version) == (target.name, target.ptx_version)
        assert blob.version == "{}.{}".format(*read.version)
        assembled = ptxas.assemble(blob.data, target.ptxas_arch, "unit")
        assert assembled.cubin.startswith(b"\x7fELF")
        assert assembled.resources.keys() == {kernels[0].symbol}


def test_ptx_has_no_header_and_keeps_the_block_size() -> None:
    text = generate(*scale_relu(SM_89), SM_89).blobs[0].data.decode()
    assert text.startswith(".version 7.8\n.target sm_89\n")
    assert ".reqntid 256" in text
    fill = generate(*raw_fill(SM_89), SM_89).blobs[0].data.decode()
    assert re.search(r"\.maxntid 128, 2, 1$", fill, re.MULTILINE)


def test_arithmetic_is_not_contracted() -> None:
    body = "  %a = load float, ptr %data\n  %m = fmul float %a, %a\n  %s = fadd float %m, 1.0\n  store float %s, ptr %data"
    text = generate(*kernel(SM_89, body), SM_89).blobs[0].data.decode()
    assert "mul.rn.f32" in text
    assert "add.rn.f32" in text
    assert "fma" not in text


def test_cubin_on_request() -> None:
    ir, kernels = scale_relu(SM_89)
    generated = generate(ir, kernels, SM_89, emit=frozenset({"cubin"}))
    assert [(blob.kind, blob.version) for blob in generated.blobs] == [("ptx", "7.8"), ("cubin", ptxas.version())]
    assert generated.blobs[1].data.startswith(b"\x7fELF")
    assert generated.blobs[0] == generate(ir, kernels, SM_89).blobs[0]
    resources = generated.kernels[0].resources
    assert resources.registers is not None
    assert resources.registers > 0
    assert (resources.shared, resources.private, resources.spills, resources.scalar_registers) == (0, 0, 0, None)
    assert generated.toolchain["ptxas"] == ptxas.version()


def test_without_a_cubin_only_the_shared_memory_is_known() -> None:
    generated = generate(*scale_relu(SM_89), SM_89)
    resources = generated.kernels[0].resources
    assert (resources.registers, resources.shared, resources.spills) == (None, 0, None)
    assert generated.toolchain.keys() == {"llvm", "llvmlite"}


def test_static_shared_memory_is_counted_through_functions() -> None:
    before = "@tile = internal addrspace(3) global [1000 x float] poison, align 16\n"
    before += "define internal void @fill(i64 %i) noinline {\n  %p = getelementptr float, ptr addrspace(3) @tile, i64 %i\n"
    before += "  store volatile float 1.0, ptr addrspace(3) %p\n  ret void\n}"
    ir, kernels = kernel(SM_89, "  %i = load i64, ptr %data\n  call void @fill(i64 %i)", before=before)
    generated = generate(ir, kernels, SM_89, emit=frozenset({"cubin"}))
    assert generated.kernels[0].resources.shared == 4000
    assert generate(ir, kernels, SM_89).kernels[0].resources.shared == 4000


def test_no_cubin_for_what_ptxas_has_dropped() -> None:
    old = parse_target("sm_61")
    with pytest.raises(CompileError) as caught:
        generate(*scale_relu(old), old, emit=frozenset({"cubin"}))
    assert "makes no machine code for sm_61; the oldest it knows is sm_75" in str(caught.value)
    assert "Leave out the cubin for sm_61" in str(caught.value)


def test_ptxas_that_refuses() -> None:
    bad = generate(*scale_relu(SM_89), SM_89).blobs[0].data.replace(b"max.f32", b"maximum.f32")
    with pytest.raises(CompileError, match=r"(?s)^unit: ptxas [\d.]+ refused the PTX\n  .*maximum"):
        ptxas.assemble(bad, "sm_89", "unit")


def test_ptxas_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ptxas, "find_spec", lambda name: None)
    assert not ptxas.installed()
    with pytest.raises(CompileError, match=r"pip install 'gompute\[cubin\]'"):
        generate(*scale_relu(SM_89), SM_89, emit=frozenset({"cubin"}))


def test_report_of_ptxas() -> None:
    said = """ptxas info    : 11 bytes gmem
ptxas info    : Compiling entry function 'big' for 'sm_90'
ptxas info    : Function properties for big
    1024 bytes stack frame, 64 bytes spill stores, 72 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 1024 bytes cumulative stack size, 49152 bytes smem
ptxas info    : Function properties for helper
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function 'small' for 'sm_90'
ptxas info    : Function properties for small
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
ptxas info    : Compile time = 4.396 ms
"""
    report = ptxas.parse_report(said)
    big, small = report["big"], report["small"]
    assert (big.registers, big.shared, big.private, big.spills) == (255, 49152, 1024, 64)
    assert (small.registers, small.shared, small.private, small.spills) == (8, 0, 0, 0)


@pytest.mark.parametrize(
    ("arguments", "block_size", "message"),
    [
        (
            [("pointer", 8), ("scalar", 4), ("params", 4)],
            (256, 1, 1),
            "has parameters of [8, 8, 4] bytes, and its name table entry says [8, 4, 4]",
        ),
        (
            [("pointer", 8), ("scalar", 8), ("params", 4)],
            (128, 1, 1),
            "is for blocks of (256, 1, 1), and its name table entry says (128, 1, 1)",
        ),
    ],
)
def test_ptx_that_contradicts_the_name_table(arguments: list[tuple[str, int]], block_size: tuple[int, int, int], message: str) -> None:
    entries = [ArgumentEntry(f"a{number}", kind, "", size, size) for number, (kind, size) in enumerate(arguments)]  # type: ignore[arg-type]
    with pytest.raises(InternalError) as caught:
        generate(scale_relu(SM_89)[0], (entry("scale_relu", arguments=entries, block_size=block_size),), SM_89)
    assert message in str(caught.value)


def test_ptx_is_read() -> None:
    text = """.version 8.7
.target sm_120a
.address_size 64
.extern .func  (.param .b32 r) vprintf
(
	.param .b64 a
)
;
.extern .shared .align 16 .b8 dynamic[];

.visible .entry one(
	.param .u64 .ptr .global .align 4 one_param_0,
	.param .u8 one_param_1,
	.param .align 16 .b8 one_param_2[48],
	.param .f64 one_param_3
)
.maxntid 8, 8, 4
.minnctapersm 1
{
	cvt.u32.u2 	%r1, %rs1;
	@%p1 ld.global.b64 	%rd1, [%rd2];
}
.visible .entry none()
{
	ret;
}
"""
    read = ptx.read(text)
    assert read.version == (8, 7)
    assert read.target == "sm_120a"
    assert read.kernels["one"] == ptx.PtxKernel(((8, 8), (1, 1), (48, 16), (8, 8)), (8, 8, 4), False)
    assert read.kernels["none"] == ptx.PtxKernel((), None, False)
    assert read.externals == ("vprintf",)  # shared memory of dynamic size is declared so
    assert read.odd_types == ("cvt.u32.u2 	%r1, %rs1;",)


@pytest.mark.parametrize("text", ["", ".version 7.8\n", ".target sm_89\n"])
def test_ptx_without_version_or_target(text: str) -> None:
    with pytest.raises(ValueError, match="without"):
        ptx.read(text)
