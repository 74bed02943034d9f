"""What CUDA and HIP do alike, written once: a table says what each calls it.

HIP's calls are CUDA's under other names, with the arguments in the same order, and both bindings answer with a tuple that starts with the
vendor's code. What differs in more than the name is in `cuda` and `hip`.
"""

from __future__ import annotations

import weakref
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

from gompute.errors import (
    AllocFailed,
    CaptureFailed,
    ContextFailed,
    CopyFailed,
    Error,
    EventFailed,
    GraphFailed,
    InitFailed,
    KernelNotFound,
    ModuleLoadFailed,
    SyncFailed,
)
from gompute.runtime import status
from gompute.runtime.codes import UNKNOWN, UnknownCode, unknown_code
from gompute.runtime.driver import Driver
from gompute.runtime.launcher import LaunchCall
from gompute.targets.device import Device

__all__ = ["Calls", "DeviceFacts", "VendorDriver"]

# The same numbers in both vendors' headers.
_NON_BLOCKING = 1
_NO_TIMING = 2
_PORTABLE = 1
_NOT_FOUND = 500
_NOT_READY = 600


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """What a driver says of one device.

    Attributes:
        device: for choosing code.
        max_grid: blocks in x, y and z.
        max_items: work-items in one dimension of a grid, None where nothing limits them.
        max_shared: bytes of dynamic shared memory that a block may ask for.
    """

    device: Device
    max_grid: tuple[int, int, int]
    max_items: int | None
    max_shared: int


@dataclass(frozen=True, slots=True)
class Calls:
    """A vendor's names for the calls that both have."""

    version: str
    device_count: str
    get_current: str
    set_current: str
    synchronize: str
    memory_info: str
    allocate: str
    free: str
    allocate_host: str
    free_host: str
    copy_in: str
    copy_out: str
    copy_in_async: str
    copy_out_async: str
    copy_within: str
    copy_across: str
    fill: dict[int, str]
    create_stream: str
    destroy_stream: str
    synchronize_stream: str
    query_stream: str
    wait_event: str
    create_event: str
    destroy_event: str
    record_event: str
    synchronize_event: str
    query_event: str
    elapsed: str
    begin_capture: str
    end_capture: str
    destroy_graph: str
    instantiate: str
    destroy_executable: str
    launch_graph: str
    update_executable: str
    unload: str
    function: str
    launch: str


class _User(Protocol):
    quick: bool


