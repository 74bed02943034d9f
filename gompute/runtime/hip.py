"""AMD GPUs, through hip-python's binding of the HIP runtime."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gompute.errors import (
    AllocFailed,
    BackendUnavailable,
    ContextFailed,
    CopyFailed,
    InitFailed,
    KernelNotFound,
    LaunchFailed,
    ModuleLoadFailed,
    NoDevice,
    SyncFailed,
)
from gompute.runtime import status
from gompute.runtime.context import DeviceContext
from gompute.runtime.driver import DeviceFacts, Driver, Launcher, unknown_code
from gompute.runtime.libraries import FoundLibrary, find_library
from gompute.targets.device import Device

__all__ = ["Context", "driver", "shutdown"]

_VARIABLE = "GOMPUTE_LIBHIP"
_NAMES = ("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so")
#: HIP counts the work-items of one dimension of a grid in 32 bits.
_MAX_ITEMS = 2**32 - 1


class _Hip(Driver):
    backend = "hip"
    vendor = "HIP"

    #: The library that the binding was made to open; it opens one per process.
    _opened: str | None = None

    def _open(self) -> None:
        paths = _binding_paths()
        library = find_library("HIP", _VARIABLE, _NAMES, _where_binding_looks(paths))
        try:
            api: Any = importlib.import_module("rocm.bindings.hip")
        except ImportError as error:
            raise BackendUnavailable(
                f'hip: the HIP runtime is installed ({library.path}) but its Python binding is not ({error}): pip install "gompute[hip]"'
            ) from error
        self._api, self._ok = api, api.hipError_t.hipSuccess
        with _binding_opens(paths, library) as asked:
            code = self.ask("hipInit", 0)[0]
        if asked:
            self._opened = library.path
        elif os.environ.get(_VARIABLE) and self._opened != library.path:
            own = self._opened or "a HIP runtime of its own choice"
            raise InitFailed(f"hip: hip-python has already loaded {own}, so {_VARIABLE}={library.path} comes too late")
        if code == api.hipError_t.hipErrorNoDevice:
            raise self.failure(NoDevice, f"the runtime ({library.path}) finds no device", "hipInit", code)
        self.check(code, InitFailed, f"the runtime ({library.path}) does not start", "hipInit")

    def device_count(self) -> int:
        return int(self.call(InitFailed, "cannot count devices", "hipGetDeviceCount"))

    def facts(self, ordinal: int) -> DeviceFacts:
        version = self.call(InitFailed, "the runtime does not say its version", "hipDriverGetVersion")
        found = self.call(InitFailed, f"cannot read the properties of device {ordinal}", "hipGetDeviceProperties", ordinal)
        device = Device.hip(_text(found.gcnArchName), version, name=_text(found.name))
        x, y, z = found.maxGridSize
        return DeviceFacts(device, (x, y, z), _MAX_ITEMS, int(found.sharedMemPerBlock))

    def retain(self, ordinal: int) -> int:
        # HIP makes a device's context by itself; the ordinal stands for it.
        return ordinal

    def release(self, ordinal: int) -> None:
        """Nothing to let go; a reset of the device would end the work of other libraries."""

    def current(self) -> int | None:
        # Asked before every launch, so by hand.
        answer = self.ask("hipGetDevice")
        if answer[0] != self._ok:
            raise self.failure(ContextFailed, "cannot read the thread's device", "hipGetDevice", answer[0])
        return int(answer[1])

    def set_current(self, context: int) -> None:
        self.call(ContextFailed, f"cannot use device {context}", "hipSetDevice", context)

    def synchronize(self) -> None:
        self.call(SyncFailed, "waiting failed", "hipDeviceSynchronize")

    def memory_info(self) -> tuple[int, int]:
        result = self.ask("hipMemGetInfo")
        self.check(result[0], ContextFailed, "cannot read the free memory", "hipMemGetInfo")
        return int(result[1]), int(result[2])

    def allocate(self, size: int) -> int:
        return int(self.call(AllocFailed, f"cannot allocate {size} bytes", "hipMalloc", size))

    def free(self, address: int) -> None:
        self.call(AllocFailed, "cannot free memory", "hipFree", address)

    def copy_in(self, target: int, source: int, size: int) -> None:
        self.call(CopyFailed, f"cannot copy {size} bytes to the device", "hipMemcpyHtoD", target, source, size)

    def copy_out(self, target: int, source: int, size: int) -> None:
        self.call(CopyFailed, f"cannot copy {size} bytes to the host", "hipMemcpyDtoH", target, source, size)

    def load(self, image: bytes, facts: DeviceFacts) -> Any:
        """Loads a code object; it is machine code, so there is no compile log."""
        return self.call(ModuleLoadFailed, f"cannot load a module on {facts.device.label}", "hipModuleLoadData", image)

    def unload(self, module: Any) -> None:
        self.call(ModuleLoadFailed, "cannot unload a module", "hipModuleUnload", module)

    def function(self, module: Any, symbol: str) -> Any:
        answer = self.ask("hipModuleGetFunction", module, symbol.encode())
        code = answer[0]
        if code == self._api.hipError_t.hipErrorNotFound:
            raise self.failure(KernelNotFound, f"the module has no kernel {symbol}", "hipModuleGetFunction", code)
        self.check(code, ModuleLoadFailed, f"cannot look up the kernel {symbol}", "hipModuleGetFunction")
        return answer[1]

    def allow_shared(self, function: Any, size: int) -> None:
        """Nothing to ask for: a launch may take all of a block's shared memory."""

    def launcher(self, function: Any, symbol: str) -> Launcher:
        launch, ok = self._api.hipModuleLaunchKernel, self._ok

        def run(gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int, arguments: int) -> None:
            try:
                code = launch(function, gx, gy, gz, bx, by, bz, shared, None, arguments, None)[0]
            except ValueError as error:
                code = unknown_code(error)
            if code is not ok and code != ok:
                doing = f"cannot launch {symbol} with grid ({gx}, {gy}, {gz}), block ({bx}, {by}, {bz}), {shared} bytes of shared memory"
                raise self.failure(LaunchFailed, doing, "hipModuleLaunchKernel", code)
            status.clear()

        return run

    def _describe(self, code: Any) -> tuple[int, str, str]:
        text = self._api.hipGetErrorString(code)[1]
        return int(code.value), code.name, str(text) if text else "no description"


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _binding_paths() -> Any:
    """The module in which hip-python looks up libraries; None where it is missing or older than that module."""
    try:
        return importlib.import_module("rocm.bindings.util.paths")
    except ImportError:
        return None


