"""Arrays of other libraries (CuPy, PyTorch, JAX, Numba) as arguments, without a copy."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from math import prod
from typing import Any

import numpy

from gompute.errors import InvalidArgument
from gompute.handles.arrays import Array, kernel_type, numpy_dtype
from gompute.lang.types import SCALARS
from gompute.runtime import dlpack
from gompute.runtime.accelerator import Accelerator
from gompute.runtime.buffer import lane_of
from gompute.runtime.driver import Driver
from gompute.runtime.stream import Stream

__all__ = ["Foreign", "foreign_array", "host_array", "order", "shared_on_host"]


class Foreign:
    """Another library's array on a device, in C order, held until `release`.

    Attributes:
        shape: in elements.
        dtype: the kernel type of its elements.
        nbytes: its size.
    """

    __slots__ = ("_release", "address", "dtype", "nbytes", "read_only", "shape")

    def __init__(self, address: int, shape: tuple[int, ...], dtype: str, read_only: bool, release: Callable[[], None]) -> None:
        self.address = address
        self.shape = shape
        self.dtype = dtype
        self.nbytes = prod(shape) * SCALARS[dtype].size
        self.read_only = read_only
        self._release: Callable[[], None] | None = release

    def release(self) -> None:
        """Gives the array back to its library; again is no error."""
        release, self._release = self._release, None
        if release is not None:
            release()


def foreign_array(name: str, value: Any, accelerator: Accelerator, stream: Stream | None) -> Foreign | None:
    """Another library's array that lies on the accelerator; None for what is no such array, or lies in host memory.

    Args:
        name: the argument's name, for errors.
        stream: where the array will be used: work that its library has queued is waited for there, by the device.

    Raises InvalidArgument for an array on another device, with gaps, or of a type that kernels do not have.
    """
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return _by_dlpack(name, value, accelerator, stream)
    if accelerator.backend == "cuda" and hasattr(value, "__cuda_array_interface__"):
        return _by_cuda_interface(name, value, accelerator, stream)
    return None


def _by_dlpack(name: str, value: Any, accelerator: Accelerator, stream: Stream | None) -> Foreign | None:
    backend = dlpack.DEVICE_TYPES.get(int(value.__dlpack_device__()[0]))
    if backend == "cpu" != accelerator.backend:
        return None
    pointer = (
        None
        if accelerator.backend == "cpu"
        else dlpack.default_stream(accelerator.backend)
        if stream is None
        else lane_of(accelerator, stream).pointer
    )
    tensor = dlpack.borrow(name, value, pointer)
    try:
        _check_place(name, value, tensor.backend, tensor.ordinal, accelerator)
        if tensor.strides is not None and 0 not in tensor.shape:
            raise _gaps(name, value, tensor.shape, tensor.strides)
    except InvalidArgument:
        tensor.release()
        raise
    return Foreign(tensor.address, tensor.shape, tensor.dtype, _read_only(value, tensor), tensor.release)


def _read_only(value: Any, tensor: dlpack.Tensor) -> bool:
    """Whether the library says that its array must not be written to.

    A tensor from before DLPack 1.0 cannot say it. What else the array speaks is asked then: JAX's arrays are all read-only, and say so to
    NumPy and in ``__cuda_array_interface__`` alone. Those of bf16 on a device, which that interface does not have, say it nowhere.
    """
    if tensor.read_only is not None:
        return tensor.read_only
    try:
        if tensor.backend != "cpu":
            return bool(value.__cuda_array_interface__["data"][1])
        seen = numpy.asarray(value, copy=False)
    except (AttributeError, BufferError, KeyError, RuntimeError, TypeError, ValueError):  # it speaks nothing else, or not of this array
        return False
    return bool(seen.ctypes.data == tensor.address) and not seen.flags.writeable


def _by_cuda_interface(name: str, value: Any, accelerator: Accelerator, stream: Stream | None) -> Foreign:
    interface = value.__cuda_array_interface__
    try:
        shape = tuple(int(extent) for extent in interface["shape"])
        address, read_only = interface["data"]
        strides, mask, queue = interface.get("strides"), interface.get("mask"), interface.get("stream")
        dtype = numpy.dtype(interface["typestr"])
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidArgument(
            f"{name}: the __cuda_array_interface__ of {type(value).__name__} is not of version 2 or 3: {error!r}"
        ) from None
    kind = kernel_type(name, dtype)
    if mask is not None:
        raise InvalidArgument(f"{name}: is masked, and a kernel knows no masks; pass its data")
    if strides is not None and 0 not in shape:
        dense = [kind.size * prod(shape[axis + 1 :]) for axis in range(len(shape))]
        if any(extent != 1 and given != wanted for extent, given, wanted in zip(shape, strides, dense, strict=True)):
            raise _gaps(name, value, shape, tuple(strides))
    if queue == 0:
        raise InvalidArgument(f"{name}: its __cuda_array_interface__ names stream 0, which version 3 forbids as ambiguous")
    mine = lane_of(accelerator, stream)
    if queue is not None and queue != (1 if stream is None else mine.pointer):
        with accelerator.current() as driver:
            order(driver, driver.foreign_stream(int(queue)), mine.handle)
    return Foreign(int(address or 0), shape, kind.name, bool(read_only), lambda: None)


def order(driver: Driver, first: Any, then: Any) -> None:
    """Has a stream wait for what another holds so far; both are the driver's, and the device is current."""
    event = driver.create_event(False)
    try:
        driver.record_event(event, first)
        driver.wait_event(then, event)
    finally:
        driver.destroy_event(event)  # which the driver puts off until the event is reached


