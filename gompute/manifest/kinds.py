"""The type parameters of a generic kernel, read from its source."""

from __future__ import annotations

import ast

__all__ = ["type_parameters"]

TypeParameters = tuple[tuple[str, tuple[str, ...]], ...]


def type_parameters(function: ast.FunctionDef, module: ast.Module) -> TypeParameters:
    """Name and allowed types of each type parameter of a function, in the order in which its annotations name them.

    A parameter is a ``TypeVar("T", f32, f64)`` of the module, or, in the form of Python 3.12, stands in the head: ``def f[T: (f32, f64)]``.
    """
    declared = _in_head(function)
    if declared:
        return declared
    variables = dict(_variables(module))
    found: dict[str, tuple[str, ...]] = {}
    arguments = function.args
    for annotation in [argument.annotation for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)] + [
        function.returns
    ]:
        for node in ast.walk(_read(annotation)) if annotation is not None else ():
            if isinstance(node, ast.Name) and node.id in variables:
                found.setdefault(node.id, variables[node.id])
    return tuple(found.items())


def _in_head(function: ast.FunctionDef) -> TypeParameters:
    made = []
    for parameter in getattr(function, "type_params", ()):
        bound = getattr(parameter, "bound", None)
        if isinstance(bound, ast.Tuple):
            made.append((str(parameter.name), tuple(map(_type_name, bound.elts))))
    return tuple(made)


def _variables(module: ast.Module) -> list[tuple[str, tuple[str, ...]]]:
    made = []
    for statement in module.body:
        call = statement.value if isinstance(statement, ast.Assign) else None
        if isinstance(statement, ast.Assign) and isinstance(call, ast.Call) and _type_name(call.func) == "TypeVar":
            target = statement.targets[0]
            if isinstance(target, ast.Name):
                made.append((target.id, tuple(map(_type_name, call.args[1:]))))
    return made


def _type_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else "?"


def _read(annotation: ast.expr) -> ast.expr:
    """An annotation that is a string is code too."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return annotation
    return annotation
