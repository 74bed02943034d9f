"""Reading, rewriting and pruning foreign modules: what is refused and what is warned of."""

from __future__ import annotations

import time

import pytest

from gompute.errors import CompileError
from gompute.ir.rewrite import kernels, prune, rewrite

NVPTX = 'target triple = "nvptx64-nvidia-cuda"\n'
KERNEL = "define ptx_kernel void @k() {\n  ret void\n}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "m.ll: the file is empty; LLVM IR is text (.ll) or bitcode (.bc)"),
        (b" \r\n", "m.ll: the file is empty; LLVM IR is text (.ll) or bitcode (.bc)"),
        (b"@a = global i8 \xff", "m.ll: the file is neither bitcode nor text: byte 15 (0xff) begins no UTF-8 character"),
        (b"; a\0b", "m.ll: there is a zero byte in the text, at 3; a string writes it as \\00"),
        (
            b"fn main() {}",
            "m.ll: LLVM cannot read the module\n  LLVM IR parsing error\n  m.ll:1:1: error: expected top-level entity\n  fn main() {}\n  ^",
        ),
        (
            b"define void @f() {\n  ret i32 0\n}",
            (
                "m.ll: LLVM cannot read the module\n  LLVM IR parsing error\n"
                "  m.ll:2:7: error: value doesn't match function result type 'void'\n    ret i32 0\n        ^"
            ),
        ),
        (
            NVPTX.encode() + b"define ptx_kernel void @k() {\nagain:\n  br label %again\n}",
            "m.ll: LLVM's verifier refuses the module\n  Entry block to function must not have predecessors!\n  label %again",
        ),
        (
            KERNEL.encode(),
            (
                "m.ll: the module has no target triple; kernels are read for nvptx64 and amdgcn.\n"
                "  Compile it for nvptx64-nvidia-cuda or amdgcn-amd-amdhsa."
            ),
        ),
        (
            b'target triple = "nvptx-nvidia-cuda"\n' + KERNEL.encode(),
            (
                "m.ll: the module is for 'nvptx-nvidia-cuda'; kernels are read for nvptx64 and amdgcn.\n"
                "  Compile it for nvptx64-nvidia-cuda or amdgcn-amd-amdhsa."
            ),
        ),
        (
            NVPTX.encode() + b"define void @f() {\n  ret void\n}\ndeclare ptx_kernel void @k()",
            (
                "m.ll: the module has no kernels: no function in it has the calling convention `ptx_kernel`.\n"
                "  Mark kernels in the source (Zig: callconv(.nvptx_kernel); C: __attribute__((nvptx_kernel)))."
            ),
        ),
        (
            b'target triple = "amdgcn-amd-amdhsa"\n' + KERNEL.encode(),
            (
                "m.ll: the module has no kernels: no function in it has the calling convention `amdgpu_kernel`.\n"
                "  Mark kernels in the source (Zig: callconv(.amdgcn_kernel); C: __attribute__((amdgpu_kernel)))."
            ),
        ),
        (
            NVPTX.encode() + b"@a = internal alias void (), ptr @k\ndefine private ptx_kernel void @k() {\n  ret void\n}\n",
            (
                "m.ll: the module has no kernels that can be launched: `k` cannot be seen from outside.\n"
                "  Export them in the source under the names to launch them by."
            ),
        ),
        (
            NVPTX.encode() + KERNEL.encode() + b"@a = alias i8, getelementptr (i8, ptr @b, i64 4)\n@b = alias void (), ptr @k",
            "m.ll: the alias `a` is an address inside the kernel `b`, not the kernel itself.\n  Remove the alias, or let it stand for `b`.",
        ),
    ],
)
def test_what_cannot_be_read_says_why(text: bytes, message: str) -> None:
    for tool in (kernels, rewrite):
        with pytest.raises(CompileError) as caught:
            tool(text, "m.ll")
        assert str(caught.value) == message


def test_a_module_that_its_target_cannot_have_is_refused() -> None:
    text = """target datalayout = "e-p3:32:32-i64:64"
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(3) %p) {
  %q = call ptr addrspace(3) @llvm.ptrmask.p3.i32(ptr addrspace(3) %p, i32 -4)
  ret void
}
declare ptr addrspace(3) @llvm.ptrmask.p3.i32(ptr addrspace(3), i32)
"""
    with pytest.raises(CompileError) as caught:
        rewrite(text.encode(), "m.ll")
    assert str(caught.value).startswith(
        "m.ll: the module, whose data layout was 'e-p3:32:32-i64:64', is not valid with that of nvptx64-nvidia-cuda\n"
        "  llvm.ptrmask intrinsic second argument bitwidth must match"
    )


