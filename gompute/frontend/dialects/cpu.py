"""CPUs: entry points that loop over elements, or over blocks and their work-items.

Every kernel is ``void NAME(void **args, const struct launch *launch, uint64_t begin, uint64_t end)``. ``args[i]`` is the address of the
bytes of argument i; a pointer argument's bytes are the pointer. An operation's kernel handles elements begin to min(end, len), a raw one
the blocks of those numbers, counted x fastest; ``struct launch { uint64_t grid[3], block[3], shared; }`` is read by raw kernels only.

A function that reads coordinates gets the address of twelve i64: block_id, local_id, block_dim and grid_dim in x, y, z.
"""

from __future__ import annotations

from gompute.errors import InternalError
from gompute.frontend import typed
from gompute.frontend.dialects.atomics import emit_atomic
from gompute.frontend.dialects.cpu_tiles import Loops
from gompute.frontend.dialects.dialect import CONTEXT_ARGUMENT, FUNCTION_ATTRIBUTES
from gompute.frontend.dialects.element import emit_element, memory_attributes
from gompute.frontend.dialects.tiles import TileEmitter
from gompute.frontend.irtext.loops import counted
from gompute.frontend.irtext.text import FunctionText, ModuleText, safe_name
from gompute.frontend.irtext.values import load, value_type
from gompute.lang.types import ParamsType, PointerType, ScalarType

_DATA_LAYOUTS = {
    "x86_64-unknown-linux-gnu": "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128",
    "aarch64-unknown-linux-gnu": "e-m:e-p270:32:32-p271:32:32-p272:64:64-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128-Fn32",
}
_CONTEXT = {"block_id": 0, "local_id": 3, "block_dim": 6, "grid_dim": 9}
_CONTEXT_LENGTH = 12
_INVARIANT = ", !invariant.load !{}"
# An elementwise kernel's output may be one of its inputs, which no attribute of a pointer says: what is known is that no iteration reads
# what another writes.
_ACCESS = ", !llvm.access.group !0"
_INDEPENDENT = ", !llvm.loop !1"
_ROLLED = ", !llvm.loop !3"
_LOOP_METADATA = """!0 = distinct !{}
!1 = distinct !{!1, !2}
!2 = !{!"llvm.loop.parallel_accesses", !0}
!3 = distinct !{!3, !4, !5}
!4 = !{!"llvm.loop.vectorize.enable", i1 false}
!5 = !{!"llvm.loop.unroll.disable"}"""


