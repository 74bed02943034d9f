"""`RawKernel`: any kernel, launched with a grid and its own arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, Self

from gompute.artifacts.entry import ArgumentEntry, KernelEntry
from gompute.errors import InvalidArgument
from gompute.handles.arrays import address_of, check_array, check_buffer
from gompute.handles.calling import in_order
from gompute.handles.defaults import Kernels
from gompute.handles.device_array import buffers_among, typed_on_device
from gompute.handles.foreign import shared_on_host
from gompute.handles.kernel import byte_count, thread_count
from gompute.handles.opening import Opened, open_kernel, spec_of
from gompute.handles.packing import Frame, Packing
from gompute.handles.parameters import ParamsReader, bytes_reader, scalar_reader
from gompute.handles.quick_launch import NOTHING, Ready, ReadyFrame, quick_launch
from gompute.handles.views import view_reader
from gompute.lang.operation import OPERATIONS
from gompute.lang.tiled import Tiled
from gompute.runtime.buffer import Buffer
from gompute.runtime.context import Accelerator, DeviceContext, DeviceKernel
from gompute.runtime.cpu import is_host_buffer, on_stream
from gompute.runtime.dim3 import Dim3, Extent
from gompute.runtime.stream import Stream

__all__ = ["RawKernel"]

#: Types of grid, block and shared whose values tell whether a launch is like the last one; what can be changed in place does not.
_PLAIN = frozenset(product((int, tuple, Dim3), (int, tuple, Dim3), (int,)))


class RawKernel:
    """A kernel to launch by hand.

    Args:
        kernel: the decorated function, which the artifact must agree with, or a name.
        backend: ``cuda``, ``hip`` or ``cpu``.
        ordinal: the device's number.
        kernels: a kernel set, its folder or its generated module; without it the default set.
        threads: CPU only: the most threads of one launch, all cores when left out.

    Raises: as `Kernel`.
    """

    def __init__(self, kernel: Any, backend: str, ordinal: int = 0, kernels: Kernels = None, *, threads: int | None = None) -> None:
        what = kernel if isinstance(kernel, str) else spec_of(kernel, "RawKernel")
        self._take(open_kernel(what, backend, ordinal, kernels), threads)

    @classmethod
    def _of(cls, opened: Opened, threads: int | None = None) -> RawKernel:
        made = cls.__new__(cls)
        made._take(opened, threads)
        return made

    def _take(self, opened: Opened, threads: int | None) -> None:
        entry = opened.entry
        if threads is not None and opened.backend != "cpu":
            raise InvalidArgument(f"threads: is for the cpu backend; this handle is on {opened.backend}")
        self._threads = thread_count(threads)
        if isinstance(opened.kernel, DeviceKernel):
            opened.kernel.has_shared(entry.resources.shared or 0)
        self._opened = opened
        self._closed = False
        self._packing = Packing(entry.arguments, opened.record)
        self._arguments = [argument for argument in entry.arguments if argument.kind != "extent"]
        self._readers = [self._reader(argument) for argument in self._arguments]
        self._names = [argument.name for argument in self._arguments]
        self._has_arrays = any(argument.kind == "array" for argument in self._arguments)
        #: The last launch's sizes as they were given, and as they were checked.
        self._last: tuple[object, tuple[Dim3, Dim3, int]] = (None, (Dim3(1), Dim3(1), 0))
        # A launch takes a frame and puts it back, so that launches from several threads do not write over each other's arguments.
        self._frames: list[Frame] = []
        self._ready = Ready()
        if isinstance(opened.kernel, DeviceKernel) and isinstance(opened.context, DeviceContext) and type(self).launch is RawKernel.launch:
            gpu, pack = opened.context.accelerator, self._packing.pack
            quick = quick_launch(self._ready, self.launch, opened.kernel, gpu, self._arguments, self._readers, pack)
            vars(self)["launch"] = quick  # until `close`; it asks the method where a launch is not as usual

    @property
    def name(self) -> str:
        """The kernel's public name."""
        return self._opened.entry.name

    @property
    def backend(self) -> str:
        """``cuda``, ``hip`` or ``cpu``."""
        return self._opened.backend

    def launch(self, grid: Extent, block: Extent, *arguments: Any, shared: int = 0, stream: Stream | None = None, **named: Any) -> None:
        """Launches the kernel and does not wait.

        Args:
            grid: blocks in x, y and z.
            block: work-items per block in x, y and z. A raw kernel's declared `block_size` is the most: in all where it was declared as one
                number, in each dimension where as several. A generated kernel's is exact.
            arguments, named: as the kernel declares them, by position or by name. A pointer takes a Buffer, a `DeviceArray`, or an array of
                another library that lies on the device (on the CPU a contiguous, writable array in host memory); an array with a shape the
                same but for a Buffer, of which it takes `(buffer, shape)`, in C order and with as many dimensions; a scalar a number,
                params an instance of their class or its bytes. A kernel may write through any pointer, so read-only arrays are refused.
            shared: bytes of dynamic shared memory per block.
            stream: where to queue it, the device's default stream when left out.

        Raises:
            InvalidArgument: naming the argument, what was expected and what was given.
            LaunchFailed: the driver's.
        """
        if self._closed:
            raise self._closed_error("launch")
        entry, kernel = self._opened.entry, self._opened.kernel
        if named:
            arguments = in_order(f"{self._head()} after grid and block", self._names, arguments, named)
        if len(arguments) != len(self._readers):
            raise self._wrong_count(arguments)
        given, shape = self._last
        if (type(grid), type(block), type(shared)) not in _PLAIN or (grid, block, shared) != given:
            shape = self._checked_shape(grid, block, shared)
        blocks, items, extra = shape
        if stream is None:
            values = [read(argument) for read, argument in zip(self._readers, arguments, strict=True)]
        else:
            values = [self._read_for(stream, place, argument) for place, argument in enumerate(arguments)]
        if self._has_arrays:
            values = [part for value in values for part in (value if type(value) is tuple else (value,))]
        if isinstance(kernel, DeviceKernel):
            self._launch_on_device(kernel, (grid, block, shared), shape, values, stream)
            if stream is not None:
                stream.uses(buffers_among(arguments))
            return
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = Frame(self._packing)
        self._packing.pack(frame.storage, 0, *values)
        address, threads = frame.address, self._threads
        if entry.kind == "kernel":
            work = partial(kernel.launch_packed, blocks, items, extra, address, threads)
        elif isinstance(OPERATIONS.get(entry.kind), Tiled):
            work = partial(kernel.run_tiles, address, blocks.x, threads)
        else:
            # The entry point counts elements; a grid that covers fewer works on those alone, as on a GPU.
            work = partial(kernel.run_elements, address, min(blocks.x * items.x, values[_length(entry)]), threads)
        on_stream(stream, f"kernel {entry.name}", work, arguments, frame)
        if stream is None or not stream.capturing:  # else the frame is the graph's
            self._frames.append(frame)

    def _launch_on_device(
        self,
        kernel: DeviceKernel,
        given: tuple[Extent, Extent, int],
        shape: tuple[Dim3, Dim3, int],
        values: list[Any],
        stream: Stream | None,
    ) -> None:
        """Launches, and keeps what was made ready for it for the next launch of these sizes on this stream."""
        frame = ReadyFrame(self._packing)
        self._packing.pack(frame.storage, 0, *values)
        launch = kernel.prepare(*shape, frame.address, stream)
        frame.prepare(launch)
        kernel.launch_prepared(launch, stream)
        if given == self._last[0]:
            now = self._ready.now
            if now[:4] == (*given, launch.lane):
                now[4].append(frame)
            else:
                self._ready.now = (*given, launch.lane, [frame])
            if self._closed:  # by another thread meanwhile
                self._ready.now = NOTHING

    def _read_for(self, stream: Stream, place: int, argument: Any) -> Any:
        """An argument of a launch on that stream."""
        context, entry = self._opened.context, self._arguments[place]
        if not isinstance(context, DeviceContext) or isinstance(argument, Buffer | tuple):
            return self._readers[place](argument)
        if entry.kind == "pointer":
            return _device_address(entry.name, entry.dtype, argument, context.accelerator, stream)
        return self._readers[place](argument, stream) if entry.kind == "array" else self._readers[place](argument)

    def _checked_shape(self, grid: Extent, block: Extent, shared: int) -> tuple[Dim3, Dim3, int]:
        """The sizes of a launch, allowed and kept for the next one."""
        shape = Dim3.of(grid, "grid"), Dim3.of(block, "block"), byte_count("shared", shared)
        _check_block(self._opened.entry, shape[0], shape[1])
        self._opened.kernel.check(*shape)
        if (type(grid), type(block), type(shared)) in _PLAIN:  # a NumPy integer does not compare with a tuple
            self._last = (grid, block, shared), shape
        return shape

    def alloc(self, nbytes: int) -> Buffer:
        """Memory on the device in bytes, not cleared.

        Raises:
            AllocFailed: there is not that much.
        """
        if self._closed:
            raise self._closed_error("alloc")
        return self._opened.context.alloc(byte_count("nbytes", nbytes))

    def synchronize(self) -> None:
        """Waits for every launch on the device.

        Raises:
            SyncFailed: an earlier launch failed.
        """
        if self._closed:
            raise self._closed_error("synchronize")
        self._opened.context.synchronize()

    def close(self) -> None:
        """Ends the handle; again is no error."""
        if not self._closed:
            self._closed = True
            vars(self).pop("launch", None)
            self._ready.now = NOTHING  # who still has that function is sent the careful way, and refused
            self._opened.context.close()

    def _reader(self, argument: ArgumentEntry) -> Callable[..., Any]:
        name, dtype = argument.name, argument.dtype
        if argument.kind == "scalar":
            return scalar_reader(name, dtype)
        if argument.kind == "bytes":
            return bytes_reader(name, argument.size)
        if argument.kind == "params":
            assert argument.layout is not None, "params have a layout"
            return ParamsReader(name, argument.layout)
        context = self._opened.context
        if isinstance(context, DeviceContext):
            read = _device_reader(name, dtype, context.accelerator)
            return read if argument.kind == "pointer" else view_reader(argument, read, context.accelerator)
        if argument.kind == "pointer":
            return lambda value: _host_address(name, dtype, value)
        return view_reader(argument, lambda value: _host_address(name, dtype, value), on_host=True)

    def _head(self) -> str:
        names = ", ".join(f"{argument.name}: {argument.declared}" for argument in self._arguments)
        return f"launch of kernel {self.name!r} takes ({names})"

    def _wrong_count(self, arguments: tuple[Any, ...]) -> InvalidArgument:
        expected = self._arguments
        if len(arguments) < len(expected):
            missing = ", ".join(argument.name for argument in expected[len(arguments) :])
            return InvalidArgument(f"{self._head()} after grid and block: {missing} missing")
        return InvalidArgument(f"{self._head()} after grid and block: got {len(arguments)}, {len(arguments) - len(expected)} too many")

    def _closed_error(self, what: str) -> InvalidArgument:
        return InvalidArgument(f"{what}: the handle of kernel {self.name!r} is closed")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"from {self._opened.source}"
        return f"<RawKernel {self.name!r} on {self.backend}, {state}>"


