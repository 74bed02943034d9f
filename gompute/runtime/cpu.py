"""The CPU backend: shared objects made ahead of time, called in this process on host memory."""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from gompute.artifacts.entry import KernelEntry
from gompute.artifacts.locks import Lock
from gompute.errors import InvalidArgument, KernelNotFound, ModuleLoadFailed, NoDevice
from gompute.lang.tiled import TILE
from gompute.runtime import workers
from gompute.runtime.accelerator import Accelerator
from gompute.runtime.arguments import Argument, PackedArguments
from gompute.runtime.buffer import Buffer, lane_of
from gompute.runtime.context import AnyContext, code_bytes
from gompute.runtime.dim3 import MAX_BLOCKS, Dim3, Extent
from gompute.runtime.host_driver import HostDriver
from gompute.runtime.processor import host_device
from gompute.runtime.reports import Report
from gompute.runtime.scratch import run_blocks
from gompute.targets.cpu import MAX_SHARED
from gompute.targets.device import Device

if TYPE_CHECKING:
    from gompute.runtime.stream import Stream

__all__ = ["HOST_MEMORY", "Context", "CpuKernel", "CpuModule", "is_host_buffer", "on_stream"]

_EVERYTHING = 2**64 - 1

# Work-items below which a second thread costs more than it brings. A generated kernel's item is a few operations; a raw one's is unknown.
_ELEMENT_GRAIN = 1 << 16
_ITEM_GRAIN = 1 << 12
_TILE_GRAIN = _ELEMENT_GRAIN // TILE


#: Where every buffer of the CPU backend lives.
HOST_MEMORY = Accelerator(HostDriver(), 0)


def is_host_buffer(buffer: Buffer) -> bool:
    """Whether a buffer is the CPU backend's."""
    return buffer.memory is HOST_MEMORY


def on_stream(stream: Stream | None, kind: str, work: Callable[[], None], arguments: Sequence[object], owner: object = None) -> None:
    """Does the work now, or writes it down where the stream is under capture.

    Args:
        stream: of the CPU; the default stream when left out.
        kind: what it is; graphs whose work differs in it are of different shapes.
        arguments: the buffers and arrays that it uses, among others.
        owner: what else must stay as long as the work may be done again: the frame with its arguments.
    """
    if stream is None:
        work()
    else:
        lane_of(HOST_MEMORY, stream).handle.do(kind, work)
        stream.uses([argument for argument in arguments if isinstance(argument, Buffer)], (arguments, owner))


