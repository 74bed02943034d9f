"""Running reductions and scans: one launch for every stage that their length asks for, and what one stage leaves for the next."""

from __future__ import annotations

import ctypes
import struct
from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from gompute.artifacts.entry import KernelEntry
from gompute.errors import CaptureFailed, InvalidArgument
from gompute.handles.device_array import buffers_among, like
from gompute.handles.generated import operands_of, wrong_count
from gompute.handles.operands import Located, Operand, check_together
from gompute.handles.packing import FORMAT, Frame, Packing
from gompute.handles.parameters import ParamsReader, typed_number
from gompute.lang.operation import OPERATIONS
from gompute.lang.tiled import TILE, Tiled, scratch_elements, stage_tiles
from gompute.lang.types import SCALARS
from gompute.runtime.buffer import Buffer, lane_of
from gompute.runtime.context import Accelerator, DeviceKernel
from gompute.runtime.cpu import HOST_MEMORY, CpuKernel, on_stream
from gompute.runtime.dim3 import Dim3
from gompute.runtime.stream import Capture, Stream

__all__ = ["TiledOnCpu", "TiledOnDevice"]

#: What each array starts at in device memory: the drivers' own allocations are aligned to as much.
_ALIGNMENT = 256


class _Frame(Frame):
    """A frame, and memory for what one stage leaves for the next."""

    __slots__ = ("scratch",)

    def __init__(self, packing: Packing) -> None:
        super().__init__(packing)
        self.scratch: Buffer | None = None

    def free(self) -> None:
        """Give the memory back."""
        if self.scratch is not None:
            self.scratch.free()


_F = TypeVar("_F", bound=_Frame)


class _TiledPlan(ABC, Generic[_F]):
    """What both places share.

    Attributes:
        operands: those that a launch takes: the array, and the output.
    """

    def __init__(self, entry: KernelEntry, record: int | None) -> None:
        operation = OPERATIONS[entry.kind]
        assert isinstance(operation, Tiled)
        self.name = entry.name
        self._scan, self._exclusive = operation.scan, operation.exclusive
        self.operands = tuple(operand for operand in operands_of(entry) if not operand.use.scratch)
        self._source, self._out = self.operands
        self._unpack = struct.Struct(f"<{FORMAT[self._out.element]}").unpack_from
        self._typed = typed_number(SCALARS[self._out.element])
        self._packing = Packing(entry.arguments, record)
        params = [argument for argument in entry.arguments if argument.kind == "params"]
        self._params = ParamsReader(params[0].name, params[0].layout) if params and params[0].layout else None
        self._names = [argument.name for argument in params]
        #: The arguments of `run` and of `launch`.
        self.takes = [operand.name for operand in self.operands[: 2 if self._scan else 1]] + self._names
        self.launch_takes = [operand.name for operand in self.operands] + self._names
        #: The place of an output of which every element is written.
        self.out = 1 if self._scan else None
        self._taken = (2 if self._scan else 1) + len(params)
        # A call takes a frame and puts it back, so that calls from several threads do not write over each other's arguments.
        self._frames: list[_F] = []

    @abstractmethod
    def run(self, arguments: tuple[Any, ...]) -> Any:
        """On arrays; gives the value of a reduction."""

    @abstractmethod
    def launch(self, arguments: tuple[Any, ...], stream: Stream | None = None) -> None:
        """On buffers, without waiting."""

    def new_output(self, arguments: tuple[Any, ...]) -> Any:
        """An array for the results of a scan; see `like`."""
        return like(self._source.name, arguments[0], self._out.element, self._out.name)

    @abstractmethod
    def _locate(self, operand: Operand, value: Any) -> Located:
        """Accept an array of `run`."""

    def _check_count(self, what: str, arguments: tuple[Any, ...], taken: int) -> None:
        takes = [operand.name for operand in self.operands[:taken]] + self._names
        if len(arguments) != len(takes):
            raise wrong_count(what, self.name, takes, arguments)

    def _read_params(self, arguments: tuple[Any, ...]) -> tuple[bytes, ...]:
        return () if self._params is None else (self._params(arguments[-1]),)

    def _arrays(self, arguments: tuple[Any, ...]) -> list[Located]:
        """The arrays of a call of `run`, which go together."""
        if not self._scan:
            self._check_count("run", arguments, 1)
            return [self._locate(self._source, arguments[0])]
        self._check_count("run", arguments, 2)
        located = [self._locate(operand, value) for operand, value in zip(self.operands, arguments, strict=False)]
        for operand, place in zip(self.operands, located, strict=True):
            if place.array is not None and not place.array.flags.c_contiguous:
                raise InvalidArgument(
                    f"{operand.name}: is in Fortran order, and a scan goes in C order: pass numpy.ascontiguousarray({operand.name})"
                )
        check_together(self.operands, located, in_place=not self._exclusive)
        return located

    def _check_buffers(self, located: list[Located]) -> None:
        if self._scan:
            check_together(self.operands, located, in_place=not self._exclusive)
        elif located[1].elements != 1:
            raise InvalidArgument(f"out: expected room for one {self._out.element}, the result, got {located[1].elements}")

    def _value(self, data: Any) -> Any:
        """The result at the start of a bytes-like object, as a host call gives it: a Python number that knows its type."""
        return self._typed(self._unpack(data)[0])

    @abstractmethod
    def close(self) -> None:
        """Free what the frames hold; again is no error."""


