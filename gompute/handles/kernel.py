"""`Kernel`: a generated kernel on one device."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from gompute.errors import InvalidArgument
from gompute.handles.calling import in_order
from gompute.handles.defaults import Kernels
from gompute.handles.generated import OnCpu, OnDevice
from gompute.handles.opening import Opened, open_kernel, spec_of
from gompute.handles.tiled import TiledOnCpu, TiledOnDevice
from gompute.lang.operation import OPERATIONS
from gompute.lang.tiled import Tiled
from gompute.runtime import workers
from gompute.runtime.buffer import Buffer
from gompute.runtime.context import DeviceContext, DeviceKernel
from gompute.runtime.cpu import CpuKernel
from gompute.runtime.stream import Stream

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Kernel", "thread_count"]

_Plan: TypeAlias = OnCpu | OnDevice | TiledOnCpu | TiledOnDevice


class Kernel:
    """A kernel of an operation (`map`, `zip`, `gather` and so on), ready to run on one device.

    Args:
        spec: the decorated function; the artifact must have been built from the same declaration.
        backend: ``cuda``, ``hip`` or ``cpu``.
        ordinal: the device's number.
        kernels: a kernel set, its folder or its generated module; without it the default set.
        threads: CPU only: the most threads of one call, all cores when left out. A small array stays in the calling thread.

    Raises:
        KernelNotFound: no such kernel, or no set to look in.
        ModuleLoadFailed: no code for this device, or a damaged or stale artifact.
        BackendUnavailable, InitFailed, NoDevice: the backend cannot be used here.

    On the CPU a spec that the set has no code for is compiled in this process when the compiler is installed.
    """

    def __init__(self, spec: Any, backend: str, ordinal: int = 0, kernels: Kernels = None, *, threads: int | None = None) -> None:
        spec = spec_of(spec, type(self).__name__)
        if spec.kind == "kernel":
            raise InvalidArgument(f"spec: {spec.name!r} is a raw kernel (@g.kernel): use g.RawKernel")
        self._take(open_kernel(spec, backend, ordinal, kernels), threads)

    @classmethod
    def _of(cls, opened: Opened, threads: int | None = None) -> Kernel:
        made = cls.__new__(cls)
        made._take(opened, threads)
        return made

    def _take(self, opened: Opened, threads: int | None) -> None:
        self._opened = opened
        self._plan: _Plan | None = _plan(opened, threads)

    @property
    def name(self) -> str:
        """The kernel's public name."""
        return self._opened.entry.name

    @property
    def backend(self) -> str:
        """``cuda``, ``hip`` or ``cpu``."""
        return self._opened.backend

    def run(self, *arguments: Any, **named: Any) -> Any:
        """Runs the operation on arrays and returns when the result is there.

        ``run(data, params)`` for `map`, `map_indexed` and `fused`, ``run(inp, out, params)`` for `map_to` and `scan`,
        ``run(a, b, ..., out, params)`` for `zip`, ``run(src, idx, out)`` for `gather`, `scatter` and `scatter_add`, and
        ``run(data, params)`` for `reduce`, `sum` and so on, which gives the value as a Python number; arguments may be given by name too.
        Arrays are contiguous NumPy arrays of any shape, those of which element i goes with element i of one shape; `params` is an instance
        of the params class or its bytes. The output of `map_to`, `zip` and an inclusive `scan` may be one of the inputs; where every
        element of it is written it may be None for a new array, which is returned. Where there is no element, nothing is done, and a
        reduction gives its identity. Device memory is kept on the handle for the next call.

        What lies on the device already is worked on there without a copy: a Buffer, a `DeviceArray`, and arrays of other libraries (CuPy,
        PyTorch, JAX) in C order. Arrays of other libraries in host memory (PyTorch, JAX) are taken like NumPy's.

        Raises:
            InvalidArgument: naming the argument, what was expected and what was given.
            AllocFailed, CopyFailed, LaunchFailed, SyncFailed: the driver's.
        """
        plan = self._plan
        if plan is None:
            raise self._closed("run")
        if named:
            arguments = in_order(f"run of kernel {self.name!r} takes ({', '.join(plan.takes)})", plan.takes, arguments, named)
        if plan.out is None or len(arguments) <= plan.out or arguments[plan.out] is not None:
            return plan.run(arguments)
        made = plan.new_output(arguments)
        plan.run((*arguments[: plan.out], made, *arguments[plan.out + 1 :]))
        return made

    def launch(self, *arguments: Any, stream: Stream | None = None, **named: Any) -> None:
        """Runs the operation on memory of the device and does not wait; see `synchronize`.

        The arguments are those of `run`, with memory of the device for each array: a Buffer, of as many elements as it holds, a
        `DeviceArray` or an array of another library; on the CPU an array. A reduction takes one more, ``launch(data, out, params)``, for
        its one result.

        Args:
            stream: where to queue it, the device's default stream when left out.

        Raises:
            InvalidArgument: naming the argument, what was expected and what was given.
            LaunchFailed: the driver's.
        """
        plan = self._plan
        if plan is None:
            raise self._closed("launch")
        if named:
            arguments = in_order(
                f"launch of kernel {self.name!r} takes ({', '.join(plan.launch_takes)})", plan.launch_takes, arguments, named
            )
        plan.launch(arguments, stream)

    def alloc(self, count: int, array: str | None = None) -> Buffer:
        """Memory on the device for `count` elements, not cleared.

        Args:
            array: which array's elements (`"out"`); needed only where they differ in size.

        Raises:
            InvalidArgument: no such array, or none named where it matters.
            AllocFailed: there is not that much.
        """
        plan = self._plan
        if plan is None:
            raise self._closed("alloc")
        sizes = {operand.name: operand.itemsize for operand in plan.operands}
        if array is not None and array not in sizes:
            raise InvalidArgument(f"array: kernel {self.name!r} has no {array!r}; its arrays are {', '.join(sizes)}")
        if array is None and len(set(sizes.values())) > 1:
            kinds = ", ".join(f"{operand.name}: {operand.element}" for operand in plan.operands)
            raise InvalidArgument(
                f"array: the elements of kernel {self.name!r} differ in size ({kinds}): say whose are meant, as in alloc(count, 'out')"
            )
        size = sizes[array or plan.operands[0].name]
        return self._opened.context.alloc(byte_count("count", count) * size)

    def synchronize(self) -> None:
        """Waits for every launch on the device.

        Raises:
            SyncFailed: an earlier launch failed.
        """
        if self._plan is None:
            raise self._closed("synchronize")
        self._opened.context.synchronize()

    def close(self) -> None:
        """Frees the memory kept on the handle; again is no error."""
        plan, self._plan = self._plan, None
        if plan is not None:
            plan.close()
            self._opened.context.close()

    def _closed(self, what: str) -> InvalidArgument:
        return InvalidArgument(f"{what}: the handle of kernel {self.name!r} is closed")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        state = f"from {self._opened.source}" if self._plan is not None else "closed"
        return f"<{type(self).__name__} {self.name!r} on {self.backend}, {state}>"


