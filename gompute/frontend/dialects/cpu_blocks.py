"""Raw kernels on a CPU: loops over blocks and their work-items.

``struct launch { uint64_t grid[3], block[3], shared; void *scratch; uint64_t scratch_size, scratch_needed; }``. A kernel with shared memory
or barriers keeps a block's shared memory and the frames of its work-items in `scratch`, which begins at a multiple of 64. Where it is too
small, the entry point stores in `scratch_needed` how many bytes there must be, and does nothing else.

Without barriers a work-item is a call, and one follows the other. With them it is a coroutine: all are started, each runs up to its first
barrier, then all are resumed in turn until every one has returned.
"""

from __future__ import annotations

from collections.abc import Sequence

from gompute.errors import InternalError
from gompute.frontend import typed
from gompute.frontend.dialects.cpu_entry import INVARIANT, Given, add_loop, argument, end_entry, params_parameter, report
from gompute.frontend.dialects.cpu_items import CONTEXT_LENGTH, FRAME_ALIGNMENT, set_context
from gompute.frontend.dialects.dialect import Dialect
from gompute.frontend.dialects.reports import NOWHERE, call_or_report
from gompute.frontend.irtext.failing import make_note
from gompute.frontend.irtext.text import FunctionText, ModuleText, safe_name
from gompute.frontend.irtext.values import load, value_type
from gompute.lang.types import ParamsType, PointerType, ScalarType, ViewType

__all__ = ["ALIGNMENT", "emit_raw_kernel"]

#: Of every shared array.
ALIGNMENT = 16
# Places in the launch, in words of 8 bytes.
_SHARED, _SCRATCH, _SCRATCH_SIZE, _SCRATCH_NEEDED = 6, 7, 8, 9


def emit_raw_kernel(module: ModuleText, dialect: Dialect, kernel: typed.RawKernel, static: int) -> None:
    """Add the entry point and its loops.

    Args:
        static: bytes up to the end of the kernel's last shared array.
    """
    function = kernel.function
    waits = "barrier" in function.uses
    text = FunctionText(module)
    text.belong_to(kernel.name, function.location)
    given = _arguments(text, function)
    record = [report(text, len(given))] if kernel.checked else []
    # A work-item that waits reports by itself; of another its caller does.
    own = [*given, *record] if waits else given
    passed = [f"{declared.split()[0]} {name}" for declared, name, _ in own]
    operands = [f"{declared.split()[0]} {operand}" for declared, _, operand in own]
    given += record
    grid, block = [_launch_field(text, dim) for dim in range(3)], [_launch_field(text, 3 + dim) for dim in range(3)]
    for axis, blocks, items in zip("xyz", grid, block, strict=True):
        given += [Given("i64", f"%grid.{axis}", blocks), Given("i64", f"%block.{axis}", items)]
    plane = text.value(f"mul i64 {grid[0]}, {grid[1]}")
    total = text.value(f"mul i64 {plane}, {grid[2]}")
    if waits or function.shared:
        given += _scratch(text, function, block, operands, static)
    loop = module.unique_symbol(f"{kernel.name}_blocks")
    end_entry(text, kernel.name, loop, given, total)

    text = FunctionText(module)
    text.belong_to(kernel.name, function.location)
    if kernel.checked and not waits:
        make_note(text, dialect.private_pointer)
    context = None
    if function.needs_context:
        context = text.alloca(f"[{CONTEXT_LENGTH} x i64]", 8, "context")
        set_context(text, context, "block_dim", "%block.x", "%block.y", "%block.z")
        set_context(text, context, "grid_dim", "%grid.x", "%grid.y", "%grid.z")
        if function.shared:
            set_context(text, context, "shared", "%shared", kind="ptr")
            set_context(text, context, "dynamic", "%dynamic", kind="ptr")
    items_in_block = text.value(f"mul i64 {text.value('mul i64 %block.x, %block.y')}, %block.z")
    some = text.value("icmp ult i64 %begin, %stop")
    text.branch_if(text.value(f"and i1 {some}, {text.value(f'icmp ne i64 {items_in_block}, 0')}"), "first", "done")
    _Blocks(text, dialect, context, function, passed, items_in_block).emit()
    text.start("done")
    text.ret("void")
    add_loop(text, loop, given)


