"""Work-items on a CPU: what they are told of the launch, and how they wait for each other.

A function that reads coordinates or shared memory gets the address of its context: block_id, local_id, block_dim and grid_dim in x, y, z as
i64, then the addresses of the block's shared memory and of the part of it whose size the launch gives.

A work-item that waits at barriers is a coroutine of LLVM's: it is called with memory for its frame, which holds what it must keep while
others run, comes back at its first barrier, and is resumed from there until it is done.
"""

from __future__ import annotations

from gompute.frontend.irtext.text import FunctionText

__all__ = ["CONTEXT", "CONTEXT_LENGTH", "FRAME_ALIGNMENT", "ITEM", "set_context", "suspend"]

CONTEXT = {"block_id": 0, "local_id": 3, "block_dim": 6, "grid_dim": 9, "shared": 12, "dynamic": 13}
CONTEXT_LENGTH = 14
#: No variable of a work-item needs more.
FRAME_ALIGNMENT = 16

_KEPT = [field for name, first in CONTEXT.items() if name != "local_id" for field in range(first, first + (1 if first >= 12 else 3))]


def set_context(text: FunctionText, context: str, name: str, *values: str, kind: str = "i64") -> None:
    """Fill fields of a context, from the first of that name on."""
    for dim, value in enumerate(values):
        address = text.value(f"getelementptr inbounds i64, ptr {context}, i64 {CONTEXT[name] + dim}")
        text.effect(f"store {kind} {value}, ptr {address}, align 8")


def suspend(text: FunctionText, *, last: bool = False) -> None:
    """Return to whoever started or resumed the work-item; the text goes on where it is resumed, which after the last time nobody does."""
    status = text.intrinsic("llvm.coro.suspend", "i8", ("token", "none"), ("i1", "true" if last else "false"))
    resumed = text.new_block("resumed")
    text.effect(f"switch i8 {status}, label %suspended [i8 0, label %{resumed}]")
    text.open = False
    text.start(resumed)


class _Item:
    """The work-item's function: ``ptr (ptr frame, ptr block, i64 x, i64 y, i64 z, ...)``. Without a frame it stores the size that one needs
    at `block`, which is otherwise the context of the block; x, y, z are its local_id. It gives back the frame."""

    parameters = ("ptr %frame", "ptr %block", "i64 %item.x", "i64 %item.y", "i64 %item.z")

    def begin(self, text: FunctionText, *, context: bool) -> None:
        """From the entry to the block that the author's code begins in."""
        for name, result, parameters in (
            ("llvm.coro.id", "token", "i32, ptr, ptr, ptr"),
            ("llvm.coro.size.i64", "i64", ""),
            ("llvm.coro.begin", "ptr", "token, ptr"),
            ("llvm.coro.end", "void", "ptr, i1, token"),
        ):
            text.module.declare(name, result, parameters)
        text.effect(f"%item = call token @llvm.coro.id(i32 {FRAME_ALIGNMENT}, ptr null, ptr null, ptr null)")
        text.effect("%frame.size = call i64 @llvm.coro.size.i64()")
        text.branch_if(text.value("icmp eq ptr %frame, null"), "measured", "begun")
        text.start("begun")
        text.effect("%handle = call ptr @llvm.coro.begin(token %item, ptr %frame)")
        if context:
            own = text.alloca(f"[{CONTEXT_LENGTH} x i64]", 8, "context")
            text.effect(f"%context = getelementptr inbounds i64, ptr {own}, i64 0")
            for field in _KEPT:
                source = text.value(f"getelementptr inbounds i64, ptr %block, i64 {field}")
                target = text.value(f"getelementptr inbounds i64, ptr %context, i64 {field}")
                kind = "ptr" if field >= CONTEXT["shared"] else "i64"
                text.effect(f"store {kind} {text.value(f'load {kind}, ptr {source}, align 8')}, ptr {target}, align 8")
            set_context(text, "%context", "local_id", "%item.x", "%item.y", "%item.z")

    def end(self, text: FunctionText) -> None:
        """The last suspension, from which the work-item counts as done."""
        text.start("finished")
        suspend(text, last=True)
        text.effect("unreachable")
        text.open = False
        text.start("suspended")
        text.effect("call void @llvm.coro.end(ptr %handle, i1 false, token none)")
        # Given back, the frame is known to be read by others; else LLVM would drop what is kept in it.
        text.ret("ptr %handle")
        text.start("measured")
        text.effect("store i64 %frame.size, ptr %block, align 8")
        text.ret("ptr null")


ITEM = _Item()
