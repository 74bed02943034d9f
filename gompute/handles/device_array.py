"""Typed arrays in a device's memory: ``g.empty``, ``g.zeros``, ``g.asarray``."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from math import prod
from typing import Any, Self

import numpy

from gompute.errors import InvalidArgument
from gompute.handles.arrays import Array, address_of, kernel_type, numpy_dtype
from gompute.handles.foreign import foreign_array, order, shared_on_host
from gompute.handles.opening import open_context
from gompute.lang.types import SCALARS, ScalarType
from gompute.runtime import dlpack
from gompute.runtime.accelerator import Accelerator
from gompute.runtime.buffer import Buffer, Loan
from gompute.runtime.stream import Stream

__all__ = ["DeviceArray", "asarray", "buffers_among", "empty", "like", "typed_on_device", "zeros"]


class DeviceArray:
    """An array in a device's memory, in C order without gaps.

    Made by `empty`, `zeros` and `asarray`. It goes wherever a `Buffer` goes, and into other libraries without a copy through DLPack and
    ``__cuda_array_interface__``. A slice of rows shares the memory.

    Attributes:
        buffer: the memory; several arrays may share one.
        shape: in elements.
        element: the kernel type of its elements.
        offset: bytes from the buffer's start.
    """

    __slots__ = ("buffer", "element", "offset", "shape")

    def __init__(self, buffer: Buffer, shape: tuple[int, ...], element: ScalarType, offset: int = 0) -> None:
        """
        Args:
            offset: bytes from the buffer's start.

        Raises InvalidArgument where the buffer is too small.
        """
        self.buffer = buffer
        self.shape = shape
        self.element = element
        self.offset = offset
        if offset + self.nbytes > buffer.nbytes:
            raise InvalidArgument(f"an array of {shape} {element} takes {self.nbytes} bytes at {offset}; the buffer has {buffer.nbytes}")

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """NumPy's type of the elements; of bf16, which NumPy lacks, that of its bits."""
        return numpy_dtype(self.element.name)

    @property
    def size(self) -> int:
        """Elements in all."""
        return prod(self.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.element.size

    @property
    def backend(self) -> str:
        """``cuda``, ``hip`` or ``cpu``."""
        return self.buffer.memory.backend

    @property
    def ordinal(self) -> int:
        """The device's number."""
        return self.buffer.memory.ordinal

    @property
    def address(self) -> int:
        """Where the first element lies, on the device.

        Raises InvalidArgument when the memory is freed.
        """
        return self.buffer.device_addr + self.offset

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def __getitem__(self, rows: int | slice) -> DeviceArray:
        """One row, or a slice of rows, sharing the memory: of the first dimension, whose rows lie one after the other.

        Raises InvalidArgument for any other index.
        """
        if not self.shape:
            raise InvalidArgument("an array without dimensions has no rows")
        pitch = prod(self.shape[1:]) * self.element.size
        if isinstance(rows, slice):
            start, stop, step = rows.indices(self.shape[0])
            if step != 1:
                raise InvalidArgument(f"rows with a step of {step} do not lie one after the other; copy them on the host with numpy()")
            shape = (max(0, stop - start), *self.shape[1:])
        elif isinstance(rows, int) and not isinstance(rows, bool):
            start = rows + self.shape[0] if rows < 0 else rows
            if not 0 <= start < self.shape[0]:
                raise IndexError(f"row {rows} of {self.shape[0]}")
            shape = self.shape[1:]
        else:
            raise InvalidArgument(f"an array on a device is indexed by a row or a slice of rows, not by {rows!r}; for more use numpy()")
        return DeviceArray(self.buffer, shape, self.element, self.offset + min(start, self.shape[0]) * pitch)

    def reshape(self, *shape: int) -> DeviceArray:
        """The same elements in another shape, sharing the memory. Raises InvalidArgument where the numbers of elements differ."""
        if prod(shape) != self.size or any(extent < 0 for extent in shape):
            raise InvalidArgument(f"shape: {shape} has not the {self.size} elements of {self.shape}")
        return DeviceArray(self.buffer, shape, self.element, self.offset)

    def numpy(self) -> Array:
        """A copy on the host; waits for the launches before it."""
        made = numpy.empty(self.shape, self.dtype)
        self.buffer.download_at(made, self.offset)
        return made

    def upload(self, host: Any) -> None:
        """Copies an array of the same shape and type to the device.

        Raises InvalidArgument naming the difference.
        """
        given = numpy.ascontiguousarray(host) if isinstance(host, numpy.ndarray) else numpy.asarray(host, self.dtype)
        if given.shape != self.shape or given.dtype != self.dtype:
            raise InvalidArgument(f"host: expected {self.shape} {self.dtype}, got {given.shape} {given.dtype}")
        self.buffer.upload_at(given, self.offset)

    def free(self) -> None:
        """Gives the memory back, also that of arrays which share it; again is no error.

        What another library has through DLPack, or NumPy on the CPU, stays until it lets go. ``__cuda_array_interface__`` keeps nothing.
        """
        self.buffer.free()

    # ---- other libraries ----

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.device_of(self.backend, self.ordinal)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The memory as a DLPack capsule, safe to use on the taker's `stream` (None: the default stream; -1: it takes care itself)."""
        if copy:
            raise BufferError("a copy was asked for; take the memory and copy it")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the array is on {self.backend} {self.ordinal}, and {dl_device} was asked for")
        if self.backend != "cpu" and stream != -1:
            self._make_safe_on(stream)
        versioned = max_version is not None and max_version[0] >= 1
        return dlpack.export(Loan(self.buffer), self.backend, self.ordinal, self.address, self.shape, self.element.name, versioned)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3 of the protocol of Numba, CuPy and PyTorch; on the default stream of CUDA."""
        if self.backend != "cuda":
            raise AttributeError(f"an array on {self.backend} is no CUDA array")
        if self.element.name == "bf16":
            raise AttributeError("__cuda_array_interface__ has no bf16; use DLPack")
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "strides": None,
            "stream": 1,
            "version": 3,
        }

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """NumPy's protocol, for an array in host memory: ``numpy.asarray(array)`` shares it."""
        if self.backend != "cpu":
            raise AttributeError(f"an array on {self.backend} is not in host memory; copy it with numpy()")
        kind = ctypes.c_char * self.nbytes
        memory: Any = kind.from_address(self.address) if self.nbytes else kind()
        memory.loan = Loan(self.buffer)  # NumPy keeps `memory`
        return {"shape": self.shape, "typestr": self.dtype.str, "data": memory, "strides": None, "version": 3}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError(f"an array on {self.backend} cannot be shared with the host; copy it with numpy()")
        made = self.numpy()
        return made if dtype is None else made.astype(dtype, copy=False)

    def _make_safe_on(self, stream: Any) -> None:
        """Has the taker's stream wait for what was launched here on the default stream."""
        if stream is None or stream == dlpack.default_stream(self.backend):
            return
        with open_context(self.backend, self.ordinal) as context, context.accelerator.current() as driver:
            order(driver, driver.default_stream, driver.foreign_stream(int(stream)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def __repr__(self) -> str:
        state = ", freed" if self.buffer.address is None else ""
        return f"<DeviceArray {self.shape} {self.element} on {self.backend} {self.ordinal}{state}>"


def typed_on_device(
    name: str, element: str, value: Any, accelerator: Accelerator, stream: Stream | None, *, writes: bool
) -> tuple[int, int, tuple[int, ...]] | None:
    """Address, elements and shape of a `DeviceArray` or of another library's array that lies on the accelerator; None for anything else.

    What that library has queued is waited for on `stream`, by the device.

    Raises InvalidArgument for other elements than `element`, and for a read-only array that is written to.
    """
    if isinstance(value, DeviceArray):
        if value.buffer.memory is not accelerator:
            return None
        _check_element(name, element, value, value.element.name)
        return address_of(name, value.buffer) + value.offset, value.size, value.shape
    taken = foreign_array(name, value, accelerator, stream)
    if taken is None:
        return None
    taken.release()  # the caller keeps the array itself, as long as it would keep a buffer
    _check_element(name, element, value, taken.dtype)
    if writes and taken.read_only:
        raise InvalidArgument(
            f"{name}: the {type(value).__name__} is read-only, and the kernel may write to it; pass a copy: "
            f"gompute.asarray({name}, {accelerator.backend!r})"
        )
    return taken.address, prod(taken.shape), taken.shape


def like(name: str, value: Any, dtype: str, wanted: str) -> DeviceArray | Array:
    """A new array in the shape of `value`: on its device where it lies on one, else a NumPy array in its order.

    Args:
        name: what `value` is.
        dtype: the kernel type of the new array's elements.
        wanted: what the new array is.

    Raises InvalidArgument where `value` has no shape.
    """
    if isinstance(value, DeviceArray):
        return empty(value.shape, dtype, value.backend, value.ordinal)
    shared = shared_on_host(name, value)
    if isinstance(shared, numpy.ndarray):
        return numpy.empty_like(shared, numpy_dtype(dtype), subok=False)
    shape = getattr(value, "shape", None)
    if shape is None or not hasattr(value, "__dlpack_device__"):
        what = type(value).__name__
        raise InvalidArgument(f"{wanted}: None makes a new array in the shape of {name}, and a {what} has no shape: pass an array")
    kind, ordinal = (int(part) for part in value.__dlpack_device__())
    return empty(tuple(shape), dtype, dlpack.DEVICE_TYPES.get(kind, "cpu"), ordinal)


def buffers_among(arguments: Sequence[Any]) -> list[Buffer]:
    """The memory of ours that a launch works on."""
    held = [argument.buffer if isinstance(argument, DeviceArray) else argument for argument in arguments]
    return [buffer for buffer in held if isinstance(buffer, Buffer)]


def _check_element(name: str, element: str, value: Any, found: str) -> None:
    if found != element:
        raise InvalidArgument(f"{name}: expected elements of {element}, got a {type(value).__name__} of {found}")


def empty(shape: int | Sequence[int], dtype: Any, backend: str, ordinal: int = 0) -> DeviceArray:
    """An array on a device, not cleared.

    Args:
        shape: an int or a sequence of ints.
        dtype: a kernel type (``f32``), its name, or NumPy's.
        backend: ``cuda``, ``hip`` or ``cpu``.

    Raises:
        InvalidArgument: a wrong shape or type.
        AllocFailed: there is not that much memory.
        BackendUnavailable, InitFailed, NoDevice: the device cannot be used here.
    """
    extents = _extents(shape)
    element = kernel_type("dtype", dtype)
    with open_context(backend, ordinal) as context:
        return DeviceArray(context.alloc(prod(extents) * element.size), extents, element)


def zeros(shape: int | Sequence[int], dtype: Any, backend: str, ordinal: int = 0) -> DeviceArray:
    """An array of zeros on a device; otherwise as `empty`."""
    made = empty(shape, dtype, backend, ordinal)
    made.buffer.fill(0)
    return made


def asarray(value: Any, backend: str, ordinal: int = 0, *, stream: Stream | None = None) -> DeviceArray:
    """An array on a device, of what lies there already without a copy, else of a copy.

    Args:
        value: a `DeviceArray`, a NumPy array or what `numpy.asarray` takes, or an array of another library with DLPack or
            ``__cuda_array_interface__`` that lies on the device in C order. On the CPU a NumPy array in C order is shared too. What is
            read-only, as all arrays of JAX are, is copied on the device.
        stream: where the array will be used; the default stream when left out.

    Raises:
        InvalidArgument: a type that kernels do not have, another library's array with gaps, or memory of another device.
    """
    if isinstance(value, DeviceArray):
        if (value.backend, value.ordinal) != (backend, ordinal):
            raise InvalidArgument(f"value: is on {value.backend} {value.ordinal}; copy it: asarray(value.numpy(), {backend!r})")
        return value
    with open_context(backend, ordinal) as context:
        shared = not isinstance(value, numpy.ndarray) or (value.flags.c_contiguous and value.flags.writeable)
        taken = foreign_array("value", value, context.accelerator, stream) if shared else None
        if taken is not None:
            element, source = SCALARS[taken.dtype], Buffer(context.accelerator, taken.address, taken.nbytes, taken)
            if not taken.read_only:
                return DeviceArray(source, taken.shape, element)
            with source:
                made = DeviceArray(context.alloc(taken.nbytes), taken.shape, element)
                made.buffer.copy_from(source, stream=stream)
                context.synchronize() if stream is None else stream.synchronize()
                return made
        given = numpy.asarray(value)
        made = empty(given.shape, given.dtype, backend, ordinal)
        made.upload(given)
        return made


def _extents(shape: int | Sequence[int]) -> tuple[int, ...]:
    try:
        extents = (int(shape.__index__()),) if hasattr(shape, "__index__") else tuple(int(extent.__index__()) for extent in shape)
    except (TypeError, AttributeError):
        raise InvalidArgument(f"shape: expected an int or a sequence of ints, got {shape!r}") from None
    if any(extent < 0 for extent in extents):
        raise InvalidArgument(f"shape: {extents} has a negative extent")
    return extents
