"""CPUs: entry points that loop over elements, or over blocks and their work-items."""

from __future__ import annotations

from gompute.errors import InternalError
from gompute.frontend import typed
from gompute.frontend.dialects.atomics import emit_atomic
from gompute.frontend.dialects.cpu_blocks import ALIGNMENT, emit_raw_kernel
from gompute.frontend.dialects.cpu_entry import INVARIANT, Given, add_loop, argument, end_entry, params_parameter, report
from gompute.frontend.dialects.cpu_items import CONTEXT, ITEM, suspend
from gompute.frontend.dialects.cpu_tiles import Loops
from gompute.frontend.dialects.dialect import CONTEXT_ARGUMENT
from gompute.frontend.dialects.element import emit_element, memory_attributes
from gompute.frontend.dialects.tiles import TileEmitter
from gompute.frontend.irtext.failing import make_note
from gompute.frontend.irtext.loops import counted
from gompute.frontend.irtext.text import FunctionText, ModuleText
from gompute.lang.types import ScalarType, SharedArrayType

_DATA_LAYOUTS = {
    "x86_64-unknown-linux-gnu": "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128",
    "aarch64-unknown-linux-gnu": "e-m:e-p270:32:32-p271:32:32-p272:64:64-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128-Fn32",
}
# An elementwise kernel's output may be one of its inputs, which no attribute of a pointer says: what is known is that no iteration reads
# what another writes. Two vectors an iteration: long chains of arithmetic, as those of g.math, wait less for themselves, and short loops
# are as fast as LLVM's own choice makes them.
_ACCESS = ", !llvm.access.group !0"
_INDEPENDENT = ", !llvm.loop !1"
_ROLLED = ", !llvm.loop !3"
_LOOP_METADATA = """!0 = distinct !{}
!1 = distinct !{!1, !2, !6}
!2 = !{!"llvm.loop.parallel_accesses", !0}
!3 = distinct !{!3, !4, !5}
!4 = !{!"llvm.loop.vectorize.enable", i1 false}
!5 = !{!"llvm.loop.unroll.disable"}
!6 = !{!"llvm.loop.interleave.count", i32 2}"""