def _check_place(name: str, value: Any, backend: str, ordinal: int, accelerator: Accelerator) -> None:
    if (backend, ordinal) != (accelerator.backend, accelerator.ordinal):
        raise InvalidArgument(
            f"{name}: the {type(value).__name__} is on {backend} {ordinal}, and the kernel on {accelerator.backend} {accelerator.ordinal}; "
            f"move it there, or open the kernel on that device"
        )


def _gaps(name: str, value: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> InvalidArgument:
    return InvalidArgument(
        f"{name}: the {type(value).__name__} of shape {shape} has strides {strides}, so its elements do not lie in C order without gaps; "
        f"pass a contiguous copy (PyTorch: .contiguous(), CuPy: ascontiguousarray)"
    )


def shared_on_host(name: str, value: Any) -> Any:
    """What lies in host memory as a NumPy array that shares it; anything else as it is."""
    if isinstance(value, numpy.ndarray):
        return value
    array = host_array(name, value)
    if array is not None:
        return array
    return numpy.asarray(value) if hasattr(value, "__array_interface__") and not isinstance(value, numpy.generic) else value


def host_array(name: str, value: Any) -> Array | None:
    """An array with DLPack in host memory as a NumPy array that shares it; None for what is no such array.

    bf16, which NumPy lacks, is given as its bits (uint16). Raises InvalidArgument as `foreign_array`.
    """
    if isinstance(value, numpy.ndarray) or not hasattr(value, "__dlpack__"):
        return None
    if dlpack.DEVICE_TYPES.get(int(value.__dlpack_device__()[0])) != "cpu":
        return None
    tensor = dlpack.borrow(name, value, None)
    dtype = numpy_dtype(tensor.dtype)
    if not prod(tensor.shape):
        tensor.release()
        return numpy.empty(tensor.shape, dtype)
    strides = None if tensor.strides is None else tuple(stride * dtype.itemsize for stride in tensor.strides)
    reached = [(extent - 1) * stride for extent, stride in zip(tensor.shape, strides or (), strict=False)]
    before = -sum(step for step in reached if step < 0)  # of an array that runs backwards
    size = before + sum(step for step in reached if step > 0) + dtype.itemsize if strides else prod(tensor.shape) * dtype.itemsize
    memory = (ctypes.c_char * size).from_address(tensor.address - before)
    weakref.finalize(memory, tensor.release).atexit = False
    made: Array = numpy.ndarray(tensor.shape, dtype, memoryview(memory), before, strides)
    made.setflags(write=not _read_only(value, tensor))
    return made
