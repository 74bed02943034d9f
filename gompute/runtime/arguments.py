"""Launch arguments that say their own size."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy

from gompute.errors import InvalidArgument
from gompute.runtime.buffer import Buffer, Memory

__all__ = ["Argument", "PackedArguments"]

#: What a launch without a signature takes.
Argument: TypeAlias = Any

#: No argument needs a higher alignment.
_ALIGNMENT = 16


class PackedArguments:
    """Arguments as a driver takes them: each in its own place, and an array of pointers to them.

    Attributes:
        address: of the array of pointers; valid as long as this object.
        buffers: the buffers among the arguments.
    """

    __slots__ = ("_keep", "address", "buffers")

    def __init__(self, arguments: Sequence[Argument], memory: Memory) -> None:
        """
        Args:
            memory: where buffers must lie.

        Raises:
            InvalidArgument: an argument that does not say its size, or a buffer elsewhere.
        """
        self.buffers = [argument for argument in arguments if isinstance(argument, Buffer)]
        parts = [_bytes_of(place, argument, memory) for place, argument in enumerate(arguments)]
        offsets, size = [], 0
        for part in parts:
            offsets.append(size)
            size += len(part) + -len(part) % _ALIGNMENT
        storage = (ctypes.c_char * (size + _ALIGNMENT))()
        start = -(-ctypes.addressof(storage) // _ALIGNMENT) * _ALIGNMENT
        for part, offset in zip(parts, offsets, strict=True):
            ctypes.memmove(start + offset, part, len(part))
        pointers = (ctypes.c_void_p * max(1, len(parts)))(*(start + offset for offset in offsets))
        self.address = ctypes.addressof(pointers)
        self._keep = (storage, pointers)


def _bytes_of(place: int, argument: Argument, memory: Memory) -> bytes:
    if isinstance(argument, Buffer):
        if argument.memory is not memory:
            raise InvalidArgument(
                f"args[{place}]: the buffer is on {argument.memory.backend} {argument.memory.ordinal}, the kernel on {memory.backend} "
                f"{memory.ordinal}"
            )
        return argument.arg
    if isinstance(argument, numpy.generic):
        return argument.tobytes()
    if isinstance(argument, bytes | bytearray):
        return bytes(argument)
    if isinstance(argument, ctypes._SimpleCData | ctypes.Structure):
        return bytes(argument)  # ctypes values have the buffer protocol
    raise InvalidArgument(
        f"args[{place}]: expected a Buffer, a NumPy scalar (numpy.float32(2)), a ctypes value or bytes, got {argument!r}, which does not "
        f"say its size"
    )
