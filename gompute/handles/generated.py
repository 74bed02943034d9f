"""Running the kernel of an operation: ``(arrays, params)``, on host memory and on a device."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gompute.artifacts.entry import KernelEntry
from gompute.errors import InvalidArgument, ModuleLoadFailed
from gompute.handles.device_array import buffers_among, like
from gompute.handles.operands import Located, Operand, check_together
from gompute.handles.packing import Frame, Packing
from gompute.handles.parameters import ParamsReader
from gompute.lang.operation import OPERATIONS, Raw
from gompute.runtime.buffer import Buffer, Memory
from gompute.runtime.context import Accelerator, DeviceKernel
from gompute.runtime.cpu import HOST_MEMORY, CpuKernel, on_stream
from gompute.runtime.dim3 import Dim3
from gompute.runtime.stream import Stream

__all__ = ["OnCpu", "OnDevice", "operands_of", "wrong_count"]


def operands_of(entry: KernelEntry) -> tuple[Operand, ...]:
    """The arrays of a generated kernel, in order.

    Raises:
        ModuleLoadFailed: the entry is of an operation that this version does not know, or has other arguments.
    """
    operation = OPERATIONS.get(entry.kind)
    pointers = [argument for argument in entry.arguments if argument.kind == "pointer"]
    if operation is not None and not isinstance(operation, Raw):
        uses = operation.uses([argument.name for argument in pointers])
        rest = [argument for argument in entry.arguments[len(pointers) :] if argument.kind != "params"]
        if uses and [argument.name for argument in rest] == list(operation.counts):
            return tuple(Operand(argument, use) for argument, use in zip(pointers, uses, strict=True))
    names = ", ".join(argument.name for argument in entry.arguments)
    raise ModuleLoadFailed(f"kernel {entry.name!r}: this version of gompute has no operation {entry.kind!r} with the arguments ({names})")


def wrong_count(what: str, name: str, takes: Sequence[str], arguments: tuple[Any, ...]) -> InvalidArgument:
    """The error for a call of another number of arguments than the kernel `takes`."""
    head = f"{what} of kernel {name!r} takes ({', '.join(takes)})"
    if len(arguments) < len(takes):
        return InvalidArgument(f"{head}: {takes[len(arguments)]} is missing")
    return InvalidArgument(f"{head}: got {len(arguments)} arguments, {len(arguments) - len(takes)} too many")


class _Plan:
    """What both places share: the arguments of a kernel in a call, and as its launch takes them."""

    def __init__(self, entry: KernelEntry, record: int | None) -> None:
        self.name = entry.name
        self.operands = operands_of(entry)
        self._itemsizes = [operand.itemsize for operand in self.operands]
        #: Of an operation on one array, its type: such a call has a short way in.
        self._only = self.operands[0].dtype if len(self.operands) == 1 else None
        self._itemsize = self._itemsizes[0]
        self._bounded = next((place for place, operand in enumerate(self.operands) if operand.use.bounded), None)
        self._counted = next(place for place, operand in enumerate(self.operands) if not operand.use.bounded)
        params = [argument for argument in entry.arguments if argument.kind == "params"]
        self.packing = Packing(entry.arguments, record)
        #: Packs addresses and counts alone, over the params that lie in a frame already.
        self.pack_data = Packing([argument for argument in entry.arguments if argument.kind != "params"]).pack
        self._params = ParamsReader(params[0].name, params[0].layout) if params and params[0].layout else None
        self.takes = [operand.name for operand in self.operands] + [argument.name for argument in params]
        self.launch_takes = self.takes
        self._expected = len(self.takes)
        last = self.operands[-1].use
        #: The place of an output of which every element is written.
        self.out = len(self.operands) - 1 if last.writes and not last.reads else None

    def quick(self, arguments: tuple[Any, ...], memory: Memory) -> tuple[int, ...] | None:
        """Addresses and counts of a launch on buffers of that memory; None where something wants a closer look."""
        if self._only is not None:
            buffer = arguments[0]
            if type(buffer) is Buffer and buffer.memory is memory:
                count, rest = divmod(buffer.nbytes, self._itemsize)
                if count and not rest and buffer.address is not None:
                    return buffer.address, count
            return None
        if self._bounded is not None:
            return None
        values, count = [], 0
        # Buffers of one memory are the same or apart, and either will do here.
        for itemsize, buffer in zip(self._itemsizes, arguments, strict=False):
            if type(buffer) is not Buffer or buffer.memory is not memory or buffer.address is None:
                return None
            elements, rest = divmod(buffer.nbytes, itemsize)
            if rest or not elements or (count and elements != count):
                return None
            count = elements
            values.append(buffer.address)
        values.append(count)
        return tuple(values)

    def fill(self, frame: _PlanFrame, values: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
        """Writes a launch's arguments to a frame: `values` are addresses and counts, `arguments` those of the call."""
        if self._params is None or arguments[-1] is frame.params:
            frame.pack(*values)
        else:
            params = arguments[-1]
            self.packing.pack(frame.storage, 0, *values, self._params(params))
            # Instances are frozen, so one that comes again has the bytes that lie there.
            frame.params = params if self._params.lasting(params) else _NONE

    def values(self, addresses: list[int], located: list[Located]) -> tuple[int, ...]:
        """Addresses and counts, as a launch takes them."""
        count = located[self._counted].elements
        return (*addresses, count) if self._bounded is None else (*addresses, count, located[self._bounded].elements)

    def work(self, located: list[Located], arguments: tuple[Any, ...]) -> int:
        """How many elements there are to do, for arrays that go together."""
        if len(located) > 1:
            check_together(self.operands, located)
        count = located[self._counted].elements
        if not count and self._params is not None:
            self._params(arguments[-1])  # wrong params are refused all the same
        return count

    def new_output(self, arguments: tuple[Any, ...]) -> Any:
        """An array for the results of `run`, where and in the shape that the first input is.

        Raises:
            InvalidArgument: the first input has no shape.
        """
        output, first = self.operands[-1], arguments[0]
        return like(self.operands[0].name, first, output.element, output.name)

    def wrong_count(self, what: str, arguments: tuple[Any, ...]) -> InvalidArgument:
        return wrong_count(what, self.name, self.takes, arguments)


