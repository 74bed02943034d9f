"""The CPU in the shape of a driver: host memory, and streams whose work is done when it is given.

A stream runs its work at once, so waits return at once and an event is reached when it is recorded. Under capture the work is written down,
and a graph runs it again.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable
from typing import Any

import numpy

from gompute.errors import AllocFailed, CaptureFailed, EventFailed, GraphFailed, InternalError, Unsupported
from gompute.runtime.driver import Driver

__all__ = ["HostDriver", "HostStream"]

#: What vector code likes best, and a cache line.
_ALIGNMENT = 64


class _Recording:
    """Work of the streams that take part in a capture, in order."""

    def __init__(self) -> None:
        self.work: list[tuple[str, Callable[[], None]]] = []
        self.streams: list[HostStream] = []


class HostStream:
    """A queue that is always empty, or one that is written down."""

    def __init__(self) -> None:
        self.recording: _Recording | None = None

    def do(self, kind: str, work: Callable[[], None]) -> None:
        """Does the work, or writes it down.

        Args:
            kind: what it is; graphs whose work differs in it are of different shapes.
        """
        if self.recording is None:
            work()
        else:
            self.recording.work.append((kind, work))


class _HostEvent:
    def __init__(self) -> None:
        self.nanoseconds = 0
        self.recording: _Recording | None = None


class _Executable:
    def __init__(self, recording: _Recording) -> None:
        self.recording = recording

    def run(self) -> None:
        for _, work in self.recording.work:
            work()


class HostDriver(Driver):
    backend = "cpu"
    vendor = "the CPU"

    def __init__(self) -> None:
        super().__init__()
        self._default = HostStream()
        self._blocks: dict[int, numpy.ndarray[Any, Any]] = {}
        self._started = True

    def _open(self) -> None:
        """Nothing to load."""

    def _note_fork(self) -> None:
        """Host memory is the child's too."""

    # ---- devices and contexts ----

    def retain(self, ordinal: int) -> int:
        return 0

    def release(self, ordinal: int) -> None:
        """Nothing was retained."""

    def current(self) -> int:
        return 0

    def set_current(self, context: int) -> None:
        """There is one context, always current."""

    def synchronize(self) -> None:
        """All work is done."""

    def memory_info(self) -> tuple[int, int]:
        page = os.sysconf("SC_PAGE_SIZE")
        return os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page

    # ---- memory ----

    def allocate(self, size: int) -> int:
        try:
            block = numpy.empty(size + _ALIGNMENT, numpy.uint8)
        except MemoryError as error:
            raise AllocFailed(f"cpu: cannot allocate {size} bytes: {error}") from error
        address: int = -(-block.ctypes.data // _ALIGNMENT) * _ALIGNMENT
        self._blocks[address] = block
        return address

    def free(self, address: int) -> None:
        del self._blocks[address]

    def allocate_host(self, size: int) -> int:
        return self.allocate(size)

    def free_host(self, address: int) -> None:
        self.free(address)

    def copy_in(self, target: int, source: int, size: int) -> None:
        ctypes.memmove(target, source, size)

    def copy_out(self, target: int, source: int, size: int) -> None:
        ctypes.memmove(target, source, size)

    def copy_in_async(self, target: int, source: int, size: int, stream: Any) -> None:
        stream.do("copy", lambda: ctypes.memmove(target, source, size))

    def copy_out_async(self, target: int, source: int, size: int, stream: Any) -> None:
        stream.do("copy", lambda: ctypes.memmove(target, source, size))

    def copy_within(self, target: int, source: int, size: int, stream: Any) -> None:
        stream.do("copy", lambda: ctypes.memmove(target, source, size))

    def copy_across(self, target: int, target_context: int, source: int, source_context: int, size: int, stream: Any) -> None:
        raise InternalError("there is one CPU device")

    def fill(self, target: int, pattern: int, width: int, count: int, stream: Any) -> None:
        def work() -> None:
            kind = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32}[width]
            numpy.ctypeslib.as_array((kind * count).from_address(target)).fill(pattern)

        stream.do("fill", work)

    # ---- streams and events ----

    @property
    def default_stream(self) -> Any:
        return self._default

    def foreign_stream(self, pointer: int) -> Any:
        raise Unsupported("cpu: another library has no stream that runs on the CPU: make one with create_stream()")

    def create_stream(self, non_blocking: bool) -> Any:
        return HostStream()

    def destroy_stream(self, stream: Any) -> None:
        """Garbage collection does."""

    def synchronize_stream(self, stream: Any) -> None:
        """Its work is done."""

    def stream_done(self, stream: Any) -> bool:
        return True

    def wait_event(self, stream: Any, event: Any) -> None:
        recording = event.recording
        if recording is None or recording is stream.recording:
            return
        if stream.recording is not None or stream is self._default or not recording.streams:
            raise EventFailed("cpu: cannot have a stream wait for an event: the event is of a capture that the stream cannot join")
        stream.recording = recording
        recording.streams.append(stream)

    def create_event(self, timing: bool) -> Any:
        return _HostEvent()

    def destroy_event(self, event: Any) -> None:
        """Garbage collection does."""

    def record_event(self, event: Any, stream: Any) -> None:
        event.recording = stream.recording
        event.nanoseconds = time.perf_counter_ns()

    def synchronize_event(self, event: Any) -> None:
        """It is reached."""

    def event_done(self, event: Any) -> bool:
        return True

    def elapsed_us(self, start: Any, end: Any) -> float:
        return float(end.nanoseconds - start.nanoseconds) / 1000.0

    # ---- graphs ----

    def begin_capture(self, stream: Any) -> None:
        if stream is self._default:
            raise CaptureFailed("cpu: cannot begin a capture: the default stream cannot be captured")
        stream.recording = _Recording()
        stream.recording.streams.append(stream)

    def end_capture(self, stream: Any) -> Any:
        recording = stream.recording
        for one in recording.streams:
            one.recording = None
        recording.streams.clear()
        return recording

    def destroy_graph(self, graph: Any) -> None:
        """Garbage collection does."""

    def instantiate(self, graph: Any) -> Any:
        return _Executable(graph)

    def destroy_executable(self, executable: Any) -> None:
        """Garbage collection does."""

    def launch_graph(self, executable: Any, stream: Any) -> None:
        stream.do("graph", _Executable(executable.recording).run)

    def update_executable(self, executable: Any, graph: Any) -> None:
        old, new = ([kind for kind, _ in recording.work] for recording in (executable.recording, graph))
        if old != new:
            raise GraphFailed(f"cpu: the instantiated graph cannot be updated: it does {', '.join(old)}; the other does {', '.join(new)}")
        executable.recording = graph
