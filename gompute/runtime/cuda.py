"""NVIDIA GPUs, through cuda-python's binding of the driver API."""

from __future__ import annotations

import ctypes
import re
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

_SONAME = "libcuda.so.1"
_LOG_BYTES = 16384
_PTX_VERSION = re.compile(rb"^\s*\.version\s+(\d+)\.(\d+)", re.MULTILINE)

# CUdevice_attribute
_MAX_GRID = (5, 6, 7)
_CAPABILITY = (75, 76)
_MAX_SHARED_OPTIN = 97
# CUfunction_attribute
_MAX_DYNAMIC_SHARED = 8


class _Cuda(Driver):
    backend = "cuda"
    vendor = "CUDA"

    def _open(self) -> None:
        library = find_library("CUDA", "GOMPUTE_LIBCUDA", (_SONAME,))
        try:
            from cuda.bindings import driver as api
        except ImportError as error:
            raise BackendUnavailable(
                f'cuda: the CUDA driver is installed ({library.path}) but its Python binding is not ({error}): pip install "gompute[cuda]"'
            ) from error
        _check_shared_name(library)
        self._api, self._ok = api, api.CUresult.CUDA_SUCCESS
        code = self.ask("cuInit", 0)[0]
        if code == api.CUresult.CUDA_ERROR_NO_DEVICE:
            raise self.failure(NoDevice, f"the driver ({library.path}) finds no device", "cuInit", code)
        self.check(code, InitFailed, f"the driver ({library.path}) does not start", "cuInit")

    def device_count(self) -> int:
        return int(self.call(InitFailed, "cannot count devices", "cuDeviceGetCount"))

    def facts(self, ordinal: int) -> DeviceFacts:
        doing = f"cannot read the properties of device {ordinal}"
        name = self.call(InitFailed, doing, "cuDeviceGetName", 256, ordinal).partition(b"\0")[0].decode(errors="replace")

        def attribute(number: int) -> int:
            return int(self.call(InitFailed, doing, "cuDeviceGetAttribute", self._api.CUdevice_attribute(number), ordinal))

        version = self.call(InitFailed, "the driver does not say its version", "cuDriverGetVersion")
        major, minor = (attribute(number) for number in _CAPABILITY)
        x, y, z = (attribute(number) for number in _MAX_GRID)
        return DeviceFacts(Device.cuda((major, minor), version, name=name), (x, y, z), None, attribute(_MAX_SHARED_OPTIN))

    def retain(self, ordinal: int) -> int:
        return int(self.call(ContextFailed, f"cannot make a context on device {ordinal}", "cuDevicePrimaryCtxRetain", ordinal))

    def release(self, ordinal: int) -> None:
        self.call(ContextFailed, f"cannot release the context of device {ordinal}", "cuDevicePrimaryCtxRelease", ordinal)

    def current(self) -> int | None:
        # Asked before every launch, so by hand.
        answer = self.ask("cuCtxGetCurrent")
        if answer[0] != self._ok:
            raise self.failure(ContextFailed, "cannot read the thread's context", "cuCtxGetCurrent", answer[0])
        return int(answer[1]) or None

    def set_current(self, context: int) -> None:
        self.call(ContextFailed, "cannot make the context current", "cuCtxSetCurrent", context)

    def synchronize(self) -> None:
        self.call(SyncFailed, "waiting failed", "cuCtxSynchronize")

    def memory_info(self) -> tuple[int, int]:
        result = self.ask("cuMemGetInfo")
        self.check(result[0], ContextFailed, "cannot read the free memory", "cuMemGetInfo")
        return int(result[1]), int(result[2])

    def allocate(self, size: int) -> int:
        return int(self.call(AllocFailed, f"cannot allocate {size} bytes", "cuMemAlloc", size))

    def free(self, address: int) -> None:
        self.call(AllocFailed, "cannot free memory", "cuMemFree", address)

    def copy_in(self, target: int, source: int, size: int) -> None:
        self.call(CopyFailed, f"cannot copy {size} bytes to the device", "cuMemcpyHtoD", target, source, size)

    def copy_out(self, target: int, source: int, size: int) -> None:
        self.call(CopyFailed, f"cannot copy {size} bytes to the host", "cuMemcpyDtoH", target, source, size)

    def load(self, image: bytes, facts: DeviceFacts) -> Any:
        """Loads PTX (compiled by the driver) or a cubin; the driver's compile log is in the message where that fails."""
        _check_ptx_version(image, facts.device)
        options = self._api.CUjit_option
        information, errors = bytearray(_LOG_BYTES), bytearray(_LOG_BYTES)
        names = [
            options.CU_JIT_INFO_LOG_BUFFER,
            options.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            options.CU_JIT_ERROR_LOG_BUFFER,
            options.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ]
        values = [information, _LOG_BYTES, errors, _LOG_BYTES]
        # PTX is a C string to the driver; a cubin has its length inside.
        result = self.ask("cuModuleLoadDataEx", image + b"\0", len(names), names, values)
        if result[0] != self._ok:
            logs = (bytes(log).partition(b"\0")[0].decode(errors="replace").strip() for log in (errors, information))
            log = "\n".join(filter(None, logs))
            doing = f"cannot load a module on {facts.device.label}" + (f"; the driver's log:\n{log}\n" if log else "")
            raise self.failure(ModuleLoadFailed, doing, "cuModuleLoadDataEx", result[0])
        status.clear()
        return result[1]

    def unload(self, module: Any) -> None:
        self.call(ModuleLoadFailed, "cannot unload a module", "cuModuleUnload", module)

    def function(self, module: Any, symbol: str) -> Any:
        answer = self.ask("cuModuleGetFunction", module, symbol.encode())
        code = answer[0]
        if code == self._api.CUresult.CUDA_ERROR_NOT_FOUND:
            raise self.failure(KernelNotFound, f"the module has no kernel {symbol}", "cuModuleGetFunction", code)
        self.check(code, ModuleLoadFailed, f"cannot look up the kernel {symbol}", "cuModuleGetFunction")
        return answer[1]

    def allow_shared(self, function: Any, size: int) -> None:
        attribute = self._api.CUfunction_attribute(_MAX_DYNAMIC_SHARED)
        self.call(LaunchFailed, f"cannot allow {size} bytes of shared memory", "cuFuncSetAttribute", function, attribute, size)

    def launcher(self, function: Any, symbol: str) -> Launcher:
        # Objects for function and stream, an int for the argument array: the binding's fastest way in.
        launch, ok, stream = self._api.cuLaunchKernel, self._ok, self._api.CUstream(0)

        def run(gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int, arguments: int) -> None:
            try:
                code = launch(function, gx, gy, gz, bx, by, bz, shared, stream, arguments, 0)[0]
            except ValueError as error:
                code = unknown_code(error)
            if code is not ok and code != ok:
                doing = f"cannot launch {symbol} with grid ({gx}, {gy}, {gz}), block ({bx}, {by}, {bz}), {shared} bytes of shared memory"
                raise self.failure(LaunchFailed, doing, "cuLaunchKernel", code)
            status.clear()

        return run

    def _describe(self, code: Any) -> tuple[int, str, str]:
        name, text = self._api.cuGetErrorName(code)[1], self._api.cuGetErrorString(code)[1]
        return int(code), name.decode() if name else code.name, text.decode() if text else "no description"