class CpuDialect:
    """The C calling convention and one address space.

    Raises:
        InternalError: the triple is none of a CPU target's.
    """

    global_pointer = "ptr"
    params_pointer = "ptr"
    params_metadata = _INVARIANT  # the caller's memory, which no kernel writes
    private_pointer = "ptr"
    alloca_suffix = ""
    table_pointer = "ptr"
    table_space = ""
    shared_pointer = "ptr"
    module_metadata = _LOOP_METADATA
    passes_context = True

    def __init__(self, triple: str) -> None:
        if triple not in _DATA_LAYOUTS:
            raise InternalError(f"no data layout for the CPU triple {triple!r}")
        self.triple = triple
        self.data_layout = _DATA_LAYOUTS[triple]

    def index(self, text: FunctionText, name: typed.IndexName, dim: int) -> str:
        """A field of the context, or block_id * block_dim + local_id."""
        if name == "global_id":
            first = text.value(f"mul i64 {self.index(text, 'block_id', dim)}, {self.index(text, 'block_dim', dim)}")
            return text.value(f"add i64 {first}, {self.index(text, 'local_id', dim)}")
        address = text.value(f"getelementptr inbounds i64, {CONTEXT_ARGUMENT}, i64 {_CONTEXT[name] + dim}")
        return text.value(f"load i64, ptr {address}, align 8")

    def barrier(self, text: FunctionText) -> None:
        """A suspension of the coroutine that the work-item is: the others run up to here before it goes on. The function that the text
        belongs to has a block "suspended", which returns to whoever resumed it."""
        status = text.intrinsic("llvm.coro.suspend", "i8", ("token", "none"), ("i1", "false"))
        resumed = text.new_block("resumed")
        text.effect(f"switch i8 {status}, label %suspended [i8 0, label %{resumed}]")
        text.open = False
        text.start(resumed)

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
        given = _arguments(text, kernel)
        work = given[len(kernel.arrays)][2]
        loop = module.unique_symbol(f"{kernel.name}_elements")
        _end_entry(text, kernel.name, loop, given, work)

        independent = isinstance(kernel, typed.ElementwiseKernel)
        text = FunctionText(module)
        text.branch_if(text.value("icmp ult i64 %begin, %stop"), "element", "done")
        text.start("element")
        index = text.value("phi i64 [ %begin, %entry ], [ %next, %advance ]")
        emit_element(text, self, kernel, index, _ACCESS if independent else "")
        text.start("advance")
        text.effect(f"%next = add nuw i64 {index}, 1")
        text.branch_if(text.value("icmp ult i64 %next, %stop"), "element", "done", _INDEPENDENT if independent else "")
        text.start("done")
        text.ret("void")
        _add_loop(text, loop, given)

    def tiled_kernel(self, module: ModuleText, kernel: typed.TiledKernel) -> None:
        """A loop over tiles."""
        text = FunctionText(module)
        given = _arguments(text, kernel)
        loop = module.unique_symbol(f"{kernel.name}_tiles")
        _end_entry(text, kernel.name, loop, given, "%end")

        text = FunctionText(module)
        tiles = TileEmitter(text, kernel, Loops(_ROLLED))
        count = tiles.launch()
        stop = text.intrinsic("llvm.umin.i64", "i64", ("i64", "%stop"), ("i64", count))
        counted(text, "%begin", stop, tiles.tile, suffix=_ROLLED)
        text.ret("void")
        _add_loop(text, loop, given)

    def raw_kernel(self, module: ModuleText, kernel: typed.RawKernel) -> None:
        """Loops over blocks and, inside, over the work-items of a block, x fastest in both."""
        function = kernel.function
        text = FunctionText(module)
        given = [_raw_argument(text, slot, position) for position, slot in enumerate(function.parameters)]
        passed = [f"{declared.split()[0]} {name}" for declared, name, _ in given]
        grid, block = [_launch_field(text, dim) for dim in range(3)], [_launch_field(text, 3 + dim) for dim in range(3)]
        for axis, blocks, items in zip("xyz", grid, block, strict=True):
            given += [("i64", f"%grid.{axis}", blocks), ("i64", f"%block.{axis}", items)]
        plane = text.value(f"mul i64 {grid[0]}, {grid[1]}")
        total = text.value(f"mul i64 {plane}, {grid[2]}")
        loop = module.unique_symbol(f"{kernel.name}_blocks")
        _end_entry(text, kernel.name, loop, given, total)

        text = FunctionText(module)
        context = None
        if function.uses_index:
            context = text.alloca(f"[{_CONTEXT_LENGTH} x i64]", 8, "context")
            passed.insert(0, f"ptr {context}")
            _set_context(text, context, "block_dim", "%block.x", "%block.y", "%block.z")
            _set_context(text, context, "grid_dim", "%grid.x", "%grid.y", "%grid.z")
        some = text.value("icmp ult i64 %begin, %stop")
        for axis in "xyz":
            items = text.value(f"icmp ne i64 %block.{axis}, 0")
            some = text.value(f"and i1 {some}, {items}")
        text.branch_if(some, "first", "done")
        _block_loops(text, context, f"call void @{function.symbol}({', '.join(passed)})")
        text.start("done")
        text.ret("void")
        _add_loop(text, loop, given)


# Each kernel is two functions: the entry point reads the arguments and calls the loops, whose parameters carry what LLVM should know of
# the memory behind them. Metadata on loads would not do: it is lost where LLVM moves a load out of an inlined function.


def _end_entry(text: FunctionText, name: str, loop: str, given: list[tuple[str, str, str]], count: str) -> None:
    """Close an entry point with the call of its loops, up to the smaller of %end and `count`, and add it to the module."""
    stop = text.intrinsic("llvm.umin.i64", "i64", ("i64", "%end"), ("i64", count))
    operands = "".join(f", {declared.split()[0]} {operand}" for declared, _, operand in given)
    text.effect(f"call void @{loop}(i64 %begin, i64 {stop}{operands})")
    text.ret("void")
    header = f"define void @{name}(ptr %args, ptr %launch, i64 %begin, i64 %end) {FUNCTION_ATTRIBUTES}"
    text.module.add_function(text.definition(header))


def _arguments(text: FunctionText, kernel: typed.GeneratedKernel | typed.TiledKernel) -> list[tuple[str, str, str]]:
    """Of an operation's kernel, each argument's type and attributes, its name, and the operand that the entry point has for it."""
    given = []
    for position, array in enumerate(kernel.arrays):
        base = text.value(f"load ptr, ptr {_argument(text, position)}, align 8{_INVARIANT}")
        given.append((f"ptr{memory_attributes(kernel, array)}", f"%{array.name}", base))
    for position, count in enumerate(kernel.counts, len(kernel.arrays)):
        given.append(("i64", f"%{count}", text.value(f"load i64, ptr {_argument(text, position)}, align 8{_INVARIANT}")))
    if kernel.params is not None:
        given.append((_params_parameter(kernel.params), "%params", _argument(text, len(given), kernel.params)))
    return given


