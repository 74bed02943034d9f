"""What the runtime asks of a driver: one shape, filled in by `vendor` for GPUs and by `host_driver` for the CPU."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from gompute.artifacts.locks import Lock
from gompute.errors import InitFailed

__all__ = ["Driver"]


class Driver(ABC):
    """One driver, loaded and started once per process.

    Every method but `start` expects a started driver; those that work in a context expect it to be current. A context, a stream, an event,
    a graph, a module and a function are whatever the driver takes for one. Failures are raised as `gompute.errors.Error` with the
    vendor's code and name.
    """

    backend: ClassVar[str]
    vendor: ClassVar[str]

    def __init__(self) -> None:
        self.lock = Lock()
        self._started = False
        #: Whether this process is a fork of one that had started the driver.
        self.inherited = False
        os.register_at_fork(after_in_child=self._note_fork)

    def start(self) -> None:
        """Loads the library and starts the driver, the first time.

        Raises:
            BackendUnavailable: no driver, or no Python binding to it.
            InitFailed: the driver is there and does not start, or this process is a fork of one that had started it.
            NoDevice: the driver runs without a device.
        """
        self.check_process()
        with self.lock:
            if not self._started:
                self._open()
                self._started = True

    def check_process(self) -> None:
        """Refuses a driver that was started before a fork: it answers "not initialised", which reads like a missing GPU."""
        if self.inherited:
            raise InitFailed(
                f"{self.backend}: this process is a fork of one that had already used {self.vendor}, and a driver does not survive a fork: "
                f'start workers with multiprocessing.get_context("spawn"), or use {self.vendor} only after the fork'
            )

    @property
    def usable(self) -> bool:
        """Whether calls can still be made from this process."""
        return self._started and not self.inherited

    def _note_fork(self) -> None:
        self.inherited = self._started

    @abstractmethod
    def _open(self) -> None:
        """Loads the library and starts the driver."""

    # ---- devices and contexts ----

    @abstractmethod
    def retain(self, ordinal: int) -> int:
        """The device's primary context, shared with every other library of the process."""

    @abstractmethod
    def release(self, ordinal: int) -> None: ...

    @abstractmethod
    def current(self) -> int | None:
        """This thread's context."""

    @abstractmethod
    def set_current(self, context: int) -> None: ...

    @abstractmethod
    def synchronize(self) -> None:
        """Waits for everything that was launched."""

    @abstractmethod
    def memory_info(self) -> tuple[int, int]:
        """Free and total bytes."""

    # ---- memory ----

    @abstractmethod
    def allocate(self, size: int) -> int: ...

    @abstractmethod
    def free(self, address: int) -> None: ...

    @abstractmethod
    def allocate_host(self, size: int) -> int:
        """Host memory that the device copies from and to by itself."""

    @abstractmethod
    def free_host(self, address: int) -> None: ...

    @abstractmethod
    def copy_in(self, target: int, source: int, size: int) -> None:
        """From host memory; returns when `source` may be overwritten."""

    @abstractmethod
    def copy_out(self, target: int, source: int, size: int) -> None:
        """To host memory; waits for the launches before it."""

    @abstractmethod
    def copy_in_async(self, target: int, source: int, size: int, stream: Any) -> None: ...

    @abstractmethod
    def copy_out_async(self, target: int, source: int, size: int, stream: Any) -> None: ...

    @abstractmethod
    def copy_within(self, target: int, source: int, size: int, stream: Any) -> None:
        """From one place on the device to another."""

    @abstractmethod
    def copy_across(self, target: int, target_context: int, source: int, source_context: int, size: int, stream: Any) -> None:
        """From one device of this driver to another."""

    @abstractmethod
    def fill(self, target: int, pattern: int, width: int, count: int, stream: Any) -> None:
        """Writes `count` times the `width` (1, 2 or 4) bytes of `pattern`, the low byte first."""

    # ---- streams and events ----

    @property
    @abstractmethod
    def default_stream(self) -> Any: ...

    @abstractmethod
    def foreign_stream(self, pointer: int) -> Any:
        """Another library's stream, as this driver takes one."""

    @abstractmethod
    def create_stream(self, non_blocking: bool) -> Any: ...

    @abstractmethod
    def destroy_stream(self, stream: Any) -> None: ...

    @abstractmethod
    def synchronize_stream(self, stream: Any) -> None: ...

    @abstractmethod
    def stream_done(self, stream: Any) -> bool: ...

    @abstractmethod
    def wait_event(self, stream: Any, event: Any) -> None:
        """Work that comes later on the stream waits for the event."""

    @abstractmethod
    def create_event(self, timing: bool) -> Any: ...

    @abstractmethod
    def destroy_event(self, event: Any) -> None: ...

    @abstractmethod
    def record_event(self, event: Any, stream: Any) -> None: ...

    @abstractmethod
    def synchronize_event(self, event: Any) -> None: ...

    @abstractmethod
    def event_done(self, event: Any) -> bool: ...

    @abstractmethod
    def elapsed_us(self, start: Any, end: Any) -> float: ...

    # ---- graphs ----

    @abstractmethod
    def begin_capture(self, stream: Any) -> None: ...

    @abstractmethod
    def end_capture(self, stream: Any) -> Any: ...

    @abstractmethod
    def destroy_graph(self, graph: Any) -> None: ...

    @abstractmethod
    def instantiate(self, graph: Any) -> Any: ...

    @abstractmethod
    def destroy_executable(self, executable: Any) -> None: ...

    @abstractmethod
    def launch_graph(self, executable: Any, stream: Any) -> None: ...

    @abstractmethod
    def update_executable(self, executable: Any, graph: Any) -> None:
        """Gives the executable the arguments and sizes of another graph of the same shape."""
