from __future__ import annotations

import fcntl
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gompute.build.wire import CHUNK, Decoder, Message, WireError, decode, encode, pipe


@given(
    st.lists(st.tuples(st.dictionaries(st.text(), st.integers() | st.text()), st.lists(st.binary(max_size=50), max_size=3)), max_size=4),
    st.integers(1, 17),
)
def test_messages_survive_any_split_of_the_stream(messages: list[tuple[dict[str, object], list[bytes]]], step: int) -> None:
    messages = [({key: value for key, value in body.items() if key != "blobs"}, blobs) for body, blobs in messages]
    stream = b"".join(encode(body, blobs) for body, blobs in messages)
    decoder = Decoder()
    seen = [message for at in range(0, len(stream), step) for message in decoder.feed(stream[at : at + step])]
    assert seen == [Message(body, tuple(blobs)) for body, blobs in messages]
    assert decoder.between_messages
    assert [decode(encode(body, blobs)) for body, blobs in messages] == seen
    for body, blobs in messages:
        for wrong in (encode(body, blobs)[:-1], encode(body, blobs) + b"1"):
            with pytest.raises(WireError):
                decode(wrong)


def test_a_stream_cut_short_is_not_between_messages() -> None:
    decoder = Decoder()
    assert list(decoder.feed(encode({"a": 1}, [b"four"])[:-1])) == []
    assert not decoder.between_messages


def _raw(text: str) -> bytes:
    return len(text).to_bytes(8, "big") + text.encode()


@pytest.mark.parametrize(
    "data",
    [
        b"\xff" * 8,
        _raw("not json"),
        _raw("[1]"),
        _raw("{}"),
        _raw(json.dumps({"blobs": [-1]})),
        _raw(json.dumps({"blobs": [True]})),
        _raw(json.dumps({"blobs": "3"})),
        _raw(json.dumps({"blobs": [1 << 60]})),
        _raw("[" * 100000),
    ],
)
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(WireError):
        list(Decoder().feed(data))
    for form in (bytes, memoryview):
        with pytest.raises(WireError):
            decode(form(data))


@pytest.mark.parametrize("length", range(8))
def test_what_is_no_whole_message_is_none(length: int) -> None:
    with pytest.raises(WireError, match="cut off"):
        decode(bytes(length))


@pytest.mark.parametrize("wide", [True, False])
def test_a_pipe_takes_a_message_whole_unless_the_system_refuses_it_the_room(wide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> int:
        raise PermissionError(1, "Operation not permitted")

    if not wide:
        monkeypatch.setattr(fcntl, "fcntl", refused)
    reading, writing = pipe()
    monkeypatch.undo()
    try:
        room = fcntl.fcntl(writing, fcntl.F_GETPIPE_SZ)
        assert room == CHUNK if wide else room < CHUNK
        os.set_blocking(writing, False)
        data = encode({}, [bytes(CHUNK // 4)])
        taken = os.write(writing, data)
        assert taken == min(len(data), room)
        assert os.read(reading, CHUNK) == data[:taken]
    finally:
        os.close(reading)
        os.close(writing)