def _check_shared_name(library: FoundLibrary) -> None:
    """The binding opens `libcuda.so.1` by name; that must be the library which was found."""
    try:
        by_name = ctypes.CDLL(_SONAME)._handle
    except OSError:
        by_name = None
    if by_name != library.handle:
        raise InitFailed(
            f"cuda: {library.path} is not the {_SONAME} of this process: either another one was loaded before, or the file's SONAME is not "
            f"{_SONAME}"
        )


def _check_ptx_version(image: bytes, device: Device) -> None:
    found = _PTX_VERSION.search(image[:4096])
    if found is None or device.max_ptx is None or device.driver is None:
        return
    version = (int(found[1]), int(found[2]))
    if version > device.max_ptx:
        raise ModuleLoadFailed(
            f"cuda: the code is PTX {version[0]}.{version[1]}; the driver (CUDA {device.driver[0]}.{device.driver[1]}) takes PTX up to "
            f"{device.max_ptx[0]}.{device.max_ptx[1]}: update the driver, or build for an older target"
        )


driver = _Cuda()


class Context(DeviceContext):
    """An NVIDIA device as this process uses it; see `DeviceContext`."""

    _driver = driver


def shutdown() -> None:
    """Frees all memory and modules that Gompute holds on NVIDIA devices and lets their contexts go."""
    Context.shutdown()
