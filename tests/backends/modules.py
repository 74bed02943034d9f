"""Small modules of LLVM IR, with their name tables, for every backend: what the frontend would write, by hand."""

from __future__ import annotations

from collections.abc import Sequence

from gompute.artifacts.entry import ArgumentEntry, KernelEntry
from gompute.targets import Target

__all__ = ["entry", "head", "kernel", "raw_fill", "scale_relu"]

_LAYOUTS = {
    "nvptx64-nvidia-cuda": "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64",
    "amdgcn-amd-amdhsa": (
        "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32"
        "-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
    ),
    "x86_64-unknown-linux-gnu": "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128",
    "aarch64-unknown-linux-gnu": "e-m:e-p270:32:32-p271:32:32-p272:64:64-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128-Fn32",
}

_POINTER = ArgumentEntry("data", "pointer", "f32", 8, 8)
_LENGTH = ArgumentEntry("len", "scalar", "u64", 8, 8)
_PARAMS = ArgumentEntry("params", "params", "Params", 4, 4)

_SCALE_RELU = """
define internal float @scale_relu_body(float %x, float %scale) nounwind "no-builtins" {
  %y = fmul float %x, %scale
  %positive = fcmp ogt float %y, 0.0
  %result = select i1 %positive, float %y, float 0.0
  ret float %result
}
"""

_GPU_MAP = """
body:
  %scale = load float, PARAMS %params, align 4
  %at = getelementptr inbounds float, ptr addrspace(1) %data, i64 %index
  %x = load float, ptr addrspace(1) %at, align 4
  %result = call float @scale_relu_body(float %x, float %scale)
  store float %result, ptr addrspace(1) %at, align 4
  br label %done
done:
  ret void
}
"""

_CPU_MAP = """
define void @NAME(ptr %args, ptr %launch, i64 %begin, i64 %end) nounwind "no-builtins" {
entry:
  %data.at = load ptr, ptr %args, align 8
  %data = load ptr, ptr %data.at, align 8
  %len.slot = getelementptr inbounds ptr, ptr %args, i64 1
  %len.at = load ptr, ptr %len.slot, align 8
  %len = load i64, ptr %len.at, align 8
  %params.slot = getelementptr inbounds ptr, ptr %args, i64 2
  %params = load ptr, ptr %params.slot, align 8
  %scale = load float, ptr %params, align 4
  %stop = call i64 @llvm.umin.i64(i64 %end, i64 %len)
  %some = icmp ult i64 %begin, %stop
  br i1 %some, label %element, label %done
element:
  %index = phi i64 [ %begin, %entry ], [ %next, %element ]
  %at = getelementptr inbounds float, ptr %data, i64 %index
  %x = load float, ptr %at, align 4
  %result = call float @scale_relu_body(float %x, float %scale)
  store float %result, ptr %at, align 4
  %next = add nuw i64 %index, 1
  %more = icmp ult i64 %next, %stop
  br i1 %more, label %element, label %done
done:
  ret void
}
declare i64 @llvm.umin.i64(i64, i64)
"""

_CPU_FILL = """
define void @NAME(ptr %args, ptr %launch, i64 %begin, i64 %end) nounwind "no-builtins" {
entry:
  %data.at = load ptr, ptr %args, align 8
  %data = load ptr, ptr %data.at, align 8
  %value.slot = getelementptr inbounds ptr, ptr %args, i64 1
  %value.at = load ptr, ptr %value.slot, align 8
  %value = load i32, ptr %value.at, align 4
  %blocks = load i64, ptr %launch, align 8
  %size.at = getelementptr inbounds i64, ptr %launch, i64 3
  %size = load i64, ptr %size.at, align 8
  %stop = call i64 @llvm.umin.i64(i64 %end, i64 %blocks)
  %some = icmp ult i64 %begin, %stop
  br i1 %some, label %block, label %done
block:
  %number = phi i64 [ %begin, %entry ], [ %number.next, %block.end ]
  %first = mul i64 %number, %size
  br label %item
item:
  %local = phi i64 [ 0, %block ], [ %local.next, %item ]
  %index = add i64 %first, %local
  %at = getelementptr inbounds i32, ptr %data, i64 %index
  store i32 %value, ptr %at, align 4
  %local.next = add nuw i64 %local, 1
  %more.items = icmp ult i64 %local.next, %size
  br i1 %more.items, label %item, label %block.end
block.end:
  %number.next = add nuw i64 %number, 1
  %more.blocks = icmp ult i64 %number.next, %stop
  br i1 %more.blocks, label %block, label %done
done:
  ret void
}
declare i64 @llvm.umin.i64(i64, i64)
"""


def entry(
    name: str,
    *,
    arguments: Sequence[ArgumentEntry] = (_POINTER, _LENGTH, _PARAMS),
    block_size: tuple[int, int, int] = (256, 1, 1),
    kind: str = "map",
) -> KernelEntry:
    """An entry of the name table; signature and fingerprint are of no concern to a backend."""
    return KernelEntry(name, name, kind, tuple(arguments), block_size)


def head(target: Target) -> str:
    """What a module for `target` begins with, and its module flags."""
    text = f'target triple = "{target.triple}"\ntarget datalayout = "{_LAYOUTS[target.triple]}"\n'
    if target.code_object_version is not None:
        text += f'!llvm.module.flags = !{{!0}}\n!0 = !{{i32 1, !"amdhsa_code_object_version", i32 {target.code_object_version}00}}\n'
    return text


