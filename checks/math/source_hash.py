"""A fingerprint of what a device function computes: its source and that of every function it calls, and every number they name.

Comments, docstrings and layout do not count; neither does a function of the same module that is not called.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
from types import FunctionType, ModuleType
from typing import Any

from gompute.lang.builtins import Table

__all__ = ["source_hash"]


def source_hash(function: FunctionType) -> str:
    """SHA-256, as hex digits, over `function` and what it reaches."""
    found: dict[str, str] = {}
    _collect(function, found)
    return hashlib.sha256("\n".join(f"{name}\n{found[name]}" for name in sorted(found)).encode()).hexdigest()


def _collect(function: FunctionType, found: dict[str, str]) -> None:
    key = f"{function.__module__}.{function.__qualname__}"
    if key in found:
        return
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    if ast.get_docstring(definition) is not None:
        definition.body = definition.body[1:]
    found[key] = ast.unparse(definition)
    for node in ast.walk(definition):
        if isinstance(node, ast.Name) and node.id in function.__globals__:
            _add(f"{function.__module__}.{node.id}", function.__globals__[node.id], found)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = function.__globals__.get(node.value.id)
            if isinstance(module, ModuleType):
                _add(f"{module.__name__}.{node.attr}", getattr(module, node.attr), found)


def _add(name: str, value: Any, found: dict[str, str]) -> None:
    if isinstance(value, FunctionType):
        if value.__module__.startswith("gompute.math."):
            _collect(value, found)
    elif isinstance(value, Table):
        found[name] = " ".join(number.hex() for number in value)
    elif isinstance(value, (int, float)):
        found[name] = repr(value)
