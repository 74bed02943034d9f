"""What the runtime asks of a vendor's driver: one shape, filled in by `cuda` and `hip`."""

from __future__ import annotations

import os
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from gompute.errors import Error, InitFailed
from gompute.runtime import status
from gompute.targets.device import Device

__all__ = ["DeviceFacts", "Driver", "Launcher", "UnknownCode", "unknown_code"]

#: Called with grid x, y, z, block x, y, z, bytes of dynamic shared memory and the address of the array of argument pointers.
Launcher: TypeAlias = Callable[[int, int, int, int, int, int, int, int], None]


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


class Driver(ABC):
    """One vendor's driver, loaded and started once per process.

    Every method but `start` and `enter` expects a started driver; those that work in a context expect it to be current. Failures are raised
    as `gompute.errors.Error` with the vendor's code and name.
    """

    backend: ClassVar[str]
    vendor: ClassVar[str]

    #: The binding, and what it answers where a call went well; set by `_open`.
    _api: Any
    _ok: Any

    def __init__(self) -> None:
        self.lock = threading.Lock()
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
        # Another thread may have held it at the fork, and that thread is not here to let it go.
        self.lock = threading.Lock()

    @abstractmethod
    def _open(self) -> None:
        """Loads the library and starts the driver."""

    # ---- devices and contexts; a context is an opaque number ----

    @abstractmethod
    def device_count(self) -> int: ...

    @abstractmethod
    def facts(self, ordinal: int) -> DeviceFacts: ...

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
    def copy_in(self, target: int, source: int, size: int) -> None:
        """From host memory; returns when `source` may be overwritten."""

    @abstractmethod
    def copy_out(self, target: int, source: int, size: int) -> None:
        """To host memory; waits for the launches before it."""

    # ---- code ----

    @abstractmethod
    def load(self, image: bytes, facts: DeviceFacts) -> Any: ...

    @abstractmethod
    def unload(self, module: Any) -> None: ...

    @abstractmethod
    def function(self, module: Any, symbol: str) -> Any: ...

    @abstractmethod
    def allow_shared(self, function: Any, size: int) -> None:
        """Lets launches of this function ask for up to `size` bytes of dynamic shared memory."""

    @abstractmethod
    def launcher(self, function: Any, symbol: str) -> Launcher:
        """A call that launches the function on the default stream and does not wait."""

    # ---- calls ----

    def ask(self, call: str, *arguments: Any) -> Any:
        """The binding's answer to a call: a tuple that starts with the vendor's code."""
        try:
            return getattr(self._api, call)(*arguments)
        except ValueError as error:
            return (unknown_code(error),)

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
        number, name, text = (int(code), "unknown", _UNKNOWN) if isinstance(code, UnknownCode) else self._describe(code)
        answer = status.DriverError(call, number, name, text)
        status.record(answer)
        return kind(f"{self.backend}: {doing}: {answer}", code=number, code_name=name)

    @abstractmethod
    def _describe(self, code: Any) -> tuple[int, str, str]:
        """Number, name and description of one of the vendor's codes."""


_UNKNOWN = "an error that is newer than the Python binding; update the binding to have it named"
_NUMBER = re.compile(r"(-?\d+) is not a valid")


class UnknownCode(int):
    """A code that the binding's enumeration lacks, for which it raises ValueError in the place of an answer."""


def unknown_code(error: ValueError) -> UnknownCode:
    """The code in a binding's complaint; any other ValueError goes on."""
    found = _NUMBER.match(str(error))
    if found is None:
        raise error
    return UnknownCode(found[1])