#: Stands for params that no caller has.
_NONE = object()


class _PlanFrame(Frame):
    """A frame that remembers whose params lie in it.

    Attributes:
        pack: writes addresses and counts, and leaves the params that lie there.
    """

    __slots__ = ("pack", "params")

    def __init__(self, plan: _Plan) -> None:
        super().__init__(plan.packing)
        self.pack: Callable[..., None] = partial(plan.pack_data, self.storage, 0)
        self.params: object = _NONE


class _CpuFrame(_PlanFrame):
    """A frame and the call that runs its kernel over everything.

    Attributes:
        values: the addresses and counts that lie in it.
    """

    __slots__ = ("call", "values")

    def __init__(self, plan: _Plan, kernel: CpuKernel) -> None:
        super().__init__(plan)
        self.call = kernel.everything(self.address)
        self.values: tuple[int, ...] = ()


_first_byte = ctypes.c_char.from_buffer
_address_of = ctypes.addressof


class OnCpu(_Plan):
    """An operation on host memory: arrays are worked on where they are."""

    def __init__(self, entry: KernelEntry, kernel: CpuKernel, threads: int, record: int | None) -> None:
        super().__init__(entry, record)
        self._kernel = kernel
        self._threads = threads
        self._alone = kernel.elements_of_one_thread(threads)
        # Calls take a frame and put it back, so that calls from several threads do not write over each other's arguments.
        self._frames: list[_CpuFrame] = []

    def run(self, arguments: tuple[Any, ...]) -> None:
        if len(arguments) != self._expected:
            raise self.wrong_count("run", arguments)
        if self._only is not None:
            data = arguments[0]
            try:
                # The buffer protocol refuses what is read-only, empty or not C-contiguous, and is the fastest way to the address.
                view = _first_byte(data)
                address = _address_of(view)
                usual = data.dtype is self._only and not address % self._itemsize
            except (TypeError, ValueError, AttributeError, BufferError):  # the last is JAX's word for bf16
                usual = False
            if usual:
                count = data.size
                self._call((address, count), count, arguments)
                return
        self._run([operand.array(value) for operand, value in zip(self.operands, arguments, strict=False)], arguments)

    def launch(self, arguments: tuple[Any, ...], stream: Stream | None = None) -> None:
        if len(arguments) != self._expected:
            raise self.wrong_count("launch", arguments)
        values = None if stream is not None else self.quick(arguments, HOST_MEMORY)
        if values is not None:
            self._call(values, values[-1], arguments)
            return
        located = [operand.on_host(value) for operand, value in zip(self.operands, arguments, strict=False)]
        if stream is None:
            self._run(located, arguments)
        else:
            on_stream(stream, f"kernel {self.name}", lambda: self._run(located, arguments), arguments)

    def _run(self, located: list[Located], arguments: tuple[Any, ...]) -> None:
        count = self.work(located, arguments)
        if count:
            self._call(self.values([place.address for place in located], located), count, arguments)

    def _call(self, values: tuple[int, ...], count: int, arguments: tuple[Any, ...]) -> None:
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = _CpuFrame(self, self._kernel)
        if self._params is not None and arguments[-1] is not frame.params:
            self.fill(frame, values, arguments)
        elif values != frame.values:  # what `fill` would do, without a call of it: that takes as long as the work
            frame.pack(*values)
        frame.values = values
        if count < self._alone:
            frame.call()
        else:
            self._kernel.run_elements(frame.address, count, self._threads)
        self._frames.append(frame)

    def close(self) -> None:
        self._frames.clear()


