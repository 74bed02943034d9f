"""Checks that a kernel makes as it runs, and the record in which it reports the first that fails.

A kernel with checks takes one argument more than its author declared, the last: the address of a record of `SIZE` bytes in the device's
memory, aligned to 8, all 0 before the first launch. The work-item that fails changes the first word from `FREE` to `TAKEN`, so that no
other writes, fills in the fields and sets the word to `COMPLETE`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["COMPLETE", "FIELDS", "FREE", "SIZE", "TAKEN", "Check", "CheckKind", "Record", "read_record"]

SIZE = 64
FREE, TAKEN, COMPLETE = 0, 1, 2

FIELDS = ((4, "i32"), (8, "i64"), (16, "i64"), (24, "i64"), (32, "i64"), (40, "i64"))
"""Offset and IR type of each field: the number of the check, counted from 1; its two values; the global id of the work-item in x, y and z,
-1 where that is not known."""

CheckKind = Literal["index", "division", "shift", "assert"]


@dataclass(frozen=True, slots=True)
class Check:
    """One check in a kernel's source.

    Attributes:
        kind: what is checked. The record's two values are, of an `index`, the index and the length; of a `division` the dividend and 0; of
            a `shift` the distance and the width in bits; of an `assert` that compares two numbers those, and else 0.
        file: path relative to the root's folder.
        line: counted from 1.
        what: what is indexed; the operator of a division, a shift or an assert that compares; empty for any other assert.
        dtype: the type of the first value, and of an assert's second; empty where there are none.
        message: an assert's.
    """

    kind: CheckKind
    file: str
    line: int
    what: str
    dtype: str
    message: str = ""


class Record(NamedTuple):
    """A record as it lies in memory: the state, the check's number, the two values as bits, the work-item."""

    state: int
    check: int
    value: int
    bound: int
    place: tuple[int, int, int]


def read_record(data: bytes | bytearray | memoryview) -> Record:
    """Read the `SIZE` bytes of a record."""
    state, check, value, bound, x, y, z = struct.unpack_from("<IIQQqqq", data)
    return Record(state, check, value, bound, (x, y, z))