class _CpuFrame(_Frame):
    """A frame, room for a result, and the call that runs its kernel over every tile of a stage."""

    __slots__ = ("call", "result", "result_address")

    def __init__(self, packing: Packing, kernel: CpuKernel) -> None:
        super().__init__(packing)
        self.result = (ctypes.c_uint64 * 1)()
        self.result_address = ctypes.addressof(self.result)
        self.call = kernel.everything(self.address)


_first_byte = ctypes.c_char.from_buffer
_address_of = ctypes.addressof


class TiledOnCpu(_TiledPlan[_CpuFrame]):
    """On host memory: arrays are worked on where they are."""

    def __init__(self, entry: KernelEntry, kernel: CpuKernel, threads: int, record: int | None) -> None:
        super().__init__(entry, record)
        self._kernel = kernel
        self._threads = threads
        self._dtype, self._itemsize = self._source.dtype, self._source.itemsize

    def _locate(self, operand: Operand, value: Any) -> Located:
        return operand.array(value)

    def run(self, arguments: tuple[Any, ...]) -> Any:
        if not self._scan and len(arguments) == self._taken:
            data = arguments[0]
            try:
                # The short way in for a small array; the buffer protocol refuses what is read-only, empty or not C-contiguous.
                address = _address_of(_first_byte(data))
                usual = data.dtype is self._dtype and not address % self._itemsize
            except (TypeError, ValueError, AttributeError):
                usual = False
            if usual:
                return self._reduce(address, data.size, arguments)
        located = self._arrays(arguments)
        if not self._scan:
            return self._reduce(located[0].address, located[0].elements, arguments)
        self._on(located[0], located[1].address, arguments)
        return None

    def launch(self, arguments: tuple[Any, ...], stream: Stream | None = None) -> None:
        self._check_count("launch", arguments, 2)
        located = [operand.on_host(value) for operand, value in zip(self.operands, arguments, strict=False)]
        self._check_buffers(located)
        source, out = located
        on_stream(stream, f"kernel {self.name}", lambda: self._on(source, out.address, arguments), arguments)

    def _reduce(self, address: int, elements: int, arguments: tuple[Any, ...]) -> Any:
        params = self._read_params(arguments)
        frame = self._take_frame()
        try:
            self._stages(frame, address, elements, frame.result_address, params)
            return self._value(frame.result)
        finally:
            self._frames.append(frame)

    def _on(self, source: Located, out: int, arguments: tuple[Any, ...]) -> None:
        params = self._read_params(arguments)
        if self._scan and not source.elements:
            return
        frame = self._take_frame()
        try:
            self._stages(frame, source.address, source.elements, out, params)
        finally:
            self._frames.append(frame)

    def _stages(self, frame: _CpuFrame, address: int, elements: int, out: int, params: tuple[bytes, ...]) -> None:
        if elements <= TILE:
            self._packing.pack(frame.storage, 0, address, 0, out, elements, 0, *params)
            frame.call()
            return
        size = scratch_elements(elements) * self._out.itemsize
        if frame.scratch is None or frame.scratch.nbytes < size:
            frame.scratch = HOST_MEMORY.allocate(size)
        scratch = frame.scratch.device_addr
        for stage, tiles in enumerate(stage_tiles(elements, self._scan)):
            self._packing.pack(frame.storage, 0, address, scratch, out, elements, stage, *params)
            self._kernel.run_tiles(frame.address, tiles, self._threads)

    def _take_frame(self) -> _CpuFrame:
        try:
            return self._frames.pop()
        except IndexError:
            return _CpuFrame(self._packing, self._kernel)

    def close(self) -> None:
        self._frames.clear()


