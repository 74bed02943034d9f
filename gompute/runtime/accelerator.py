"""What this process holds on one device: its context, memory, streams and code; the same for every driver."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import Any

from gompute.errors import AllocFailed, BackendUnavailable, CaptureFailed, CopyFailed, Error, InvalidArgument, SyncFailed
from gompute.runtime.buffer import Buffer
from gompute.runtime.driver import Driver
from gompute.runtime.held import Held, exiting
from gompute.runtime.lane import Lane, suspects
from gompute.runtime.reports import Report

__all__ = ["Accelerator"]

_MOST_BYTES = 2**63 - 1


class Accelerator:
    """One device as this process uses it. Contexts, handles and buffers share it; it lasts until `shutdown`.

    Attributes:
        context: the driver's word for the device's context.
        default: the queue of the default stream.
    """

    def __init__(self, driver: Driver, ordinal: int) -> None:
        self.driver = driver
        self.backend = driver.backend
        self.ordinal = ordinal
        self.context = driver.retain(ordinal)
        self.default = Lane(self, driver.default_stream)
        self._alive = True
        self._retained = True
        self._held: dict[Held, None] = {}  # in the order of their making
        #: The queues that there are, by numbers of their own. A plain dict, since threads add to it while others list it, and since a fork
        #: may happen meanwhile.
        self._lanes: dict[int, weakref.ref[Lane]] = {}
        self._lane_numbers = count()
        self._note(self.default)
        #: Queues of streams that are gone, whose work may not be done.
        self._left: list[Lane] = []
        #: By their numbers: the thread that began the capture, and what gives it up.
        self._captures: dict[int, tuple[int, Callable[[], None]]] = {}
        self._after_capture: list[Held] = []
        #: Of the kernels with checks that were opened here.
        self._reports: list[Report] = []
        self._report_stream: Held | None = None

    def check_alive(self) -> None:
        """Refuses a device that was shut down, or that belongs to the parent of a fork."""
        if not self._alive or self.driver.inherited:
            self.driver.check_process()
            raise BackendUnavailable(f"{self.backend}: the device was shut down with shutdown(); open a new context or handle")

    @property
    def usable(self) -> bool:
        """Whether the driver may still be called for this device."""
        return self._alive and self.driver.usable and not exiting.is_set()

    # ---- the thread's context ----

    def enter(self) -> int | None:
        """Makes the context current in this thread; gives back the other context that was, for `leave`."""
        driver = self.driver
        if not self._alive or driver.inherited:
            self.check_alive()
        before = driver.current()
        if before == self.context:
            return None
        driver.set_current(self.context)
        return before

    def leave(self, before: int | None) -> None:
        """Restores what `enter` replaced: another library's choice of device in this thread is not ours to change."""
        if before is not None:
            self.driver.set_current(before)

    @contextmanager
    def current(self) -> Iterator[Driver]:
        before = self.enter()
        try:
            yield self.driver
        finally:
            self.leave(before)

    # ---- what is held ----

    def hold(self, handle: Any, give_back: Callable[[Any], None], *, outlasts: bool = False) -> Held:
        """Notes something that the driver gave, so that `shut_down` gives it back at the latest."""
        held = Held(self, handle, give_back, outlasts)
        self._held[held] = None
        return held

    def release(self, held: Held) -> None:
        if exiting.is_set() or not self.driver.usable or held not in self._held or not (self._alive or held.outlasts):
            return
        if self._captures:
            self._after_capture.append(held)
            if not self._captures:  # the last one ended in another thread meanwhile
                self._release_waiting()
            return
        before = self.enter() if self._alive else self._enter_dead()
        try:
            held.give_back()
            self._held.pop(held, None)
        finally:
            self.leave(before)
        if not self._alive and not self._held:
            self._let_context_go()

    def _enter_dead(self) -> int | None:
        """As `enter`, of a device that is shut down and whose context is still held."""
        before = self.driver.current()
        if before == self.context:
            return None
        self.driver.set_current(self.context)
        return before

    # ---- captures ----

    def begin_capture(self, number: int, give_up: Callable[[], None]) -> None:
        """Notes a capture of this thread.

        Args:
            give_up: ends it and what it has written down, for `shut_down`.
        """
        self._captures[number] = (threading.get_ident(), give_up)

    def end_capture(self, number: int) -> None:
        """Ends the capture of that number and gives back what was let go meanwhile."""
        self._captures.pop(number, None)
        if not self._captures:
            self._release_waiting()

    def _release_waiting(self) -> None:
        waiting, self._after_capture = self._after_capture, []
        with ExitStack() as every_one:  # the others too where one fails
            for held in waiting:
                every_one.callback(self.release, held)

    def capturing(self) -> bool:
        """Whether this thread has begun a capture."""
        return bool(self._captures) and threading.get_ident() in [thread for thread, _ in list(self._captures.values())]

    def refuse_in_capture(self, what: str) -> None:
        """Refuses what would end a capture that this thread has begun.

        Raises:
            CaptureFailed: there is such a capture.
        """
        if self.capturing():
            raise CaptureFailed(
                f"{self.backend}: {what} would break the capture in this thread: do it before begin_capture or after end_capture"
            )

    # ---- memory ----

    def check_size(self, size: int) -> None:
        """Refuses to allocate what no driver can be asked for.

        Raises:
            InvalidArgument: it is negative.
            AllocFailed: it is more than an address can say.
        """
        if size < 0:
            raise InvalidArgument(f"size: expected a number of bytes that is not negative, got {size}")
        if size > _MOST_BYTES:
            raise AllocFailed(f"{self.backend}: cannot allocate {size} bytes: no memory has more than {_MOST_BYTES}")

    def allocate(self, size: int) -> Buffer:
        self.check_size(size)
        self.refuse_in_capture("an allocation")
        if size == 0:
            self.check_alive()
            return Buffer(self, 0, 0)
        with self.current() as driver:
            address = driver.allocate(size)
            return Buffer(self, address, size, self.hold(address, driver.free))

    def copy_in(self, target: int, source: int, size: int) -> None:
        if size:
            self.refuse_in_capture("a copy that waits")
            with self.current() as driver:
                driver.copy_in(target, source, size)

    def copy_out(self, target: int, source: int, size: int) -> None:
        """Waits for the default stream and for the streams that wait for it.

        Raises:
            CopyFailed: also where a launch before it failed; the message names those since the last wait.
            CheckFailed: as `look`.
        """
        if size:
            self.refuse_in_capture("a copy that waits")
            with self.current() as driver:
                try:
                    driver.copy_out(target, source, size)
                except CopyFailed as error:
                    if not self.default.launches:
                        raise
                    raise CopyFailed(f"{error}\n{suspects([self.default])}", code=error.code, code_name=error.code_name) from None
                self.look(driver)

    # ---- waiting and the end ----

    def watch(self, report: Report) -> None:
        """Has every wait from now on look at a kernel's record."""
        if self._report_stream is None:
            with self.current() as driver:
                # One that waits for no other work: who waits for one stream is not to wait for all.
                self._report_stream = self.hold(driver.create_stream(True), driver.destroy_stream)
        self._reports.append(report)

    def look(self, driver: Driver) -> None:
        """Asks whether a check of a kernel has failed; the device's context is current. During a capture of this thread it is not asked.

        Raises:
            CheckFailed: naming kernel, file and line; where several kernels have reported the others are noted with the first.
        """
        if not self._reports or self._report_stream is None or self.capturing():
            return
        stream = self._report_stream.handle
        for report in self._reports:
            report.read(driver, stream)
        driver.synchronize_stream(stream)
        found = [error for report in self._reports if (error := report.take(driver, stream)) is not None]
        for other in found[1:]:
            found[0].add_note(f"and: {other}")
        if found:
            raise found[0]

    def new_lane(self, handle: Any) -> Lane:
        """The queue of a stream."""
        lane = Lane(self, handle)
        self._note(lane)
        return lane

    def _note(self, lane: Lane) -> None:
        number, lanes = next(self._lane_numbers), self._lanes
        lanes[number] = weakref.ref(lane, lambda _: lanes.pop(number, None))

    def prune(self) -> None:
        """Forgets the queues of closed streams whose work is done; the context is current."""
        for lane in self._left:
            lane.let_go()
        self._left = [lane for lane in self._left if lane.keeps]

    def leave_lane(self, lane: Lane) -> None:
        """Takes over the queue of a stream that is let go before its work is done; the context is current."""
        lane.mark()
        self._left.append(lane)

    @contextmanager
    def waiting(self, lanes: Sequence[Lane], *, forget: bool = True) -> Iterator[Driver]:
        """For a call that waits for these queues: a failure names their launches, a success forgets them where nothing is left in them.

        Raises:
            SyncFailed: the wait failed; the message names the launches since the last wait.
            CheckFailed: as `look`.
        """
        with self.current() as driver:
            try:
                yield driver
            except SyncFailed as error:
                text = f"{error}\n{suspects(lanes)}"
                for lane in lanes:
                    lane.launches = 0
                    lane.names.clear()
                raise SyncFailed(text, code=error.code, code_name=error.code_name) from None
            for lane in lanes if forget else ():
                lane.forget()
            self.look(driver)

    @property
    def lanes(self) -> list[Lane]:
        """The queues of the default stream and of the streams that there are."""
        return [lane for reference in list(self._lanes.values()) if (lane := reference()) is not None]

    def synchronize(self) -> None:
        """Waits for all work of the device.

        Raises:
            SyncFailed: a launch before it failed; the message names those since the last wait.
        """
        self.refuse_in_capture("waiting")
        with self.waiting(self.lanes) as driver:
            driver.synchronize()
        for lane in self._left:
            lane.forget()
        self._left.clear()

    def shut_down(self) -> None:
        """Gives everything back. What a working device refuses to take is tried again the next time; of a device that a launch has broken
        nothing can be given back one by one, and its context takes it along.

        Raises:
            Error: the first failure; the others are noted with it.
        """
        failures: list[Error] = []

        def attempt(step: Callable[..., None], *arguments: Any) -> bool:
            try:
                step(*arguments)
            except Error as error:
                failures.append(error)
                return False
            return True

        self._alive = False
        before = self._enter_dead()
        for _, give_up in self._captures.values():
            attempt(give_up)
        self._captures.clear()
        self._after_capture.clear()
        self._reports.clear()
        works = attempt(self.driver.synchronize)
        for lane in (*self.lanes, *self._left):
            lane.forget()
        self._left.clear()
        for held in reversed(list(self._held)):
            if (held.released or not held.outlasts) and (attempt(held.give_back) or not works):
                del self._held[held]
        attempt(self.leave, before)
        if not self._held:
            attempt(self._let_context_go)
        if failures:
            for other in failures[1:]:
                failures[0].add_note(f"and: {other}")
            raise failures[0]

    @property
    def gone(self) -> bool:
        """Whether `shut_down` has nothing left to do."""
        return not self._retained or (bool(self._held) and all(held.outlasts and not held.released for held in self._held))

    def _let_context_go(self) -> None:
        if self._retained:
            self.driver.release(self.ordinal)
            self._retained = False