class VendorDriver(Driver):
    """A GPU vendor's driver, reached through its Python binding.

    Attributes:
        users: the devices that are in use; in a fork they are not `quick`.
    """

    calls: Calls

    #: The binding, and its words for what both vendors have; set by `_open`.
    _api: Any
    _ok: Any
    _capture_mode: Any
    _default_stream: Any

    def __init__(self) -> None:
        super().__init__()
        self.users: weakref.WeakSet[_User] = weakref.WeakSet()

    def _note_fork(self) -> None:
        super()._note_fork()
        for user in self.users:
            user.quick = False

    # ---- devices and contexts ----

    @abstractmethod
    def facts(self, ordinal: int) -> DeviceFacts:
        """What the driver says of a device."""

    def device_count(self) -> int:
        return int(self.call(InitFailed, "cannot count devices", self.calls.device_count))

    def current(self) -> int | None:
        # Asked before nearly every call, so by hand.
        answer = self.ask(self.calls.get_current)
        if answer[0] != self._ok:
            raise self.failure(ContextFailed, "cannot read what the thread has current", self.calls.get_current, answer[0])
        return self._context_of(answer[1])

    @abstractmethod
    def _context_of(self, value: Any) -> int | None:
        """The context in a binding's answer."""

    def set_current(self, context: int) -> None:
        self.call(ContextFailed, "cannot make the device current", self.calls.set_current, context)

    def synchronize(self) -> None:
        self.call(SyncFailed, "waiting failed", self.calls.synchronize)

    def memory_info(self) -> tuple[int, int]:
        result = self.ask(self.calls.memory_info)
        self.check(result[0], ContextFailed, "cannot read the free memory", self.calls.memory_info)
        return int(result[1]), int(result[2])

    # ---- memory ----

    def allocate(self, size: int) -> int:
        # Whole words: what adds to elements of one or two bytes swaps the four bytes around each.
        return int(self.call(AllocFailed, f"cannot allocate {size} bytes", self.calls.allocate, size + -size % 4))

    def free(self, address: int) -> None:
        self.call(AllocFailed, "cannot free memory", self.calls.free, address)

    def allocate_host(self, size: int) -> int:
        return int(self.call(AllocFailed, f"cannot allocate {size} bytes of pinned host memory", self.calls.allocate_host, size, _PORTABLE))

    def free_host(self, address: int) -> None:
        self.call(AllocFailed, "cannot free pinned host memory", self.calls.free_host, address)

    def copy_in(self, target: int, source: int, size: int) -> None:
        self.call(CopyFailed, f"cannot copy {size} bytes to the device", self.calls.copy_in, target, source, size)

    def copy_out(self, target: int, source: int, size: int) -> None:
        self.call(CopyFailed, f"cannot copy {size} bytes to the host", self.calls.copy_out, target, source, size)

    def copy_in_async(self, target: int, source: int, size: int, stream: Any) -> None:
        self.call(CopyFailed, f"cannot copy {size} bytes to the device", self.calls.copy_in_async, target, source, size, stream)

    def copy_out_async(self, target: int, source: int, size: int, stream: Any) -> None:
        self.call(CopyFailed, f"cannot copy {size} bytes to the host", self.calls.copy_out_async, target, source, size, stream)

    def copy_within(self, target: int, source: int, size: int, stream: Any) -> None:
        self.call(CopyFailed, f"cannot copy {size} bytes on the device", self.calls.copy_within, target, source, size, stream)

    def copy_across(self, target: int, target_context: int, source: int, source_context: int, size: int, stream: Any) -> None:
        doing = f"cannot copy {size} bytes from another device"
        self.call(CopyFailed, doing, self.calls.copy_across, target, target_context, source, source_context, size, stream)

    def fill(self, target: int, pattern: int, width: int, count: int, stream: Any) -> None:
        self.call(CopyFailed, f"cannot fill {width * count} bytes", self.calls.fill[width], target, pattern, count, stream)

    # ---- streams and events ----

    @property
    def default_stream(self) -> Any:
        return self._default_stream

    def create_stream(self, non_blocking: bool) -> Any:
        return self.call(ContextFailed, "cannot make a stream", self.calls.create_stream, _NON_BLOCKING if non_blocking else 0)

    def destroy_stream(self, stream: Any) -> None:
        self.call(ContextFailed, "cannot destroy a stream", self.calls.destroy_stream, stream)

    def synchronize_stream(self, stream: Any) -> None:
        self.call(SyncFailed, "waiting for a stream failed", self.calls.synchronize_stream, stream)

    def stream_done(self, stream: Any) -> bool:
        return self._done(SyncFailed, "cannot ask a stream whether it is done", self.calls.query_stream, stream)

    def wait_event(self, stream: Any, event: Any) -> None:
        self.call(EventFailed, "cannot have a stream wait for an event", self.calls.wait_event, stream, event, 0)

    def create_event(self, timing: bool) -> Any:
        return self.call(EventFailed, "cannot make an event", self.calls.create_event, 0 if timing else _NO_TIMING)

    def destroy_event(self, event: Any) -> None:
        self.call(EventFailed, "cannot destroy an event", self.calls.destroy_event, event)

    def record_event(self, event: Any, stream: Any) -> None:
        self.call(EventFailed, "cannot record an event", self.calls.record_event, event, stream)

    def synchronize_event(self, event: Any) -> None:
        self.call(SyncFailed, "waiting for an event failed", self.calls.synchronize_event, event)

    def event_done(self, event: Any) -> bool:
        return self._done(EventFailed, "cannot ask an event whether it is reached", self.calls.query_event, event)

    def elapsed_us(self, start: Any, end: Any) -> float:
        return 1000.0 * float(self.call(EventFailed, "cannot read the time between two events", self.calls.elapsed, start, end))

    def _done(self, kind: type[Error], doing: str, call: str, handle: Any) -> bool:
        code = self.ask(call, handle)[0]
        if code != self._ok and self.number(code) == _NOT_READY:
            self.forget_failure()
            status.clear()
            return False
        self.check(code, kind, doing, call)
        return True

    # ---- graphs ----

    def begin_capture(self, stream: Any) -> None:
        self.call(CaptureFailed, "cannot begin a capture", self.calls.begin_capture, stream, self._capture_mode)

    def end_capture(self, stream: Any) -> Any:
        return self.call(CaptureFailed, "the capture is lost", self.calls.end_capture, stream)

    def destroy_graph(self, graph: Any) -> None:
        self.call(GraphFailed, "cannot destroy a graph", self.calls.destroy_graph, graph)

    def instantiate(self, graph: Any) -> Any:
        return self.call(GraphFailed, "cannot instantiate the graph", self.calls.instantiate, graph, 0)

    def destroy_executable(self, executable: Any) -> None:
        self.call(GraphFailed, "cannot destroy an instantiated graph", self.calls.destroy_executable, executable)

    def launch_graph(self, executable: Any, stream: Any) -> None:
        self.call(GraphFailed, "cannot launch the graph", self.calls.launch_graph, executable, stream)

    # ---- code ----

    @abstractmethod
    def load(self, image: bytes, facts: DeviceFacts) -> Any: ...

    @abstractmethod
    def allow_shared(self, function: Any, size: int) -> None:
        """Lets launches of this function ask for up to `size` bytes of dynamic shared memory."""

    def unload(self, module: Any) -> None:
        self.call(ModuleLoadFailed, "cannot unload a module", self.calls.unload, module)

    def function(self, module: Any, symbol: str) -> Any:
        call = self.calls.function
        answer = self.ask(call, module, symbol.encode())
        if answer[0] != self._ok and self.number(answer[0]) == _NOT_FOUND:
            raise self.failure(KernelNotFound, f"the module has no kernel {symbol}", call, answer[0])
        self.check(answer[0], ModuleLoadFailed, f"cannot look up the kernel {symbol}", call)
        return answer[1]

    @abstractmethod
    def launch_call(self, facts: DeviceFacts) -> LaunchCall:
        """What launches on that device."""

    def answer(self, code: int) -> Any:
        """A number that the driver gave as the binding has it."""
        try:
            return type(self._ok)(code)
        except ValueError as error:
            found = unknown_code(error)
            assert found is not None
            return found

    @abstractmethod
    def refuses_elsewhere(self) -> bool:
        """Whether the driver refuses a launch in a thread whose context is not the kernel's, so that nobody has to look first."""

    # ---- calls ----

    def ask(self, call: str, *arguments: Any) -> Any:
        """The binding's answer to a call: a tuple that starts with the vendor's code."""
        try:
            return getattr(self._api, call)(*arguments)
        except ValueError as error:
            code = unknown_code(error)
            if code is None:
                raise
            return (code,)

    def call(self, kind: type[Error], doing: str, call: str, *arguments: Any) -> Any:
        """The one value that a call gives, or None; `kind` is raised where it fails, and says that one was `doing` something."""
        answer = self.ask(call, *arguments)
        self.check(answer[0], kind, doing, call)
        return answer[1] if len(answer) > 1 else None

    def check(self, code: Any, kind: type[Error], doing: str, call: str) -> None:
        if code is not self._ok and code != self._ok:
            raise self.failure(kind, doing, call, code)
        status.clear()

    def failure(self, kind: type[Error], doing: str, call: str, code: Any) -> Error:
        """The error to raise for a driver's answer, also kept as this thread's last."""
        number, name, text = (int(code), "unknown", UNKNOWN) if isinstance(code, UnknownCode) else self._describe(code)
        self.forget_failure()
        answer = status.DriverError(call, number, name, text)
        status.record(answer)
        return kind(f"{self.backend}: {doing}: {answer}", code=number, code_name=name)

    def number(self, code: Any) -> int:
        """The vendor's number of a code."""
        return int(code) if isinstance(code, UnknownCode) else int(code.value)

    @abstractmethod
    def forget_failure(self) -> None:
        """Has the driver itself forget a call that failed, where it keeps such a thing for the next one who asks."""

    @abstractmethod
    def _describe(self, code: Any) -> tuple[int, str, str]:
        """Number, name and description of one of the vendor's codes."""
