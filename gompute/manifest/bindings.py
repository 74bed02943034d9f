"""Which names a piece of code binds, by Python's rules."""

from __future__ import annotations

import ast
from collections.abc import Iterable

__all__ = ["bound_names", "imported_names", "parameter_names"]

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def parameter_names(arguments: ast.arguments) -> list[str]:
    """Names of all parameters, `*args` and `**kwargs` included."""
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return [argument.arg for argument in listed if argument is not None]


def bound_names(body: Iterable[ast.AST]) -> frozenset[str]:
    """Names that the code binds in its own scope; those of functions, classes and comprehensions inside it are their own."""
    bound: set[str] = set()
    elsewhere: set[str] = set()
    for node in _own(body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            bound.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {alias.asname or alias.name.partition(".")[0] for alias in node.names if alias.name != "*"}
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name is not None:
            bound.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest is not None:
            bound.add(node.rest)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            elsewhere |= set(node.names)
    return frozenset(bound - elsewhere)


def imported_names(body: Iterable[ast.AST]) -> frozenset[str]:
    """Names that imports bind and nothing else does."""
    bound: set[str] = set()
    for node in _own(body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {alias.asname or alias.name.partition(".")[0] for alias in node.names if alias.name != "*"}
    others = bound_names(node for node in body if not isinstance(node, ast.Import | ast.ImportFrom))
    return frozenset(bound - others)


def _own(body: Iterable[ast.AST]) -> Iterable[ast.AST]:
    """All syntax of the code but what is inside scopes of their own; without recursion, which long code would exhaust."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, _SCOPES):
            waiting += getattr(node, "decorator_list", ())
            arguments = getattr(node, "args", None)
            if arguments is not None:
                waiting += [*arguments.defaults, *(default for default in arguments.kw_defaults if default is not None)]
            if isinstance(node, ast.ClassDef):
                waiting += [*node.bases, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, _COMPREHENSIONS):
            # A walrus in a comprehension binds in the scope around it.
            waiting += [inner.target for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)]
            waiting.append(node.generators[0].iter)
        else:
            waiting += ast.iter_child_nodes(node)