def _plan(opened: Opened, threads: int | None) -> _Plan:
    entry, kernel, context = opened.entry, opened.kernel, opened.context
    tiled = isinstance(OPERATIONS.get(entry.kind), Tiled)
    if isinstance(kernel, CpuKernel):
        if tiled:
            return TiledOnCpu(entry, kernel, thread_count(threads), opened.record)
        return OnCpu(entry, kernel, thread_count(threads), opened.record)
    if threads is not None:
        raise InvalidArgument(f"threads: is for the cpu backend; this handle is on {opened.backend}")
    assert isinstance(kernel, DeviceKernel) and isinstance(context, DeviceContext)
    if tiled:
        return TiledOnDevice(entry, kernel, context.accelerator, opened.record)
    return OnDevice(entry, kernel, context.accelerator, opened.record)


def thread_count(threads: int | None) -> int:
    """The threads to use at most.

    Raises:
        InvalidArgument: not a number from 1.
    """
    if threads is None:
        return workers.all_cores()
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InvalidArgument(f"threads: expected an int from 1, got {threads!r}")
    return threads


def byte_count(name: str, value: Any) -> int:
    """A size as a plain int.

    Raises:
        InvalidArgument: not an int, or negative.
    """
    try:
        size = operator.index(value)
    except TypeError:
        raise InvalidArgument(f"{name}: expected an int, got {value!r}") from None
    if size < 0:
        raise InvalidArgument(f"{name}: expected a number that is not negative, got {size}")
    return size
