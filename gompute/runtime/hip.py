"""AMD GPUs, through hip-python's binding of the HIP runtime."""

from __future__ import annotations

import ctypes
import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gompute.errors import BackendUnavailable, GraphFailed, InitFailed, ModuleLoadFailed, NoDevice
from gompute.runtime import status
from gompute.runtime.context import DeviceContext
from gompute.runtime.launcher import LaunchCall, as_numbers
from gompute.runtime.libraries import FoundLibrary, find_library, mapped_libraries
from gompute.runtime.vendor import Calls, DeviceFacts, VendorDriver
from gompute.targets.device import Device

__all__ = ["Context", "driver", "shutdown"]

_VARIABLE = "GOMPUTE_LIBHIP"
_NAMES = ("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so")
#: HIP counts the work-items of one dimension of a grid in 32 bits.
_MAX_ITEMS = 2**32 - 1


class _Hip(VendorDriver):
    backend = "hip"
    vendor = "HIP"
    calls = Calls(
        version="hipDriverGetVersion",
        device_count="hipGetDeviceCount",
        get_current="hipGetDevice",
        set_current="hipSetDevice",
        synchronize="hipDeviceSynchronize",
        memory_info="hipMemGetInfo",
        allocate="hipMalloc",
        free="hipFree",
        allocate_host="hipHostMalloc",
        free_host="hipHostFree",
        copy_in="hipMemcpyHtoD",
        copy_out="hipMemcpyDtoH",
        copy_in_async="hipMemcpyHtoDAsync",
        copy_out_async="hipMemcpyDtoHAsync",
        copy_within="hipMemcpyDtoDAsync",
        copy_across="hipMemcpyPeerAsync",
        fill={1: "hipMemsetD8Async", 2: "hipMemsetD16Async", 4: "hipMemsetD32Async"},
        create_stream="hipStreamCreateWithFlags",
        destroy_stream="hipStreamDestroy",
        synchronize_stream="hipStreamSynchronize",
        query_stream="hipStreamQuery",
        wait_event="hipStreamWaitEvent",
        create_event="hipEventCreateWithFlags",
        destroy_event="hipEventDestroy",
        record_event="hipEventRecord",
        synchronize_event="hipEventSynchronize",
        query_event="hipEventQuery",
        elapsed="hipEventElapsedTime",
        begin_capture="hipStreamBeginCapture",
        end_capture="hipStreamEndCapture",
        destroy_graph="hipGraphDestroy",
        instantiate="hipGraphInstantiateWithFlags",
        destroy_executable="hipGraphExecDestroy",
        launch_graph="hipGraphLaunch",
        update_executable="hipGraphExecUpdate",
        unload="hipModuleUnload",
        function="hipModuleGetFunction",
        launch="hipModuleLaunchKernel",
    )
    _default_stream = None

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
        self._capture_mode = api.hipStreamCaptureMode.hipStreamCaptureModeThreadLocal
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
        if self._opened != library.path:
            _refuse_two(library)
        self._library = ctypes.CDLL(library.path, handle=library.handle)

    def facts(self, ordinal: int) -> DeviceFacts:
        version = self.call(InitFailed, "the runtime does not say its version", self.calls.version)
        found = self.call(InitFailed, f"cannot read the properties of device {ordinal}", "hipGetDeviceProperties", ordinal)
        device = Device.hip(_text(found.gcnArchName), version, name=_text(found.name))
        x, y, z = found.maxGridSize
        return DeviceFacts(device, (x, y, z), _MAX_ITEMS, int(found.sharedMemPerBlock))

    def retain(self, ordinal: int) -> int:
        # HIP makes a device's context by itself; the ordinal stands for it.
        return ordinal

    def release(self, ordinal: int) -> None:
        """Nothing to let go; a reset of the device would end the work of other libraries."""

    def _context_of(self, value: Any) -> int | None:
        return int(value)

    def foreign_stream(self, pointer: int) -> Any:
        return self._api.ihipStream_t.fromObj(pointer) if pointer else None

    def update_executable(self, executable: Any, graph: Any) -> None:
        call = self.calls.update_executable
        node = ctypes.c_void_p()  # where the runtime writes which node differs
        try:
            answer = self.ask(call, executable, graph, ctypes.addressof(node))
        except ValueError:  # the binding lacks the reason, or the runtime gave none; the code is kept
            answer = self.ask("hipGetLastError")
        if answer[0] != self._ok:
            reason = answer[1].name if len(answer) > 1 else "no reason given"
            raise self.failure(GraphFailed, f"the instantiated graph cannot be updated ({reason})", call, answer[0])
        status.clear()

    def load(self, image: bytes, facts: DeviceFacts) -> Any:
        """Loads a code object; it is machine code, so there is no compile log."""
        return self.call(ModuleLoadFailed, f"cannot load a module on {facts.device.label}", "hipModuleLoadData", image)

    def allow_shared(self, function: Any, size: int) -> None:
        """Nothing to ask for: a launch may take all of a block's shared memory."""

    def launch_call(self, facts: DeviceFacts) -> LaunchCall:
        return LaunchCall(self.calls.launch, self._library[self.calls.launch], as_numbers)

    def refuses_elsewhere(self) -> bool:
        return self.device_count() == 1  # a thread's device is the only one there is; among several no refusal is promised

    def forget_failure(self) -> None:
        # The runtime keeps the last error of a thread until somebody asks; the next to ask would be another library, which would take it
        # for its own.
        self.ask("hipGetLastError")

    def _describe(self, code: Any) -> tuple[int, str, str]:
        text = self._api.hipGetErrorString(code)[1]
        return int(code.value), code.name, str(text) if text else "no description"


def _refuse_two(library: FoundLibrary) -> None:
    """What hip-python opened before this cannot be told; it is the library that was found where there is one alone."""
    mapped = mapped_libraries("libamdhip64")
    if len(mapped) > 1:
        raise InitFailed(
            f"hip: hip-python was used before, and this process has {len(mapped)} HIP runtimes ({', '.join(mapped)}), of which it may have "
            f"opened either ({library.path} was found): open the device with gompute first"
        )


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