class CpuDialect:
    """The C calling convention and one address space.

    Raises:
        InternalError: the triple is none of a CPU target's.
    """

    global_pointer = "ptr"
    params_pointer = "ptr"
    params_metadata = INVARIANT  # the caller's memory, which no kernel writes
    private_pointer = "ptr"
    alloca_suffix = ""
    table_pointer = "ptr"
    table_space = ""
    shared_pointer = "ptr"
    suspension = ITEM
    leaves_together = False
    module_metadata = _LOOP_METADATA
    passes_context = True

    def __init__(self, triple: str) -> None:
        if triple not in _DATA_LAYOUTS:
            raise InternalError(f"no data layout for the CPU triple {triple!r}")
        self.triple = triple
        self.data_layout = _DATA_LAYOUTS[triple]
        self._offsets: dict[typed.Slot, int] = {}
        self._end = 0

    def index(self, text: FunctionText, name: typed.IndexName, dim: int) -> str:
        """A field of the context, or block_id * block_dim + local_id."""
        if name == "lane_id":
            return "0"
        if name == "global_id":
            first = text.value(f"mul i64 {self.index(text, 'block_id', dim)}, {self.index(text, 'block_dim', dim)}")
            return text.value(f"add i64 {first}, {self.index(text, 'local_id', dim)}")
        address = text.value(f"getelementptr inbounds i64, {CONTEXT_ARGUMENT}, i64 {CONTEXT[name] + dim}")
        return text.value(f"load i64, ptr {address}, align 8")

    def approximate(self, text: FunctionText, name: typed.ApproximateName, operand: str) -> str:
        """A CPU has no such instructions: kernels keep the bodies of `gompute.math`."""
        raise InternalError(f"a CPU kernel approximates {name}")

    def shared_array(self, text: FunctionText, slot: typed.Slot) -> str:
        """A place in the block's part of the memory that the launch brings; all arrays of the module have places of their own there, and
        what is of dynamic size lies behind those of the kernel."""
        dynamic = isinstance(slot.type, SharedArrayType) and slot.type.length is None
        if slot not in self._offsets:
            self._offsets[slot] = 0 if dynamic else self._end
            self._end += -(-_bytes(slot) // ALIGNMENT) * ALIGNMENT
        field = text.value(f"getelementptr inbounds i64, {CONTEXT_ARGUMENT}, i64 {CONTEXT['dynamic' if dynamic else 'shared']}")
        base = text.value(f"load ptr, ptr {field}, align 8")
        return text.value(f"getelementptr inbounds i8, ptr {base}, i64 {self._offsets[slot]}")

    def warp(self, text: FunctionText, name: typed.WarpName, scalar: ScalarType, operands: tuple[str, ...], mask: str | None) -> str:
        """A warp is one work-item: an exchange gives back what came in."""
        value = operands[0]
        if name == "ballot":
            value = text.value(f"zext i1 {value} to i64")
            return value if mask is None else text.value(f"and i64 {value}, {mask}")
        if mask is None or name not in ("any", "all"):
            return value
        inside = text.value(f"trunc i64 {mask} to i1")
        if name == "any":
            return text.value(f"and i1 {value}, {inside}")
        outside = text.value(f"xor i1 {inside}, true")
        return text.value(f"or i1 {value}, {outside}")

    def barrier(self, text: FunctionText) -> None:
        """The others run up to here before this work-item goes on."""
        suspend(text)

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
        """An atomic instruction: blocks run in several threads."""
        return emit_atomic(text, op, scalar, pointer, address, operands)

    def generated_kernel(self, module: ModuleText, kernel: typed.GeneratedKernel) -> None:
        """A loop over elements; the vectoriser takes that of an elementwise kernel."""
        text = FunctionText(module)
        _belong(text, kernel)
        given = _arguments(text, kernel)
        work = given[len(kernel.arrays)][2]
        loop = module.unique_symbol(f"{kernel.name}_elements")
        end_entry(text, kernel.name, loop, given, work)

        independent = isinstance(kernel, typed.ElementwiseKernel)
        text = FunctionText(module)
        _belong(text, kernel)
        if kernel.checked:
            make_note(text, self.private_pointer)
        text.branch_if(text.value("icmp ult i64 %begin, %stop"), "element", "done")
        text.start("element")
        index = text.value("phi i64 [ %begin, %entry ], [ %next, %advance ]")
        emit_element(text, self, kernel, index, _ACCESS if independent else "")
        text.start("advance")
        text.effect(f"%next = add nuw i64 {index}, 1")
        text.branch_if(text.value("icmp ult i64 %next, %stop"), "element", "done", _INDEPENDENT if independent else "")
        text.start("done")
        text.ret("void")
        add_loop(text, loop, given)

    def tiled_kernel(self, module: ModuleText, kernel: typed.TiledKernel) -> None:
        """A loop over tiles."""
        text = FunctionText(module)
        _belong(text, kernel)
        given = _arguments(text, kernel)
        loop = module.unique_symbol(f"{kernel.name}_tiles")
        end_entry(text, kernel.name, loop, given, "%end")

        text = FunctionText(module)
        _belong(text, kernel)
        tiles = TileEmitter(text, kernel, Loops(_ROLLED), self)
        count = tiles.launch()
        stop = text.intrinsic("llvm.umin.i64", "i64", ("i64", "%stop"), ("i64", count))
        counted(text, "%begin", stop, tiles.tile, suffix=_ROLLED)
        text.ret("void")
        add_loop(text, loop, given)

    def raw_kernel(self, module: ModuleText, kernel: typed.RawKernel) -> None:
        """Loops over blocks and, inside, over the work-items of a block, x fastest in both."""
        emit_raw_kernel(module, self, kernel, self._own_end(kernel.function))

    def _own_end(self, function: typed.Function) -> int:
        """Bytes up to the end of the last shared array that the function reaches."""
        return max((self._offsets[slot] + _bytes(slot) for slot in function.shared), default=0)


def _belong(text: FunctionText, kernel: typed.GeneratedKernel | typed.TiledKernel) -> None:
    """Where there are line tables: what the author has not written counts as the line that the function begins in."""
    if not isinstance(kernel, typed.IndirectKernel):
        function = kernel.combine if isinstance(kernel, typed.TiledKernel) else kernel.function
        text.belong_to(kernel.name, function.location)


def _arguments(text: FunctionText, kernel: typed.GeneratedKernel | typed.TiledKernel) -> list[Given]:
    """The arguments of an operation's kernel."""
    given: list[Given] = []
    for position, array in enumerate(kernel.arrays):
        base = text.value(f"load ptr, ptr {argument(text, position)}, align 8{INVARIANT}")
        given.append(Given(f"ptr{memory_attributes(kernel, array)}", f"%{array.name}", base))
    for position, count in enumerate(kernel.counts, len(kernel.arrays)):
        given.append(Given("i64", f"%{count}", text.value(f"load i64, ptr {argument(text, position)}, align 8{INVARIANT}")))
    if kernel.params is not None:
        given.append(Given(params_parameter(kernel.params), "%params", argument(text, len(given), kernel.params)))
    if kernel.checked:
        given.append(report(text, len(given)))
    return given


def _bytes(slot: typed.Slot) -> int:
    """Bytes of a shared array, without what the launch gives."""
    if not isinstance(slot.type, SharedArrayType):
        raise InternalError(f"{slot.name!r} of type {slot.type} is no shared array")
    return (slot.type.length or 0) * slot.type.element.size
