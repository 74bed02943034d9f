"""AMD: HSA code objects through LLVM's AMDGCN backend."""

from __future__ import annotations

from math import prod

from gompute.frontend import typed
from gompute.frontend.dialects.atomics import emit_atomic
from gompute.frontend.dialects.gpu import GpuDialect
from gompute.frontend.irtext.text import FunctionText
from gompute.lang.types import ParamsType, ScalarType

_SCOPES: dict[typed.Scope, str] = {"block": 'syncscope("workgroup") ', "device": 'syncscope("agent") ', "system": ""}
# Without these facts LLVM writes compare-and-swap loops: memory of the host or of another device may not take every operation. The
# device's own does, and what reaches further has the scope "system". The third lets the units that add floats be used where they take
# subnormal numbers for zero (gfx90a in f32).
_DEVICE_MEMORY = ", !amdgpu.no.fine.grained.memory !{}, !amdgpu.no.remote.memory !{}, !amdgpu.ignore.denormal.mode !{}"
_IMPLICIT_POINTER = "ptr addrspace(4)"


class AmdgcnDialect(GpuDialect):
    """Params structs and constant tables are in the constant address space, which scalar loads read. Block size and count come from the
    implicit arguments that the driver fills at each launch: 32-bit counts at bytes 0, 4, 8 and 16-bit sizes at 12, 14, 16."""

    triple = "amdgcn-amd-amdhsa"
    data_layout = (
        "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32"
        "-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
    )
    rolled_loop = ", !llvm.loop !1"
    entry_convention = "amdgpu_kernel"
    params_pointer = "ptr addrspace(4)"
    private_pointer = "ptr addrspace(5)"
    alloca_suffix = ", addrspace(5)"
    table_pointer = "ptr addrspace(4)"
    table_space = "addrspace(4) "

    def __init__(self, code_object_version: int) -> None:
        """The version is 5 or 6; LLVM would write 6 for every target, which older drivers do not load."""
        self.module_metadata = (
            f'!llvm.module.flags = !{{!0}}\n!0 = !{{i32 1, !"amdhsa_code_object_version", i32 {code_object_version * 100}}}\n'
            '!1 = distinct !{!1, !2}\n!2 = !{!"llvm.loop.unroll.disable"}'
        )

    def index(self, text: FunctionText, name: typed.IndexName, dim: int) -> str:
        """A hardware register, an implicit argument, or block_id * block_dim + local_id."""
        if name == "global_id":
            return self._global_id(text, dim)
        if name == "local_id":
            value = text.intrinsic(f"llvm.amdgcn.workitem.id.{'xyz'[dim]}", "i32")
        elif name == "block_id":
            value = text.intrinsic(f"llvm.amdgcn.workgroup.id.{'xyz'[dim]}", "i32")
        else:
            base = text.intrinsic("llvm.amdgcn.implicitarg.ptr", _IMPLICIT_POINTER)
            width, offset = (32, 4 * dim) if name == "grid_dim" else (16, 12 + 2 * dim)
            address = text.value(f"getelementptr inbounds i8, {_IMPLICIT_POINTER} {base}, i64 {offset}")
            value = text.value(f"load i{width}, {_IMPLICIT_POINTER} {address}, align {width // 8}, !invariant.load !{{}}")
            return text.value(f"zext i{width} {value} to i64")
        return text.value(f"zext i32 {value} to i64")

    def barrier(self, text: FunctionText) -> None:
        """``s_barrier`` between fences: by itself it waits and orders nothing."""
        text.effect('fence syncscope("workgroup") release')
        text.call("llvm.amdgcn.s.barrier")
        text.effect('fence syncscope("workgroup") acquire')

    def atomic(
        self,
        text: FunctionText,
        op: typed.AtomicOp,
        scalar: ScalarType,
        pointer: str,
        address: str,
        operands: tuple[str, ...],
        scope: typed.Scope,
    ) -> str:
        """What the memory's own units do, where they can."""
        metadata = "" if scope == "system" else _DEVICE_MEMORY
        return emit_atomic(text, op, scalar, pointer, address, operands, _SCOPES[scope], metadata)

    def params_argument(self, params: ParamsType) -> str:
        """A byref parameter: the kernel's argument segment itself."""
        return f"ptr addrspace(4) byref([{params.size} x i8]) align {params.align}"

    def block_attributes(self, block_size: tuple[int, int, int], *, exact: bool) -> str:
        """The least and the greatest number of work-items in a block."""
        largest = prod(block_size)
        return f'"amdgpu-flat-work-group-size"="{largest if exact else 1},{largest}"'
