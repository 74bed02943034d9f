"""What kernels with checks report: one record for each kernel on each device, and the error that is made of it."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any, Protocol

import numpy

from gompute.artifacts.checks import COMPLETE, SIZE, Check, Record, read_record
from gompute.artifacts.entry import KernelEntry
from gompute.errors import CheckFailed
from gompute.lang.types import SCALARS
from gompute.runtime.buffer import Buffer
from gompute.runtime.driver import Driver

__all__ = ["Report"]

_EMPTY = bytes(SIZE)


class _Memory(Protocol):
    backend: str
    ordinal: int

    def allocate(self, size: int) -> Buffer: ...

    def copy_in(self, target: int, source: int, size: int) -> None: ...


class Report:
    """The record of one kernel.

    Attributes:
        entry: the kernel's, whose checks the record's number counts.
        address: of the record, which launches of the kernel pass last.
    """

    def __init__(self, memory: _Memory, entry: KernelEntry) -> None:
        self.entry = entry
        self._memory = memory
        self._buffer = memory.allocate(SIZE)
        self.address = self._buffer.device_addr
        self._host = ctypes.create_string_buffer(_EMPTY, SIZE)
        self._host_address = ctypes.addressof(self._host)
        memory.copy_in(self.address, self._host_address, SIZE)

    def read(self, driver: Driver, stream: Any) -> None:
        """Copy the record to the host, when `stream` gets to it; the device's context is current."""
        driver.copy_out_async(self._host_address, self.address, SIZE, stream)

    def take(self, driver: Driver, stream: Any) -> CheckFailed | None:
        """The error that was read, if any; the record is free again afterwards. The device's context is current."""
        if read_record(self._host.raw).state != COMPLETE:
            return None
        self.read(driver, stream)  # again, since the work-item may have been about to write the last of it
        driver.synchronize_stream(stream)
        error = self._error(read_record(self._host.raw))
        self._host.raw = _EMPTY
        driver.copy_in_async(self.address, self._host_address, SIZE, stream)
        driver.synchronize_stream(stream)
        return error

    def raise_from_host_memory(self) -> None:
        """Of a record in the host's memory: as `take`.

        Raises:
            CheckFailed: there is a report.
        """
        record = read_record(ctypes.string_at(self.address, SIZE))
        if record.state == COMPLETE:
            ctypes.memmove(self.address, _EMPTY, SIZE)
            raise self._error(record)

    def _error(self, record: Record) -> CheckFailed:
        memory, name = self._memory, self.entry.name
        check = (self.entry.checks or ())[record.check - 1]
        value, bound = _number(check.dtype, record.value), _number(check.dtype if check.kind == "assert" else "u64", record.bound)
        item = f", work-item {_coordinates(record.place)}" if record.place[0] >= 0 else ""
        text = f"{check.file}:{check.line}: kernel {name!r} on {memory.backend} {memory.ordinal}{item}: {_what(check, value, bound)}"
        return CheckFailed(text, kernel=name, file=check.file, line=check.line, check=check.kind, value=value)


def _what(check: Check, value: Any, bound: Any) -> str:
    if check.kind == "index":
        return f"index {value} is out of range for {check.what}, of length {bound}"
    if check.kind == "division":
        return f"integer division by zero: {value} {check.what} 0"
    if check.kind == "shift":
        return f"a {check.dtype} is shifted by {value}, and has {bound} bits ({check.what})"
    said = f"assertion failed: {check.message}" if check.message else "assertion failed"
    return f"{said} ({value} {check.what} {bound} is false)" if check.dtype else said


def _coordinates(place: Sequence[int]) -> str:
    """As many as tell it from the others: those of higher dimensions are often all 0."""
    last = max((axis for axis, at in enumerate(place) if at), default=0)
    return str(place[0]) if last == 0 else f"({', '.join(map(str, place[: last + 1]))})"


def _number(dtype: str, bits: int) -> Any:
    """The number that a record holds as 64 bits: an integer with its sign, a float as an f64."""
    kind = SCALARS[dtype] if dtype else None
    if kind is None:
        return None
    if kind.kind == "float":
        (value,) = struct.unpack("<d", struct.pack("<Q", bits))
        return float(str(numpy.float32(value))) if dtype == "f32" and value == value else value
    if kind.kind == "bool":
        return bool(bits)
    return bits - (1 << 64) if kind.kind == "int" and bits >> 63 else bits
