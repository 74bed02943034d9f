"""The memories of a launch. Every access is checked: inside an allocation, aligned, and in the state space that the instruction names."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.ptx.faults import PtxError, Undefined

Array = np.ndarray[Any, Any]

#: Where generic addresses show a block's shared memory, a thread's local memory and the kernel's parameters.
SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW = 0x7E00_0000_0000_0000, 0x7D00_0000_0000_0000, 0x7C00_0000_0000_0000
WINDOW_SIZE = 1 << 32
#: Fresh shared and local memory holds this: it must not matter.
GARBAGE = 0xA5


def word(size: int) -> np.dtype[Any]:
    """The unsigned dtype of so many bytes."""
    return np.dtype(f"u{size}")


def aligned_zeros(size: int) -> Array:
    """Bytes that begin at a multiple of 256."""
    raw = np.zeros(size + 256, np.uint8)
    start = -raw.ctypes.data % 256
    return raw[start : start + size]


@dataclass
class Region:
    """An allocation.

    Attributes:
        space: ``global`` or ``const``.
        frozen: bytes that this launch has read through the cache that is not coherent (``ld.global.nc``), if any.
        stored: bytes that this launch has written, if any.
    """

    base: int
    data: Array
    space: str = "global"
    frozen: Array | None = field(default=None, repr=False)
    stored: Array | None = field(default=None, repr=False)

    @property
    def end(self) -> int:
        return self.base + self.data.size

    def view(self, size: int) -> Array:
        """As words of so many bytes."""
        if self.base % size:
            raise PtxError(f"an allocation at {self.base:#x} has no words of {size} bytes")
        return self.data[: self.data.size // size * size].view(word(size))


class GlobalMemory:
    """Global and constant memory: allocations of the host, under the addresses that they have there."""

    def __init__(self) -> None:
        self.regions: list[Region] = []
        self._bases = np.zeros(0, np.uint64)

    def add(self, region: Region) -> Region:
        self.regions.append(region)
        self.regions.sort(key=lambda each: each.base)
        for before, after in zip(self.regions, self.regions[1:], strict=False):
            if before.end > after.base:
                raise PtxError(f"the allocations at {before.base:#x} and {after.base:#x} overlap")
        self._bases = np.array([each.base for each in self.regions], np.uint64)
        return region

    def add_array(self, array: Array) -> int:
        """The address of an array, whose bytes become an allocation."""
        if array.size:
            self.add(Region(array.ctypes.data, array.reshape(-1).view(np.uint8)))
        return array.ctypes.data

    def add_host(self, address: int, size: int) -> None:
        """Makes memory of this process an allocation."""
        buffer = (ctypes.c_uint8 * size).from_address(address)
        self.add(Region(address, np.frombuffer(buffer, np.uint8)))

    def keep(self, regions: list[Region]) -> None:
        """Forgets all allocations but these."""
        self.regions = list(regions)
        self._bases = np.array([each.base for each in self.regions], np.uint64)

    def begin(self) -> None:
        """A new launch: what the last one read and wrote is forgotten."""
        for region in self.regions:
            region.frozen = region.stored = None

    def _parts(self, addresses: Array, size: int, space: str) -> list[tuple[Region, Array | slice, Array]]:
        """Each region touched, which of the addresses are in it, and their offsets in words."""
        at = np.searchsorted(self._bases, addresses, side="right").astype(np.int64) - 1
        if at.size and (at[0] == at).all():
            places: list[tuple[int, Array | slice]] = [(int(at[0]), slice(None))]
        else:
            places = [(int(index), np.flatnonzero(at == index)) for index in np.unique(at)]
        parts = []
        for index, chosen in places:
            if index < 0:
                raise Undefined(f"an access to {int(addresses[chosen][0]):#x}, which is below all memory")
            region, mine = self.regions[index], addresses[chosen]
            offsets = mine - np.uint64(region.base)
            outside = offsets > region.data.size - size if region.data.size >= size else np.ones(offsets.size, bool)
            if outside.any():
                first = int(mine[outside][0])
                raise Undefined(f"an access of {size} bytes to {first:#x}; the allocation before it is {region.base:#x} to {region.end:#x}")
            _check_aligned(mine, size)
            if region.space != space:
                raise Undefined(f"an access to {space} memory reaches {region.space} memory")
            parts.append((region, chosen, offsets // np.uint64(size)))
        return parts

    def load(self, addresses: Array, size: int, space: str, frozen: bool) -> Array:
        result = np.empty(addresses.size, word(size))
        for region, chosen, at in self._parts(addresses, size, space):
            if frozen:
                if region.frozen is None:
                    region.frozen = np.zeros(region.data.size, bool)
                _mark(region.frozen, at, size)
                if region.stored is not None and _any(region.stored, at, size):
                    raise Undefined("ld.global.nc of memory that this launch has written")
            result[chosen] = region.view(size)[at]
        return result

    def store(self, addresses: Array, values: Array) -> None:
        size = values.dtype.itemsize
        for region, chosen, at in self._parts(addresses, size, "global"):
            if region.stored is None:
                region.stored = np.zeros(region.data.size, bool)
            _mark(region.stored, at, size)
            if region.frozen is not None and _any(region.frozen, at, size):
                raise Undefined("a store to memory that this launch has read with ld.global.nc")
            region.view(size)[at] = values[chosen]


def _mark(flags: Array, at: Array, size: int) -> None:
    for byte in range(size):
        flags[at * np.uint64(size) + np.uint64(byte)] = True


def _any(flags: Array, at: Array, size: int) -> bool:
    return any(bool(flags[at * np.uint64(size) + np.uint64(byte)].any()) for byte in range(size))


def _check_aligned(addresses: Array, size: int) -> None:
    odd = (addresses & np.uint64(size - 1)) != 0
    if odd.any():
        raise Undefined(f"an access of {size} bytes to {int(addresses[odd][0]):#x}, which is not aligned")


class Rows:
    """Memory of which every thread, or every block, has a row of its own: local and shared memory. Addresses count from 0."""

    def __init__(self, name: str, rows: int, size: int) -> None:
        self.name = name
        self.size = size
        self._stride = -(-max(size, 1) // 16) * 16
        self._data = aligned_zeros(rows * self._stride)
        self._data[:] = GARBAGE

    def _at(self, rows: Array, addresses: Array, size: int) -> Array:
        outside = addresses > np.uint64(self.size - size) if self.size >= size else np.ones(addresses.size, bool)
        if outside.any():
            first = int(addresses[outside][0])
            raise Undefined(f"an access of {size} bytes to {self.name} memory at {first:#x}; there are {self.size} bytes")
        _check_aligned(addresses, size)
        return (rows * self._stride + addresses.astype(np.int64)) // size

    def load(self, rows: Array, addresses: Array, size: int) -> Array:
        return self._data.view(word(size))[self._at(rows, addresses, size)]

    def store(self, rows: Array, addresses: Array, values: Array) -> None:
        size = values.dtype.itemsize
        self._data.view(word(size))[self._at(rows, addresses, size)] = values


@dataclass
class ParamBank:
    """A kernel's parameters, the same for all threads."""

    data: Array

    def load(self, addresses: Array, size: int) -> Array:
        if (addresses + np.uint64(size) > np.uint64(self.data.size)).any():
            raise Undefined(f"an access of {size} bytes to the parameters at {int(addresses.max()):#x}; there are {self.data.size} bytes")
        _check_aligned(addresses, size)
        return self.data[: self.data.size // size * size].view(word(size))[(addresses // np.uint64(size)).astype(np.int64)]
