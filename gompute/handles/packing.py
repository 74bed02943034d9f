"""How launch arguments lie in memory: each in its own place, and an array of pointers to them, as every backend takes them."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence

from gompute.artifacts.entry import ArgumentEntry
from gompute.lang.types import SCALARS

__all__ = ["FORMAT", "Frame", "Packing"]

#: The letter of `struct` for each type.
FORMAT = {
    "bool": "B",
    "i8": "b",
    "i16": "h",
    "i32": "i",
    "i64": "q",
    "u8": "B",
    "u16": "H",
    "u32": "I",
    "u64": "Q",
    "f16": "e",
    "bf16": "H",
    "f32": "f",
    "f64": "d",
}
assert FORMAT.keys() == SCALARS.keys()

#: What the storage of a frame is aligned to; no argument needs more.
_ALIGNMENT = 16


class Packing:
    """The layout of one kernel's arguments.

    `pack` takes one value per argument: an address for a pointer, a number for a scalar (the bits of a bf16), bytes for params.

    Args:
        record: the address that a kernel with checks takes last; None of any other.
    """

    def __init__(self, arguments: Sequence[ArgumentEntry], record: int | None = None) -> None:
        self.record = record
        text, end, offsets = "<", 0, []
        for argument in arguments:
            gap = -end % argument.align
            offsets.append(end + gap)
            text += f"{gap}x" if gap else ""
            if argument.is_pointer:
                text += "Q"
            elif argument.kind in ("params", "bytes"):
                text += f"{argument.size}s"
            else:
                text += FORMAT[argument.dtype]
            end += gap + argument.size
        self.offsets = tuple(offsets)
        self.size = end
        self.pack = struct.Struct(text).pack_into


class Frame:
    """Memory for the arguments of one launch at a time.

    Attributes:
        storage: what `Packing.pack` writes to, from its start.
        address: of the array of pointers.
    """

    __slots__ = ("_keep", "address", "storage")

    def __init__(self, packing: Packing) -> None:
        memory = (ctypes.c_char * (packing.size + _ALIGNMENT))()
        start = -(-ctypes.addressof(memory) // _ALIGNMENT) * _ALIGNMENT
        record = ctypes.c_void_p(packing.record)
        places = [start + offset for offset in packing.offsets]
        if packing.record is not None:
            places.append(ctypes.addressof(record))
        pointers = (ctypes.c_void_p * max(1, len(places)))(*places)
        self.storage = (ctypes.c_char * max(1, packing.size)).from_buffer(memory, start - ctypes.addressof(memory))
        self.address = ctypes.addressof(pointers)
        self._keep = (memory, pointers, record)
