"""The arrays of one call: where each lies, and whether they go together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gompute.artifacts.entry import ArgumentEntry
from gompute.errors import InvalidArgument
from gompute.handles.arrays import Array, address_of, check_array, check_buffer, not_whole, numpy_dtype
from gompute.handles.device_array import typed_on_device
from gompute.handles.foreign import shared_on_host
from gompute.lang.signature import Use
from gompute.runtime.buffer import Buffer
from gompute.runtime.context import Accelerator
from gompute.runtime.cpu import is_host_buffer
from gompute.runtime.stream import Stream

__all__ = ["Located", "Operand", "check_together"]


class Located(NamedTuple):
    """An array or a buffer that was accepted.

    Attributes:
        shape: None for a buffer, which has none.
        array: a NumPy array.
        on_device: it lies where a GPU's kernel works on it.
    """

    address: int
    elements: int
    shape: tuple[int, ...] | None
    array: Array | None = None
    on_device: bool = False


class Operand:
    """One array of an operation.

    Attributes:
        name: as the table of operations has it (`data`, `out`).
        element: the kernel type of its elements.
        dtype: NumPy's for it.
        use: what a launch does to it.
    """

    __slots__ = ("dtype", "element", "itemsize", "name", "use")

    def __init__(self, argument: ArgumentEntry, use: Use) -> None:
        self.name = argument.name
        self.element = argument.dtype
        self.dtype = numpy_dtype(argument.dtype)
        self.itemsize = self.dtype.itemsize
        self.use = use

    def array(self, value: Any, also: str = "") -> Located:
        """Accept an array.

        Args:
            also: what may be passed besides, for the message.

        Raises:
            InvalidArgument: naming the argument, what is expected and what was given.
        """
        array = check_array(self.name, self.element, shared_on_host(self.name, value), also, writable=self.use.writes)
        if self.use.bounded and not array.flags.c_contiguous:
            raise InvalidArgument(
                f"{self.name}: is in Fortran order, and indices count in C order: pass numpy.ascontiguousarray({self.name})"
            )
        return Located(array.ctypes.data, array.size, array.shape, array)

    def on_host(self, value: Any) -> Located:
        """Accept an array, or a buffer of the CPU backend."""
        if isinstance(value, Buffer) and is_host_buffer(value):
            return self._buffer(value, address_of(self.name, value))
        return self.array(value, " or a Buffer on cpu")

    def on_device(self, value: Any, accelerator: Accelerator, stream: Stream | None) -> Located:
        """Accept what lies on that device: a buffer, a `DeviceArray`, or an array of another library, made safe for work on `stream`."""
        address = value.address if type(value) is Buffer and value.memory is accelerator else None
        if address is not None:
            return self._buffer(value, address, on_device=True)
        found = typed_on_device(self.name, self.element, value, accelerator, stream, writes=self.use.writes)
        if found is not None:
            return Located(*found, on_device=True)
        buffer = check_buffer(self.name, self.element, value, accelerator)
        return self._buffer(buffer, address_of(self.name, buffer), on_device=True)

    def anywhere(self, value: Any, accelerator: Accelerator) -> Located:
        """Accept an array in host memory, or what lies on that device."""
        if isinstance(value, Buffer):
            return self.on_device(value, accelerator, None)
        found = typed_on_device(self.name, self.element, value, accelerator, None, writes=self.use.writes)
        if found is not None:
            return Located(*found, on_device=True)
        return self.array(value)

    def _buffer(self, buffer: Buffer, address: int, *, on_device: bool = False) -> Located:
        count, rest = divmod(buffer.nbytes, self.itemsize)
        if rest:
            raise not_whole(self.name, self.element, buffer.nbytes, self.itemsize)
        return Located(address, count, None, None, on_device)


def check_together(operands: Sequence[Operand], located: Sequence[Located], *, in_place: bool = True) -> None:
    """Refuse arrays of one call that do not match.

    Those that have one element a work-item need one shape and one order of elements. The output may be one of the inputs where each element
    is read before it is written, and may overlap with none otherwise.

    Args:
        in_place: whether each element of such arrays is read before it is written.

    Raises:
        InvalidArgument: naming both arrays.
    """
    counted = [pair for pair in zip(operands, located, strict=True) if not pair[0].use.bounded]
    (first, place), *others = counted
    for operand, other in others:
        if place.shape is not None and other.shape is not None:
            if other.shape != place.shape:
                raise InvalidArgument(f"{operand.name}: expected the shape of {first.name}, {place.shape}, got {other.shape}")
            if not _same_order(place.array, other.array):
                raise InvalidArgument(
                    f"{operand.name}: its elements lie in another order than those of {first.name}: pass both through "
                    f"numpy.ascontiguousarray"
                )
        elif other.elements != place.elements:
            raise InvalidArgument(f"{operand.name}: expected as many elements as {first.name} has, {place.elements}, got {other.elements}")
    *inputs, (output, written) = zip(operands, located, strict=True)
    in_step = in_place and len(counted) == len(operands)
    for operand, read in inputs:
        if not (read.elements and written.elements):
            continue
        if in_step and read.address == written.address and operand.itemsize == output.itemsize:
            continue
        if read.on_device == written.on_device and (
            read.address < written.address + written.elements * output.itemsize
            and written.address < read.address + read.elements * operand.itemsize
        ):
            raise InvalidArgument(f"{output.name}: shares memory with {operand.name}: pass another array, or {operand.name}.copy()")


def _same_order(one: Array | None, other: Array | None) -> bool:
    """Whether the elements of both lie in the same order; what is no NumPy array is in C order."""
    return (_in_order(one, "C") and _in_order(other, "C")) or (_in_order(one, "F") and _in_order(other, "F"))


def _in_order(array: Array | None, order: str) -> bool:
    if array is None:
        return order == "C"
    return array.flags.c_contiguous if order == "C" else array.flags.f_contiguous
