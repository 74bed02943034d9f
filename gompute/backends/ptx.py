"""What a PTX text says of itself, read back to hold it against the name table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

__all__ = ["PtxKernel", "PtxModule", "join", "read", "strip_header"]

_HEADER = re.compile(rb"\.version [^\n]*\n\.target [^\n]*\n\.address_size 64\n")
_VERSION = re.compile(r"^\.version (\d+)\.(\d+)$", re.MULTILINE)
_TARGET = re.compile(r"^\.target (\w+)", re.MULTILINE)
_ENTRY = re.compile(r"^\.visible \.entry (\S+?)\((?P<parameters>[^()]*)\)(?P<directives>[^{]*)\{", re.MULTILINE)
_PARAMETER = re.compile(r"\.param (?:\.align (?P<align>\d+) )?\.[a-z](?P<bits>\d+) [^\[,]*(?:\[(?P<length>\d+)\])?")
_BLOCK = re.compile(r"\.(reqntid|maxntid) (\d+)(?:, (\d+))?(?:, (\d+))?")
# Line tables: a file's number and its path in quotes; the number of a file in front of a line. LLVM adds a section with nothing in it.
_FILE = re.compile(rb'^\t\.file\t(\d+) ("(?:[^"\\]|\\.)*")\n', re.MULTILINE)
_LINE = re.compile(rb"^(\t\.loc\t)(\d+)( )", re.MULTILINE)
_EMPTY_SECTION = re.compile(rb"^\t\.section\t\.debug_macinfo\t\{\t\}\n", re.MULTILINE)
_EXTERN = re.compile(r"^\.extern (?!\.shared [^;\n]*\[\];)(?:\.func\s+(?:\([^)]*\)\s*)?|[^\n(;]* )([\w$]+)", re.MULTILINE)
# The last part of an opcode is its type. PTX has integers of 8 to 128 bits only; LLVM has been seen to write others.
_ODD_TYPE = re.compile(r"^\s+(?:@!?%p\d+ )?[a-z][\w.:]*\.[usb](?!8\b|16\b|32\b|64\b|128\b)\d+\b[^\n]*", re.MULTILINE)


class PtxKernel(NamedTuple):
    """A kernel: the size and alignment of each parameter in bytes, and its block size in x, y, z (exact, or the largest; None where
    neither is said)."""

    parameters: tuple[tuple[int, int], ...]
    block: tuple[int, int, int] | None
    exact: bool


class PtxModule(NamedTuple):
    """A PTX text.

    Attributes:
        version: PTX version.
        target: of its `.target` line.
        kernels: by symbol.
        externals: symbols that it only declares, but for shared memory whose size the launch gives.
        odd_types: lines with an operation on an integer that PTX does not have.
    """

    version: tuple[int, int]
    target: str
    kernels: Mapping[str, PtxKernel]
    externals: tuple[str, ...]
    odd_types: tuple[str, ...]


def strip_header(text: str) -> str:
    """The text from its `.version` line on: the comment above it names the generator alone."""
    return text[text.index("\n.version ") + 1 :]


def join(texts: Sequence[bytes]) -> bytes:
    """Several texts without comments above them as one, under the header of the first. Source files that their line tables name are
    numbered anew.

    Raises:
        ValueError: their headers differ.
    """
    parts = [_HEADER.match(text) for text in texts]
    headers = {part[0].decode() for part in parts if part is not None}
    if None in parts or len(headers) != 1:
        raise ValueError(f"PTX texts with different headers: {sorted(headers)}")
    header = headers.pop().encode()
    files: dict[bytes, int] = {}
    bodies = [memoryview(_with_files(text, files))[len(header) :] for text in texts]
    named = [b"\t.file\t%d %b\n" % (number, path) for path, number in files.items()]
    return b"".join([header, *bodies, *named])


def _with_files(text: bytes, files: dict[bytes, int]) -> bytes:
    """A text without its `.file` lines, which go to `files`, and with the numbers of those."""
    if b"\t.file\t" not in text:
        return text
    own = {match[1]: files.setdefault(match[2], len(files) + 1) for match in _FILE.finditer(text)}
    text = _FILE.sub(b"", _EMPTY_SECTION.sub(b"", text))
    return _LINE.sub(lambda match: b"%b%d%b" % (match[1], own[match[2]], match[3]), text)


def read(text: str) -> PtxModule:
    """Read what LLVM wrote.

    Raises:
        ValueError: it has no version or no target.
    """
    version, target = _VERSION.search(text), _TARGET.search(text)
    if version is None or target is None:
        raise ValueError("PTX without a .version or .target line")
    kernels = {match[1]: _kernel(match["parameters"], match["directives"]) for match in _ENTRY.finditer(text)}
    externals = tuple(match[1] for match in _EXTERN.finditer(text))
    odd = tuple(match[0].strip() for match in _ODD_TYPE.finditer(text))
    return PtxModule((int(version[1]), int(version[2])), target[1], kernels, externals, odd)


def _kernel(parameters: str, directives: str) -> PtxKernel:
    found: list[tuple[int, int]] = []
    for line in parameters.split("\n"):
        match = _PARAMETER.search(line.strip())
        if match is None:
            continue
        size = int(match["bits"]) // 8
        align = int(match["align"] or size)
        found.append((size * int(match["length"] or 1), align))
    block = _BLOCK.search(directives)
    if block is None:
        return PtxKernel(tuple(found), None, False)
    x, y, z = (int(extent or 1) for extent in block.groups()[1:])
    return PtxKernel(tuple(found), (x, y, z), block[1] == "reqntid")