def scale_relu(target: Target, name: str = "scale_relu") -> tuple[str, tuple[KernelEntry, ...]]:
    """The map kernel max(x * params.scale, 0) over f32, in place."""
    if target.backend == "cpu":
        return head(target) + _SCALE_RELU + _CPU_MAP.replace("NAME", name), (entry(name),)
    map_ = _GPU_MAP.replace("PARAMS", "ptr" if target.backend == "cuda" else "ptr addrspace(4)")
    return head(target) + _SCALE_RELU + _gpu_entry(target, name, _MAP_ARGUMENTS[target.backend], exact=True) + map_, (entry(name),)


_MAP_ARGUMENTS = {
    "cuda": "ptr addrspace(1) noalias align 4 %data, i64 %len, ptr byval([4 x i8]) align 4 %params",
    "hip": "ptr addrspace(1) noalias align 4 %data, i64 %len, ptr addrspace(4) byref([4 x i8]) align 4 %params",
}


def raw_fill(target: Target, name: str = "fill", block_size: tuple[int, int, int] = (128, 2, 1)) -> tuple[str, tuple[KernelEntry, ...]]:
    """A raw kernel that stores an i32 at every index of its grid along x, whatever the block it is launched with."""
    arguments = (ArgumentEntry("data", "pointer", "i32", 8, 8), ArgumentEntry("value", "scalar", "i32", 4, 4))
    kernels = (entry(name, arguments=arguments, block_size=block_size, kind="kernel"),)
    if target.backend == "cpu":
        return head(target) + _CPU_FILL.replace("NAME", name), kernels
    body = """
  %at = getelementptr inbounds i32, ptr addrspace(1) %data, i64 %index
  store i32 %value, ptr addrspace(1) %at, align 4
  ret void
}
"""
    start = _gpu_entry(target, name, "ptr addrspace(1) align 4 %data, i32 %value", exact=False, block_size=block_size, guard=False)
    return head(target) + start + body, kernels


def kernel(target: Target, body: str, name: str = "probe", *, before: str = "") -> tuple[str, tuple[KernelEntry, ...]]:
    """A kernel of one pointer argument, `%data`, around `body`; `before` stands in front of it."""
    arguments = (ArgumentEntry("data", "pointer", "f32", 8, 8),)
    kernels = (entry(name, arguments=arguments),)
    if target.backend == "cpu":
        header = f'define void @{name}(ptr %args, ptr %launch, i64 %begin, i64 %end) nounwind "no-builtins" {{\n'
        start = header + "  %slot = load ptr, ptr %args, align 8\n  %data = load ptr, ptr %slot, align 8\n"
    else:
        convention = "ptx_kernel" if target.backend == "cuda" else "amdgpu_kernel"
        attributes = f'nounwind "no-builtins" {_block(target, (256, 1, 1), exact=True)}'
        start = f"define {convention} void @{name}(ptr addrspace(1) %global) {attributes} {{\n"
        start += "  %data = addrspacecast ptr addrspace(1) %global to ptr\n"
    return f"{head(target)}{before}\n{start}{body}\n  ret void\n}}\n", kernels


def _block(target: Target, size: tuple[int, int, int], *, exact: bool) -> str:
    if target.backend == "cuda":
        return f'"nvvm.{"reqntid" if exact else "maxntid"}"="{",".join(map(str, size))}"'
    most = size[0] * size[1] * size[2]
    return f'"amdgpu-flat-work-group-size"="{most if exact else 1},{most}"'


def _gpu_entry(
    target: Target, name: str, arguments: str, *, exact: bool, block_size: tuple[int, int, int] = (256, 1, 1), guard: bool = True
) -> str:
    """A kernel's first block: %index, and the branch to %body or %done where there is a length to keep."""
    if target.backend == "cuda":
        convention = "ptx_kernel"
        declarations = "".join(f"declare i32 @llvm.nvvm.read.ptx.sreg.{register}.x()\n" for register in ("tid", "ntid", "ctaid"))
        coordinates = """
  %local = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size.register = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %size = zext i32 %size.register to i64
"""
    else:
        convention = "amdgpu_kernel"
        declarations = "declare i32 @llvm.amdgcn.workitem.id.x()\ndeclare i32 @llvm.amdgcn.workgroup.id.x()\n"
        declarations += "declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n"
        coordinates = """
  %local = call i32 @llvm.amdgcn.workitem.id.x()
  %block = call i32 @llvm.amdgcn.workgroup.id.x()
  %implicit = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %size.at = getelementptr i8, ptr addrspace(4) %implicit, i64 12
  %size.short = load i16, ptr addrspace(4) %size.at, align 4
  %size = zext i16 %size.short to i64
"""
    attributes = f'nounwind "no-builtins" {_block(target, block_size, exact=exact)}'
    position = """
  %block.wide = zext i32 %block to i64
  %local.wide = zext i32 %local to i64
  %first = mul i64 %block.wide, %size
  %index = add i64 %first, %local.wide
"""
    if guard:
        position += "  %inside = icmp ult i64 %index, %len\n  br i1 %inside, label %body, label %done\n"
    return f"{declarations}define {convention} void @{name}({arguments}) {attributes} {{{coordinates}{position}"
