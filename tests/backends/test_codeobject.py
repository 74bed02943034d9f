"""ELF files and code objects from anywhere: read, or refused with a reason."""

from __future__ import annotations

import struct
from contextlib import suppress
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gompute.backends import codeobject
from gompute.backends.elf import ElfFile, MalformedElf, Note
from gompute.backends.pipeline import generate
from gompute.targets import parse_target
from tests.backends.modules import scale_relu


@cache
def _code_object() -> bytes:
    target = parse_target("gfx942")
    return generate(*scale_relu(target), target).blobs[0].data


@cache
def _shared_object() -> bytes:
    target = parse_target("x86-64-v3")
    return generate(*scale_relu(target), target).blobs[0].data


def test_elf_of_a_code_object() -> None:
    elf = ElfFile.parse(_code_object())
    assert (elf.machine, elf.abi_version, elf.flags) == (224, 3, 0x54C)
    assert [note.owner for note in elf.notes()] == ["AMDGPU"]
    symbols = {symbol.name: symbol for symbol in elf.symbols(dynamic=True)}
    assert symbols["scale_relu"].function
    assert symbols["scale_relu.kd"].size == 64
    assert not symbols["scale_relu"].local
    text = elf.section(".text")
    assert text is not None
    assert symbols["scale_relu"].section == text.number
    assert len(elf.contents(text)) == text.size > 0
    assert elf.section(".nothing") is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no 64-bit little-endian ELF header"),
        (b"MZ" + bytes(100), "no 64-bit little-endian ELF header"),
        (b"\x7fELF\x01\x01\x01" + bytes(100), "no 64-bit little-endian ELF header"),
        (b"\x7fELF\x02\x02\x01" + bytes(100), "no 64-bit little-endian ELF header"),
    ],
)
def test_no_elf(data: bytes, message: str) -> None:
    with pytest.raises(MalformedElf, match=message):
        ElfFile.parse(data)
    with pytest.raises(codeobject.MalformedCodeObject, match=message):
        codeobject.read(data)


def test_truncated_elf() -> None:
    with pytest.raises(MalformedElf, match=r"section headers at .* reach past the end"):
        ElfFile.parse(_code_object()[:2000])


def test_elf_of_another_machine() -> None:
    with pytest.raises(codeobject.MalformedCodeObject, match="for machine 62, not 224"):
        codeobject.read(_shared_object())


def _edit(old: bytes, new: bytes) -> bytes:
    data = _code_object()
    assert data.count(old) >= 1
    assert len(old) == len(new)
    return data.replace(old, new, 1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"AMDGPU\0\0", b"OTHERS\0\0", "0 metadata notes, not one"),
        (b"amdhsa.kernels", b"amdhsa.kernelz", "metadata: amdhsa.kernels is missing or no list"),
        (b"amdhsa.target", b"amdhsa.tarpit", "metadata: amdhsa.target is missing or no text"),
        (b".vgpr_count", b".vgpr_kount", "amdhsa.kernels 0: .vgpr_count is missing or no count"),
        (b".value_kind", b".value_find", r"amdhsa.kernels 0, .args 0: .value_kind is missing or no text"),
    ],
)
def test_metadata_that_is_not_as_documented(old: bytes, new: bytes, message: str) -> None:
    with pytest.raises(codeobject.MalformedCodeObject, match=message):
        codeobject.read(_edit(old, new))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=6), st.integers(0, 1 << 16))
def test_damaged_code_objects_are_read_or_refused(damage: list[tuple[int, int]], length: int) -> None:
    data = bytearray(_code_object())
    for place, byte in damage:
        data[place % len(data)] = byte
    del data[1000 + length % len(data) :]
    with suppress(codeobject.MalformedCodeObject):
        codeobject.read(bytes(data))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 63), st.binary(min_size=1, max_size=8), st.integers(0, 1 << 16), st.binary(min_size=1, max_size=8))
def test_damaged_elf_is_read_or_refused(header: int, first: bytes, place: int, second: bytes) -> None:
    data = bytearray(_shared_object())
    data[header : header + len(first)] = first
    start = place % len(data)
    data[start : start + len(second)] = second
    with suppress(MalformedElf):
        elf = ElfFile.parse(bytes(data))
        list(elf.notes())
        elf.symbols(dynamic=True)
        elf.undefined()


def _note(owner: bytes, type_: int, contents: bytes) -> bytes:
    return struct.pack("<III", len(owner), len(contents), type_) + owner + bytes(-len(owner) % 4) + contents + bytes(-len(contents) % 4)


def _with_notes(notes: bytes) -> ElfFile:
    """An ELF file of two sections: the notes, and the names of both."""
    names = b"\0.note\0.names\0"
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    table = 64 + len(notes) + len(names)
    header = struct.pack("<16sHHIQQQIHHHHHH", ident, 3, 224, 1, 0, 0, table, 0, 64, 0, 0, 64, 2, 1)
    sections = struct.pack("<IIQQQQIIQQ", 1, 7, 0, 0, 64, len(notes), 0, 0, 4, 0)
    sections += struct.pack("<IIQQQQIIQQ", 7, 3, 0, 0, 64 + len(notes), len(names), 0, 0, 1, 0)
    return ElfFile.parse(header + notes + names + sections)


def test_notes() -> None:
    elf = _with_notes(_note(b"A\0", 1, b"xyz") + _note(b"BC\0", 2, b""))
    assert list(elf.notes()) == [Note("A", 1, b"xyz"), Note("BC", 2, b"")]


@pytest.mark.parametrize("notes", [b"\1\0\0\0", struct.pack("<III", 2**32 - 1, 0, 1), struct.pack("<III", 0, 2**32 - 1, 1)])
def test_notes_that_reach_past_the_end(notes: bytes) -> None:
    with pytest.raises(MalformedElf, match="reach past the end"):
        list(_with_notes(notes).notes())
