"""Marks in a device's work."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from gompute.errors import CaptureFailed, Error, EventFailed, InvalidArgument
from gompute.runtime.buffer import lane_of
from gompute.runtime.stream import Capture, Stream, handle_of

if TYPE_CHECKING:
    from gompute.runtime.accelerator import Accelerator
    from gompute.runtime.held import Held

__all__ = ["Event"]


class Event:
    """A mark in a stream: reached when the work before it is done; made by `create_event` of a context.

    Ended by `close`, at the end of a ``with`` block, or when nothing refers to it.

    Attributes:
        timing: whether it takes the time when it is reached.
        capture: the capture that it was last recorded in, if any.
    """

    __slots__ = ("__weakref__", "_accelerator", "_held", "_recorded", "capture", "timing")

    def __init__(self, accelerator: Accelerator, held: Held, timing: bool) -> None:
        self._accelerator = accelerator
        self._held: Held | None = held
        self._recorded = False
        self.timing = timing
        self.capture: Capture | None = None

    def handle_for(self, accelerator: Accelerator) -> Any:
        """The driver's event, for a stream of that device.

        Raises:
            InvalidArgument: the event is closed, or of another backend.
        """
        handle = self._open()
        if accelerator.driver is not self._accelerator.driver:
            mine = self._accelerator.backend
            raise InvalidArgument(f"event: it is of {mine}, the stream or event of {accelerator.backend}: wait on the host instead")
        return handle

    def record(self, stream: Stream | None = None) -> None:
        """Puts the mark behind the stream's work so far; an earlier mark of this event is forgotten.

        Args:
            stream: of the event's own device; the default stream when left out.
        """
        handle = self._open()
        accelerator = self._accelerator
        lane = lane_of(accelerator, stream)
        with accelerator.current() as driver:
            driver.record_event(handle, lane.handle)
        self.capture = None if stream is None else stream._capture
        self._recorded = True

    def synchronize(self) -> None:
        """Waits until the event is reached; one that was never recorded counts as reached.

        Raises:
            SyncFailed: a launch before it failed.
            CaptureFailed: it was recorded during a capture, so it is in a graph and not in a stream.
        """
        handle = self._open()
        self._refuse_captured("synchronize")
        accelerator = self._accelerator
        accelerator.refuse_in_capture("waiting")
        with accelerator.waiting(accelerator.lanes, forget=False) as driver:
            driver.synchronize_event(handle)

    def query(self) -> bool:
        """Whether the event is reached; one that was never recorded counts as reached.

        Raises:
            EventFailed: a launch before it failed.
            CaptureFailed: it was recorded during a capture.
        """
        handle = self._open()
        self._refuse_captured("query")
        with self._accelerator.current() as driver:
            return driver.event_done(handle)

    def elapsed_us(self, end: Event) -> float:
        """Microseconds from this event to `end`, both recorded and reached.

        Raises:
            EventFailed: one of them takes no time, was never recorded or is not reached yet.
        """
        first, last = self._open(), handle_of("end", end, self._accelerator)
        for name, event in (("this event", self), ("end", end)):
            if not event.timing:
                raise EventFailed(f"{self._accelerator.backend}: elapsed_us: {name} was made with timing=False")
            if not event._recorded:
                raise EventFailed(f"{self._accelerator.backend}: elapsed_us: {name} was never recorded")
            event._refuse_captured("elapsed_us")
        with self._accelerator.current() as driver:
            return driver.elapsed_us(first, last)

    def close(self) -> None:
        """Ends the event; again is no error."""
        held, self._held = self._held, None
        if held is not None:
            held.release()

    def _open(self) -> Any:
        if self._held is None:
            raise InvalidArgument(f"this {self._accelerator.backend} event is closed")
        self._accelerator.check_alive()
        return self._held.handle

    def _refuse_captured(self, what: str) -> None:
        if self.capture is not None:
            raise CaptureFailed(
                f"{self._accelerator.backend}: {what}: the event was recorded in a capture: it is in a graph and never reached by itself"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_held", None) is not None:
            with suppress(Error):  # a finaliser has nobody to tell; `shutdown` tries again, and tells
                self.close()

    def __repr__(self) -> str:
        state = "closed" if self._held is None else "recorded" if self._recorded else "new"
        return f"<Event on {self._accelerator.backend} {self._accelerator.ordinal}: {state}>"
