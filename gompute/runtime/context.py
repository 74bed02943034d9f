"""What this process holds on a GPU: contexts, modules, kernels and memory; the same for every vendor."""

from __future__ import annotations

import atexit
import hashlib
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar, Self

from gompute.errors import BackendUnavailable, InvalidArgument, NoDevice, SyncFailed
from gompute.runtime.buffer import Buffer
from gompute.runtime.dim3 import Dim3
from gompute.runtime.driver import DeviceFacts, Driver
from gompute.targets.device import Device

__all__ = ["Accelerator", "DeviceContext", "DeviceKernel", "DeviceModule"]

# A driver tears itself down at exit too, in an order that nobody promises: from then on nothing is called for memory left behind.
_exiting = threading.Event()
atexit.register(_exiting.set)


class Accelerator:
    """One GPU as this process uses it: its primary context, the modules loaded there and the memory allocated there.

    Contexts, handles and buffers share it; it lasts until `shutdown`.
    """

    def __init__(self, driver: Driver, ordinal: int) -> None:
        self.driver = driver
        self.backend = driver.backend
        self.ordinal = ordinal
        self.facts: DeviceFacts = driver.facts(ordinal)
        self._context = driver.retain(ordinal)
        self._alive = True
        self._lock = threading.Lock()
        self._modules: dict[str, DeviceModule] = {}
        self._allocated: set[int] = set()
        # Of a failed wait the latest launches are the suspects; a bounded list is enough to find the loop that made them.
        self.launched: deque[str] = deque(maxlen=8)
        self.launches = 0

    def check_alive(self) -> None:
        if not self._alive or self.driver.inherited:
            self.driver.check_process()
            raise BackendUnavailable(f"{self.backend}: the device was shut down with shutdown(); open a new context or handle")

    def enter(self) -> int | None:
        """Makes the context current in this thread; gives back the other context that was, for `leave`."""
        driver = self.driver
        if not self._alive or driver.inherited:
            self.check_alive()
        before = driver.current()
        if before == self._context:
            return None
        driver.set_current(self._context)
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

    # ---- memory ----

    def allocate(self, size: int) -> Buffer:
        if size < 0:
            raise InvalidArgument(f"size: expected a number of bytes that is not negative, got {size}")
        if size == 0:
            self.check_alive()
            return Buffer(self, 0, 0)
        with self.current() as driver:
            address = driver.allocate(size)
            self._allocated.add(address)
        return Buffer(self, address, size)

    def release(self, address: int) -> None:
        if address == 0 or not self._alive or _exiting.is_set() or not self.driver.usable:
            return
        with self.current() as driver:
            driver.free(address)
            self._allocated.discard(address)  # what cannot be freed now is tried again by shut_down

    def copy_in(self, target: int, source: int, size: int) -> None:
        if size:
            with self.current() as driver:
                driver.copy_in(target, source, size)

    def copy_out(self, target: int, source: int, size: int) -> None:
        if size:
            with self.current() as driver:
                driver.copy_out(target, source, size)

    # ---- code ----

    def load_module(self, image: bytes) -> DeviceModule:
        """The module of this image, loaded and compiled once however often it is asked for."""
        key = hashlib.sha256(image).hexdigest()
        self.check_alive()
        with self._lock:
            module = self._modules.get(key)
            if module is None:
                with self.current() as driver:
                    module = self._modules[key] = DeviceModule(self, driver.load(image, self.facts))
            return module

    # ---- waiting and the end ----

    def synchronize(self) -> None:
        """Waits for all launches.

        Raises:
            SyncFailed: one of them failed; the message names those since the last wait.
        """
        launches, names = self.launches, list(self.launched)
        try:
            with self.current() as driver:
                driver.synchronize()
        except SyncFailed as error:
            raise SyncFailed(f"{error}\n{_suspects(launches, names)}", code=error.code, code_name=error.code_name) from None
        self.launches = 0
        self.launched.clear()

    def shut_down(self) -> None:
        if not self._alive:
            return
        with ExitStack() as every_step:  # last to first, the later ones too where one fails
            every_step.callback(self.driver.release, self.ordinal)
            driver = every_step.enter_context(self.current())
            self._alive = False
            for module in self._modules.values():
                every_step.callback(driver.unload, module.handle)
            for address in self._allocated:
                every_step.callback(driver.free, address)
            self._allocated.clear()
            self._modules.clear()


def _suspects(launches: int, names: list[str]) -> str:
    if not launches:
        return "no kernel was launched since the last wait: the failure is of an earlier launch or of another library"
    listed = ", ".join(names)
    if launches > len(names):
        return f"an earlier launch is the suspect; of the {launches} since the last wait the latest are: {listed}"
    return f"an earlier launch is the suspect; since the last wait: {listed}"


class DeviceModule:
    """A loaded blob."""

    def __init__(self, accelerator: Accelerator, handle: Any) -> None:
        self._accelerator = accelerator
        self.handle = handle
        self._kernels: dict[str, DeviceKernel] = {}

    def get_kernel(self, symbol: str) -> DeviceKernel:
        """The kernel of that symbol.

        Raises:
            KernelNotFound: the blob has none.
        """
        kernel = self._kernels.get(symbol)
        if kernel is None:
            with self._accelerator.current() as driver:
                kernel = self._kernels[symbol] = DeviceKernel(self._accelerator, driver.function(self.handle, symbol), symbol)
        return kernel


