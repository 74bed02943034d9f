"""What a driver answers with, where the binding has no word for it."""

from __future__ import annotations

import re

__all__ = ["UNKNOWN", "UnknownCode", "unknown_code"]

UNKNOWN = "an error that is newer than the Python binding; update the binding to have it named"
_NUMBER = re.compile(r"(-?\d+) is not a valid (CUresult|hipError_t)$")


class UnknownCode(int):
    """A code that the binding's enumeration lacks, for which it raises ValueError in the place of an answer."""


def unknown_code(error: ValueError) -> UnknownCode | None:
    """The code in a binding's complaint; None where the complaint is another."""
    found = _NUMBER.match(str(error))
    return None if found is None else UnknownCode(found[1])
