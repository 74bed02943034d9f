"""The arrays of one call: where each lies, and whether they go together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gompute.artifacts.entry import ArgumentEntry
from gompute.errors import InvalidArgument
from gompute.handles.arrays import Array, check_array, check_buffer, not_whole, numpy_dtype
from gompute.lang.signature import Use
from gompute.runtime.buffer import Buffer
from gompute.runtime.context import Accelerator
from gompute.runtime.cpu import is_host_buffer

__all__ = ["Located", "Operand", "check_together"]


class Located(NamedTuple):
    """An array or a buffer that was accepted: its address, its elements, and the array where it is one."""

    address: int
    elements: int
    array: Array | None


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
        array = check_array(self.name, self.element, value, also, writable=self.use.writes)
        if self.use.bounded and not array.flags.c_contiguous:
            raise InvalidArgument(
                f"{self.name}: is in Fortran order, and indices count in C order: pass numpy.ascontiguousarray({self.name})"
            )
        return Located(array.ctypes.data, array.size, array)

    def on_host(self, value: Any) -> Located:
        """Accept an array, or a buffer of the CPU backend."""
        if isinstance(value, Buffer) and is_host_buffer(value):
            return self._buffer(value, value.device_addr)
        return self.array(value, " or a Buffer on cpu")

    def on_device(self, value: Any, accelerator: Accelerator) -> Located:
        """Accept a buffer of that device."""
        address = value.address if type(value) is Buffer and value.memory is accelerator else None
        if address is None:
            address = check_buffer(self.name, self.element, value, accelerator).device_addr
        return self._buffer(value, address)

    def _buffer(self, buffer: Buffer, address: int) -> Located:
        count, rest = divmod(buffer.nbytes, self.itemsize)
        if rest:
            raise not_whole(self.name, self.element, buffer.nbytes, self.itemsize)
        return Located(address, count, None)


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
    (first, (_, count, array)), *others = counted
    for operand, other in others:
        if array is not None and other.array is not None:
            if other.array.shape != array.shape:
                raise InvalidArgument(f"{operand.name}: expected the shape of {first.name}, {array.shape}, got {other.array.shape}")
            if not _same_order(array, other.array):
                raise InvalidArgument(
                    f"{operand.name}: its elements lie in another order than those of {first.name}: pass both through "
                    f"numpy.ascontiguousarray"
                )
        elif other.elements != count:
            raise InvalidArgument(f"{operand.name}: expected as many elements as {first.name} has, {count}, got {other.elements}")
    *inputs, (output, written) = zip(operands, located, strict=True)
    in_step = in_place and len(counted) == len(operands)
    for operand, read in inputs:
        if not (read.elements and written.elements):
            continue
        if in_step and read.address == written.address and operand.itemsize == output.itemsize:
            continue
        if (
            read.address < written.address + written.elements * output.itemsize
            and written.address < read.address + read.elements * operand.itemsize
        ):
            raise InvalidArgument(f"{output.name}: shares memory with {operand.name}: pass another array, or {operand.name}.copy()")


def _same_order(one: Array, other: Array) -> bool:
    return (one.flags.c_contiguous and other.flags.c_contiguous) or (one.flags.f_contiguous and other.flags.f_contiguous)
