"""Texts of PTX under one header, and values of metadata as bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gompute.backends import ptx
from gompute.backends.msgpack import decode, encode

HEAD = b".version 7.8\n.target sm_89\n.address_size 64\n"


def test_texts_are_put_under_one_header() -> None:
    assert ptx.join([HEAD + b"\none\n", HEAD + b"\ntwo\n"]) == HEAD + b"\none\n\ntwo\n"


def test_texts_of_two_versions_are_refused() -> None:
    with pytest.raises(ValueError, match="different headers"):
        ptx.join([HEAD, HEAD.replace(b"7.8", b"8.0")])
    with pytest.raises(ValueError, match="different headers"):
        ptx.join([HEAD, b"no header"])


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=5), inner, max_size=20),
    max_leaves=40,
)


@given(_values)
def test_what_is_encoded_decodes_to_itself(value: object) -> None:
    assert decode(encode(value)) == value  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [1.5, b"bytes", 2**64, -(2**63) - 1])
def test_what_has_no_form_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="no form for"):
        encode(value)  # type: ignore[arg-type]