def test_keeping_what_is_not_there_lists_what_is() -> None:
    with pytest.raises(CompileError) as caught:
        prune((NVPTX + KERNEL).encode(), "m.ll", ["kk", "other"])
    assert str(caught.value) == "m.ll: these kernels to keep are not in the module, which has k:\n  kk (near names: k)\n  other"
    with pytest.raises(CompileError) as caught:
        prune((NVPTX + KERNEL).encode(), "m.ll", [])
    assert str(caught.value) == "m.ll: nothing to keep: name at least one of k"


def _warnings(triple: str, layout: str, body: str = "") -> tuple[str, ...]:
    convention = "ptx_kernel" if triple.startswith("nv") else "amdgpu_kernel"
    head = f'target datalayout = "{layout}"\n' if layout else ""
    text = f'{head}target triple = "{triple}"\ndefine {convention} void @k() {{\n  ret void\n}}\n{body}'
    return rewrite(text.encode(), "m.ll").warnings


@pytest.mark.parametrize("triple", ["nvptx64", "nvptx64-nvidia-cuda11.0.1-unknown", "nvptx64-unknown-unknown", "amdgcn--amdhsa5.0.0"])
def test_another_spelling_of_the_target_is_no_news(triple: str) -> None:
    assert _warnings(triple, "") == ()


def test_a_triple_with_another_meaning_is_warned_of() -> None:
    assert _warnings("nvptx64-nvidia-nvcl", "") == (
        "its triple 'nvptx64-nvidia-nvcl' is that of OpenCL, whose images and samplers 'nvptx64-nvidia-cuda' does not have",
    )
    assert _warnings("amdgcn-amd-mesa3d", "") == (
        (
            "its triple 'amdgcn-amd-mesa3d' is not that of HSA, so its kernels may expect arguments "
            "elsewhere than 'amdgcn-amd-amdhsa' puts them"
        ),
    )


_OLD_AMD = (
    "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-"
    "v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7"
)


@pytest.mark.parametrize(
    ("layout", "body", "difference"),
    [
        # Of the layouts that LLVM had before, the differences matter only to types that the module uses.
        ("e-i64:64-v16:16-v32:32-n16:32:64", "@g = global { i64, <4 x float>, [3 x i8], ptr addrspace(1) } zeroinitializer", None),
        ("e-i64:64-v16:16-v32:32-n16:32:64", '@"i128" = global [5 x i8] c"i128 "', None),
        ("e-i64:64-v16:16-v32:32-n16:32:64", "@g = global i128 0", "the alignment of i128 was 64 and is 128"),
        ("e-i64:64-i128:128-v16:16-v32:32-n16:32:64", "@g = global { i256 } zeroinitializer", "the alignment of i256 was 128 and is 256"),
        ("e-i64:64-v16:16-v32:32", "@g = global <3 x i16> zeroinitializer", None),
        (
            "e-p6:64:64-i64:64-v16:16-v32:32",
            "@g = global ptr addrspace(6) null",
            (
                "the size of pointers in address space 6 was 64 bits (aligned to 64, indices of 64) and is 32 bits "
                "(aligned to 32, indices of 32)"
            ),
        ),
        ("e-i64:64-v16:32-v32:32", "@g = global <2 x i8> zeroinitializer", "the alignment of vectors of 16 bits was 32 and is 16"),
        ("E-i64:64", "", "the byte order was big endian and is little endian"),
        ("e-f64:32-i64:64", "", "the alignment of floats of 64 bits was 32 and is 64"),
    ],
)
def test_another_layout_is_warned_of_where_it_means_something(layout: str, body: str, difference: str | None) -> None:
    expected = () if difference is None else (f"its data layout {layout!r} is not the target's: {difference}",)
    assert _warnings("nvptx64-nvidia-cuda", layout, body) == expected


def test_an_older_amd_layout_means_the_same() -> None:
    assert _warnings("amdgcn-amd-amdhsa", _OLD_AMD, "@g = addrspace(1) global [2 x <4 x i32>] zeroinitializer") == ()


def _big(functions: int) -> bytes:
    one = "define internal float @f{0}(float %x) {{\n" + "".join(
        f"  %v{at} = fadd float %{f'v{at - 1}' if at else 'x'}, 1.0\n" for at in range(20)
    )
    body = "".join(one.format(number) + "  ret float %v19\n}\n" for number in range(functions))
    names = "".join(
        f"@k{number} = alias void (), ptr @impl\n@f.{number} = alias float (float), ptr @f{number}\n" for number in range(functions)
    )
    return f"{NVPTX}{names}define private ptx_kernel void @impl() {{\n  ret void\n}}\n{body}".encode()


def test_time_is_in_proportion_to_the_module() -> None:
    """Ten times the functions, aliases and copies may take at most 30 times as long; were it quadratic, a hundred times."""
    seconds = []
    for functions in (200, 2000):
        data = _big(functions)
        start = time.perf_counter()
        assert len(rewrite(data, "m.ll").kernels) == functions
        seconds.append(time.perf_counter() - start)
    assert seconds[1] < 30 * seconds[0], seconds
