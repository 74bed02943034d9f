"""Addresses of the memory behind host objects: NumPy arrays and anything bytes-like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy

from gompute.errors import InvalidArgument

__all__ = ["HostMemory", "readable", "writable"]


@dataclass(frozen=True, slots=True)
class HostMemory:
    """A run of bytes on the host; `owner` keeps it there."""

    address: int
    nbytes: int
    owner: Any


def readable(name: str, value: Any) -> HostMemory:
    """The memory of an array or a bytes-like object.

    Raises:
        InvalidArgument: `value` has no contiguous memory; `name` is its name in the message.
    """
    array = _array(name, value)
    return HostMemory(array.ctypes.data, array.nbytes, array)


def writable(name: str, value: Any) -> HostMemory:
    """As `readable`, of memory that may be written.

    Raises:
        InvalidArgument: also where it is read-only.
    """
    array = _array(name, value)
    if not array.flags.writeable:
        raise InvalidArgument(f"{name}: read-only memory cannot be filled: pass a writable array (numpy.empty_like, or .copy())")
    return HostMemory(array.ctypes.data, array.nbytes, array)


def _array(name: str, value: Any) -> numpy.ndarray[Any, Any]:
    array: numpy.ndarray[Any, Any]
    if isinstance(value, numpy.ndarray):
        array = value
    else:
        try:
            array = numpy.frombuffer(value, dtype=numpy.uint8) if memoryview(value).nbytes else numpy.empty(0, numpy.uint8)
        except TypeError:
            raise InvalidArgument(f"{name}: expected a NumPy array or a bytes-like object, got {type(value).__name__}") from None
        except (ValueError, BufferError) as error:
            raise InvalidArgument(f"{name}: its memory is not contiguous: {error}") from None
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise InvalidArgument(f"{name}: expected contiguous memory, got strides {array.strides}: pass numpy.ascontiguousarray({name})")
    return array