#: What each array starts at in a frame's device memory: the drivers' own allocations are aligned to as much.
_ALIGNMENT = 256


class _DeviceFrame(_PlanFrame):
    """A frame and the device memory that goes with it."""

    __slots__ = ("buffer",)

    def __init__(self, plan: _Plan) -> None:
        super().__init__(plan)
        self.buffer: Buffer | None = None


class OnDevice(_Plan):
    """An operation on a GPU: `run` copies arrays there and back, `launch` works on buffers."""

    def __init__(self, entry: KernelEntry, kernel: DeviceKernel, accelerator: Accelerator, record: int | None) -> None:
        super().__init__(entry, record)
        self._kernel = kernel
        self._accelerator = accelerator
        self._block = Dim3(*entry.block_size)
        #: Element count and grid of the last launch: the next one is often of the same size.
        self._last: tuple[int, Dim3] = (0, Dim3(1))
        self._frames: list[_DeviceFrame] = []
        self._open = True

    def run(self, arguments: tuple[Any, ...]) -> None:
        if len(arguments) != self._expected:
            raise self.wrong_count("run", arguments)
        located = [operand.anywhere(value, self._accelerator) for operand, value in zip(self.operands, arguments, strict=False)]
        count = self.work(located, arguments)
        if not count:
            return
        grid = self._grid(count)
        offsets, size = [], 0
        for operand, place in zip(self.operands, located, strict=True):
            size += -size % _ALIGNMENT
            offsets.append(size)
            size += 0 if place.on_device else place.elements * operand.itemsize
        accelerator = self._accelerator
        frame = self._free_frame()
        try:
            base = self._buffer(frame, size).device_addr if size else 0
            addresses = [place.address if place.on_device else base + offset for place, offset in zip(located, offsets, strict=True)]
            self.fill(frame, self.values(addresses, located), arguments)
            copies = [copy for copy in zip(self.operands, located, addresses, strict=True) if not copy[1].on_device]
            for operand, place, address in copies:
                if operand.use.reads:
                    accelerator.copy_in(address, place.address, place.elements * operand.itemsize)
            self._kernel.launch_packed(grid, self._block, 0, frame.address)
            accelerator.synchronize()
            for operand, place, address in copies:
                if operand.use.writes:
                    accelerator.copy_out(place.address, address, place.elements * operand.itemsize)
        finally:
            self._give_back(frame)

    def launch(self, arguments: tuple[Any, ...], stream: Stream | None = None) -> None:
        if len(arguments) != self._expected:
            raise self.wrong_count("launch", arguments)
        values = self.quick(arguments, self._accelerator)
        if values is not None:
            count = values[-1]
        else:
            accelerator = self._accelerator
            located = [operand.on_device(value, accelerator, stream) for operand, value in zip(self.operands, arguments, strict=False)]
            count = self.work(located, arguments)
            if not count:
                return
            values = self.values([place.address for place in located], located)
        grid = self._last[1] if count == self._last[0] else self._grid(count)
        frame = self._free_frame()
        try:
            self.fill(frame, values, arguments)
            self._kernel.launch_packed(grid, self._block, 0, frame.address, stream)
        finally:
            self._give_back(frame)
        if stream is not None:
            stream.uses(buffers_among(arguments))

    def _grid(self, count: int) -> Dim3:
        grid = Dim3.linear(count, self._block.x)
        self._kernel.check(grid, self._block)
        self._last = (count, grid)
        return grid

    def _buffer(self, frame: _DeviceFrame, size: int) -> Buffer:
        """The frame's buffer, with room for `size` bytes."""
        if frame.buffer is not None:
            if frame.buffer.nbytes >= size:
                return frame.buffer
            small, frame.buffer = frame.buffer, None
            small.free()  # first, so that both need not fit at once
        frame.buffer = self._accelerator.allocate(size)
        return frame.buffer

    def _free_frame(self) -> _DeviceFrame:
        try:
            return self._frames.pop()
        except IndexError:
            return _DeviceFrame(self)

    def _give_back(self, frame: _DeviceFrame) -> None:
        self._frames.append(frame)
        if not self._open:  # closed by another thread meanwhile
            self.close()

    def close(self) -> None:
        self._open = False
        while self._frames:
            buffer = self._frames.pop().buffer
            if buffer is not None:
                buffer.free()
