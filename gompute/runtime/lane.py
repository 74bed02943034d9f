"""One queue of a device's work, and what must last until that work is done."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from gompute.artifacts.locks import Lock
from gompute.runtime.driver import Driver
from gompute.runtime.held import Held

__all__ = ["Lane", "suspects"]

#: After so many objects a mark is put into the queue, so that a program that never waits still lets go of what is done.
_BATCH = 64


class _Device(Protocol):
    driver: Driver

    def capturing(self) -> bool: ...

    def hold(self, handle: Any, give_back: Callable[[Any], None]) -> Held: ...


class Lane:
    """A stream's launches since the last wait, and the host memory that its copies still read or write.

    Attributes:
        handle: the driver's stream.
        launches: how many launches there were since the last wait.
        names: the latest of them: of a failed wait they are the suspects, and a few are enough to find the loop that made them.
    """

    __slots__ = ("__weakref__", "_batches", "_device", "_kept", "_lock", "handle", "launches", "names")

    def __init__(self, device: _Device, handle: Any) -> None:
        self._device = device
        self.handle = handle
        self._lock = Lock()  # several threads may use one stream, all of them the default one
        self.launches = 0
        self.names: deque[str] = deque(maxlen=8)
        self._kept: list[Any] = []
        #: An event that is reached when the work before it is done, and what that work used.
        self._batches: deque[tuple[Held, list[Any]]] = deque()

    @property
    def pointer(self) -> int:
        """A vendor's stream as a number."""
        return 0 if self.handle is None else int(self.handle)

    @property
    def keeps(self) -> bool:
        """Whether there is anything that must outlast the work."""
        return bool(self._kept or self._batches)

    def keep(self, owner: Any) -> None:
        """Holds on to an object until the work that was given to the stream so far is done; the device's context is current."""
        with self._lock:
            self._kept.append(owner)
            if len(self._kept) >= _BATCH:
                self.mark()
                self.let_go()

    def mark(self) -> None:
        """Has `let_go` find out when the work so far is done; the device's context is current."""
        with self._lock:
            if not self._kept:
                return
            driver = self._device.driver
            event = self._device.hold(driver.create_event(False), driver.destroy_event)
            try:
                driver.record_event(event.handle, self.handle)
            except BaseException:
                event.release()
                raise
            kept, self._kept = self._kept, []
            self._batches.append((event, kept))

    def let_go(self) -> None:
        """Forgets what finished work used; the device's context is current."""
        with self._lock:
            # To ask for an event would end a capture in this thread.
            while self._batches and not self._device.capturing() and self._device.driver.event_done(self._batches[0][0].handle):
                self._batches.popleft()[0].release()

    def forget(self) -> None:
        """Everything that was given to the stream is done."""
        with self._lock:
            self.launches = 0
            self.names.clear()
            self._kept.clear()
            while self._batches:
                self._batches.popleft()[0].release()


def suspects(lanes: Iterable[Lane]) -> str:
    """The launches since the last wait, for the message of a wait that failed."""
    names = [name for lane in lanes for name in lane.names]
    launches = sum(lane.launches for lane in lanes)
    if not launches:
        return "no kernel was launched since the last wait: the failure is of an earlier launch or of another library"
    listed = ", ".join(names)
    if launches > len(names):
        return f"an earlier launch is the suspect; of the {launches} since the last wait the latest are: {listed}"
    return f"an earlier launch is the suspect; since the last wait: {listed}"