def _add_loop(text: FunctionText, loop: str, given: list[tuple[str, str, str]]) -> None:
    """Add the function of loops; `given` is (type and attributes, name, the entry point's operand) of each parameter."""
    parameters = "".join(f", {declared} {name}" for declared, name, _ in given)
    text.module.add_function(text.definition(f"define internal void @{loop}(i64 %begin, i64 %stop{parameters}) #0"))


def _block_loops(text: FunctionText, context: str | None, call: str) -> None:
    """The loops of a raw kernel from the block "first" to a jump to "done"."""
    text.start("first")
    rows = text.value("udiv i64 %begin, %grid.x")
    starts = [text.value("urem i64 %begin, %grid.x"), text.value(f"urem i64 {rows}, %grid.y"), text.value(f"udiv i64 {rows}, %grid.y")]
    text.start("block")
    number = text.value("phi i64 [ %begin, %first ], [ %next.block, %block.end ]")
    place = [
        text.value(f"phi i64 [ {start}, %first ], [ %next.block.{axis}, %block.end ]") for axis, start in zip("xyz", starts, strict=True)
    ]
    if context is not None:
        _set_context(text, context, "block_id", *place)
    items, before = [], "block"
    for axis in "zyx":
        text.start(f"item.{axis}")
        items.append(text.value(f"phi i64 [ 0, %{before} ], [ %next.item.{axis}, %{'item.x' if axis == 'x' else f'end.{axis}'} ]"))
        before = f"item.{axis}"
    items.reverse()
    if context is not None:
        _set_context(text, context, "local_id", *items)
    text.effect(call)
    for axis, item, after in zip("xyz", items, ("end.y", "end.z", "block.end"), strict=True):
        text.effect(f"%next.item.{axis} = add nuw i64 {item}, 1")
        text.branch_if(text.value(f"icmp ult i64 %next.item.{axis}, %block.{axis}"), f"item.{axis}", after)
        text.start(after)
    carry = "true"
    for axis, at in zip("xyz", place, strict=True):
        moved = text.value(f"add i64 {at}, 1")
        wrapped = text.value(f"icmp eq i64 {moved}, %grid.{axis}")
        inside = text.value(f"select i1 {wrapped}, i64 0, i64 {moved}")
        text.effect(f"%next.block.{axis} = select i1 {carry}, i64 {inside}, i64 {at}")
        carry = text.value(f"and i1 {carry}, {wrapped}")
    text.effect(f"%next.block = add nuw i64 {number}, 1")
    text.branch_if(text.value("icmp ult i64 %next.block, %stop"), "block", "done")


def _argument(text: FunctionText, position: int, params: ParamsType | None = None) -> str:
    """The address of an argument's bytes; that of a params struct is known to be readable, so that loads may leave a loop."""
    place = text.value(f"getelementptr inbounds ptr, ptr %args, i64 {position}")
    known = "" if params is None else f", !dereferenceable !{{i64 {params.size}}}, !align !{{i64 {params.align}}}"
    return text.value(f"load ptr, ptr {place}, align 8{_INVARIANT}{known}")


def _params_parameter(params: ParamsType) -> str:
    return f"ptr noalias readonly dereferenceable({params.size}) align {params.align}"


def _raw_argument(text: FunctionText, slot: typed.Slot, position: int) -> tuple[str, str, str]:
    """An argument of a raw kernel: type and attributes, name, operand. Pointers may alias each other: the author may pass one twice."""
    name = f"%{safe_name(slot.name)}.{position}"
    if isinstance(slot.type, ParamsType):
        return _params_parameter(slot.type), name, _argument(text, position, slot.type)
    address = _argument(text, position)
    if isinstance(slot.type, PointerType):
        return "ptr", name, text.value(f"load ptr, ptr {address}, align 8{_INVARIANT}")
    if isinstance(slot.type, ScalarType):
        return value_type(slot.type), name, load(text, slot.type, "ptr", address, _INVARIANT)
    raise InternalError(f"a kernel's argument {slot.name!r} has the type {slot.type}")


def _launch_field(text: FunctionText, position: int) -> str:
    address = text.value(f"getelementptr inbounds i64, ptr %launch, i64 {position}")
    return text.value(f"load i64, ptr {address}, align 8{_INVARIANT}")


def _set_context(text: FunctionText, context: str, name: str, *values: str) -> None:
    for dim, value in enumerate(values):
        address = text.value(f"getelementptr inbounds i64, ptr {context}, i64 {_CONTEXT[name] + dim}")
        text.effect(f"store i64 {value}, ptr {address}, align 8")
