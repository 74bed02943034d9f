"""What the emitter asks of a backend."""

from __future__ import annotations

from typing import Protocol

from gompute.frontend import typed
from gompute.frontend.irtext.text import FunctionText, ModuleText
from gompute.lang.types import ScalarType

FUNCTION_ATTRIBUTES = 'nounwind "no-builtins"'
"""On every function. Without "no-builtins" LLVM turns loops into memset or memcpy, and no library is linked."""

CONTEXT_ARGUMENT = "ptr %context"
"""How a device function that reads coordinates gets them where the hardware does not keep them."""


class Suspension(Protocol):
    """A function as a coroutine: a work-item that stops at every barrier until it is resumed.

    Between `begin` and `end` the text may use `Dialect.barrier`, and leaves by a jump to the block "finished".
    """

    @property
    def parameters(self) -> tuple[str, ...]:
        """What the function takes before its own parameters."""
        ...

    def begin(self, text: FunctionText, *, context: bool) -> None:
        """The start of the function; with `context` it makes that of `CONTEXT_ARGUMENT`."""
        ...

    def end(self, text: FunctionText) -> None:
        """The block "finished" and what follows it."""
        ...


class Dialect(Protocol):
    """One backend's spelling.

    Attributes:
        triple: the LLVM target triple.
        data_layout: the LLVM data layout of that triple.
        global_pointer: the type of a pointer to global memory.
        params_pointer: the type of the address of a params struct.
        params_metadata: what to attach to a load from a params struct, with a comma before it.
        private_pointer: the type of the address of an alloca.
        alloca_suffix: what follows the alignment of an alloca, with a comma before it.
        table_pointer: the type of the address of a constant table.
        table_space: the address space of tables as a global's definition has it, with a blank after it.
        shared_pointer: the type of a pointer to memory that a block shares.
        suspension: how a work-item that waits at a barrier lets the others run, where one processor runs them all; else None.
        leaves_together: the work-items of a warp leave a function together when a check fails in one of them. Where a code generator lays
            out branches for all work-items at once, ways out that each took by itself would nest all that follows them, thousands deep.
        module_metadata: metadata of the module as a whole, lines of text.
        passes_context: whether functions that read coordinates take `CONTEXT_ARGUMENT` first.
    """

    @property
    def triple(self) -> str: ...
    @property
    def data_layout(self) -> str: ...
    @property
    def global_pointer(self) -> str: ...
    @property
    def params_pointer(self) -> str: ...
    @property
    def params_metadata(self) -> str: ...
    @property
    def private_pointer(self) -> str: ...
    @property
    def alloca_suffix(self) -> str: ...
    @property
    def table_pointer(self) -> str: ...
    @property
    def table_space(self) -> str: ...
    @property
    def shared_pointer(self) -> str: ...
    @property
    def module_metadata(self) -> str: ...
    @property
    def passes_context(self) -> bool: ...
    @property
    def leaves_together(self) -> bool: ...
    @property
    def suspension(self) -> Suspension | None: ...

    def index(self, text: FunctionText, name: typed.IndexName, dim: int) -> str:
        """A coordinate as an i64."""
        ...

    def approximate(self, text: FunctionText, name: typed.ApproximateName, operand: str) -> str:
        """A function of an f32 as the hardware approximates it."""
        ...

    def shared_array(self, text: FunctionText, slot: typed.Slot) -> str:
        """The address of a shared array, for use anywhere after here."""
        ...

    def warp(self, text: FunctionText, name: typed.WarpName, scalar: ScalarType, operands: tuple[str, ...], mask: str | None) -> str:
        """An exchange within the warp: see `typed.Warp`. `scalar` is the type of the first operand; the function that the text belongs to
        is `convergent`."""
        ...

    def barrier(self, text: FunctionText) -> None:
        """Wait until every work-item of the block is here and sees what the others wrote before. The function that the text belongs to is
        `convergent`."""
        ...

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
        """An atomic operation on an element of type `scalar` at `address`, of type `pointer`; gives what the element held before.

        Args:
            operands: the value; for `cas` the expected value, then the new one.
            scope: who else may be at work on the element; of shared memory `block`.
        """
        ...

    def generated_kernel(self, module: ModuleText, kernel: typed.GeneratedKernel) -> None:
        """Add the entry point of an operation's kernel."""
        ...

    def tiled_kernel(self, module: ModuleText, kernel: typed.TiledKernel) -> None:
        """Add the entry point of a reduction or a scan."""
        ...

    def raw_kernel(self, module: ModuleText, kernel: typed.RawKernel) -> None:
        """Add the entry point of a raw kernel."""
        ...
