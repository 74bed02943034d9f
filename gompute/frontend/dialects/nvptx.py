"""NVIDIA: PTX through LLVM's NVPTX backend."""

from __future__ import annotations

from gompute.frontend import typed
from gompute.frontend.dialects.atomics import converted, emit_atomic
from gompute.frontend.dialects.gpu import GpuDialect
from gompute.frontend.dialects.words import move_words
from gompute.frontend.irtext.text import FunctionText
from gompute.frontend.irtext.values import value_type
from gompute.lang.types import ParamsType, ScalarType

_SCOPES: dict[typed.Scope, str] = {"block": 'syncscope("block") ', "device": 'syncscope("device") ', "system": ""}
_SYSTEM_WIDE: dict[tuple[typed.AtomicOp, str], str] = {
    **{("add", kind): f"add.gen.{'f' if kind == 'float' else 'i'}" for kind in ("int", "uint", "float")},
    **{("exchange", kind): "exch.gen.i" for kind in ("int", "uint", "float")},
    **{(op, kind): f"{op}.gen.i" for op in ("and", "or", "xor") for kind in ("int", "uint")},
    ("min", "int"): "min.gen.i",
    ("max", "int"): "max.gen.i",
}
# The way of an exchange in PTX, and the last lane that it may reach.
_SHUFFLES = {"shuffle": ("idx", "31"), "shuffle_up": ("up", "0"), "shuffle_down": ("down", "31"), "shuffle_xor": ("bfly", "31")}
_APPROXIMATIONS: dict[typed.ApproximateName, str] = {
    "exp2": "ex2.approx.f32",
    "tanh": "tanh.approx.f32",  # LLVM reads it as a llvm.tanh.f32 that may be approximate
    "log2": "lg2.approx.f",
    "sqrt": "sqrt.approx.f",
    "rsqrt": "rsqrt.approx.f",
    "sin": "sin.approx.f",
    "cos": "cos.approx.f",
}
_REGISTERS = {"local_id": "tid", "block_id": "ctaid", "block_dim": "ntid", "grid_dim": "nctaid"}


class NvptxDialect(GpuDialect):
    """Params structs are byval parameters in the generic address space, which is what LLVM turns into ``ld.param``. Constant tables lie in
    global memory: the constant bank holds 64 KiB and serialises work-items that read different elements."""

    triple = "nvptx64-nvidia-cuda"
    data_layout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
    entry_convention = "ptx_kernel"
    params_pointer = "ptr"
    private_pointer = "ptr"
    alloca_suffix = ""
    table_pointer = "ptr addrspace(1)"
    table_space = "addrspace(1) "
    rolled_loop = ", !llvm.loop !0"
    module_metadata = '!0 = distinct !{!0, !1}\n!1 = !{!"llvm.loop.unroll.disable"}'

    def index(self, text: FunctionText, name: typed.IndexName, dim: int) -> str:
        """A special register, or block_id * block_dim + local_id."""
        if name == "global_id":
            return self._global_id(text, dim)
        if name == "lane_id":
            return text.value(f"zext i32 {text.intrinsic('llvm.nvvm.read.ptx.sreg.laneid', 'i32')} to i64")
        register = text.intrinsic(f"llvm.nvvm.read.ptx.sreg.{_REGISTERS[name]}.{'xyz'[dim]}", "i32")
        return text.value(f"zext i32 {register} to i64")

    def approximate(self, text: FunctionText, name: typed.ApproximateName, operand: str) -> str:
        """``ex2.approx.f32`` and its like."""
        return text.intrinsic(f"llvm.nvvm.{_APPROXIMATIONS[name]}", "float", ("float", operand))

    def warp(self, text: FunctionText, name: typed.WarpName, scalar: ScalarType, operands: tuple[str, ...], mask: str | None) -> str:
        """``shfl.sync`` and ``vote.sync``."""
        lanes = "-1" if mask is None else text.value(f"trunc i64 {mask} to i32")
        if name == "ballot":
            found = text.intrinsic("llvm.nvvm.vote.ballot.sync", "i32", ("i32", lanes), ("i1", operands[0]))
            return text.value(f"zext i32 {found} to i64")
        if name == "any" or name == "all":
            return text.intrinsic(f"llvm.nvvm.vote.{name}.sync", "i1", ("i32", lanes), ("i1", operands[0]))
        value, lane = operands
        way, last = _SHUFFLES[name]

        def move(word: str) -> str:
            return text.intrinsic(f"llvm.nvvm.shfl.sync.{way}.i32", "i32", ("i32", lanes), ("i32", word), ("i32", lane), ("i32", last))

        return move_words(text, scalar, value, move)

    def barrier(self, text: FunctionText) -> None:
        """``bar.sync``, which also orders the block's accesses of memory."""
        text.call("llvm.nvvm.barrier.cta.sync.aligned.all", ("i32", "0"))

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
        """``atom``. Of an instruction that reads and writes LLVM drops the scope, and PTX then takes that of the device; only a
        compare-and-swap keeps it, and intrinsics that have it in their name."""
        if scope == "system" and scalar.kind == "uint" and op in ("min", "max"):
            return _extreme_of_system(text, op, scalar, pointer, address, operands[0])
        name = _SYSTEM_WIDE.get((op, scalar.kind)) if scope == "system" else None
        if name is None:
            return emit_atomic(text, op, scalar, pointer, address, operands, _SCOPES[scope])
        register = value_type(scalar)
        word = f"i{scalar.bits}" if op == "exchange" else register
        value = converted(text, operands[0], register, word)
        suffix = f"{'f' if word == register and scalar.is_float else 'i'}{scalar.bits}"
        old = text.intrinsic(f"llvm.nvvm.atomic.{name}.sys.{suffix}.p1", word, (pointer, address), (word, value))
        return converted(text, old, word, register)

    def params_argument(self, params: ParamsType) -> str:
        """A byval parameter."""
        return f"ptr byval([{params.size} x i8]) align {params.align}"

    def block_attributes(self, block_size: tuple[int, int, int], *, exact: bool) -> str:
        """``.reqntid`` or ``.maxntid``."""
        return f'"nvvm.{"reqntid" if exact else "maxntid"}"="{",".join(map(str, block_size))}"'


def _extreme_of_system(text: FunctionText, op: typed.AtomicOp, scalar: ScalarType, pointer: str, address: str, value: str) -> str:
    """``min`` or ``max`` of unsigned integers, for which there is no intrinsic: tried until nobody came between."""
    bits, size = value_type(scalar), scalar.size
    first = text.value(f"load atomic {bits}, {pointer} {address} monotonic, align {size}")
    before, again, done = text.block, text.new_block("swap"), text.new_block("swapped")
    text.start(again)
    old = text.value(f"phi {bits} [ {first}, %{before} ], [ %{again}.seen, %{again} ]")
    wanted = text.intrinsic(f"llvm.u{op}.{bits}", bits, (bits, old), (bits, value))
    both = text.value(f"cmpxchg {pointer} {address}, {bits} {old}, {bits} {wanted} monotonic monotonic, align {size}")
    text.effect(f"%{again}.seen = extractvalue {{ {bits}, i1 }} {both}, 0")
    text.branch_if(text.value(f"extractvalue {{ {bits}, i1 }} {both}, 1"), done, again)
    text.start(done)
    return old