def _arguments(text: FunctionText, function: typed.Function) -> list[Given]:
    """The kernel's own arguments. Pointers may alias each other: the author may pass one twice."""
    given: list[Given] = []
    for slot in function.parameters:
        name, position = f"%{safe_name(slot.name)}.{len(given)}", len(given)
        if isinstance(slot.type, ParamsType):
            given.append(Given(params_parameter(slot.type), name, argument(text, position, slot.type)))
            continue
        address = argument(text, position)
        if isinstance(slot.type, (PointerType, ViewType)):
            given.append(Given("ptr", name, text.value(f"load ptr, ptr {address}, align 8{INVARIANT}")))
            for axis in range(slot.type.ndim if isinstance(slot.type, ViewType) else 0):
                length = text.value(f"load i64, ptr {argument(text, len(given))}, align 8{INVARIANT}")
                given.append(Given("i64", f"{name}.extent{axis}", length))
        elif isinstance(slot.type, ScalarType):
            given.append(Given(value_type(slot.type), name, load(text, slot.type, "ptr", address, INVARIANT)))
        else:
            raise InternalError(f"a kernel's argument {slot.name!r} has the type {slot.type}")
    return given


def _scratch(text: FunctionText, function: typed.Function, block: list[str], operands: list[str], static: int) -> list[Given]:
    """Leave where the scratch memory is too small; else what lies where in it."""
    dynamic = static + -static % ALIGNMENT
    needed = str(dynamic)
    if function.shared:
        padded = text.value(f"add i64 {_launch_field(text, _SHARED)}, {dynamic + FRAME_ALIGNMENT - 1}")
        needed = text.value(f"and i64 {padded}, {-FRAME_ALIGNMENT}")
    frames, stride = needed, "0"
    if "barrier" in function.uses:
        size = text.alloca("i64", 8, "frame.size")
        start = ", ".join(["ptr null", f"ptr {size}", "i64 0", "i64 0", "i64 0", *operands])
        text.value(f"call ptr @{function.symbol}({start})")
        padded = text.value(f"add i64 {text.value(f'load i64, ptr {size}, align 8')}, {FRAME_ALIGNMENT - 1}")
        stride = text.value(f"and i64 {padded}, {-FRAME_ALIGNMENT}")
        total = stride
        for items in block:
            total = text.value(f"mul i64 {total}, {items}")
        needed = text.value(f"add i64 {frames}, {total}")
    scratch = text.value(f"load ptr, ptr {_launch_address(text, _SCRATCH)}, align 8{INVARIANT}")
    text.branch_if(text.value(f"icmp ult i64 {_launch_field(text, _SCRATCH_SIZE)}, {needed}"), "lacking", "enough")
    text.start("lacking")
    text.effect(f"store i64 {needed}, ptr {_launch_address(text, _SCRATCH_NEEDED)}, align 8")
    text.ret("void")
    text.start("enough")
    given = []
    if function.shared:
        given += [
            Given("ptr", "%shared", scratch),
            Given("ptr", "%dynamic", text.value(f"getelementptr inbounds i8, ptr {scratch}, i64 {dynamic}")),
        ]
    if "barrier" in function.uses:
        first = text.value(f"getelementptr inbounds i8, ptr {scratch}, i64 {frames}")
        given += [Given("ptr", "%frames", first), Given("i64", "%stride", stride)]
    return given


def _launch_address(text: FunctionText, position: int) -> str:
    return text.value(f"getelementptr inbounds i64, ptr %launch, i64 {position}")


def _launch_field(text: FunctionText, position: int) -> str:
    return text.value(f"load i64, ptr {_launch_address(text, position)}, align 8{INVARIANT}")


