"""Running a `map`: ``(data, params)`` in place, on host memory and on a device."""

from __future__ import annotations

import ctypes
from typing import Any

from gompute.artifacts.entry import KernelEntry
from gompute.errors import InternalError, InvalidArgument
from gompute.handles.arrays import check_array, check_buffer, not_whole, numpy_dtype
from gompute.handles.packing import Frame, Packing
from gompute.handles.parameters import ParamsReader
from gompute.runtime.buffer import Buffer
from gompute.runtime.context import Accelerator, DeviceKernel
from gompute.runtime.cpu import CpuKernel, is_host_buffer
from gompute.runtime.dim3 import Dim3

__all__ = ["MapOnCpu", "MapOnDevice"]


class _Map:
    """What both places share: the arguments of a map kernel, ``(data, len, params)`` in the launch and ``(data, params)`` in a call."""

    def __init__(self, entry: KernelEntry) -> None:
        data, length, *rest = entry.arguments
        if data.kind != "pointer" or len(rest) > 1:
            raise InternalError(f"kernel {entry.name}: a map with the arguments {entry.arguments}")
        self.name = entry.name
        self.element = data.dtype
        self.dtype = numpy_dtype(data.dtype)
        self.itemsize = self.dtype.itemsize
        self._packing = Packing(entry.arguments)
        #: Packs address and length alone, over the params that lie in a frame already.
        self._pack_data = Packing((data, length)).pack
        self._params = ParamsReader(rest[0].name, entry.params) if rest and entry.params is not None else None
        self._expected = 1 + len(rest)
        self._takes = f"({', '.join(argument.name for argument in (data, *rest))})"

    def fill(self, frame: _MapFrame, address: int, count: int, arguments: tuple[Any, ...]) -> None:
        """Writes a launch's arguments to a frame; `arguments` are those of the call."""
        if self._params is None or arguments[1] is frame.params:
            self._pack_data(frame.storage, 0, address, count)
        else:
            params = arguments[1]
            self._packing.pack(frame.storage, 0, address, count, self._params(params))
            # Instances are frozen, so one that comes again has the bytes that lie there.
            frame.params = params if self._params.lasting(params) else _NONE

    def check_params(self, arguments: tuple[Any, ...]) -> None:
        """Refuses wrong params of a call that has no element to work on."""
        if self._params is not None:
            self._params(arguments[1])

    def wrong_count(self, what: str, arguments: tuple[Any, ...]) -> InvalidArgument:
        head = f"{what} of kernel {self.name!r} takes {self._takes}"
        if not arguments:
            return InvalidArgument(f"{head}: data is missing")
        if len(arguments) < self._expected:
            return InvalidArgument(f"{head}: params is missing")
        return InvalidArgument(f"{head}: got {len(arguments)} arguments, {len(arguments) - self._expected} too many")


#: Stands for params that no caller has.
_NONE = object()


class _MapFrame(Frame):
    """A frame that remembers whose params lie in it."""

    __slots__ = ("params",)

    def __init__(self, packing: Packing) -> None:
        super().__init__(packing)
        self.params: object = _NONE


class _CpuFrame(_MapFrame):
    """A frame and the call that runs its kernel over everything."""

    __slots__ = ("call",)

    def __init__(self, packing: Packing, kernel: CpuKernel) -> None:
        super().__init__(packing)
        self.call = kernel.everything(self.address)


_first_byte = ctypes.c_char.from_buffer
_address_of = ctypes.addressof


