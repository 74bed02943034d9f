"""MessagePack, for the metadata of AMD code objects.

The decoder is safe on any bytes: every length is checked against what is left before anything is made of it, and nesting is bounded.
"""

from __future__ import annotations

import struct
from typing import TypeAlias

__all__ = ["MalformedMessage", "Value", "decode", "encode"]

Value: TypeAlias = "bool | int | float | str | bytes | list[Value] | dict[str, Value] | None"

_DEEPEST = 32

_FLOATS = {0xCA: struct.Struct(">f"), 0xCB: struct.Struct(">d")}
# Type byte: bytes of the integer, signed.
_INTEGERS = {0xCC: (1, False), 0xCD: (2, False), 0xCE: (4, False), 0xCF: (8, False), 0xD0: (1, True), 0xD1: (2, True), 0xD2: (4, True)}
_INTEGERS[0xD3] = (8, True)
# Type byte: bytes of the length that follows.
_TEXTS = {0xD9: 1, 0xDA: 2, 0xDB: 4}
_BINARIES = {0xC4: 1, 0xC5: 2, 0xC6: 4}
_ARRAYS = {0xDC: 2, 0xDD: 4}
_MAPS = {0xDE: 2, 0xDF: 4}
_CONSTANTS: dict[int, bool | None] = {0xC0: None, 0xC2: False, 0xC3: True}


class MalformedMessage(ValueError):
    """The bytes are no MessagePack value, or one of a kind that metadata has no use for."""


def decode(data: bytes) -> Value:
    """Decode one value that fills `data`; keys of maps must be text.

    Raises:
        MalformedMessage: it is none, or something follows it.
    """
    reader = _Reader(data)
    value = reader.value(0)
    if reader.place != len(data):
        raise MalformedMessage(f"{len(data) - reader.place} bytes follow the value")
    return value


def encode(value: Value) -> bytes:
    """The bytes of a value in their shortest form, keys in the order of each map.

    Raises:
        ValueError: a part of it is of a kind that metadata has no use for (a float, bytes), or beyond what the form can hold.
    """
    if isinstance(value, dict):
        items = b"".join(encode(part) for pair in value.items() for part in pair)
        return _head(len(value), (0x80, 15), ((2, 0xDE), (4, 0xDF))) + items
    if isinstance(value, list):
        return _head(len(value), (0x90, 15), ((2, 0xDC), (4, 0xDD))) + b"".join(map(encode, value))
    if isinstance(value, str):
        text = value.encode()
        return _head(len(text), (0xA0, 31), ((1, 0xD9), (2, 0xDA), (4, 0xDB))) + text
    for code, constant in _CONSTANTS.items():
        if value is constant:
            return bytes([code])
    if not isinstance(value, int):
        raise ValueError(f"no form for {type(value).__name__}")
    if value >= 0:
        return _head(value, (0, 127), ((1, 0xCC), (2, 0xCD), (4, 0xCE), (8, 0xCF)))
    if value >= -32:
        return bytes([value + 256])
    size = next((size for size in (1, 2, 4, 8) if value >= -(1 << (8 * size - 1))), None)
    if size is None:
        raise ValueError(f"no form for {value}")
    return bytes([{1: 0xD0, 2: 0xD1, 4: 0xD2, 8: 0xD3}[size]]) + value.to_bytes(size, "big", signed=True)


def _head(number: int, short: tuple[int, int], longer: tuple[tuple[int, int], ...]) -> bytes:
    """The type byte that holds a small number itself (`short`: its base, the largest number), or one of those that a number follows
    (`longer`: the number's bytes, the type byte)."""
    base, largest = short
    if number <= largest:
        return bytes([base + number])
    for size, code in longer:
        if number < 1 << (8 * size):
            return bytes([code]) + number.to_bytes(size, "big")
    raise ValueError(f"no form for {number}")


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.place = 0

    def value(self, depth: int) -> Value:
        if depth > _DEEPEST:
            raise MalformedMessage(f"values are nested more than {_DEEPEST} deep")
        code = self._take(1)[0]
        if code < 0x80:
            return code
        if code < 0x90:
            return self._map(code & 15, depth)
        if code < 0xA0:
            return self._array(code & 15, depth)
        if code < 0xC0:
            return self._text(code & 31)
        if code >= 0xE0:
            return code - 256
        if code in _CONSTANTS:
            return _CONSTANTS[code]
        if code in _INTEGERS:
            size, signed = _INTEGERS[code]
            return int.from_bytes(self._take(size), "big", signed=signed)
        if code in _FLOATS:
            number: float = _FLOATS[code].unpack(self._take(_FLOATS[code].size))[0]
            return number
        if code in _TEXTS:
            return self._text(self._length(_TEXTS[code]))
        if code in _BINARIES:
            return self._take(self._length(_BINARIES[code]))
        if code in _ARRAYS:
            return self._array(self._length(_ARRAYS[code]), depth)
        if code in _MAPS:
            return self._map(self._length(_MAPS[code]), depth)
        raise MalformedMessage(f"type byte 0x{code:02x} at {self.place - 1} is not known")

    def _take(self, size: int) -> bytes:
        end = self.place + size
        if end > len(self._data):
            raise MalformedMessage(f"{size} bytes are wanted at {self.place}, and {len(self._data) - self.place} are left")
        taken = self._data[self.place : end]
        self.place = end
        return taken

    def _length(self, size: int) -> int:
        return int.from_bytes(self._take(size), "big")

    def _text(self, size: int) -> str:
        try:
            return self._take(size).decode("utf-8")
        except UnicodeDecodeError as error:
            raise MalformedMessage(f"text before {self.place} is not UTF-8: {error.reason}") from None

    # An element takes at least a byte, so a claimed count that the rest cannot hold is refused before the loop runs that often.
    def _array(self, count: int, depth: int) -> list[Value]:
        self._require(count)
        return [self.value(depth + 1) for _ in range(count)]

    def _map(self, count: int, depth: int) -> dict[str, Value]:
        self._require(2 * count)
        made: dict[str, Value] = {}
        for _ in range(count):
            key = self.value(depth + 1)
            if not isinstance(key, str):
                raise MalformedMessage(f"a key before {self.place} is not text")
            made[key] = self.value(depth + 1)
        return made

    def _require(self, size: int) -> None:
        if size > len(self._data) - self.place:
            raise MalformedMessage(f"{size} values are announced at {self.place}, and {len(self._data) - self.place} bytes are left")