class _Blocks:
    """The loops of a raw kernel from the block "first" to a jump to "done"."""

    def __init__(
        self, text: FunctionText, dialect: Dialect, context: str | None, function: typed.Function, passed: list[str], items: str
    ) -> None:
        self._text = text
        self._dialect = dialect
        self._context = context
        self._function = function
        self._passed = passed
        self._items = items

    def emit(self) -> None:
        text = self._text
        text.start("first")
        rows = text.value("udiv i64 %begin, %grid.x")
        starts = [text.value("urem i64 %begin, %grid.x"), text.value(f"urem i64 {rows}, %grid.y"), text.value(f"udiv i64 {rows}, %grid.y")]
        text.start("block")
        number = text.value("phi i64 [ %begin, %first ], [ %next.block, %block.end ]")
        place = []
        for start, axis in zip(starts, "xyz", strict=True):
            place.append(text.value(f"phi i64 [ {start}, %first ], [ %next.block.{axis}, %block.end ]"))
        self._place = place
        if self._context is not None:
            set_context(text, self._context, "block_id", *place)
        self._start_items()
        if "barrier" in self._function.uses:
            self._resume_items()
        text.start("block.end")
        carry = "true"
        for axis, at in zip("xyz", place, strict=True):
            moved = text.value(f"add i64 {at}, 1")
            wrapped = text.value(f"icmp eq i64 {moved}, %grid.{axis}")
            inside = text.value(f"select i1 {wrapped}, i64 0, i64 {moved}")
            text.effect(f"%next.block.{axis} = select i1 {carry}, i64 {inside}, i64 {at}")
            carry = text.value(f"and i1 {carry}, {wrapped}")
        text.effect(f"%next.block = add nuw i64 {number}, 1")
        text.branch_if(text.value("icmp ult i64 %next.block, %stop"), "block", "done")

    def _start_items(self) -> None:
        """Call every work-item; the text goes on in the block "items.end"."""
        text, items, before = self._text, [], "block"
        for axis in "zyx":
            text.start(f"item.{axis}")
            items.append(text.value(f"phi i64 [ 0, %{before} ], [ %next.item.{axis}, %{'item.end' if axis == 'x' else f'end.{axis}'} ]"))
            before = f"item.{axis}"
        items.reverse()
        self._start_item(items)
        text.start("item.end")
        for axis, item, after in zip("xyz", items, ("end.y", "end.z", "items.end"), strict=True):
            text.effect(f"%next.item.{axis} = add nuw i64 {item}, 1")
            text.branch_if(text.value(f"icmp ult i64 %next.item.{axis}, %block.{axis}"), f"item.{axis}", after)
            text.start(after)

    def _start_item(self, items: list[str]) -> None:
        text, symbol = self._text, self._function.symbol
        x, y, z = items
        if "barrier" not in self._function.uses:
            context = []
            if self._context is not None:
                set_context(text, self._context, "local_id", x, y, z)
                context = [f"ptr {self._context}"]
            place: Sequence[str] = NOWHERE
            if "check" in self._function.uses:
                firsts = [text.value(f"mul i64 {at}, %block.{axis}") for at, axis in zip(self._place, "xyz", strict=True)]
                place = [text.value(f"add i64 {first}, {item}") for first, item in zip(firsts, items, strict=True)]
            call_or_report(text, self._dialect, self._function, [*context, *self._passed], place, "done")
            return
        row = text.value(f"add i64 {text.value(f'mul i64 {z}, %block.y')}, {y}")
        number = text.value(f"add i64 {text.value(f'mul i64 {row}, %block.x')}, {x}")
        start = [f"ptr {self._frame(number)}", f"ptr {self._context or 'null'}", f"i64 {x}", f"i64 {y}", f"i64 {z}", *self._passed]
        text.value(f"call ptr @{symbol}({', '.join(start)})")

    def _frame(self, number: str) -> str:
        text = self._text
        return text.value(f"getelementptr inbounds i8, ptr %frames, i64 {text.value(f'mul i64 {number}, %stride')}")

    def _resume_items(self) -> None:
        """Resume every work-item that is not done, again and again until none is left."""
        text = self._text
        text.start("round")
        text.start("waiting")
        number = text.value("phi i64 [ 0, %round ], [ %next.waiting, %waited ]")
        left = text.value("phi i1 [ false, %round ], [ %left, %waited ]")
        frame = self._frame(number)
        done = text.intrinsic("llvm.coro.done", "i1", ("ptr", frame))
        text.branch_if(done, "waited", "resume")
        text.start("resume")
        text.call("llvm.coro.resume", ("ptr", frame))
        still = text.value(f"xor i1 {text.intrinsic('llvm.coro.done', 'i1', ('ptr', frame))}, true")
        more = text.value(f"or i1 {left}, {still}")
        text.start("waited")
        text.effect(f"%left = phi i1 [ {left}, %waiting ], [ {more}, %resume ]")
        text.effect(f"%next.waiting = add nuw i64 {number}, 1")
        text.branch_if(text.value(f"icmp ult i64 %next.waiting, {self._items}"), "waiting", "round.end")
        text.start("round.end")
        text.branch_if("%left", "round", "block.end")
