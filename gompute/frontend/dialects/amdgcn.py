"""AMD: HSA code objects through LLVM's AMDGCN backend."""

from __future__ import annotations

from math import pi, prod

from gompute.frontend import typed
from gompute.frontend.dialects.atomics import emit_atomic
from gompute.frontend.dialects.gpu import GpuDialect
from gompute.frontend.dialects.words import move_words
from gompute.frontend.irtext.text import FunctionText
from gompute.frontend.irtext.values import constant
from gompute.lang import numeric
from gompute.lang.types import F32, ParamsType, ScalarType

_SCOPES: dict[typed.Scope, str] = {"block": 'syncscope("workgroup") ', "device": 'syncscope("agent") ', "system": ""}
# Without these facts LLVM writes compare-and-swap loops: memory of the host or of another device may not take every operation. The
# device's own does, and what reaches further has the scope "system". The third lets the units that add floats be used where they take
# subnormal numbers for zero (gfx90a in f32).
_DEVICE_MEMORY = ", !amdgpu.no.fine.grained.memory !{}, !amdgpu.no.remote.memory !{}, !amdgpu.ignore.denormal.mode !{}"
_APPROXIMATIONS: dict[typed.ApproximateName, str] = {"log2": "log", "rsqrt": "rsq"}
_IMPLICIT_POINTER = "ptr addrspace(4)"


class AmdgcnDialect(GpuDialect):
    """Params structs and constant tables are in the constant address space, which scalar loads read. Block size and count come from the
    implicit arguments that the driver fills at each launch: 32-bit counts at bytes 0, 4, 8 and 16-bit sizes at 12, 14, 16."""

    triple = "amdgcn-amd-amdhsa"
    data_layout = (
        "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32"
        "-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
    )
    leaves_together = True
    rolled_loop = ", !llvm.loop !1"
    entry_convention = "amdgpu_kernel"
    params_pointer = "ptr addrspace(4)"
    private_pointer = "ptr addrspace(5)"
    alloca_suffix = ", addrspace(5)"
    table_pointer = "ptr addrspace(4)"
    table_space = "addrspace(4) "

    def __init__(self, code_object_version: int, warp_size: int) -> None:
        """The version is 5 or 6; LLVM would write 6 for every target, which older drivers do not load."""
        super().__init__()
        self._warp_size = warp_size
        self.module_metadata = (
            f'!llvm.module.flags = !{{!0}}\n!0 = !{{i32 1, !"amdhsa_code_object_version", i32 {code_object_version * 100}}}\n'
            '!1 = distinct !{!1, !2}\n!2 = !{!"llvm.loop.unroll.disable"}'
        )

    def index(self, text: FunctionText, name: typed.IndexName, dim: int) -> str:
        """A hardware register, an implicit argument, or block_id * block_dim + local_id."""
        if name == "global_id":
            return self._global_id(text, dim)
        if name == "lane_id":
            return text.value(f"zext i32 {self._lane(text)} to i64")
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

    def _lane(self, text: FunctionText) -> str:
        """The number of lanes below this one."""
        lane = text.intrinsic("llvm.amdgcn.mbcnt.lo", "i32", ("i32", "-1"), ("i32", "0"))
        return lane if self._warp_size == 32 else text.intrinsic("llvm.amdgcn.mbcnt.hi", "i32", ("i32", "-1"), ("i32", lane))

    def approximate(self, text: FunctionText, name: typed.ApproximateName, operand: str) -> str:
        """``v_exp_f32`` and its like. Sine and cosine take turns, some architectures of a few hundred at most."""
        if name in ("sin", "cos"):
            turns = text.value(f"fmul float {operand}, {constant(F32, numeric.convert(0.5 / pi, F32))}")
            operand = text.intrinsic("llvm.amdgcn.fract.f32", "float", ("float", turns))
        return text.intrinsic(f"llvm.amdgcn.{_APPROXIMATIONS.get(name, name)}.f32", "float", ("float", operand))

    def warp(self, text: FunctionText, name: typed.WarpName, scalar: ScalarType, operands: tuple[str, ...], mask: str | None) -> str:
        """Lanes that are not at work here take no part by themselves; a mask leaves out more of them where that shows."""
        if name in ("ballot", "any", "all"):
            return self._vote(text, name, operands[0], mask)
        value, lane = operands
        source = text.value(f"shl i32 {self._source(text, name, lane)}, 2")

        def move(word: str) -> str:
            return text.intrinsic("llvm.amdgcn.ds.bpermute", "i32", ("i32", source), ("i32", word))

        return move_words(text, scalar, value, move)

    def _vote(self, text: FunctionText, name: typed.WarpName, condition: str, mask: str | None) -> str:
        word = f"i{self._warp_size}"
        if name == "all":  # no lane is against it
            condition = text.value(f"xor i1 {condition}, true")
        found = text.intrinsic(f"llvm.amdgcn.ballot.{word}", word, ("i1", condition))
        if self._warp_size == 32:
            found = text.value(f"zext i32 {found} to i64")
        if mask is not None:
            found = text.value(f"and i64 {found}, {mask}")
        return found if name == "ballot" else text.value(f"icmp {'ne' if name == 'any' else 'eq'} i64 {found}, 0")

    def _source(self, text: FunctionText, name: typed.WarpName, lane: str) -> str:
        """The lane to read from: this one where a distance leads out of the warp."""
        last = self._warp_size - 1
        distance = text.value(f"and i32 {lane}, {last}")
        if name == "shuffle":
            return distance
        own = self._lane(text)
        if name == "shuffle_xor":
            return text.value(f"xor i32 {own}, {distance}")
        there = text.value(f"{'sub' if name == 'shuffle_up' else 'add'} i32 {own}, {distance}")
        inside = text.value(f"icmp ule i32 {there}, {last}")  # below 0 is a huge unsigned number
        return text.value(f"select i1 {inside}, i32 {there}, i32 {own}")

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
