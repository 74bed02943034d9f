"""Contexts: what a program opens to reach a device."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from contextlib import ExitStack
from typing import Any, ClassVar, Self

from gompute.errors import InvalidArgument, NoDevice
from gompute.runtime.accelerator import Accelerator
from gompute.runtime.buffer import Buffer
from gompute.runtime.event import Event
from gompute.runtime.module import DeviceKernel, DeviceModule, Gpu
from gompute.runtime.pinned import PinnedMemory
from gompute.runtime.stream import Stream, pointer_of
from gompute.runtime.vendor import VendorDriver
from gompute.targets.device import Device

__all__ = ["Accelerator", "AnyContext", "DeviceContext", "DeviceKernel", "DeviceModule", "Gpu", "code_bytes"]


class AnyContext(ABC):
    """A device: memory, streams, events, code, and waiting for its work.

    Cheap to make and to close: what it gives out is shared by the whole process and outlives it.
    """

    def __init__(self, accelerator: Accelerator) -> None:
        self._open: Accelerator | None = accelerator

    @property
    def accelerator(self) -> Accelerator:
        """The device as the whole process shares it.

        Raises:
            InvalidArgument: the context is closed.
        """
        if self._open is None:
            raise InvalidArgument(f"this {self.backend} context is closed")
        return self._open

    @property
    @abstractmethod
    def backend(self) -> str:
        """``cuda``, ``hip`` or ``cpu``."""

    @property
    @abstractmethod
    def device(self) -> Device:
        """What the device is, for choosing code."""

    @property
    def ordinal(self) -> int:
        """The device's number."""
        return self.accelerator.ordinal

    @property
    def arch(self) -> str:
        """``sm_86``, ``gfx90a``; the machine for a CPU (``x86_64``)."""
        return self.device.arch

    def alloc(self, nbytes: int) -> Buffer:
        """Memory of the device, not cleared.

        Raises:
            AllocFailed: there is not that much.
        """
        return self.accelerator.allocate(_whole("nbytes", nbytes))

    def alloc_pinned(self, nbytes: int) -> PinnedMemory:
        """Host memory from and to which the device copies by itself, not cleared.

        Raises:
            AllocFailed: there is not that much.
        """
        accelerator = self.accelerator
        size = _whole("nbytes", nbytes)
        accelerator.check_size(size)
        accelerator.refuse_in_capture("an allocation")
        with accelerator.current() as driver:
            if not size:
                return PinnedMemory(None, 0, 0)
            address = driver.allocate_host(size)
            return PinnedMemory(accelerator.hold(address, driver.free_host, outlasts=True), address, size)

    def create_stream(self, *, non_blocking: bool = False) -> Stream:
        """A queue of work.

        Args:
            non_blocking: it does not wait for the default stream, nor the default stream for it.

        Raises:
            ContextFailed: the driver makes none.
        """
        accelerator = self.accelerator
        with accelerator.current() as driver:
            accelerator.prune()
            handle = driver.create_stream(non_blocking)
            held = accelerator.hold(handle, driver.destroy_stream)
            return Stream(accelerator, accelerator.new_lane(handle), held)

    def wrap_stream(self, stream: Any) -> Stream:
        """Another library's stream (CuPy's, PyTorch's, anything with `__cuda_stream__`, or the driver's as a number; 0 is the default
        stream), of this device, to give work to. The library still owns it; it is kept alive.

        Raises:
            InvalidArgument: it is none of these.
            Unsupported: this backend has no such streams.
        """
        accelerator = self.accelerator
        pointer = pointer_of(stream)
        with accelerator.current() as driver:
            accelerator.prune()
            return Stream(accelerator, accelerator.new_lane(driver.foreign_stream(pointer)), None, stream)

    def create_event(self, *, timing: bool = True) -> Event:
        """A mark to put into streams.

        Args:
            timing: it takes the time when it is reached, for `elapsed_us`; one without is cheaper.

        Raises:
            EventFailed: the driver makes none.
        """
        accelerator = self.accelerator
        with accelerator.current() as driver:
            return Event(accelerator, accelerator.hold(driver.create_event(timing), driver.destroy_event), timing)

    def synchronize(self) -> None:
        """Waits for everything launched on the device.

        Raises:
            SyncFailed: a launch before it failed; the message names those since the last wait.
        """
        self.accelerator.synchronize()

    def memory_info(self) -> tuple[int, int]:
        """Free and total bytes of the device (of the machine, for the CPU)."""
        with self.accelerator.current() as driver:
            return driver.memory_info()

    def close(self) -> None:
        """Ends this view of the device; again is no error."""
        self._open = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class DeviceContext(AnyContext):
    """A GPU. What it gives out lasts until `shutdown` of its vendor's module.

    Args:
        ordinal: the device's number.
        checked: whether every launch on this device, by this or any other context or handle of the process, waits and names the kernel
            that failed; None leaves that as it is.

    Raises:
        BackendUnavailable: no driver, or no Python binding to it; the message says what to install.
        InitFailed: the driver does not start, or this process is a fork of one that used it.
        NoDevice: there is no device of that number; the message has how many there are.
    """

    _driver: ClassVar[VendorDriver]
    #: By vendor and ordinal.
    _gpus: ClassVar[dict[tuple[str, int], Gpu]] = {}
    #: Those that were shut down and did not take everything back.
    _left: ClassVar[list[Gpu]] = []

    def __init__(self, ordinal: int = 0, *, checked: bool | None = None) -> None:
        driver, ordinal = self._driver, _whole("ordinal", ordinal)
        driver.start()
        with driver.lock:
            found = self._gpus.get((driver.backend, ordinal))
            if found is None:
                count = driver.device_count()
                if not 0 <= ordinal < count:
                    raise NoDevice(f"{driver.backend}: no device {ordinal}; the driver has {count}, numbered from 0")
                found = self._gpus[driver.backend, ordinal] = Gpu(driver, ordinal)
        super().__init__(found)
        self._gpu = found
        if checked is not None:
            found.checked = checked

    @property
    def accelerator(self) -> Gpu:
        _ = super().accelerator  # refuses a closed context
        return self._gpu

    @property
    def backend(self) -> str:
        return self._driver.backend

    @property
    def device(self) -> Device:
        return self.accelerator.facts.device

    def load_module(self, image: bytes) -> DeviceModule:
        """Loads a blob; the same bytes on the same device are loaded (and compiled) once per process.

        Raises:
            ModuleLoadFailed: the driver refuses it; the message has the driver's compile log.
        """
        return self.accelerator.load_module(code_bytes(image))

    @classmethod
    def shutdown(cls) -> None:
        """The real teardown of this vendor's devices; handles and buffers made before are dead afterwards.

        To be called when no other thread uses them.

        Raises:
            Error: the first failure; everything else is given back all the same, and the next call tries the rest again.
        """
        cls._driver.check_process()
        with cls._driver.lock:
            leaving = [gpu for gpu in cls._left if gpu.driver is cls._driver]
            leaving += [cls._gpus.pop(key) for key in list(cls._gpus) if key[0] == cls._driver.backend]
            try:
                with ExitStack() as every_one:  # the others too where one fails
                    for gpu in leaving:
                        every_one.callback(gpu.shut_down)
            finally:
                cls._left[:] = [gpu for gpu in cls._left if gpu.driver is not cls._driver] + [gpu for gpu in leaving if not gpu.gone]


def code_bytes(image: object) -> bytes:
    """What `load_module` was given.

    Raises:
        InvalidArgument: it is not bytes-like.
    """
    if isinstance(image, bytes):
        return image
    if isinstance(image, bytearray | memoryview):
        return bytes(image)
    raise InvalidArgument(
        f"image: expected the bytes of the code, got {type(image).__name__}: pass pathlib.Path(...).read_bytes() of a file, or "
        f"text.encode() of PTX"
    )


def _whole(name: str, value: object) -> int:
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidArgument(f"{name}: expected an int, got {value!r}") from None
