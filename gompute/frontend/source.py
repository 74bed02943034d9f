"""Source files as the compiler sees them, and the way from a live function back to its syntax."""

from __future__ import annotations

import ast
import hashlib
import io
import os
import sys
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType

from gompute.errors import CompileError
from gompute.frontend.layout import Layout, layout_of, without_comments
from gompute.frontend.outline import LEFT_OUT, Outline, outline_of

__all__ = ["FunctionSyntax", "SourceFile", "Sources", "statements_in"]

#: The folder that holds the package.
_INSTALLED = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

FunctionSyntax = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(eq=False)
class SourceFile:
    """One file of Python. Its text is parsed when somebody asks for it, and only as much of it as is needed.

    Attributes:
        shown: the path as it is shown to the author, relative to where they stand.
        relative: the path relative to the root's folder, which may go into artifacts.
        is_gomputes: it is a part of this package, whose version says what is in it.
    """

    shown: str
    relative: str
    text: str
    is_gomputes: bool = False
    lines: list[str] = field(init=False)

    def __post_init__(self) -> None:
        # Only what Python's own parser counts as a line end; str.splitlines also splits at form feeds and other separators.
        self.lines = self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._statements: dict[int, ast.FunctionDef | ast.AsyncFunctionDef | None] = {}

    def line(self, number: int) -> str:
        """Text of a line, counted from 1; empty past the end."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""

    @cached_property
    def tree(self) -> ast.Module:
        """All of it. Raises CompileError where it is no Python."""
        return self._parsed(self.text)

    @cached_property
    def outline(self) -> Outline | None:
        """See `gompute.frontend.outline`; None where there is none."""
        return None if self.layout is None else outline_of(self.lines, self.layout)

    def function(self, code: CodeType) -> FunctionSyntax | None:
        """The syntax that `code` was compiled from; among several lambdas on one line the one that spans the code's positions.

        Raises CompileError where it is no Python.
        """
        if code.co_name == "<lambda>":
            return self._lambda(code)
        first = code.co_firstlineno  # of the first decorator, where there is one
        if first not in self._statements:
            self._statements[first] = self._statement(first, whole=LEFT_OUT in code.co_names)
        alone = self._statements[first]
        if alone is not None and alone.name == code.co_name:
            return alone
        lines = ((node, {node.lineno, *(decorator.lineno for decorator in node.decorator_list)}) for node in self._definitions)
        return next((node for node, at in lines if first in at and node.name == code.co_name), None)

    @cached_property
    def layout(self) -> Layout | None:
        """See `gompute.frontend.layout`; None where there is none."""
        return layout_of("\n".join(self.lines))

    @cached_property
    def bare(self) -> Sequence[str | None]:
        """The lines without comments; None for those without code. As they are, where there is no layout."""
        return self.lines if self.layout is None else without_comments(self.lines, self.layout)

    def _statement(self, first: int, whole: bool) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function at the top level that begins in this line, parsed without the rest; None where it cannot be told alone.

        Args:
            whole: Python has not compiled it, and has more to find fault with than the syntax.
        """
        end = None if self.layout is None else self.layout.end_of_function(first)
        if end is None:
            return None
        # The empty lines put everything at its place.
        tree = self._parsed("\n" * (first - 1) + "\n".join(self.lines[first - 1 : end]), whole)
        (node,) = tree.body
        return node if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None

    def _parsed(self, text: str, whole: bool = False) -> ast.Module:
        try:
            tree = ast.parse(text)
            if whole:
                compile(tree, self.shown, "exec", dont_inherit=True)
        except SyntaxError as error:
            number, column = error.lineno or 1, error.offset or 1
            line = self.line(number).rstrip()
            marked = f"\n    {line}\n    {' ' * (column - 1)}^" if line.strip() else ""
            fix = (
                f"this is Python {sys.version_info.major}.{sys.version_info.minor}; what is written for a later one has to be read by that"
            )
            raise CompileError(f"{self.shown}:{number}:{column}: {type(error).__name__}: {error.msg}{marked}\n  {fix}") from error
        except (RecursionError, MemoryError) as error:  # the second where more than the parser's own stack is full
            raise CompileError(f"{self.shown}: an expression is nested too deeply for Python's parser; split it") from error
        except ValueError as error:  # a null byte
            raise CompileError(f"{self.shown}: {error}") from error
        return tree

    @cached_property
    def _definitions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        return [node for node in statements_in(self.tree.body) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]

    @cached_property
    def _lambdas(self) -> list[ast.Lambda]:
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.Lambda)]

    def _lambda(self, code: CodeType) -> ast.Lambda | None:
        found = [node for node in self._lambdas if node.lineno == code.co_firstlineno]
        if len(found) > 1:
            spans = [p for p in code.co_positions() if p[0] is not None and p[2] is not None and p[1] is not None and p[3] is not None]
            # The first instruction (RESUME) carries the position of the line, not of the body.
            spans = [p for p in spans if p[2] != p[3]]
            found = [node for node in found if all(_holds(node, p) for p in spans)] or found
            # An inner lambda's code lies within the outer one's span too: the narrowest node that holds all positions is the right one.
            found.sort(key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0, -node.lineno, -node.col_offset))
        return found[0] if found else None


