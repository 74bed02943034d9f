"""The MessagePack decoder against the format's own description, and against anything at all."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gompute.backends.msgpack import MalformedMessage, decode


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ("00", 0),
        ("7f", 127),
        ("ff", -1),
        ("e0", -32),
        ("c0", None),
        ("c2", False),
        ("c3", True),
        ("cc80", 128),
        ("cd0100", 256),
        ("ce00010000", 65536),
        ("cfffffffffffffffff", 2**64 - 1),
        ("d080", -128),
        ("d18000", -32768),
        ("d280000000", -(2**31)),
        ("d38000000000000000", -(2**63)),
        ("ca3fc00000", 1.5),
        ("cb3ff8000000000000", 1.5),
        ("a0", ""),
        ("a2c3a9", "é"),
        ("d90161", "a"),
        ("da000161", "a"),
        ("db0000000161", "a"),
        ("c4020001", b"\0\1"),
        ("c500010a", b"\n"),
        ("c6000000010a", b"\n"),
        ("90", []),
        ("93010203", [1, 2, 3]),
        ("dc00020102", [1, 2]),
        ("dd000000020102", [1, 2]),
        ("80", {}),
        ("81a16101", {"a": 1}),
        ("de0001a16101", {"a": 1}),
        ("df00000001a16190", {"a": []}),
        ("82a161c0a16291c3", {"a": None, "b": [True]}),
    ],
)
def test_values(data: str, value: object) -> None:
    assert decode(bytes.fromhex(data)) == value


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "1 bytes are wanted at 0"),
        ("0000", "1 bytes follow the value"),
        ("cd01", "2 bytes are wanted at 1, and 1 are left"),
        ("a3616", "3 bytes are wanted"),
        ("c1", "type byte 0xc1 at 0 is not known"),
        ("d40000", "type byte 0xd4 at 0 is not known"),
        ("810101", "is not text"),
        ("a1ff", "is not UTF-8"),
        ("ddffffffff", "4294967295 values are announced"),
        ("dfffffffff", "8589934590 values are announced"),
        ("91" * 40 + "00", "nested more than 32 deep"),
    ],
)
def test_faults(data: str, message: str) -> None:
    with pytest.raises(MalformedMessage, match=message):
        decode(bytes.fromhex(data + "0" * (len(data) % 2)))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_a_fault(data: bytes) -> None:
    with suppress(MalformedMessage):
        decode(data)