class MapOnCpu(_Map):
    """A map on host memory: arrays are worked on where they are."""

    def __init__(self, entry: KernelEntry, kernel: CpuKernel, threads: int) -> None:
        super().__init__(entry)
        self._kernel = kernel
        self._threads = threads
        self._alone = kernel.elements_of_one_thread(threads)
        # Calls take a frame and put it back, so that calls from several threads do not write over each other's arguments.
        self._frames: list[_CpuFrame] = []

    def run(self, arguments: tuple[Any, ...]) -> None:
        if len(arguments) != self._expected:
            raise self.wrong_count("run", arguments)
        data = arguments[0]
        try:
            # The buffer protocol refuses what is read-only, empty or not C-contiguous, and is the fastest way to the address.
            view = _first_byte(data)
            address = _address_of(view)
            usual = data.dtype is self.dtype and not address % self.itemsize
        except (TypeError, ValueError, AttributeError):
            usual = False
        if usual:
            self._call(address, data.size, arguments)
        else:
            self._run_checked(arguments)

    def launch(self, arguments: tuple[Any, ...]) -> None:
        if len(arguments) != self._expected:
            raise self.wrong_count("launch", arguments)
        data = arguments[0]
        if isinstance(data, Buffer) and is_host_buffer(data):
            count, rest = divmod(data.nbytes, self.itemsize)
            if rest:
                raise not_whole("data", self.element, data.nbytes, self.itemsize)
            if count:
                self._call(data.device_addr, count, arguments)
            else:
                self.check_params(arguments)
        else:
            self._run_checked(arguments, " or a Buffer on cpu")

    def _run_checked(self, arguments: tuple[Any, ...], also: str = "") -> None:
        data = check_array("data", self.element, arguments[0], also)
        if data.size:
            self._call(data.ctypes.data, data.size, arguments)
        else:
            self.check_params(arguments)

    def _call(self, address: int, count: int, arguments: tuple[Any, ...]) -> None:
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = _CpuFrame(self._packing, self._kernel)
        self.fill(frame, address, count, arguments)
        if count < self._alone:
            frame.call()
        else:
            self._kernel.run_elements(frame.address, count, self._threads)
        self._frames.append(frame)

    def close(self) -> None:
        self._frames.clear()


class _DeviceFrame(_MapFrame):
    """A frame and the device memory that goes with it."""

    __slots__ = ("buffer",)

    def __init__(self, packing: Packing) -> None:
        super().__init__(packing)
        self.buffer: Buffer | None = None


class MapOnDevice(_Map):
    """A map on a GPU: `run` copies an array there and back, `launch` works on a buffer."""

    def __init__(self, entry: KernelEntry, kernel: DeviceKernel, accelerator: Accelerator) -> None:
        super().__init__(entry)
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
        data = check_array("data", self.element, arguments[0])
        if not data.size:
            self.check_params(arguments)
            return
        grid = self._grid(data.size)
        accelerator, address, size = self._accelerator, data.ctypes.data, data.nbytes
        frame = self._free_frame()
        try:
            buffer = self._buffer(frame, size)
            self.fill(frame, buffer.device_addr, data.size, arguments)
            accelerator.copy_in(buffer.device_addr, address, size)
            self._kernel.launch_packed(grid, self._block, 0, frame.address)
            accelerator.synchronize()
            accelerator.copy_out(address, buffer.device_addr, size)
        finally:
            self._give_back(frame)

    def launch(self, arguments: tuple[Any, ...]) -> None:
        if len(arguments) != self._expected:
            raise self.wrong_count("launch", arguments)
        buffer = arguments[0]
        address = buffer.address if type(buffer) is Buffer and buffer.memory is self._accelerator else None
        if address is None:
            address = check_buffer("data", self.element, buffer, self._accelerator).device_addr
        count, rest = divmod(buffer.nbytes, self.itemsize)
        if rest:
            raise not_whole("data", self.element, buffer.nbytes, self.itemsize)
        if not count:
            self.check_params(arguments)
            return
        grid = self._last[1] if count == self._last[0] else self._grid(count)
        frame = self._free_frame()
        try:
            self.fill(frame, address, count, arguments)
            self._kernel.launch_packed(grid, self._block, 0, frame.address)
        finally:
            self._give_back(frame)

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
            return _DeviceFrame(self._packing)

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