def _check_block(entry: KernelEntry, grid: Dim3, block: Dim3) -> None:
    declared = Dim3(*entry.block_size)
    if entry.kind != "kernel":
        if block != declared:
            raise InvalidArgument(f"block: kernel {entry.name!r} was compiled for blocks of exactly {tuple(declared)}, got {tuple(block)}")
        if grid.y != 1 or grid.z != 1:
            raise InvalidArgument(f"grid: kernel {entry.name!r} takes a grid in one dimension, got {tuple(grid)}")
    elif declared.y == 1 and declared.z == 1:
        if block.product > declared.x:
            raise InvalidArgument(
                f"block: kernel {entry.name!r} was compiled for blocks of at most {declared.x} work-items (block_size), got "
                f"{tuple(block)}, which is {block.product}"
            )
    elif any(given > most for given, most in zip(block, declared, strict=True)):
        raise InvalidArgument(
            f"block: kernel {entry.name!r} was compiled for blocks of at most {tuple(declared)} (block_size), got {tuple(block)}"
        )


def _device_reader(name: str, dtype: str, accelerator: Accelerator) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if type(value) is Buffer and value.memory is accelerator and value.address is not None:
            return value.address
        return _device_address(name, dtype, value, accelerator, None)

    return read


def _device_address(name: str, dtype: str, value: Any, accelerator: Accelerator, stream: Stream | None) -> int:
    found = None if isinstance(value, Buffer) else typed_on_device(name, dtype, value, accelerator, stream, writes=True)
    return address_of(name, check_buffer(name, dtype, value, accelerator)) if found is None else found[0]


def _host_address(name: str, dtype: str, value: Any) -> int:
    if isinstance(value, Buffer) and is_host_buffer(value):
        return address_of(name, value)
    array = check_array(name, dtype, shared_on_host(name, value), " or a Buffer on cpu")
    return array.ctypes.data


def _length(entry: KernelEntry) -> int:
    """The place of a generated kernel's element count among its arguments: the first scalar."""
    return next(place for place, argument in enumerate(entry.arguments) if argument.kind == "scalar")