class _DeviceFrame(_Frame):
    """A frame, and device memory for the arrays of `run`."""

    __slots__ = ("data",)

    def __init__(self, packing: Packing) -> None:
        super().__init__(packing)
        self.data: Buffer | None = None

    def free(self) -> None:
        super().free()
        if self.data is not None:
            self.data.free()


class TiledOnDevice(_TiledPlan[_DeviceFrame]):
    """On a GPU: `run` copies arrays there and back, `launch` works on buffers."""

    def __init__(self, entry: KernelEntry, kernel: DeviceKernel, accelerator: Accelerator, record: int | None) -> None:
        super().__init__(entry, record)
        self._kernel = kernel
        self._accelerator = accelerator
        self._block = Dim3(*entry.block_size)
        #: Frames by the stream whose launches may still use their memory: those of one stream come one after the other.
        self._of_streams: WeakKeyDictionary[Stream, list[_DeviceFrame]] = WeakKeyDictionary()
        #: The same of what a capture writes down on a stream.
        self._of_captures: WeakKeyDictionary[Capture, WeakKeyDictionary[Stream, list[_DeviceFrame]]] = WeakKeyDictionary()
        #: Memory that launches may still use, though a larger piece has taken its place: freeing it would wait for them.
        self._outgrown: list[Buffer] = []
        self._open = True

    def _locate(self, operand: Operand, value: Any) -> Located:
        return operand.anywhere(value, self._accelerator)

    def run(self, arguments: tuple[Any, ...]) -> Any:
        located = self._arrays(arguments)
        params = self._read_params(arguments)
        source = located[0]
        if self._scan and not source.elements:
            return None
        stages = self._grids(source.elements)
        results = source.elements if self._scan else 1
        out_at = 0 if source.on_device else source.elements * self._source.itemsize
        out_at += -out_at % _ALIGNMENT
        accelerator = self._accelerator
        frames = self._frames
        frame = self._take_frame(frames)
        try:
            size = out_at + results * self._out.itemsize
            if frame.data is None or frame.data.nbytes < size:
                if frame.data is not None:
                    frame.data.free()  # first, so that both need not fit at once
                    frame.data = None
                frame.data = accelerator.allocate(size)
            address = frame.data.device_addr
            out = address + out_at
            if source.on_device:
                address = source.address
            else:
                accelerator.copy_in(address, source.address, source.elements * self._source.itemsize)
            if self._scan and located[1].on_device:
                out = located[1].address
            self._stages(frame, stages, source.elements, address, out, params, None)
            accelerator.synchronize()
            self._release_outgrown()
            if self._scan:
                if not located[1].on_device:
                    accelerator.copy_out(located[1].address, out, results * self._out.itemsize)
                return None
            data = bytearray(self._out.itemsize)
            frame.data.download_at(data, out_at)
            return self._value(data)
        finally:
            self._give_back(frame, frames)

    def launch(self, arguments: tuple[Any, ...], stream: Stream | None = None) -> None:
        self._check_count("launch", arguments, 2)
        accelerator = self._accelerator
        lane_of(accelerator, stream)  # refuses what is no stream, before its frames are looked for
        located = [operand.on_device(value, accelerator, stream) for operand, value in zip(self.operands, arguments, strict=False)]
        self._check_buffers(located)
        params = self._read_params(arguments)
        source, out = located
        if self._scan and not source.elements:
            return
        stages = self._grids(source.elements)
        frames = self._frames_of(stream)
        frame = self._take_frame(frames)
        try:
            self._stages(frame, stages, source.elements, source.address, out.address, params, stream)
            if stream is not None:
                scratch = () if frame.scratch is None else (frame.scratch,)
                stream.uses((*buffers_among(arguments), *scratch))
        finally:
            self._give_back(frame, frames)

    def _grids(self, elements: int) -> list[Dim3]:
        grids = [Dim3(tiles) for tiles in stage_tiles(elements, self._scan)]
        for grid in grids:
            self._kernel.check(grid, self._block)
        return grids

    def _stages(
        self,
        frame: _DeviceFrame,
        stages: list[Dim3],
        elements: int,
        source: int,
        out: int,
        params: tuple[bytes, ...],
        stream: Stream | None,
    ) -> None:
        scratch = 0
        if len(stages) > 1:
            size = scratch_elements(elements) * self._out.itemsize
            if frame.scratch is None or frame.scratch.nbytes < size:
                if stream is not None and stream.capturing:
                    raise CaptureFailed(
                        f"launch of kernel {self.name!r}: {elements} elements need {size} bytes of working memory, which cannot be "
                        f"allocated during a capture: launch it once on this stream before begin_capture"
                    )
                frame.scratch = self._larger(frame.scratch, size)
            scratch = frame.scratch.device_addr
        for stage, grid in enumerate(stages):
            self._packing.pack(frame.storage, 0, source, scratch, out, elements, stage, *params)
            self._kernel.launch_packed(grid, self._block, 0, frame.address, stream)

    def _frames_of(self, stream: Stream | None) -> list[_DeviceFrame]:
        """The frames for a launch there. What a capture writes down keeps its memory for itself: it takes over the stream's."""
        if stream is None:
            return self._frames
        frames = self._of_streams.setdefault(stream, [])
        capture = stream.capture
        if capture is None:
            return frames
        captured = self._of_captures.setdefault(capture, WeakKeyDictionary())
        if stream not in captured:
            captured[stream] = frames.copy()
            frames.clear()
        return captured[stream]

    def _take_frame(self, frames: list[_DeviceFrame]) -> _DeviceFrame:
        try:
            return frames.pop()
        except IndexError:
            return _DeviceFrame(self._packing)

    def _give_back(self, frame: _DeviceFrame, frames: list[_DeviceFrame]) -> None:
        frames.append(frame)
        if not self._open:  # closed by another thread meanwhile
            self.close()

    def _larger(self, small: Buffer | None, size: int) -> Buffer:
        """Memory in the place of `small`, with room to grow, so that an array that grows by little does not ask for more each time."""
        if small is not None:
            self._outgrown.append(small)
            size += size // 2
        return self._accelerator.allocate(size)

    def _release_outgrown(self) -> None:
        """Free what no launch can use any more."""
        while self._outgrown:
            self._outgrown.pop().free()

    def close(self) -> None:
        """A graph keeps what it works with."""
        self._open = False
        for frames in [self._frames, *self._of_streams.values()]:
            while frames:
                frames.pop().free()
        self._of_captures.clear()
        self._release_outgrown()