class DeviceKernel:
    """A kernel that can be launched; arguments are already packed as the driver takes them."""

    #: Dynamic shared memory that needs no permission, in bytes.
    _FREE_SHARED = 48 * 1024

    def __init__(self, accelerator: Accelerator, function: Any, symbol: str) -> None:
        self.symbol = symbol
        self._accelerator = accelerator
        self._function = function
        self._launch = accelerator.driver.launcher(function, symbol)
        self._shared = self._FREE_SHARED

    def check(self, grid: Dim3, block: Dim3, shared: int = 0) -> None:
        """Refuses a launch that the device cannot make.

        Raises:
            InvalidArgument: naming the limit and the value.
        """
        facts = self._accelerator.facts
        for axis, blocks, limit, items in zip("xyz", grid, facts.max_grid, block, strict=True):
            if blocks > limit:
                raise InvalidArgument(f"grid: {blocks} blocks in {axis}; {facts.device.label} takes at most {limit}")
            if facts.max_items is not None and blocks * items > facts.max_items:
                raise InvalidArgument(
                    f"grid: {blocks} blocks of {items} are {blocks * items} work-items in {axis}; {self._accelerator.backend} takes at "
                    f"most {facts.max_items}: launch on parts of the data"
                )
        if not 0 <= shared <= facts.max_shared:
            raise InvalidArgument(f"shared: {shared} bytes; {facts.device.label} gives a block at most {facts.max_shared}")

    def launch_packed(self, grid: Dim3, block: Dim3, shared: int, arguments: int) -> None:
        """Launches on the default stream and returns at once.

        Args:
            arguments: address of an array of pointers, one to each argument's bytes; both are copied before this returns.

        Raises:
            LaunchFailed: the driver refuses the launch.
        """
        accelerator = self._accelerator
        before = accelerator.enter()
        if before is None and shared <= self._shared:
            self._launch(*grid, *block, shared, arguments)
        else:
            try:
                if shared > self._shared:
                    accelerator.driver.allow_shared(self._function, shared)
                    self._shared = shared
                self._launch(*grid, *block, shared, arguments)
            finally:
                accelerator.leave(before)
        accelerator.launches += 1
        accelerator.launched.append(self.symbol)


class DeviceContext:
    """A device: memory, modules, and waiting for its work.

    Cheap to make and to close: what it gives out is shared by the whole process and lasts until `shutdown` of its vendor's module.

    Raises:
        BackendUnavailable: no driver, or no Python binding to it; the message says what to install.
        InitFailed: the driver does not start, or this process is a fork of one that used it.
        NoDevice: there is no device of that number.
    """

    _driver: ClassVar[Driver]
    #: By vendor and ordinal.
    _accelerators: ClassVar[dict[tuple[str, int], Accelerator]] = {}

    def __init__(self, ordinal: int = 0) -> None:
        self._accelerator: Accelerator | None = None
        driver = self._driver
        driver.start()
        with driver.lock:
            found = self._accelerators.get((driver.backend, ordinal))
            if found is None:
                count = driver.device_count()
                if not 0 <= ordinal < count:
                    raise NoDevice(f"{driver.backend}: no device {ordinal}; the driver has {count}, numbered from 0")
                found = self._accelerators[driver.backend, ordinal] = Accelerator(driver, ordinal)
        self._accelerator = found

    @property
    def accelerator(self) -> Accelerator:
        if self._accelerator is None:
            raise InvalidArgument(f"this {self._driver.backend} context is closed")
        return self._accelerator

    @property
    def backend(self) -> str:
        return self._driver.backend

    @property
    def ordinal(self) -> int:
        return self.accelerator.ordinal

    @property
    def device(self) -> Device:
        """What the device is, for choosing code."""
        return self.accelerator.facts.device

    @property
    def arch(self) -> str:
        """``sm_86``, ``gfx90a``."""
        return self.device.arch

    def alloc(self, nbytes: int) -> Buffer:
        """Device memory, not cleared.

        Raises:
            AllocFailed: the driver has not that much.
        """
        return self.accelerator.allocate(nbytes)

    def load_module(self, image: bytes) -> DeviceModule:
        """Loads a blob; the same bytes on the same device are loaded (and compiled) once per process.

        Raises:
            ModuleLoadFailed: the driver refuses it; the message has the driver's compile log.
        """
        return self.accelerator.load_module(image)

    def synchronize(self) -> None:
        """Waits for everything launched on the device.

        Raises:
            SyncFailed: a launch before it failed.
        """
        self.accelerator.synchronize()

    def memory_info(self) -> tuple[int, int]:
        """Free and total bytes of the device."""
        with self.accelerator.current() as driver:
            return driver.memory_info()

    def close(self) -> None:
        """Ends this view of the device; again is no error."""
        self._accelerator = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @classmethod
    def shutdown(cls) -> None:
        """The real teardown of this vendor's devices; handles and buffers made before are dead afterwards."""
        cls._driver.check_process()
        with cls._driver.lock:
            mine = [key for key in cls._accelerators if key[0] == cls._driver.backend]
            with ExitStack() as every_one:  # the others too where one fails
                for key in mine:
                    every_one.callback(cls._accelerators.pop(key).shut_down)
