"""Arrays with a shape as launch arguments."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy

from gompute.artifacts.entry import ArgumentEntry
from gompute.errors import InvalidArgument
from gompute.handles.arrays import check_array, numpy_dtype
from gompute.handles.device_array import typed_on_device
from gompute.handles.foreign import shared_on_host
from gompute.runtime.accelerator import Accelerator
from gompute.runtime.buffer import Buffer
from gompute.runtime.stream import Stream

__all__ = ["view_reader"]

_LONGEST = 2**63 - 1


def view_reader(
    argument: ArgumentEntry, address_of: Callable[[Any], int], accelerator: Accelerator | None = None, *, on_host: bool = False
) -> Callable[..., tuple[int, ...]]:
    """A function from what a caller passes for an array with a shape to its address and the length of each dimension.

    Args:
        address_of: checks a buffer, and gives its address.
        accelerator: a device on which arrays of this and of other libraries are taken as they lie.
        on_host: arrays of this process may be passed themselves.

    Raises (the function):
        InvalidArgument: naming the argument, what is expected and what was given.
    """
    name, dtype, ndim = argument.name, argument.dtype, argument.ndim
    itemsize = numpy_dtype(dtype).itemsize
    shapes = "a shape of 1 dimension" if ndim == 1 else f"a shape of {ndim} dimensions"

    def read(value: Any, stream: Stream | None = None) -> tuple[int, ...]:
        if on_host:
            value = shared_on_host(name, value)
        if accelerator is not None and not isinstance(value, tuple | Buffer):
            found = typed_on_device(name, dtype, value, accelerator, stream, writes=True)
            if found is not None:
                address, _, extents = found
                if len(extents) != ndim:
                    raise InvalidArgument(f"{name}: expected an array of {dtype} with {shapes}, got the shape {extents}")
                return (address, *extents)
        if isinstance(value, numpy.ndarray) and on_host:
            array = check_array(name, dtype, value, " or (buffer, shape) on cpu")
            if array.ndim != ndim:
                raise InvalidArgument(f"{name}: expected an array of {dtype} with {shapes}, got the shape {array.shape}")
            if not array.flags.c_contiguous:
                raise InvalidArgument(f"{name}: is in Fortran order, and indices count in C order: pass numpy.ascontiguousarray({name})")
            return (array.ctypes.data, *array.shape)
        if not (isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], Buffer)):
            or_array = "a NumPy array or " if on_host else ""
            given = f"a NumPy array of {value.dtype}" if isinstance(value, numpy.ndarray) else type(value).__qualname__
            raise InvalidArgument(f"{name}: expected {or_array}(buffer, shape) with elements of {dtype} and {shapes}, got {given}")
        buffer, given_shape = value
        shape = _shape(name, given_shape)
        if len(shape) != ndim:
            raise InvalidArgument(f"{name}: expected {shapes}, got {shape}")
        address, size = address_of(buffer), prod(shape) * itemsize
        if size > buffer.nbytes:
            raise InvalidArgument(f"{name}: {shape} elements of {dtype} take {size} bytes, and the buffer has {buffer.nbytes}")
        return (address, *shape)

    return read


def _shape(name: str, given: Any) -> tuple[int, ...]:
    lengths = given if isinstance(given, tuple | list) else (given,)
    found: list[int] = []
    for length in lengths:
        try:
            found.append(length.__index__())
        except (AttributeError, TypeError):
            raise InvalidArgument(f"{name}: expected a shape of whole numbers, got {given!r}") from None
        if not 0 <= found[-1] <= _LONGEST:
            raise InvalidArgument(f"{name}: a dimension of {length} elements; expected 0 or more, below 2**63")
    return tuple(found)
