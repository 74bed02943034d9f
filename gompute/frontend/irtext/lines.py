"""Line tables: which line of which file each instruction is from, as LLVM's debug metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gompute.frontend.vocabulary import Location

__all__ = ["Lines"]

_FIRST = 100
"""The number of the first node: those before it are the dialect's."""


class Lines:
    """The metadata of one module. Files are named relative to the root's folder, and no folder is: the bytes say nothing of the machine.

    Args:
        directives: for an assembler that makes the tables itself, from directives in the text.
        optimized: whether the code is.
    """

    def __init__(self, *, directives: bool, optimized: bool) -> None:
        self._kind = "DebugDirectivesOnly" if directives else "LineTablesOnly"
        self._optimized = str(optimized).lower()
        self._nodes: list[str] = []
        self._known: dict[str, int] = {}
        self._unit: int | None = None

    def function(self, name: str, location: Location) -> int:
        """The scope of a function whose definition begins there."""
        file = self._file(location.path)
        if self._unit is None:
            self._unit = self._node(
                f'distinct !DICompileUnit(language: DW_LANG_Python, file: !{file}, producer: "gompute", isOptimized: {self._optimized}, '
                f"runtimeVersion: 0, emissionKind: {self._kind}, nameTableKind: None)"
            )
        kind = self._shared("!DISubroutineType(types: !{})")
        flags = "DISPFlagLocalToUnit | DISPFlagDefinition" + (" | DISPFlagOptimized" if self._optimized == "true" else "")
        return self._node(
            f'distinct !DISubprogram(name: "{name}", scope: !{file}, file: !{file}, line: {location.line}, type: !{kind}, '
            f"scopeLine: {location.line}, spFlags: {flags}, unit: !{self._unit})"
        )

    def inside(self, scope: int, path: str) -> int:
        """The scope of code from another file that stands inside a function."""
        return self._shared(f"!DILexicalBlockFile(scope: !{scope}, file: !{self._file(path)}, discriminator: 0)")

    def at(self, scope: int, line: int) -> str:
        """What marks an instruction as being of a line, with a comma before it."""
        return f", !dbg !{self._shared(f'!DILocation(line: {line}, scope: !{scope})')}"

    def render(self) -> str:
        """The metadata, lines of text; empty where nothing has lines."""
        if self._unit is None:
            return ""
        flags = [self._node('!{i32 7, !"Dwarf Version", i32 5}'), self._node('!{i32 2, !"Debug Info Version", i32 3}')]
        lines = [f"!llvm.dbg.cu = !{{!{self._unit}}}", f"!llvm.module.flags = !{{{', '.join(f'!{number}' for number in flags)}}}"]
        return "\n".join([*lines, *(f"!{_FIRST + at} = {node}" for at, node in enumerate(self._nodes))])

    def _file(self, path: str) -> int:
        escaped = "".join(character if character.isascii() and character not in '"\\' else _escaped(character) for character in path)
        return self._shared(f'!DIFile(filename: "{escaped}", directory: "")')

    def _shared(self, node: str) -> int:
        number = self._known.get(node)
        if number is None:
            number = self._known[node] = self._node(node)
        return number

    def _node(self, node: str) -> int:
        self._nodes.append(node)
        return _FIRST + len(self._nodes) - 1


def _escaped(character: str) -> str:
    return "".join(f"\\{byte:02X}" for byte in character.encode("utf-8", "surrogateescape"))
