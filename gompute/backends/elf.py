"""A reader for 64-bit little-endian ELF files: what the backends ask of objects and code objects, and little more.

Every offset and length is checked against the file, since a file may come from anywhere.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["ElfFile", "MalformedElf", "Note", "Section", "Symbol", "without"]

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_NOTE = struct.Struct("<III")

_SYMTAB, _RELA, _NOBITS, _DYNSYM, _NOTES = 2, 4, 8, 11, 7
_FUNCTION = 2
_EXCLUDE = 0x80000000  # SHF_EXCLUDE: the linker leaves the section out
_LOCAL_BINDING = 0


class MalformedElf(ValueError):
    """The bytes are no 64-bit little-endian ELF file, or one that contradicts itself."""


class Section(NamedTuple):
    """A section: its number, name, type, place in the file in bytes, and the numbers of the sections that it links to."""

    number: int
    name: str
    type: int
    offset: int
    size: int
    link: int
    info: int


class Symbol(NamedTuple):
    """A symbol; `section` is 0 where it is undefined."""

    name: str
    value: int
    size: int
    section: int
    function: bool
    local: bool


class Note(NamedTuple):
    """A note: owner, type number and contents."""

    owner: str
    type: int
    data: bytes


class ElfFile(NamedTuple):
    """An ELF file.

    Attributes:
        machine: e_machine (62 x86-64, 183 aarch64, 224 AMDGPU).
        abi_version: e_ident[EI_ABIVERSION].
        flags: e_flags.
    """

    data: bytes
    machine: int
    abi_version: int
    flags: int
    sections: tuple[Section, ...]

    @classmethod
    def parse(cls, data: bytes) -> ElfFile:
        """Read headers.

        Raises:
            MalformedElf: it is none.
        """
        if len(data) < _HEADER.size or data[:7] != b"\x7fELF\x02\x01\x01":
            raise MalformedElf("no 64-bit little-endian ELF header")
        header = _HEADER.unpack_from(data)
        machine, section_offset, flags, entry_size, count, names = header[2], header[6], header[7], header[11], header[12], header[13]
        if count and entry_size != _SECTION.size:
            raise MalformedElf(f"section headers of {entry_size} bytes, not {_SECTION.size}")
        table = _slice(data, section_offset, count * _SECTION.size, "section headers")
        raw = list(_SECTION.iter_unpack(table))
        if raw and names >= len(raw):
            raise MalformedElf(f"section {names} holds the names, and there are {len(raw)}")
        strings = b""
        if raw:
            strings = _slice(data, raw[names][4], raw[names][5], "section names")
        sections = tuple(
            Section(number, _string(strings, row[0]), row[1], row[4], row[5], row[6], row[7]) for number, row in enumerate(raw)
        )
        return cls(data, machine, data[8], flags, sections)

    def contents(self, section: Section) -> bytes:
        """A section's bytes; none for one without room in the file."""
        return b"" if section.type == _NOBITS else _slice(self.data, section.offset, section.size, f"section {section.name}")

    def section(self, name: str) -> Section | None:
        """The first section of that name."""
        return next((section for section in self.sections if section.name == name), None)

    def symbols(self, *, dynamic: bool) -> list[Symbol]:
        """The symbols, in order: those for the loader (`dynamic`), or all that the linker sees."""
        wanted = _DYNSYM if dynamic else _SYMTAB
        return [symbol for section in self.sections if section.type == wanted for symbol in self._symbols(section)]

    def undefined(self) -> dict[str, set[str]]:
        """Undefined symbols of an object file, each with the names of the functions that refer to it (none where nothing does)."""
        found: dict[str, set[str]] = {
            symbol.name: set() for symbol in self.symbols(dynamic=False) if symbol.section == 0 and symbol.name and not symbol.local
        }
        for relocations in self.sections:
            if relocations.type != _RELA:
                continue
            symbols = self._symbols(self._at(relocations.link))
            contents = self.contents(relocations)
            if len(contents) % _RELOCATION.size:
                raise MalformedElf(f"section {relocations.name} ends in the middle of an entry")
            for offset, info, _ in _RELOCATION.iter_unpack(contents):
                index = info >> 32
                if index >= len(symbols):
                    raise MalformedElf(f"section {relocations.name} names symbol {index}, and there are {len(symbols)}")
                name = symbols[index].name
                if name in found:
                    found[name].update(
                        user.name
                        for user in symbols
                        if user.function and user.section == relocations.info and user.value <= offset < user.value + user.size
                    )
        return found

    def notes(self) -> Iterator[Note]:
        """The notes of all note sections."""
        for section in self.sections:
            if section.type != _NOTES:
                continue
            contents = self.contents(section)
            place = 0
            while place < len(contents):
                owner_size, size, type_ = _NOTE.unpack(_slice(contents, place, _NOTE.size, f"a note in {section.name}"))
                place += _NOTE.size
                owner = _slice(contents, place, owner_size, f"a note's owner in {section.name}")
                place += owner_size + -owner_size % 4
                data = _slice(contents, place, size, f"a note in {section.name}")
                place += size + -size % 4
                yield Note(owner.rstrip(b"\0").decode("ascii", "replace"), type_, data)

    def _at(self, number: int) -> Section:
        if number >= len(self.sections):
            raise MalformedElf(f"a section links to section {number}, and there are {len(self.sections)}")
        return self.sections[number]

    def _symbols(self, section: Section) -> list[Symbol]:
        contents = self.contents(section)
        if len(contents) % _SYMBOL.size:
            raise MalformedElf(f"section {section.name} ends in the middle of a symbol")
        strings = self.contents(self._at(section.link))
        return [
            Symbol(_string(strings, name), value, size, index, info & 15 == _FUNCTION, info >> 4 == _LOCAL_BINDING)
            for name, info, _, index, value, size in _SYMBOL.iter_unpack(contents)
        ]


def without(data: bytes, name: str) -> bytes:
    """The object file with its sections of that name marked for the linker to leave out.

    Raises:
        MalformedElf: it is no ELF file.
    """
    made = bytearray(data)
    table: int = _HEADER.unpack_from(data)[6]
    for section in ElfFile.parse(data).sections:
        if section.name == name:
            place = table + section.number * _SECTION.size
            header = list(_SECTION.unpack_from(data, place))
            header[2] |= _EXCLUDE
            _SECTION.pack_into(made, place, *header)
    return bytes(made)


def _slice(data: bytes, offset: int, size: int, what: str) -> bytes:
    if offset + size > len(data):
        raise MalformedElf(f"{what} at {offset} of {size} bytes reach past the end, at {len(data)}")
    return data[offset : offset + size]


def _string(strings: bytes, offset: int) -> str:
    end = strings.find(b"\0", offset)
    if offset >= len(strings) or end < 0:
        if offset == 0 and not strings:
            return ""
        raise MalformedElf(f"a name at {offset} has no end in a table of {len(strings)} bytes")
    return strings[offset:end].decode("utf-8", "replace")
