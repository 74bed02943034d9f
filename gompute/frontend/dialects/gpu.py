"""Entry points of GPU kernels: a work-item does one element of an operation, or one call of the author's function of a raw kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod

from gompute.errors import InternalError
from gompute.frontend import typed
from gompute.frontend.dialects.dialect import FUNCTION_ATTRIBUTES
from gompute.frontend.dialects.element import emit_element, memory_attributes
from gompute.frontend.dialects.gpu_tiles import Block
from gompute.frontend.dialects.reports import NOWHERE, REPORT, call_or_report
from gompute.frontend.dialects.tiles import TileEmitter
from gompute.frontend.irtext.failing import make_note
from gompute.frontend.irtext.text import FunctionText, ModuleText, safe_name
from gompute.frontend.irtext.values import memory_type, value_type
from gompute.lang.types import ParamsType, PointerType, ScalarType, SharedArrayType, ViewType


class GpuDialect(ABC):
    """What NVIDIA and AMD share: arguments come as function parameters and coordinates from intrinsics."""

    global_pointer = "ptr addrspace(1)"
    shared_pointer = "ptr addrspace(3)"
    params_metadata = ""  # a params struct may be copied to the stack, where a load marked invariant could move above the copy
    passes_context = False
    suspension = None
    leaves_together = False

    triple: str
    data_layout: str
    private_pointer: str
    alloca_suffix: str
    table_pointer: str
    table_space: str
    module_metadata: str
    rolled_loop: str
    """The metadata of a loop that is not to be unrolled."""
    entry_convention: str
    """The calling convention of a kernel."""
    params_pointer: str

    def __init__(self) -> None:
        # One address for each shared array of the module, and one for all that have their size from the launch.
        self._shared: dict[typed.Slot | None, str] = {}

    @abstractmethod
    def index(self, text: FunctionText, name: typed.IndexName, dim: int) -> str: ...

    @abstractmethod
    def approximate(self, text: FunctionText, name: typed.ApproximateName, operand: str) -> str: ...

    @abstractmethod
    def warp(self, text: FunctionText, name: typed.WarpName, scalar: ScalarType, operands: tuple[str, ...], mask: str | None) -> str: ...

    def shared_array(self, text: FunctionText, slot: typed.Slot) -> str:
        """A variable of the module."""
        array = slot.type
        if not isinstance(array, SharedArrayType):
            raise InternalError(f"{slot.name!r} of type {array} is no shared array")
        key = slot if array.length is not None else None
        address = self._shared.get(key)
        if address is None:
            module = text.module
            made = module.dynamic_shared_array() if array.length is None else module.shared_array(slot.name, array.element, array.length)
            address = self._shared[key] = made
        return address

    @abstractmethod
    def barrier(self, text: FunctionText) -> None: ...

    @abstractmethod
    def atomic(
        self,
        text: FunctionText,
        op: typed.AtomicOp,
        scalar: ScalarType,
        pointer: str,
        address: str,
        operands: tuple[str, ...],
        scope: typed.Scope,
    ) -> str: ...

    @abstractmethod
    def params_argument(self, params: ParamsType) -> str:
        """The type and attributes of a params struct as a kernel's parameter."""

    @abstractmethod
    def block_attributes(self, block_size: tuple[int, int, int], *, exact: bool) -> str:
        """The function attributes that state the block size: the only one allowed, or the largest."""

    def generated_kernel(self, module: ModuleText, kernel: typed.GeneratedKernel) -> None:
        """Arrays, counts and params; work-item i does what there is to do for i, where i is below the first count."""
        arguments = self._arguments(kernel)
        text = FunctionText(module, self.alloca_suffix)
        if isinstance(kernel, typed.ElementwiseKernel):
            text.belong_to(kernel.name, kernel.function.location)
        if kernel.checked:
            make_note(text, self.private_pointer, clear=self.leaves_together)
        index = self.index(text, "global_id", 0)
        text.branch_if(text.value(f"icmp ult i64 {index}, %{kernel.counts[0]}"), "element", "done")
        text.start("element")
        emit_element(text, self, kernel, index)
        text.start("done")
        text.ret("void")
        module.add_function(text.definition(self._header(kernel.name, arguments, kernel.block_size, exact=True)))

    def tiled_kernel(self, module: ModuleText, kernel: typed.TiledKernel) -> None:
        """Arrays, counts and params; block i does tile i, where there is one."""
        arguments = self._arguments(kernel)
        text = FunctionText(module, self.alloca_suffix)
        text.belong_to(kernel.name, kernel.combine.location)
        block = Block(self, kernel, text)
        tiles = TileEmitter(text, kernel, block, self)
        count = tiles.launch()
        number = self.index(text, "block_id", 0)
        text.branch_if(text.value(f"icmp ult i64 {number}, {count}"), "tile", "done")
        text.start("tile")
        tiles.tile(number)
        text.start("done")
        text.ret("void")
        module.add_function(text.definition(self._header(kernel.name, arguments, kernel.block_size, exact=True, convergent=True)))

    def raw_kernel(self, module: ModuleText, kernel: typed.RawKernel) -> None:
        """The function's own parameters."""
        text = FunctionText(module, self.alloca_suffix)
        text.belong_to(kernel.name, kernel.function.location)
        if kernel.checked:
            make_note(text, self.private_pointer, clear=self.leaves_together)
        arguments, passed = [], []
        taken = {"entry"}  # the block's name; blocks and values share their names
        for position, slot in enumerate(kernel.function.parameters):
            word = safe_name(slot.name)
            name = f"%{word}" if word not in taken else f"%{word}.{position}"  # AMD's metadata shows it
            taken.add(word)
            if isinstance(slot.type, (PointerType, ViewType)):
                arguments.append(f"{self.global_pointer} align {slot.type.element.size} {name}")
                passed.append(f"{self.global_pointer} {name}")
                for axis in range(slot.type.ndim if isinstance(slot.type, ViewType) else 0):
                    arguments.append(f"i64 {name}.extent{axis}")
                    passed.append(f"i64 {name}.extent{axis}")
            elif isinstance(slot.type, ParamsType):
                arguments.append(f"{self.params_argument(slot.type)} {name}")
                passed.append(f"{self.params_pointer} {name}")
            elif isinstance(slot.type, ScalarType):
                arguments.append(f"{memory_type(slot.type)} {name}")
                value = text.value(f"icmp ne i8 {name}, 0") if slot.type.kind == "bool" else name
                passed.append(f"{value_type(slot.type)} {value}")
        place = [self.index(text, "global_id", dim) for dim in range(3)] if kernel.checked else NOWHERE
        call_or_report(text, self, kernel.function, passed, place, "done")
        text.start("done")
        text.ret("void")
        arguments += self._report(kernel)
        header = self._header(kernel.name, arguments, kernel.block_size, exact=False)
        module.add_function(text.definition(f"{header} convergent" if kernel.function.together else header))

    def _arguments(self, kernel: typed.GeneratedKernel | typed.TiledKernel) -> list[str]:
        """The parameters of an operation's kernel: arrays, counts, params."""
        arguments = [
            f"{self.global_pointer}{memory_attributes(kernel, array)} align {array.element.size} %{array.name}" for array in kernel.arrays
        ]
        arguments += [f"i64 %{count}" for count in kernel.counts]
        if kernel.params is not None:
            arguments.append(f"{self.params_argument(kernel.params)} %params")
        return [*arguments, *self._report(kernel)]

    def _report(self, kernel: typed.Kernel) -> list[str]:
        """The last parameter of a kernel in which a check may fail."""
        return [f"{self.global_pointer} align 8 {REPORT}"] if kernel.checked else []

    def _header(self, name: str, arguments: list[str], block_size: tuple[int, int, int], *, exact: bool, convergent: bool = False) -> str:
        attributes = f"{'convergent ' if convergent else ''}{FUNCTION_ATTRIBUTES} {self.block_attributes(block_size, exact=exact)}"
        return f"define {self.entry_convention} void @{name}({', '.join(arguments)}) {attributes}"

    def _global_id(self, text: FunctionText, dim: int) -> str:
        block = self.index(text, "block_id", dim)
        size = self.index(text, "block_dim", dim)
        local = self.index(text, "local_id", dim)
        # 64-bit throughout: 2**31 - 1 blocks of 1024 work-items are allowed.
        first = text.value(f"mul i64 {block}, {size}")
        return text.value(f"add i64 {first}, {local}")
