"""Queues of a device's work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Self

from gompute.errors import CaptureFailed, Error, InvalidArgument, Unsupported
from gompute.runtime.buffer import Buffer, Memory, Releasable
from gompute.runtime.graph import Graph
from gompute.runtime.lane import Lane

if TYPE_CHECKING:
    from gompute.runtime.accelerator import Accelerator
    from gompute.runtime.event import Event

__all__ = ["Capture", "Stream", "handle_of", "pointer_of"]

_numbers = count()


class Capture:
    """Work that is written down for a graph.

    Attributes:
        number: tells it from other captures.
        origin: the stream where it began.
        streams: those that take part: the origin, and what waited for an event of one of them.
        buffers: the device memory that the work uses.
        kept: the host memory.
    """

    def __init__(self, origin: Stream) -> None:
        self.number = next(_numbers)
        self.origin = origin
        self.streams = [origin]
        self.buffers: list[Buffer] = []
        self.kept: list[Any] = []


class Stream:
    """A queue of work on one device; made by `create_stream` or `wrap_stream` of a context.

    Work of one stream runs in order. Streams run beside each other; one that is not `non_blocking` waits for the default stream and the
    default stream for it. Ended by `close`, at the end of a ``with`` block, or when nothing refers to it; its work goes on.
    """

    __slots__ = ("__weakref__", "_accelerator", "_capture", "_foreign", "_held", "_lane")

    def __init__(self, accelerator: Accelerator, lane: Lane, held: Releasable | None, foreign: object = None) -> None:
        """
        Args:
            held: what destroys the driver's stream; None where another library does.
            foreign: that library's stream, kept alive.
        """
        self._accelerator = accelerator
        self._lane: Lane | None = lane
        self._held = held
        self._foreign = foreign
        self._capture: Capture | None = None

    @property
    def backend(self) -> str:
        """``cuda``, ``hip`` or ``cpu``."""
        return self._accelerator.backend

    @property
    def pointer(self) -> int:
        """The driver's stream, for other libraries: ``cupy.cuda.ExternalStream(s.pointer)``, ``torch.cuda.ExternalStream(s.pointer)``.

        Raises:
            Unsupported: it is of the CPU.
        """
        lane = self._open()
        if self.backend == "cpu":
            raise Unsupported("cpu: a stream of the CPU is nothing that another library could use")
        return lane.pointer

    @property
    def __cuda_stream__(self) -> Callable[[], tuple[int, int]]:
        """The protocol by which CUDA libraries for Python pass streams."""
        if self.backend != "cuda":
            raise AttributeError(f"a {self.backend} stream is no CUDA stream")
        return lambda: (0, self.pointer)

    @property
    def capturing(self) -> bool:
        """Whether work is written down for a graph, not run."""
        return self._capture is not None

    @property
    def capture(self) -> Capture | None:
        """The capture that the stream is part of."""
        return self._capture

    def lane_on(self, memory: Memory) -> Lane:
        """The stream's queue, for work on that device.

        Raises:
            InvalidArgument: the stream is closed, or of another device.
        """
        lane = self._lane
        if lane is None or self._accelerator is not memory:
            lane = self._open()
            mine = self._accelerator
            if mine is not memory:
                raise InvalidArgument(
                    f"stream: it is of {mine.backend} {mine.ordinal}, the work of {memory.backend} {memory.ordinal}: a stream takes its "
                    f"own device's work; use events between devices"
                )
        return lane

    def uses(self, buffers: Iterable[Buffer], host: object = None) -> None:
        """During a capture: notes the memory that the graph will use."""
        capture = self._capture
        if capture is not None:
            capture.buffers += buffers
            if host is not None:
                capture.kept.append(host)

    def synchronize(self) -> None:
        """Waits for the stream's work.

        Raises:
            SyncFailed: a launch before it failed; the message names those since the last wait.
            CaptureFailed: the stream is being captured.
        """
        lane = self._open()
        self._refuse_capture("synchronize")
        with self._accelerator.waiting([lane]) as driver:
            driver.synchronize_stream(lane.handle)

    def query(self) -> bool:
        """Whether the stream's work is done.

        Raises:
            SyncFailed: a launch failed.
            CaptureFailed: the stream is being captured.
        """
        lane = self._open()
        self._refuse_capture("query")
        with self._accelerator.current() as driver:
            done = driver.stream_done(lane.handle)
            if done:
                lane.forget()
        return done

    def wait_event(self, event: Event) -> None:
        """Has work that comes later on the stream wait until the event is reached; the host does not wait.

        An event that was recorded on a stream under capture draws this stream into the capture.
        """
        lane = self._open()
        handle = handle_of("event", event, self._accelerator)
        with self._accelerator.current() as driver:
            driver.wait_event(lane.handle, handle)
        capture = event.capture
        if capture is not None and self._capture is None:
            self._capture = capture
            capture.streams.append(self)

    def begin_capture(self) -> None:
        """From now on, work on the stream is written down and not run, until `end_capture` by the same thread.

        Until then this thread may not allocate, wait or copy with the forms that wait; what it frees is freed at the end of the capture.

        Raises:
            CaptureFailed: the driver refuses, or the stream is under capture already.
        """
        lane = self._open()
        self._refuse_capture("begin_capture")
        with self._accelerator.current() as driver:
            driver.begin_capture(lane.handle)
            self._capture = Capture(self)
            self._accelerator.begin_capture(self._capture.number, lambda: driver.destroy_graph(driver.end_capture(lane.handle)))

    def end_capture(self) -> Graph:
        """The work since `begin_capture`, to be launched as often as wanted.

        Raises:
            CaptureFailed: there was no capture here, or a call during it has ended it; the message has the driver's reason.
        """
        lane = self._open()
        capture = self._capture
        if capture is None:
            raise CaptureFailed(f"{self.backend}: this stream is not under capture: call begin_capture first")
        if capture.origin is not self:
            raise CaptureFailed(f"{self.backend}: the capture began on another stream: end it there")
        accelerator = self._accelerator
        try:
            with accelerator.current() as driver:
                handle = driver.end_capture(lane.handle)
                return Graph(accelerator, accelerator.hold(handle, driver.destroy_graph), capture.buffers, capture.kept)
        finally:
            for stream in capture.streams:
                stream._capture = None
            accelerator.end_capture(capture.number)

    def close(self) -> None:
        """Ends the stream; its work goes on. Again is no error; a stream of another library is left as it is."""
        if self._lane is None:
            return
        accelerator = self._accelerator
        if self._capture is not None and self._capture.origin is self and accelerator.usable:
            with suppress(CaptureFailed):  # the capture is given up, so it does not matter how it ended
                self.end_capture().close()
        lane, self._lane = self._lane, None
        if lane.keeps and accelerator.usable:
            with accelerator.current():
                accelerator.leave_lane(lane)
        if self._held is not None:
            self._held.release()
        self._foreign = None

    def _open(self) -> Lane:
        if self._lane is None:
            raise InvalidArgument(f"this {self.backend} stream is closed")
        self._accelerator.check_alive()
        return self._lane

    def _refuse_capture(self, what: str) -> None:
        if self._capture is not None:
            raise CaptureFailed(f"{self.backend}: {what}: the stream is under capture; its work runs when the graph is launched")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_lane", None) is not None:
            with suppress(Error):  # a finaliser has nobody to tell; `shutdown` tries again, and tells
                self.close()

    def __repr__(self) -> str:
        state = "closed" if self._lane is None else "under capture" if self.capturing else "open"
        return f"<Stream on {self.backend} {self._accelerator.ordinal}: {state}>"


def handle_of(name: str, event: Event, accelerator: Accelerator) -> Any:
    """The driver's event, for a stream of that device.

    Args:
        name: the argument's name, for errors.

    Raises:
        InvalidArgument: it is no event, is closed, or is of another backend.
    """
    try:
        handle_for = event.handle_for
    except AttributeError:
        raise InvalidArgument(f"{name}: expected an event (from create_event), got {event!r}") from None
    return handle_for(accelerator)


def pointer_of(stream: object) -> int:
    """The driver's stream behind another library's, or behind its number.

    Raises:
        InvalidArgument: it is neither a number nor something with `__cuda_stream__`, `ptr` (CuPy) or `cuda_stream` (PyTorch).
    """
    if isinstance(stream, int) and not isinstance(stream, bool) and stream >= 0:
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        answer = protocol() if callable(protocol) else protocol
        return int(answer[1])
    for name in ("cuda_stream", "ptr"):
        pointer = getattr(stream, name, None)
        if isinstance(pointer, int):
            return pointer
    raise InvalidArgument(
        f"stream: expected a stream of CuPy, PyTorch or another library with __cuda_stream__, or the driver's stream as a number, got "
        f"{stream!r}"
    )
