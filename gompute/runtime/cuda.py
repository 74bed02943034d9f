"""NVIDIA GPUs, through cuda-python's binding of the driver API."""

from __future__ import annotations

import ctypes
import os
import re
from typing import Any

from gompute.errors import BackendUnavailable, ContextFailed, GraphFailed, InitFailed, LaunchFailed, ModuleLoadFailed, NoDevice
from gompute.runtime import status
from gompute.runtime.context import DeviceContext
from gompute.runtime.launcher import LaunchCall, as_config, as_numbers
from gompute.runtime.libraries import FoundLibrary, find_library
from gompute.runtime.vendor import Calls, DeviceFacts, VendorDriver
from gompute.targets.device import Device

__all__ = ["Context", "driver", "shutdown"]

_SONAME = "libcuda.so.1"
_LOG_BYTES = 16384
_PTX_VERSION = re.compile(rb"^\s*\.version\s+(\d+)\.(\d+)", re.MULTILINE)

#: The first version of CUDA with `cuLaunchKernelEx`, and what launches before.
_FIRST_LAUNCH_EX = (11, 8)
_OLD_LAUNCH = "cuLaunchKernel"

# CUdevice_attribute
_MAX_GRID = (5, 6, 7)
_CAPABILITY = (75, 76)
_MAX_SHARED_OPTIN = 97
# CUfunction_attribute
_MAX_DYNAMIC_SHARED = 8


class _Cuda(VendorDriver):
    backend = "cuda"
    vendor = "CUDA"
    calls = Calls(
        version="cuDriverGetVersion",
        device_count="cuDeviceGetCount",
        get_current="cuCtxGetCurrent",
        set_current="cuCtxSetCurrent",
        synchronize="cuCtxSynchronize",
        memory_info="cuMemGetInfo",
        allocate="cuMemAlloc",
        free="cuMemFree",
        allocate_host="cuMemHostAlloc",
        free_host="cuMemFreeHost",
        copy_in="cuMemcpyHtoD",
        copy_out="cuMemcpyDtoH",
        copy_in_async="cuMemcpyHtoDAsync",
        copy_out_async="cuMemcpyDtoHAsync",
        copy_within="cuMemcpyDtoDAsync",
        copy_across="cuMemcpyPeerAsync",
        fill={1: "cuMemsetD8Async", 2: "cuMemsetD16Async", 4: "cuMemsetD32Async"},
        create_stream="cuStreamCreate",
        destroy_stream="cuStreamDestroy",
        synchronize_stream="cuStreamSynchronize",
        query_stream="cuStreamQuery",
        wait_event="cuStreamWaitEvent",
        create_event="cuEventCreate",
        destroy_event="cuEventDestroy",
        record_event="cuEventRecord",
        synchronize_event="cuEventSynchronize",
        query_event="cuEventQuery",
        elapsed="cuEventElapsedTime",
        begin_capture="cuStreamBeginCapture",
        end_capture="cuStreamEndCapture",
        destroy_graph="cuGraphDestroy",
        instantiate="cuGraphInstantiate",
        destroy_executable="cuGraphExecDestroy",
        launch_graph="cuGraphLaunch",
        update_executable="cuGraphExecUpdate",
        unload="cuModuleUnload",
        function="cuModuleGetFunction",
        launch="cuLaunchKernelEx",
    )

    def _open(self) -> None:
        library = find_library("CUDA", "GOMPUTE_LIBCUDA", (_SONAME,))
        try:
            from cuda.bindings import driver as api
        except ImportError as error:
            raise BackendUnavailable(
                f'cuda: the CUDA driver is installed ({library.path}) but its Python binding is not ({error}): pip install "gompute[cuda]"'
            ) from error
        _check_shared_name(library)
        self._library = ctypes.CDLL(library.path, handle=library.handle)
        # The binding's own setting for what the default stream is; a call with the other default stream has a name of its own.
        self._suffix = "_ptsz" if int(os.environ.get("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", "0")) else ""
        self._api, self._ok, self._default_stream = api, api.CUresult.CUDA_SUCCESS, api.CUstream(0)
        self._capture_mode = api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        code = self.ask("cuInit", 0)[0]
        if code == api.CUresult.CUDA_ERROR_NO_DEVICE:
            raise self.failure(NoDevice, f"the driver ({library.path}) finds no device", "cuInit", code)
        self.check(code, InitFailed, f"the driver ({library.path}) does not start", "cuInit")

    def facts(self, ordinal: int) -> DeviceFacts:
        doing = f"cannot read the properties of device {ordinal}"
        name = self.call(InitFailed, doing, "cuDeviceGetName", 256, ordinal).partition(b"\0")[0].decode(errors="replace")

        def attribute(number: int) -> int:
            return int(self.call(InitFailed, doing, "cuDeviceGetAttribute", self._api.CUdevice_attribute(number), ordinal))

        version = self.call(InitFailed, "the driver does not say its version", self.calls.version)
        major, minor = (attribute(number) for number in _CAPABILITY)
        x, y, z = (attribute(number) for number in _MAX_GRID)
        return DeviceFacts(Device.cuda((major, minor), version, name=name), (x, y, z), None, attribute(_MAX_SHARED_OPTIN))

    def retain(self, ordinal: int) -> int:
        return int(self.call(ContextFailed, f"cannot make a context on device {ordinal}", "cuDevicePrimaryCtxRetain", ordinal))

    def release(self, ordinal: int) -> None:
        self.call(ContextFailed, f"cannot release the context of device {ordinal}", "cuDevicePrimaryCtxRelease", ordinal)

    def _context_of(self, value: Any) -> int | None:
        return int(value) or None

    def foreign_stream(self, pointer: int) -> Any:
        return self._api.CUstream(pointer)

    def update_executable(self, executable: Any, graph: Any) -> None:
        call = self.calls.update_executable
        code, information = self.ask(call, executable, graph)
        if code != self._ok:
            reason = getattr(getattr(information, "result", None), "name", "no reason given")
            raise self.failure(GraphFailed, f"the instantiated graph cannot be updated ({reason})", call, code)
        status.clear()

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

    def allow_shared(self, function: Any, size: int) -> None:
        attribute = self._api.CUfunction_attribute(_MAX_DYNAMIC_SHARED)
        self.call(LaunchFailed, f"cannot allow {size} bytes of shared memory", "cuFuncSetAttribute", function, attribute, size)

    def launch_call(self, facts: DeviceFacts) -> LaunchCall:
        newer = facts.device.driver is not None and facts.device.driver >= _FIRST_LAUNCH_EX
        name, ready = (self.calls.launch, as_config) if newer else (_OLD_LAUNCH, as_numbers)
        return LaunchCall(name, self._library[name + self._suffix], ready)

    def refuses_elsewhere(self) -> bool:
        return True  # with "invalid context" or "invalid handle"

    def forget_failure(self) -> None:
        """Nothing to do: the driver keeps no error but those that end a context, which no call can undo."""

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