def _where_binding_looks(paths: Any) -> Iterator[str]:
    """ROCm's own wheels, ROCM_PATH and /opt/rocm."""
    if paths is not None:
        yield os.fsdecode(paths.get_library_path("amdhip64"))


@contextmanager
def _binding_opens(paths: Any, library: FoundLibrary) -> Iterator[list[str]]:
    """Has hip-python's first call open this library; the list is empty afterwards where it had already opened one.

    It looks the library up by file name in places of its own when a function is called for the first time, and there is no setting for
    another place; so its look-up is answered from here for that one call.
    """
    own = paths.get_library_path
    asked: list[str] = []

    def answer(name: str, *rest: Any) -> bytes:
        if name != "amdhip64":
            return bytes(own(name, *rest))
        asked.append(name)
        return os.fsencode(library.path)

    paths.get_library_path = answer
    try:
        yield asked
    except RuntimeError as error:
        raise InitFailed(f"hip: hip-python cannot use {library.path}: {error}") from error
    finally:
        paths.get_library_path = own


driver = _Hip()


class Context(DeviceContext):
    """An AMD device as this process uses it; see `DeviceContext`."""

    _driver = driver


def shutdown() -> None:
    """Frees all memory and modules that Gompute holds on AMD devices."""
    Context.shutdown()
