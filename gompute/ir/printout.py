"""Editing LLVM's own printing of a module.

The binding can neither see an alias nor copy a function. LLVM's printing of a parsed module can be edited safely, because it has one
form: a statement is a line, but for a function's body, which ends with the first line that is `}` alone; no string holds a quote or a
line end; a name is always written the same way. None of this holds for text that a user wrote, so none of it is done to such text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

__all__ = [
    "NAME",
    "Alias",
    "Definition",
    "Other",
    "Statement",
    "aliasee",
    "decoded",
    "encoded",
    "references",
    "split_commas",
    "statements",
    "substituted",
]

NAME = r'@(?:"[^"]*"|[-a-zA-Z$._0-9]+)'

_LOCAL = frozenset({"internal", "private"})
_LINKAGES = _LOCAL | {
    "available_externally",
    "linkonce",
    "linkonce_odr",
    "weak",
    "weak_odr",
    "external",
    "extern_weak",
    "common",
    "appending",
}
_BEFORE_CONVENTION = _LINKAGES | {"dso_local", "dso_preemptable", "default", "hidden", "protected", "dllimport", "dllexport"}

# In the order in which they can hide one another: a comment to the end of its line, a string, a name.
_TOKEN = re.compile(r'[;"@](?:(?<=;)[^\n]*|(?<=")[^"]*"|(?<=@)(?:"[^"]*"|[-a-zA-Z$._0-9]+))')
_ALIAS = re.compile(rf"({NAME}) = ((?:[a-z_]+(?:\([a-z]+\))? )*)alias ([^\n]*)")
_CONVENTION = re.compile(r"(?:cc ?\d+|\w*cc|(?:ptx|amdgpu|spir)_\w+|aarch64_\w+_pcs) ")
_COMDAT = re.compile(r'"[^"]*"|( comdat(?:\(\$(?:"[^"]*"|[-a-zA-Z$._0-9]+)\))?)(?= )')
# LLVM reads a `$` without quotes, and prints it with them.
_PLAIN = re.compile(r"[-a-zA-Z._][-a-zA-Z._0-9]*")
_QUOTE = ord('"')
_BACKSLASH = ord("\\")
_ESCAPE = re.compile(rb"\\(\\|[0-9A-Fa-f]{2})")
_POINTER = re.compile(rf"(ptr(?: addrspace\(\d+\))?) ({NAME})")
_CAST = re.compile(r"(?:ptr(?: addrspace\(\d+\))? )?addrspacecast \((.*) to (ptr(?: addrspace\(\d+\))?)\)")


class Other(NamedTuple):
    """Statements that are looked at no closer, as they stand in the text."""

    text: str


class Definition(NamedTuple):
    """A function with a body.

    Attributes:
        words: what stands before the calling convention: linkage, preemption, visibility, storage class.
        convention: LLVM's word (`ptx_kernel`); empty for that of C.
        before: the rest of the head up to the name: return attributes and type, with a space at the end.
        name: as printed: `@f` or `@"a b"`.
        after: the head from the parameters on, without the final ` {` and line end.
        body: from ` {` to the end of the function's last line.
    """

    words: tuple[str, ...]
    convention: str
    before: str
    name: str
    after: str
    body: str

    @property
    def local(self) -> bool:
        return not _LOCAL.isdisjoint(self.words)

    def without_comdat(self) -> Definition:
        """The same function in no comdat."""
        after = _COMDAT.sub(lambda match: "" if match[1] else match[0], self.after + " ")
        return self._replace(after=after[:-1])

    def head(self) -> str:
        """The head as text, without ` {`."""
        convention = f"{self.convention} " if self.convention else ""
        return f"define {''.join(f'{word} ' for word in self.words)}{convention}{self.before}{self.name}{self.after}"


class Alias(NamedTuple):
    """An alias.

    Attributes:
        words: what stands before `alias`: linkage, preemption, visibility and others.
        name: as printed.
        target: the expression that it stands for, with its type where that is printed.
        text: its whole line.
    """

    words: tuple[str, ...]
    name: str
    target: str
    text: str

    @property
    def local(self) -> bool:
        return not _LOCAL.isdisjoint(self.words) or self.name[1:].isdecimal()


Statement = Definition | Alias | Other


def statements(text: str, convention: str) -> Iterator[Statement]:
    """The whole of `str(module)`, in order: definitions of a calling convention, aliases and, in pieces as large as possible, the rest."""
    start = position = 0
    while position < len(text):
        end = text.find("\n", position) + 1 or len(text)
        found: Statement | None = None
        if text.startswith("define ", position):
            close = text.index("\n}\n", position) + 3
            if text.find(f" {convention} ", position, end) >= 0:
                definition = _definition(text[position : end - 1], text[end - 3 : close])
                found = definition if definition.convention == convention else None
            end = close
        elif text.startswith("@", position) and text.find(" alias ", position, end) >= 0:
            found = _alias(text[position : end - 1])
        if found is not None:
            if start < position:
                yield Other(text[start:position])
            yield found
            start = end
        position = end
    if start < len(text):
        yield Other(text[start:])


def _alias(line: str) -> Alias | None:
    match = _ALIAS.fullmatch(line)
    return Alias(tuple(match[2].split()), match[1], split_commas(match[3])[1], line) if match is not None else None


def _definition(head: str, body: str) -> Definition:
    line = head.removesuffix(" {")
    position = len("define ")
    words: list[str] = []
    while (word := line[position : line.index(" ", position)]) in _BEFORE_CONVENTION:
        words.append(word)
        position += len(word) + 1
    convention = _CONVENTION.match(line, position)
    if convention is not None:
        position = convention.end()
    name = next(token for token in _TOKEN.finditer(line, position) if token[0].startswith("@"))
    return Definition(
        tuple(words),
        convention[0].rstrip() if convention is not None else "",
        line[position : name.start()],
        name[0],
        line[name.end() :],
        body,
    )


def aliasee(target: str) -> tuple[Literal["name", "part", "other"], str, str]:
    """What an alias stands for.

    Returns:
        (`name`, NAME, TYPE) where it is a global's address, perhaps in another address space, TYPE being the pointer's type; (`part`, NAME,
        "") where it is computed from a global's address; (`other`, "", "") where no global is in it.
    """
    if (direct := _POINTER.fullmatch(target)) is not None:
        return "name", direct[2], direct[1]
    if (cast := _CAST.fullmatch(target)) is not None:
        kind, name, _ = aliasee(cast[1])
        return kind, name, cast[2] if kind == "name" else ""
    names = list(references(target))
    return ("part", names[0], "") if names else ("other", "", "")


def references(text: str) -> Iterator[str]:
    """Names of globals in the text, as printed, in order; what looks like one in a string or a comment is none."""
    return (token[0] for token in _TOKEN.finditer(text) if token[0].startswith("@"))


def substituted(text: str, names: Mapping[str, str]) -> str:
    """The text with each name in `names` replaced. Time is linear in the text, whatever the number of names."""
    if not names:
        return text
    pieces: list[str] = []
    position = 0
    for token in _TOKEN.finditer(text):
        new = names.get(token[0])
        if new is not None:
            pieces += (text[position : token.start()], new)
            position = token.end()
    if not pieces:
        return text
    pieces.append(text[position:])
    return "".join(pieces)


def split_commas(text: str) -> list[str]:
    """Cut at the commas that stand in no brackets and no string; spaces around are dropped."""
    parts: list[str] = []
    depth = start = 0
    for token in re.finditer(r'"[^"]*"|[(\[{<]|[)\]}>]|,', text):
        if token[0] in "([{<":
            depth += 1
        elif token[0] in ")]}>":
            depth -= 1
        elif token[0] == "," and depth == 0:
            parts.append(text[start : token.start()].strip())
            start = token.end()
    parts.append(text[start:].strip())
    return parts


def decoded(name: str) -> str:
    """The name that LLVM printed as `@f` or `@"quo\\22ted"`; bytes that are no UTF-8 stay escaped."""
    bare = name[1:]
    if bare.startswith('"'):
        return _ESCAPE.sub(_unescaped, bare[1:-1].encode()).decode("utf-8", "backslashreplace")
    return bare


def _unescaped(code: re.Match[bytes]) -> bytes:
    return code[1] if code[1] == b"\\" else bytes([int(code[1], 16)])


def encoded(name: str) -> str:
    """How LLVM prints the name of a global."""
    if _PLAIN.fullmatch(name) is not None:
        return f"@{name}"
    return f'@"{"".join(map(_escaped, name.encode()))}"'


def _escaped(byte: int) -> str:
    if byte == _BACKSLASH:
        return "\\\\"
    return chr(byte) if 0x20 <= byte < 0x7F and byte != _QUOTE else f"\\{byte:02X}"
