"""The tests' side of the driver library: what it shall be, and what it was told."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from gompute.runtime.stream import Stream

Extent: TypeAlias = tuple[int, int, int]
#: Called with the module's code, the symbol, grid, block, bytes of shared memory, and the address of the array of argument pointers.
Interpreter: TypeAlias = Callable[[str, str, Extent, Extent, int, int], None]
_INTERPRETER = ctypes.CFUNCTYPE(
    None,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.c_uint64,
    ctypes.c_void_p,
)


@dataclass(frozen=True)
class Vendor:
    """What is the same on both, in each one's words."""

    backend: str
    variable: str
    arch: str
    other_arch: str
    init: str
    count: str
    set_current: str
    allocate: str
    free: str
    copy_in: str
    copy_out: str
    load: str
    unload: str
    function: str
    launch: str
    synchronize: str
    #: An error that every call may give, and its name.
    code: int
    code_name: str
    no_device: int
    old_version: int


CUDA = Vendor(
    backend="cuda",
    variable="GOMPUTE_LIBCUDA",
    arch="8.6",
    other_arch="7.0",
    init="cuInit",
    count="cuDeviceGetCount",
    set_current="cuCtxSetCurrent",
    allocate="cuMemAlloc",
    free="cuMemFree",
    copy_in="cuMemcpyHtoD",
    copy_out="cuMemcpyDtoH",
    load="cuModuleLoadDataEx",
    unload="cuModuleUnload",
    function="cuModuleGetFunction",
    launch="cuLaunchKernelEx",
    synchronize="cuCtxSynchronize",
    code=700,
    code_name="CUDA_ERROR_ILLEGAL_ADDRESS",
    no_device=100,
    old_version=10000,
)
HIP = Vendor(
    backend="hip",
    variable="GOMPUTE_LIBHIP",
    arch="gfx90a:sramecc+:xnack-",
    other_arch="gfx1030",
    init="hipInit",
    count="hipGetDeviceCount",
    set_current="hipSetDevice",
    allocate="hipMalloc",
    free="hipFree",
    copy_in="hipMemcpyHtoD",
    copy_out="hipMemcpyDtoH",
    load="hipModuleLoadData",
    unload="hipModuleUnload",
    function="hipModuleGetFunction",
    launch="hipModuleLaunchKernel",
    synchronize="hipDeviceSynchronize",
    code=700,
    code_name="hipErrorIllegalAddress",
    no_device=100,
    old_version=50000000,
)
VENDORS = {"cuda": CUDA, "hip": HIP}

#: What a driver gives and wants back, contexts aside.
KINDS = ("bytes", "pinned", "modules", "streams", "events", "graphs", "executables")
NOTHING = dict.fromkeys((*KINDS, "contexts"), 0)


class Driver:
    """One loaded driver library."""

    def __init__(self, vendor: Vendor, path: Path) -> None:
        self.vendor = vendor
        self.path = path
        self._library = ctypes.CDLL(str(path))
        for name in ("test_driver_log", "test_driver_problems"):
            getattr(self._library, name).restype = ctypes.c_char_p
        self._library.test_driver_held.restype = ctypes.c_size_t
        self._library.test_driver_launches.restype = ctypes.c_ulong
        self._interpreter: object = None

    def reset(self, kernels: Path | None = None) -> None:
        """One device of the usual kind, no faults, nothing recorded."""
        self._library.test_driver_reset()
        self._library.test_driver_devices(0)
        self.device(0, self.vendor.arch)
        self.version(0)
        if kernels is not None:
            assert self._library.test_driver_kernels(str(kernels).encode())

    def device(self, ordinal: int, arch: str) -> None:
        self._library.test_driver_device(ordinal, arch.encode())

    def devices(self, count: int) -> None:
        self._library.test_driver_devices(count)

    def version(self, version: int) -> None:
        """As the vendor counts; 0 is the newest."""
        self._library.test_driver_version(version)

    def fail(self, call: str, code: int | None = None, *, skip: int = 0, times: int = 1) -> None:
        """The `times` calls of that name (``*``: of any) after the next `skip` fail (-1: all)."""
        self._library.test_driver_fail(call.encode(), skip, times, self.vendor.code if code is None else code)

    def forget_faults(self) -> None:
        self._library.test_driver_forget_faults()

    def interpreter(self, function: Interpreter | None) -> None:
        """Launches go to this function, in the thread of their stream; without one to CPU builds."""

        def called(image: bytes, symbol: bytes, grid: Any, block: Any, shared: int, arguments: int) -> None:
            assert function is not None
            function(image.decode(), symbol.decode(), (grid[0], grid[1], grid[2]), (block[0], block[1], block[2]), shared, arguments)

        self._interpreter = None if function is None else _INTERPRETER(called)  # kept: the library holds no reference
        self._library.test_driver_interpreter(self._interpreter)

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """Address and size of each allocation."""
        room = self._library.test_driver_blocks(None, None, 0)
        addresses, sizes = (ctypes.c_void_p * room)(), (ctypes.c_size_t * room)()
        self._library.test_driver_blocks(addresses, sizes, room)
        return [(address or 0, size) for address, size in zip(addresses, sizes, strict=True)]

    @property
    def calls(self) -> list[str]:
        """Every call since the last `forget`: its name and what it was told."""
        return str(self._library.test_driver_log().decode()).splitlines()

    @property
    def names(self) -> list[str]:
        """The calls' names alone, without the look at the thread's context that goes before most."""
        return [name for name in (line.split()[0] for line in self.calls) if name not in ("cuCtxGetCurrent", "hipGetDevice")]

    def forget(self) -> None:
        self._library.test_driver_forget_log()

    def quiet(self, on: bool) -> None:
        """Nothing recorded and nothing failing, for long loops."""
        self._library.test_driver_quiet(int(on))

    def only_count(self) -> None:
        """Launches are counted and nothing else, for timing."""
        self._library.test_driver_quiet(2)

    @property
    def launches(self) -> int:
        """How many launches were only counted."""
        return int(self._library.test_driver_launches())

    def delay(self, microseconds: int) -> None:
        """Streams wait up to that long before each piece of work, so that a missing wait shows."""
        self._library.test_driver_delay(microseconds)

    @contextmanager
    def holding(self, stream: Stream) -> Iterator[None]:
        """That stream does no work meanwhile."""
        handle = ctypes.c_void_p(stream.pointer)
        self._library.test_driver_hold(handle, 1)
        try:
            yield
        finally:
            self._library.test_driver_hold(handle, 0)

    @property
    def last_error(self) -> int:
        """HIP: what the next who asks for this thread's last error would be told."""
        return int(self._library.test_driver_last_error())

    def break_by(self, symbol: str, code: int | None = None) -> None:
        """Every later launch of that kernel breaks its device: once it has run, calls give the code."""
        self._library.test_driver_break(symbol.encode(), self.vendor.code if code is None else code)

    def wipe(self) -> None:
        """Everything of the first device is gone, as with the process of a device that is broken."""
        self._library.test_driver_wipe()

    def mend(self) -> None:
        """No kernel breaks anything, also not of the launches until now, and no device is broken."""
        self._library.test_driver_break(b"", 0)

    @property
    def problems(self) -> list[str]:
        """Misuse that a real driver would have answered with a crash or with silence."""
        return str(self._library.test_driver_problems().decode()).splitlines()

    @property
    def held(self) -> dict[str, int]:
        """How many there are that were not given back."""
        retained = self._library.test_driver_retained() if self.vendor.backend == "cuda" else 0
        return {kind: self._library.test_driver_held(kind.encode()) for kind in KINDS} | {"contexts": retained}
