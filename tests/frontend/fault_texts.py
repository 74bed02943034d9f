"""What the compiler can say of a mistake, read from its own source, and what the tests expect it to say, read from theirs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

#: What is filled in, in the pattern of a text.
_ANYTHING = ".+?"
#: The positions of what is wrong and of what to write in the calls that make a fault.
_MAKERS = {"KernelFault": (1, 2), "FieldFault": (1, 2), "PromotionRefused": (0, 1)}


Names: TypeAlias = dict[str, list[tuple[int, ast.expr]]]


@dataclass(frozen=True)
class Text:
    """One kind of fault: patterns of its message and of its fix, and where it is made."""

    place: str
    what: str
    fix: str


def texts(file: Path, root: Path) -> Iterator[Text]:
    """Every kind of fault that a file makes with words of its own; what it passes on has its words elsewhere."""
    tree = ast.parse(file.read_text())
    for scope in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))]:
        names = _assigned(scope)
        for node in _within(scope):
            for what, fix in _pair(node, names):
                whats, fixes = _ways(what, names), _ways(fix, names)
                place = f"{file.relative_to(root)}:{node.lineno}"
                # Every way of the one with some way of the other: not each combination can happen.
                longer = max(len(whats), len(fixes))
                for number in range(longer):
                    found = Text(place, whats[number % len(whats)], fixes[number % len(fixes)])
                    if _own_words(found.what):
                        yield found


def _assigned(scope: ast.AST) -> Names:
    """What a scope assigns to each name, with the line."""
    names: Names = {}
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names.setdefault(node.targets[0].id, []).append((node.lineno, node.value))
    return names


def _own_words(pattern: str) -> bool:
    return len(re.sub(r"\W", "", pattern.replace(_ANYTHING, ""))) >= 4


def _within(scope: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a scope, without those of the functions in it."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id[0].isupper()
        if not isinstance(node, ast.FunctionDef) and not made:
            waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.expr):
            yield node


def _pair(node: ast.expr, names: Names) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is wrong and what to write, where an expression makes a fault of them."""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
        if name in _MAKERS and len(node.args) > max(_MAKERS[name]):
            what, fix = _MAKERS[name]
            yield node.args[what], node.args[fix]
        if name == "add" and len(node.args) >= 3 and ast.unparse(node.func).endswith("faults.add"):
            yield node.args[-2], node.args[-1]
    elif isinstance(node, ast.Tuple) and len(node.elts) == 2 and all(_is_text(part, names) for part in node.elts):
        yield node.elts[0], node.elts[1]


def _is_text(node: ast.expr, names: Names) -> bool:
    if isinstance(node, ast.Tuple):
        return False
    found = _ways(node, names)
    return found != [_ANYTHING] and all(" " in way for way in found)


def _ways(node: ast.expr, names: Names) -> list[str]:
    """Patterns of the texts that an expression may be."""
    if isinstance(node, ast.Constant):
        return [re.escape(node.value)] if isinstance(node.value, str) else [_ANYTHING]
    if isinstance(node, ast.IfExp):
        return [*_ways(node.body, names), *_ways(node.orelse, names)]
    if isinstance(node, ast.JoinedStr):
        return ["".join(re.escape(part.value) if isinstance(part, ast.Constant) else _ANYTHING for part in node.values)]
    if isinstance(node, ast.Name):
        before = [given for given in names.get(node.id, ()) if given[0] < node.lineno]
        return _ways(max(before, key=lambda given: given[0])[1], {}) if before else [_ANYTHING]
    if isinstance(node, ast.Tuple):
        return [" or ".join(way) for way in product(*(_ways(part, names) for part in node.elts))]
    return [_ANYTHING]


def expected(module: ModuleType) -> Iterator[tuple[str, ...]]:
    """Texts that stand together in a test module, such as a message and its fix; names of the module in them are filled in."""
    assert module.__file__ is not None
    for node in ast.walk(ast.parse(Path(module.__file__).read_text())):
        if isinstance(node, ast.Tuple | ast.List):
            yield tuple(text for part in node.elts if (text := _value(part, module)))
        elif isinstance(node, ast.expr) and (text := _value(node, module)):
            yield tuple(line.strip() for line in text.splitlines())


def _value(node: ast.expr, module: ModuleType) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if not isinstance(node, ast.JoinedStr):
        return ""
    try:
        value = eval(compile(ast.Expression(node), "", "eval"), vars(module))
    except NameError:  # a local variable of the test
        return ""
    return value if isinstance(value, str) else ""
