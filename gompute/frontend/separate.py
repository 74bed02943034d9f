"""What decides each kernel of a root on its own, so that an edit of one is no reason to check the others again.

The body of a kernel is a part of that kernel alone where nothing else can have got hold of it: a function at the top level of the root's
module, under one decorator of Gompute's own and nothing else, whose name stands nowhere else in any source. All other text decides every
kernel, as the import of the module may make of it whatever it likes.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any
from unicodedata import normalize

from gompute.frontend.reads import Reads
from gompute.frontend.source import SourceFile, Sources
from gompute.lang.spec import KernelSpec

__all__ = ["kernel_digests"]

_WORD = re.compile(r"\w+")
# With one of these a module may reach what no name leads to.
_REFLECTION = frozenset(
    "__dict__ __file__ __getattribute__ __globals__ __import__ __loader__ __spec__ _getframe ast attrgetter dir dis eval exec gc getattr "
    "globals importlib inspect linecache locals methodcaller pickle sys traceback vars".split()
)


def kernel_digests(file: str, specs: Sequence[KernelSpec], sources: Sources, reads: Reads, *, lines: bool) -> dict[str, str]:
    """A hash for each kernel of all that decides its IR but for the compiler and its options, by name; none where that cannot be told.

    Args:
        file: the root's module.
        reads: what the import has read.
        lines: the IR says in which lines of the source it was written.
    """
    if reads.unknown is not None:
        return {}
    root = sources.read(file)
    if reads.sources.get(file) != sources.hashes[file]:
        return {}
    texts = [_text(path, digest) for path, digest in reads.sources.items() if path != file]
    if None in texts:
        return {}
    # Python takes names that look different for one where Unicode does.
    words = Counter(word for text in (root.text, *texts) if text is not None for word in _WORD.findall(normalize("NFKC", text)))
    if not _REFLECTION.isdisjoint(words):
        return {}
    own = _own_bodies(file, root, specs, words)
    rest: list[str] = []
    done = 0
    for first, last in sorted(own.values()):
        rest += root.lines[done : first - 1]
        rest.append(f"\0{last - first if lines else ''}")
        done = last
    rest += root.lines[done:]
    shared = repr(
        [sorted(reads.sources.items() - {(file, reads.sources[file])}), reads.files, reads.folders, reads.absent, "\n".join(rest)]
    )
    base = hashlib.sha256(shared.encode("utf-8", "surrogateescape"))
    digests: dict[str, str] = {}
    for spec in specs:
        made = base.copy()
        first, last = own.get(spec.name, (1, 0))
        made.update("\n".join(["", spec.name, *root.lines[first - 1 : last]]).encode("utf-8", "surrogateescape"))
        digests[spec.name] = made.hexdigest()
    return digests


def _text(path: str, digest: str) -> str | None:
    """The text of a source as it was when it was imported; None where it has changed since."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    return data.decode("utf-8", "replace") if hashlib.sha256(data).hexdigest() == digest else None


def _own_bodies(file: str, root: SourceFile, specs: Sequence[KernelSpec], words: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """The first and the last line of each body that is a part of one kernel alone, by the kernel's name."""
    rebound = {
        name.id
        for statement in root.tree.body
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))
        for name in ast.walk(statement)
        if isinstance(name, ast.Name) and not isinstance(name.ctx, ast.Load)
    }
    makers = Counter(function.__code__ for spec in specs for function in spec.functions)
    by_line = {_first_line(spec.functions): spec for spec in specs if len(spec.functions) == 1 and makers[spec.functions[0].__code__] == 1}
    found: dict[str, tuple[int, int]] = {}
    for node in root.tree.body:
        if not isinstance(node, ast.FunctionDef) or len(node.decorator_list) != 1 or words[node.name] != 1:
            continue
        (decorator,) = node.decorator_list
        spec = by_line.get(decorator.lineno)
        if spec is None or spec.functions[0].__code__.co_filename != file or spec.functions[0].__name__ != node.name:
            continue
        scope = spec.functions[0].__globals__
        first, last = node.body[0].lineno, node.end_lineno or 0
        if _is_gomputes(decorator, scope, rebound) and first > _end_of_head(node):
            found[spec.name] = first, last
    return found


def _first_line(functions: Iterable[FunctionType]) -> int:
    return min(function.__code__.co_firstlineno for function in functions)


def _end_of_head(node: ast.FunctionDef) -> int:
    """The last line that something before the body stands in."""
    head = [*node.decorator_list, *ast.iter_child_nodes(node.args), *([node.returns] if node.returns is not None else [])]
    return max(node.lineno, *(getattr(part, "end_lineno", 0) or 0 for part in head))


def _is_gomputes(decorator: ast.expr, scope: Mapping[str, Any], rebound: set[str]) -> bool:
    """Whether the decorator is an operation of Gompute, called or not: any other may do with the function what it likes."""
    maker = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = maker.value if isinstance(maker, ast.Attribute) else maker
    if not isinstance(name, ast.Name) or name.id in rebound:
        return False
    value = scope.get(name.id)
    if isinstance(maker, ast.Attribute):
        return isinstance(value, ModuleType) and value.__name__ == "gompute"
    return getattr(value, "__module__", "").startswith("gompute.lang.")