def statements_in(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body and of all bodies inside it, in the order of the source. Expressions are not searched, which on long
    straight-line code takes most of the time of `ast.walk`."""
    waiting = list(body)[::-1]
    while waiting:  # not by recursion: an elif chain is one level deeper for each branch
        statement = waiting.pop()
        yield statement
        inner = [s for name in ("body", "orelse", "finalbody") for s in getattr(statement, name, ())]
        inner += [s for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())) for s in part.body]
        waiting += inner[::-1]


def _holds(node: FunctionSyntax, span: tuple[int | None, int | None, int | None, int | None]) -> bool:
    line, end_line, column, end_column = span
    start = (node.lineno, node.col_offset)
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return start <= (line or 0, column or 0) and (end_line or 0, end_column or 0) <= end


class Sources:
    """Every file read for one root."""

    def __init__(self, folder: Path, shown: str) -> None:
        self.folder = folder.resolve()
        self._shown = shown
        self._files: dict[str, SourceFile] = {}
        self.hashes: dict[str, str] = {}
        """The sha256 of each file, as it was read, by its absolute path."""

    def read(self, path: str) -> SourceFile:
        """A file. Raises CompileError when it cannot be read."""
        known = self._files.get(path)
        if known is not None:
            return known
        place = os.path.realpath(path)
        below = os.path.relpath(place, self.folder)
        shown = os.path.normpath(os.path.join(self._shown, below))
        # Gompute's own functions are named alike wherever it is installed.
        is_gomputes = place.startswith(f"{_INSTALLED}{os.sep}gompute{os.sep}")
        relative = os.path.relpath(place, _INSTALLED) if is_gomputes else below
        try:
            with open(path, "rb") as file:
                data = file.read()
            self.hashes[os.path.abspath(path)] = hashlib.sha256(data).hexdigest()
            # Honours a coding line and a byte order mark, and reads every line end as \n.
            text = io.TextIOWrapper(io.BytesIO(data), tokenize.detect_encoding(io.BytesIO(data).readline)[0]).read()
        except (OSError, UnicodeDecodeError, SyntaxError) as error:
            raise CompileError(f"{shown}: cannot read the source: {error}") from error
        made = self._files[path] = SourceFile(shown, relative, text, is_gomputes)
        return made

    def of(self, function: FunctionType) -> tuple[SourceFile, FunctionSyntax]:
        """File and syntax of a live function. Raises CompileError when there is no file behind it, or no Python in it."""
        code = function.__code__
        if not os.path.isfile(code.co_filename):
            raise CompileError(
                f"{function.__qualname__}: its source is not in a file ({code.co_filename}), so it cannot be compiled; put it in a module"
            )
        source = self.read(code.co_filename)
        syntax = source.function(code)
        if syntax is None:
            raise CompileError(f"{source.shown}:{code.co_firstlineno}: the source of {function.__qualname__} changed after it was imported")
        return source, syntax
