"""Loaded code and its kernels."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gompute.artifacts.entry import KernelEntry
from gompute.artifacts.locks import Lock
from gompute.errors import InvalidArgument, LaunchFailed, SyncFailed
from gompute.runtime import status
from gompute.runtime.accelerator import Accelerator
from gompute.runtime.arguments import Argument, PackedArguments
from gompute.runtime.buffer import lane_of
from gompute.runtime.dim3 import Dim3, Extent
from gompute.runtime.launcher import Launcher, Prepared
from gompute.runtime.reports import Report
from gompute.runtime.vendor import VendorDriver

if TYPE_CHECKING:
    from gompute.runtime.stream import Stream

__all__ = ["DeviceKernel", "DeviceModule", "Gpu"]


class Gpu(Accelerator):
    """A GPU as this process uses it, with the modules that are loaded there.

    Attributes:
        facts: what the driver says of the device.
        quick: whether a launch may go to the driver at once: the device is there, the driver refuses what is meant for another one, and
            no launch is waited for.
    """

    driver: VendorDriver

    def __init__(self, driver: VendorDriver, ordinal: int) -> None:
        self.facts = driver.facts(ordinal)  # first, since its failure leaves nothing to let go
        refuses_elsewhere = driver.refuses_elsewhere()
        super().__init__(driver, ordinal)
        self._checked = False
        self._may_be_quick = self.quick = refuses_elsewhere
        driver.users.add(self)
        self._lock = Lock()
        self._modules: dict[str, DeviceModule] = {}

    @property
    def checked(self) -> bool:
        """Whether every launch is waited for, so that the one that fails is named."""
        return self._checked

    @checked.setter
    def checked(self, checked: bool) -> None:
        self._checked = checked
        self.quick = self._may_be_quick and not checked

    def shut_down(self) -> None:
        """See `Accelerator.shut_down`."""
        self._may_be_quick = self.quick = False
        super().shut_down()

    def load_module(self, image: bytes) -> DeviceModule:
        """The module of this image, loaded and compiled once however often it is asked for."""
        key = hashlib.sha256(image).hexdigest()
        self.check_alive()
        with self._lock:
            module = self._modules.get(key)
            if module is None:
                self.refuse_in_capture("loading a module")
                with self.current():
                    handle = self.driver.load(image, self.facts)
                    module = self._modules[key] = DeviceModule(self, handle)
                    self.hold(handle, self.driver.unload)
            return module


class DeviceModule:
    """A loaded blob."""

    def __init__(self, accelerator: Gpu, handle: Any) -> None:
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
            accelerator = self._accelerator
            with accelerator.current():
                function = accelerator.driver.function(self.handle, symbol)
                kernel = self._kernels[symbol] = DeviceKernel(accelerator, function, symbol)
        return kernel


class DeviceKernel:
    """A kernel that can be launched.

    Attributes:
        launcher: its way into the driver.
    """

    #: Dynamic shared memory that needs no permission, in bytes.
    _FREE_SHARED = 48 * 1024

    def __init__(self, accelerator: Gpu, function: Any, symbol: str) -> None:
        self.symbol = symbol
        self._accelerator = accelerator
        self._function = function
        self.launcher = Launcher(accelerator.driver, accelerator.driver.launch_call(accelerator.facts), int(function), symbol)
        self._report: Report | None = None
        #: Bytes of dynamic shared memory that need no permission, or have it.
        self._shared = self._FREE_SHARED
        self._own_shared = 0

    def has_shared(self, size: int) -> None:
        """Says how many bytes of shared memory the kernel's own arrays take: those of a launch come on top of them."""
        self._own_shared, self._shared = size, self._FREE_SHARED - size

    def report_to(self, entry: KernelEntry) -> int:
        """The address of the record that a launch passes last, where the kernel has checks; every wait looks at it from now on."""
        if self._report is None:
            self._report = Report(self._accelerator, entry)
            self._accelerator.watch(self._report)
        self._report.entry = entry
        return self._report.address

    def launch(self, grid: Extent, block: Extent, shared: int, args: Sequence[Argument], stream: Stream | None = None) -> None:
        """Launches with arguments that say their own size, and returns at once.

        Args:
            grid: blocks in x, y and z.
            block: work-items per block in x, y and z.
            shared: bytes of dynamic shared memory per block.
            args: in the kernel's order: a Buffer for a pointer; a NumPy scalar or a ctypes value for a scalar, bytes for a params struct.
                A blob does not say what it takes, so their number and sizes are not checked here: `g.RawKernel` does.
            stream: where to queue it, the default stream when left out.

        Raises:
            InvalidArgument: a limit of the device, or an argument that is none of the above.
            LaunchFailed: the driver refuses the launch.
        """
        blocks, items = Dim3.of(grid, "grid"), Dim3.of(block, "block")
        self.check(blocks, items, shared)
        packed = PackedArguments(args, self._accelerator)
        self.launch_packed(blocks, items, shared, packed.address, stream)
        if stream is not None:
            stream.uses(packed.buffers)

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
        if not 0 <= shared <= facts.max_shared - self._own_shared:
            own = f" and {self._own_shared} of the kernel's own arrays" if self._own_shared else ""
            raise InvalidArgument(f"shared: {shared} bytes{own}; {facts.device.label} gives a block at most {facts.max_shared}")

    def launch_packed(self, grid: Dim3, block: Dim3, shared: int, arguments: int, stream: Stream | None = None) -> None:
        """Launches with packed arguments and returns at once.

        Args:
            arguments: address of an array of pointers, one to each argument's bytes; both are copied before this returns.
            stream: where to queue it, the default stream when left out.

        Raises:
            LaunchFailed: the driver refuses the launch, or where every launch is checked, the kernel failed.
            CheckFailed: where every launch is checked: a check in the kernel failed.
        """
        self.launch_prepared(self.prepare(grid, block, shared, arguments, stream), stream)

    def prepare(self, grid: Dim3, block: Dim3, shared: int, arguments: int, stream: Stream | None = None) -> Prepared:
        """Makes a launch ready, for `launch_prepared`; the arguments are those of `launch_packed`."""
        accelerator = self._accelerator
        lane = lane_of(accelerator, stream)
        return self.launcher.prepare(grid, block, shared, lane, arguments)

    def launch_prepared(self, launch: Prepared, stream: Stream | None = None) -> None:
        """Launches and returns at once.

        Args:
            launch: for this stream, which is open.

        Raises:
            LaunchFailed, CheckFailed: as `launch_packed`.
        """
        accelerator = self._accelerator
        if accelerator.quick and launch.shared <= self._shared and (stream is None or not stream.capturing):
            code = self.launcher.call(*launch.arguments)
            if code:
                self.refused(code, launch)
                return
            status.clear()
        else:
            self._launch_inside(launch)
        lane = launch.lane
        lane.launches += 1
        lane.names.append(self.symbol)
        if accelerator.checked and (stream is None or not stream.capturing):
            self._check_done(launch)

    def refused(self, code: int, launch: Prepared) -> None:
        """Makes a launch again that was refused because this thread has another context than the kernel's, or none.

        Args:
            code: what the driver answered.

        Raises:
            LaunchFailed: it was refused for another reason, or is refused again.
        """
        if not self.launcher.elsewhere(code, self._accelerator.context):
            raise self.launcher.failure(code, launch)
        self._launch_inside(launch)
        launch.lane.launches += 1
        launch.lane.names.append(self.symbol)

    def _launch_inside(self, launch: Prepared) -> None:
        """Launches with the kernel's context current."""
        accelerator = self._accelerator
        with accelerator.current():
            if launch.shared > self._shared:
                accelerator.driver.allow_shared(self._function, launch.shared)
                self._shared = launch.shared
            code = self.launcher.call(*launch.arguments)
            if code:
                raise self.launcher.failure(code, launch)
            status.clear()

    def _check_done(self, launch: Prepared) -> None:
        """Waits for the launch that was just made.

        Raises:
            LaunchFailed: it failed.
            CheckFailed: a check in the kernel failed.
        """
        with self._accelerator.current() as driver:
            try:
                driver.synchronize_stream(launch.lane.handle)
            except SyncFailed as error:
                raise LaunchFailed(
                    f"checked launch: kernel {self.symbol} with {launch.sizes} failed: {error}",
                    code=error.code,
                    code_name=error.code_name,
                ) from None
            launch.lane.forget()
            self._accelerator.look(driver)