class CpuKernel:
    """A kernel's entry point ``(arguments, launch, begin, end)``: see `everything`, `run_elements` and `launch_packed`."""

    def __init__(self, library: ctypes.CDLL, symbol: str) -> None:
        self.symbol = symbol
        self._library = library
        entry = library[symbol]
        entry.restype = None
        entry.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)
        self._entry = entry
        self._report: Report | None = None
        # Without argtypes a call takes ready-made C values as they are, which is the fastest way in for a small array.
        self._bare = library[symbol]
        self._bare.restype = None
        self._nothing, self._zero, self._end = ctypes.c_void_p(None), ctypes.c_uint64(0), ctypes.c_uint64(_EVERYTHING)

    def launch(self, grid: Extent, block: Extent, shared: int, args: Sequence[Argument], stream: Stream | None = None) -> None:
        """Runs the kernel in the calling thread with arguments that say their own size: see `DeviceKernel.launch`.

        A generated kernel works on all of its elements, whatever the grid.
        """
        blocks, items = Dim3.of(grid, "grid"), Dim3.of(block, "block")
        self.check(blocks, items, shared)
        packed = PackedArguments(args, HOST_MEMORY)
        shape = tuple(blocks), tuple(items), shared

        def work() -> None:
            run_blocks(self._entry, packed.address, shape, 0, _EVERYTHING)

        on_stream(stream, f"kernel {self.symbol}", work, args)

    def report_to(self, entry: KernelEntry) -> int:
        """The address of the record that a launch passes last, where the kernel has checks; every launch looks at it when it is done."""
        if self._report is None:
            self._report = Report(HOST_MEMORY, entry)
        self._report.entry = entry
        return self._report.address

    def _look(self) -> None:
        if self._report is not None:
            self._report.raise_from_host_memory()

    def everything(self, arguments: int) -> Callable[[], None]:
        """A call that runs a generated kernel over all its elements in the calling thread, with the arguments that lie there by then."""
        call = partial(self._bare, ctypes.c_void_p(arguments), self._nothing, self._zero, self._end)
        if self._report is None:
            return call

        def checked() -> None:
            call()
            self._look()

        return checked

    @staticmethod
    def elements_of_one_thread(threads: int) -> int:
        """Below this many elements `run_elements` uses the calling thread alone."""
        return 2 * _ELEMENT_GRAIN if threads > 1 else _EVERYTHING

    def run_elements(self, arguments: int, count: int, threads: int) -> None:
        """Runs a generated kernel over `count` elements in up to `threads` threads, and returns when it is done.

        Args:
            arguments: address of an array of pointers, one to each argument's bytes.
        """
        parts = workers.split(count, threads, _ELEMENT_GRAIN)
        entry = self._entry
        if len(parts) == 1:
            entry(arguments, None, 0, count)
        else:
            workers.run_split(parts, lambda begin, end: entry(arguments, None, begin, end))
        self._look()

    def run_tiles(self, arguments: int, tiles: int, threads: int) -> None:
        """Runs one stage of a reduction or a scan over the tiles below `tiles` that it has, and returns when it is done."""
        parts = workers.split(tiles, threads, _TILE_GRAIN, _TILE_GRAIN)
        entry = self._entry
        if len(parts) == 1:
            entry(arguments, None, 0, tiles)
        else:
            workers.run_split(parts, lambda begin, end: entry(arguments, None, begin, end))
        self._look()

    def check(self, grid: Dim3, block: Dim3, shared: int = 0) -> None:
        """Refuses a grid that no backend takes.

        Raises:
            InvalidArgument: naming the limit and the value.
        """
        for axis, blocks in zip("xyz", grid, strict=True):
            if blocks > MAX_BLOCKS:
                raise InvalidArgument(f"grid: {blocks} blocks in {axis}; cpu takes at most {MAX_BLOCKS}")
        if not 0 <= shared <= MAX_SHARED:
            raise InvalidArgument(f"shared: {shared} bytes; cpu gives a block at most {MAX_SHARED}")

    def launch_packed(self, grid: Dim3, block: Dim3, shared: int, arguments: int, threads: int = 1) -> None:
        """Runs every block of a raw kernel, and returns when all are done.

        Raises:
            AllocFailed: there is not as much memory as the work-items of a block need to wait for each other.
        """
        shape = tuple(grid), tuple(block), shared
        parts = workers.split(grid.product, threads, max(1, _ITEM_GRAIN // block.product), 1)
        entry = self._entry
        if len(parts) == 1:
            run_blocks(entry, arguments, shape, 0, grid.product)
        else:
            workers.run_split(parts, lambda begin, end: run_blocks(entry, arguments, shape, begin, end))
        self._look()


class CpuModule:
    """A loaded shared object; it stays loaded until the process ends."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._kernels: dict[str, CpuKernel] = {}

    def get_kernel(self, symbol: str) -> CpuKernel:
        """The kernel of that symbol.

        Raises:
            KernelNotFound: the shared object has none.
        """
        kernel = self._kernels.get(symbol)
        if kernel is None:
            try:
                kernel = self._kernels[symbol] = CpuKernel(self._library, symbol)
            except AttributeError:
                raise KernelNotFound(f"cpu: the shared object has no kernel {symbol}") from None
        return kernel


class _Modules:
    """Every shared object that this process has loaded, by sha256."""

    def __init__(self) -> None:
        self._loaded: dict[str, CpuModule] = {}
        self._lock = Lock()

    def get(self, image: bytes) -> CpuModule:
        key = hashlib.sha256(image).hexdigest()
        with self._lock:
            module = self._loaded.get(key)
            if module is None:
                module = self._loaded[key] = CpuModule(_load(image, len(self._loaded)))
            return module


_modules = _Modules()


class Context(AnyContext):
    """The host's processor in the shape of a device; `ordinal` is 0.

    Memory is the host's, aligned to 64 bytes. A stream's work is done when the call that gives it returns, so every wait returns at once;
    capture, graphs and events work as on a GPU.

    Args:
        checked: for the same shape as on a GPU; a launch is always waited for.
    """

    def __init__(self, ordinal: int = 0, *, checked: bool | None = None) -> None:
        if ordinal != 0:
            raise NoDevice(f"cpu: no device {ordinal}; there is one, number 0")
        super().__init__(HOST_MEMORY)

    @property
    def backend(self) -> str:
        return "cpu"

    @property
    def device(self) -> Device:
        return host_device()

    def load_module(self, image: bytes) -> CpuModule:
        """Loads a shared object; the same bytes are loaded once per process.

        Raises:
            ModuleLoadFailed: the system's loader refuses it.
        """
        _ = self.accelerator  # refuses a closed context
        return _modules.get(code_bytes(image))


def _load(image: bytes, number: int) -> ctypes.CDLL:
    """Loads a shared object from memory, so that the bytes that were verified are those that run."""
    file = os.memfd_create("gompute-kernels")
    try:
        with open(file, "wb", closefd=False) as memory:
            memory.write(image)
        try:
            return ctypes.CDLL(_unique_path(file, number), mode=os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError as error:
            raise ModuleLoadFailed(f"cpu: the system's loader refuses the shared object: {error}") from error
    finally:
        os.close(file)


def _unique_path(file: int, number: int) -> str:
    """A spelling of /proc/self/fd/N that was not used before.

    The loader takes a library whose path it has seen for the one it has already loaded, and the numbers of closed files come back: the
    binary digits of `number`, as ``/`` and ``./``, tell the paths apart without leaving the file open.
    """
    return f"/proc/self/fd/{''.join('./' if digit == '1' else '/' for digit in f'{number:b}')}{file}"
