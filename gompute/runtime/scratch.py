"""How a CPU kernel is told of its launch, and the memory that it works in."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable

import numpy

from gompute.errors import AllocFailed

__all__ = ["LaunchShape", "run_blocks"]

# What the entry point may rely on: a cache line.
_ALIGNMENT = 64
#: A thread keeps its memory from launch to launch up to so many bytes.
_KEPT = 1 << 24


class LaunchShape(ctypes.Structure):
    """What a raw kernel's entry point is told of the launch. Where `scratch` is too small for the shared memory of a block and the state of
    its work-items, it says in `scratch_needed` how many bytes it takes, and does nothing else."""

    _fields_ = (
        ("grid", ctypes.c_uint64 * 3),
        ("block", ctypes.c_uint64 * 3),
        ("shared", ctypes.c_uint64),
        ("scratch", ctypes.c_void_p),
        ("scratch_size", ctypes.c_uint64),
        ("scratch_needed", ctypes.c_uint64),
    )


class _Memory(threading.local):
    """The calling thread's memory for one launch at a time."""

    buffer = numpy.empty(0, numpy.uint8)


_memory = _Memory()


def run_blocks(
    entry: Callable[..., None], arguments: int, shape: tuple[tuple[int, ...], tuple[int, ...], int], begin: int, end: int
) -> None:
    """Calls an entry point for the blocks from `begin` to `end`.

    Args:
        arguments: address of an array of pointers, one to each argument's bytes.
        shape: the grid, the block, and bytes of dynamic shared memory.

    Raises:
        AllocFailed: there is not as much memory as a block needs.
    """
    buffer = _memory.buffer
    for _ in range(2):
        address = -(-buffer.ctypes.data // _ALIGNMENT) * _ALIGNMENT
        launch = LaunchShape(*shape, address, max(0, buffer.nbytes - _ALIGNMENT), 0)
        entry(arguments, ctypes.addressof(launch), begin, end)
        needed = launch.scratch_needed
        if not needed:
            return
        try:
            buffer = numpy.empty(needed + _ALIGNMENT, numpy.uint8)
        except (MemoryError, ValueError) as error:
            raise AllocFailed(f"cpu: a block of {shape[1]} work-items needs {needed} bytes, and they cannot be had: {error}") from error
        if needed <= _KEPT:
            _memory.buffer = buffer
