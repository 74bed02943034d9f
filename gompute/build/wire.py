"""Messages between the processes of a build: a JSON object and some byte strings, over a pipe.

One message is ``LENGTH JSON BLOB...``: eight bytes of big-endian length, that many bytes of JSON whose key ``blobs`` lists the length of
each byte string, and then the byte strings themselves. What comes from a process that has run an author's module is data and nothing
else: it is checked here and never unpickled.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

__all__ = ["CHUNK", "Decoder", "Message", "WireError", "decode", "encode", "parts", "pipe"]

CHUNK = 1 << 20
"""So many bytes are read of a pipe at a time; it holds as many, where the system lets it."""

_HEADER = 8
_MAX_JSON = 1 << 28
_MAX_BLOBS = 1 << 34


class WireError(Exception):
    """The bytes on a pipe are not a message; the text says what is wrong with them."""


class Message(NamedTuple):
    """One message: its JSON object (without the key ``blobs``) and its byte strings."""

    body: Mapping[str, Any]
    blobs: tuple[bytes, ...] = ()


def pipe() -> tuple[int, int]:
    """The two ends of a pipe for messages, which may be of many megabytes."""
    ends = os.pipe()
    with suppress(OSError):  # a user's pipes may together hold so much and no more; a small one only takes longer
        fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, CHUNK)
    return ends


def parts(body: Mapping[str, Any], blobs: Sequence[bytes] = ()) -> list[bytes]:
    """One message in pieces, to be written one after the other: joined, a large one would be copied first."""
    text = json.dumps({**body, "blobs": [len(blob) for blob in blobs]}, separators=(",", ":")).encode()
    return [len(text).to_bytes(_HEADER, "big") + text, *blobs]


def encode(body: Mapping[str, Any], blobs: Sequence[bytes] = ()) -> bytes:
    """The bytes of one message."""
    return b"".join(parts(body, blobs))


def decode(data: bytes | memoryview) -> Message:
    """The one message that these bytes are.

    Raises:
        WireError: they are none, or more than one.
    """
    end = _HEADER + _json_length(data)
    if len(data) < end:
        raise WireError("the message is cut off")
    body, lengths = _head(bytes(data[_HEADER:end]))
    if len(data) != end + sum(lengths):
        raise WireError("the message is cut off, or there is more behind it")
    blobs = []
    for length in lengths:
        blobs.append(bytes(data[end : end + length]))
        end += length
    return Message(body, tuple(blobs))


def _json_length(data: bytes | bytearray | memoryview) -> int:
    length = int.from_bytes(data[:_HEADER], "big")
    if length > _MAX_JSON:
        raise WireError(f"a message of {length} bytes is longer than {_MAX_JSON}")
    return length


def _head(text: bytes) -> tuple[dict[str, Any], list[int]]:
    """The JSON object of a message, and the lengths of its byte strings."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"not JSON: {error}") from None
    lengths = body.pop("blobs", None) if isinstance(body, dict) else None
    if not isinstance(lengths, list) or not all(type(n) is int and n >= 0 for n in lengths) or sum(lengths) > _MAX_BLOBS:
        raise WireError("a message without a list of the lengths of its byte strings")
    return body, lengths


class Decoder:
    """Cuts a stream of bytes into messages, however the pipe has split them."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._pending: tuple[dict[str, Any], list[int]] | None = None

    @property
    def between_messages(self) -> bool:
        """True when every byte so far belongs to a complete message."""
        return not self._buffer and self._pending is None

    def feed(self, data: bytes) -> Iterator[Message]:
        """Take more bytes; give every message that is complete now.

        Raises:
            WireError: the bytes are not a message; the stream cannot be used any further.
        """
        self._buffer += data
        while (message := self._next()) is not None:
            yield message

    def _next(self) -> Message | None:
        if self._pending is None:
            head = self._take_head()
            if head is None:
                return None
            self._pending = head
        body, lengths = self._pending
        if len(self._buffer) < sum(lengths):
            return None
        blobs, at = [], 0
        with memoryview(self._buffer) as view:
            for length in lengths:
                blobs.append(bytes(view[at : at + length]))
                at += length
        del self._buffer[:at]
        self._pending = None
        return Message(body, tuple(blobs))

    def _take_head(self) -> tuple[dict[str, Any], list[int]] | None:
        if len(self._buffer) < _HEADER:
            return None
        end = _HEADER + _json_length(self._buffer)
        if len(self._buffer) < end:
            return None
        found = _head(bytes(self._buffer[_HEADER:end]))
        del self._buffer[:end]
        return found
