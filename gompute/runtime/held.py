"""What a driver gave, to be given back once."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["Held", "exiting"]

# A driver tears itself down at exit too, in an order that nobody promises: from then on nothing is called for memory left behind.
exiting = threading.Event()
atexit.register(exiting.set)


class _Device(Protocol):
    def release(self, held: Held) -> None: ...


class Held:
    """Something that a driver gave, to be given back once: memory, a stream, an event, a graph.

    Attributes:
        handle: the driver's word for it.
        released: whether somebody has let it go, also where the driver has not taken it yet.
        outlasts: whether the host may still use it after `shutdown` (pinned memory with an array on it); it then keeps its context.
    """

    __slots__ = ("_device", "_give_back", "handle", "outlasts", "released")

    def __init__(self, device: _Device, handle: Any, give_back: Callable[[Any], None], outlasts: bool) -> None:
        self._device = device
        self._give_back = give_back
        self.released = False
        self.handle = handle
        self.outlasts = outlasts

    def release(self) -> None:
        """Gives it back, the first time. Of what is gone already (after `shutdown`, in a fork, at exit) nothing is asked; during a capture,
        which most such calls would break, it waits for the capture's end; what cannot be given back is tried again by `shutdown`."""
        if not self.released:
            self.released = True
            self._device.release(self)

    def give_back(self) -> None:
        self._give_back(self.handle)
