"""Host memory that a device copies from and to by itself."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Self

import numpy

from gompute.errors import Error, InvalidArgument

if TYPE_CHECKING:
    from gompute.runtime.held import Held

__all__ = ["PinnedMemory"]


class _Guard:
    """Gives pinned memory back when the last that uses it is gone: the PinnedMemory or an array on it."""

    def __init__(self, held: Held, failures: list[Error]) -> None:
        self._held = held
        self._failures = failures

    def __del__(self) -> None:
        try:
            self._held.release()
        except Error as error:
            self._failures.append(error)  # for `free` to raise; an array that goes has nobody to tell, and `shutdown` tries again


class PinnedMemory:
    """Page-locked host memory: asynchronous copies from and to it run beside the host's work. Made by `alloc_pinned` of a context.

    Ended by `free`, at the end of a ``with`` block, or when nothing refers to it. An array that was made from it keeps the memory, also
    after `free` and `shutdown`, so that it never points to nothing.

    Attributes:
        nbytes: its size.
    """

    def __init__(self, held: Held | None, address: int, nbytes: int) -> None:
        """
        Args:
            held: what gives the memory back; None where there is none.
        """
        self.nbytes = nbytes
        kind = ctypes.c_char * nbytes
        memory: Any = kind() if held is None else kind.from_address(address)
        # Arrays keep the object that they were made from, and so the guard.
        self._failures: list[Error] = []
        memory.guard = None if held is None else _Guard(held, self._failures)
        self._memory: Any = memory

    def array(self, dtype: Any = numpy.uint8, shape: int | tuple[int, ...] | None = None) -> numpy.ndarray[Any, Any]:
        """A NumPy array on the memory's start, which is not cleared.

        Args:
            shape: as many elements as fit when left out.

        Raises:
            InvalidArgument: it does not fit, or the memory is freed.
        """
        if self._memory is None:
            raise InvalidArgument(f"this pinned memory of {self.nbytes} bytes is freed")
        kind = numpy.dtype(dtype)
        sizes = (self.nbytes // kind.itemsize,) if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
        wanted = int(numpy.prod(sizes, dtype=object)) * kind.itemsize
        if wanted > self.nbytes or any(size < 0 for size in sizes):
            raise InvalidArgument(f"array of {kind} with shape {sizes} has {wanted} bytes: the pinned memory has {self.nbytes} bytes")
        whole: numpy.ndarray[Any, Any] = numpy.frombuffer(self._memory, numpy.uint8, wanted)
        array: numpy.ndarray[Any, Any] = whole.view(kind).reshape(sizes)
        return array

    def free(self) -> None:
        """Lets the memory go; again is no error.

        Raises:
            AllocFailed: the driver does not take it back.
        """
        self._memory = None
        if self._failures:
            raise self._failures.pop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def __repr__(self) -> str:
        return f"<PinnedMemory: {'freed' if self._memory is None else f'{self.nbytes} bytes'}>"
