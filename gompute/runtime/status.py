"""The last driver error of each thread."""

from __future__ import annotations

import threading
from dataclasses import dataclass

__all__ = ["DriverError", "clear", "last_driver_error", "noted", "record"]


@dataclass(frozen=True, slots=True)
class DriverError:
    """What a driver answered.

    Attributes:
        call: the driver's function (``cuMemAlloc``).
        code: its number for the error.
        name: its name for the error (``CUDA_ERROR_OUT_OF_MEMORY``).
        text: its description.
    """

    call: str
    code: int
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.call} gave {self.name} ({self.code}): {self.text}"


class _PerThread(threading.local):
    error: DriverError | None = None


_per_thread = _PerThread()
#: The threads that have an error. Nearly always empty, and to see that costs less than a look at the thread's own.
noted: set[int] = set()


def last_driver_error() -> DriverError | None:
    """The error of this thread's last driver call; None where that call succeeded or none was made."""
    return _per_thread.error


def record(error: DriverError) -> None:
    _per_thread.error = error
    noted.add(threading.get_ident())


def clear() -> None:
    if noted:
        _per_thread.error = None
        noted.discard(threading.get_ident())
