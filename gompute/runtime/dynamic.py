"""A device of whatever kind this machine has, behind one shape."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from typing import Any, Self

from gompute.errors import BackendUnavailable, ContextFailed, Error, InitFailed, InvalidArgument, NoDevice
from gompute.runtime import cpu
from gompute.runtime.buffer import Buffer
from gompute.runtime.context import DeviceContext, DeviceModule
from gompute.runtime.event import Event
from gompute.runtime.libraries import DriverMissing
from gompute.runtime.pinned import PinnedMemory
from gompute.runtime.stream import Stream
from gompute.targets.device import Device

__all__ = ["Compute", "shutdown"]

_BACKENDS = ("cuda", "hip", "cpu")


class Compute:
    """A device: an NVIDIA GPU, else an AMD GPU, else the CPU, which works on host memory and loads shared objects.

    A backend without a driver or without such a device is passed over in silence; one whose driver is there and fails, and the preferred
    one whatever its reason, with a warning.

    Args:
        preferred: the backend to try first: ``cuda``, ``hip`` or ``cpu``.
        ordinal: the device's number; the CPU has number 0 alone.

    Attributes:
        context: the backend's own context.

    Raises:
        InvalidArgument: no such backend.
        NoDevice: no backend has a device of that number; the message has each one's reason.
    """

    def __init__(self, preferred: str | None = None, ordinal: int = 0) -> None:
        if preferred is not None and preferred not in _BACKENDS:
            raise InvalidArgument(f"preferred: {preferred!r} is none of {', '.join(map(repr, _BACKENDS))}")
        reasons = []
        for backend in dict.fromkeys((preferred or _BACKENDS[0], *_BACKENDS)):
            try:
                self.context: DeviceContext | cpu.Context = import_module(f"gompute.runtime.{backend}").Context(ordinal)
            except (BackendUnavailable, InitFailed, NoDevice, ContextFailed) as error:
                reasons.append(f"{backend}: {error}")
                if backend == preferred or not isinstance(error, DriverMissing | NoDevice):
                    warnings.warn(f"{backend} is not used: {error}", RuntimeWarning, stacklevel=2)
            else:
                return
        raise NoDevice(f"no backend has a device {ordinal}:\n" + "\n".join(reasons))

    @property
    def backend(self) -> str:
        """The backend in use: ``cuda``, ``hip`` or ``cpu``."""
        return self.context.backend

    @property
    def ordinal(self) -> int:
        """The device's number."""
        return self.context.ordinal

    @property
    def device(self) -> Device:
        """What the device is, for choosing code."""
        return self.context.device

    def alloc(self, nbytes: int) -> Buffer:
        """See `AnyContext.alloc`."""
        return self.context.alloc(nbytes)

    def alloc_pinned(self, nbytes: int) -> PinnedMemory:
        """See `AnyContext.alloc_pinned`."""
        return self.context.alloc_pinned(nbytes)

    def load_module(self, image: bytes) -> DeviceModule | cpu.CpuModule:
        """Loads code: PTX or a cubin, a code object, or a shared object, as the backend takes it.

        Raises:
            ModuleLoadFailed: the driver (for the CPU, the system's loader) refuses it.
        """
        return self.context.load_module(image)

    def create_stream(self, *, non_blocking: bool = False) -> Stream:
        """See `AnyContext.create_stream`."""
        return self.context.create_stream(non_blocking=non_blocking)

    def wrap_stream(self, stream: Any) -> Stream:
        """See `AnyContext.wrap_stream`."""
        return self.context.wrap_stream(stream)

    def create_event(self, *, timing: bool = True) -> Event:
        """See `AnyContext.create_event`."""
        return self.context.create_event(timing=timing)

    def synchronize(self) -> None:
        """See `AnyContext.synchronize`."""
        self.context.synchronize()

    def memory_info(self) -> tuple[int, int]:
        """Free and total bytes."""
        return self.context.memory_info()

    def close(self) -> None:
        """Ends this view of the device; again is no error."""
        self.context.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Compute on {self.backend}>"


def shutdown() -> None:
    """The real teardown of every GPU that this process has used: see `cuda.shutdown` and `hip.shutdown`."""
    failures: list[Error] = []
    for backend in ("cuda", "hip"):
        module = sys.modules.get(f"gompute.runtime.{backend}")
        if module is not None:
            try:
                module.shutdown()
            except Error as error:
                failures.append(error)  # the other vendor's too
    if failures:
        raise failures[0]
