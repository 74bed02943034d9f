"""A module without the bodies of its kernels, which is all that Python has to compile for an import: nothing runs the body of a kernel.

Which kernels these are is decided by the text alone. Their functions stand at the top level of the module, under one decorator and that of
Gompute, by a name that the module binds once, in an import of Gompute.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gompute.frontend.layout import Layout

__all__ = ["LEFT_OUT", "Body", "Outline", "outline_of"]

#: What an outline calls in place of each body.
LEFT_OUT = "__gompute_body_left_out__"


@dataclass(frozen=True, slots=True)
class Body:
    """The body of one kernel.

    Attributes:
        name: of its function.
        first, last: its lines.
    """

    name: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Outline:
    """What is left of a module.

    Attributes:
        text: with as many lines as the module.
        bodies: what was left out, by the line of the decorator.
    """

    text: str
    bodies: dict[int, Body]


def outline_of(lines: Sequence[str], layout: Layout) -> Outline | None:
    """The outline of a module with these lines; None where it is no Python, or nothing can be left out."""
    found = dict(_decorated(layout))
    if not found:
        return None
    try:
        tree = ast.parse(_without(lines, found.values()))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    names = _gomputes(tree)
    kept = {at: found[at] for at in _under_one_decorator(tree, names) if at in found}
    return Outline(_without(lines, kept.values()), kept) if kept else None


def _decorated(layout: Layout) -> Iterator[tuple[int, Body]]:
    """What looks like a function under one decorator, by the line of the decorator."""
    starts = layout.starts
    for before, at, head in zip((0, *starts), starts, starts[1:], strict=False):
        if not layout.begins(at, "@") or not layout.begins(head, "def ") or layout.begins(before, "@"):
            continue
        name = layout.code[head - 1][4:].partition("(")[0].strip()
        last = layout.end(head)
        first = _end_of_head(layout, head, last) + 1
        # Python has to see a generator's body, and what a body with type parameters says of them.
        if name.isidentifier() and first <= last and not any("yield" in line for line in layout.code[first - 1 : last]):
            yield at, Body(name, first, last)


def _end_of_head(layout: Layout, head: int, last: int) -> int:
    """The line of the colon after which nothing stands; `last` where there is none."""
    depth = 0
    for number in range(head, last):
        line = layout.code[number - 1].rstrip()
        depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        if not depth and line.endswith(":"):
            return number
    return last


def _without(lines: Sequence[str], bodies: Iterable[Body]) -> str:
    """The text in which each body is a call of `LEFT_OUT` and empty lines."""
    parts: list[str] = []
    done = 0
    for body in sorted(bodies, key=lambda body: body.first):
        parts += lines[done : body.first - 1]
        parts.append(f" {LEFT_OUT}()" + "\n" * (body.last - body.first))
        done = body.last
    return "\n".join([*parts, *lines[done:]])


def _gomputes(tree: ast.Module) -> frozenset[str]:
    """The names that an import of Gompute at the top level binds and nothing else in the module does."""
    bound: Counter[str] = Counter()
    imported: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names) | ast.ImportFrom(names=names):
                bound.update(alias.asname or alias.name.partition(".")[0] for alias in names)
            case ast.Name(name, ast.Store() | ast.Del()) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                bound[name] += 1
            case ast.MatchMapping(rest=str(name)) | ast.ExceptHandler(name=str(name)) | ast.arg(name):
                bound[name] += 1
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                bound[name] += 1
            case ast.Global(names):
                bound.update(names)
    for statement in tree.body:
        match statement:
            case ast.Import(names):
                imported |= {alias.asname or "gompute" for alias in names if alias.name == "gompute"}
            case ast.ImportFrom("gompute", names, 0):
                imported |= {alias.asname or alias.name for alias in names}
    return frozenset(name for name in imported if bound[name] == 1)


def _under_one_decorator(tree: ast.Module, names: frozenset[str]) -> Iterator[int]:
    """The lines of the decorators of functions that have one, which begins with one of these names, and nothing but a call for a body."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and len(node.decorator_list) == 1 and len(node.body) == 1:
            (decorator,) = node.decorator_list
            maker = decorator.func if isinstance(decorator, ast.Call) else decorator
            owner = maker.value if isinstance(maker, ast.Attribute) else maker
            if isinstance(owner, ast.Name) and owner.id in names:
                yield decorator.lineno
