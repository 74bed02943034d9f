"""What an expression of host code can stand for."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

__all__ = [
    "LAUNCHERS",
    "NOTHING",
    "UNKNOWN",
    "BoundMethod",
    "Builtin",
    "ClassScope",
    "ClassValue",
    "Container",
    "ContainerMethod",
    "Declaration",
    "External",
    "FunctionScope",
    "Gompute",
    "Instance",
    "Literal",
    "Maker",
    "Module",
    "ModuleScope",
    "Namespace",
    "Nothing",
    "Partial",
    "Scope",
    "Spec",
    "Super",
    "Unknown",
    "Value",
    "Values",
]

#: What launches, and the name of the argument that says which kernel.
LAUNCHERS = {"AutoKernel": "spec", "Kernel": "spec", "RawKernel": "kernel", "kernel_by_name": "name"}


class Scope:
    """Where names are bound: a module, a class, a function, a comprehension. One for each piece of syntax, however often it runs.

    Attributes:
        names: those that are bound in it.
        outer: the scope around it; None for a module.
        module: the module that it is in.
    """

    def __init__(self, names: frozenset[str], outer: Scope | None, module: ModuleScope | None) -> None:
        self.names = names
        self.outer = outer
        self.module: ModuleScope = module if module is not None else self._as_module()

    def _as_module(self) -> ModuleScope:
        assert isinstance(self, ModuleScope), "only a module is in no module"
        return self


class ModuleScope(Scope):
    """The top level of one file.

    Attributes:
        file: its resolved path.
        imported: names that only imports bind.
        stars: what it imports all names of.
    """

    def __init__(self, file: Path, tree: ast.Module, names: frozenset[str], imported: frozenset[str]) -> None:
        self.file = file
        self.tree = tree
        self.imported = imported
        self.stars: set[Value] = set()
        super().__init__(names, None, None)


class ClassScope(Scope):
    """The body of a class.

    Attributes:
        bases: values of its base classes.
        derived: classes that derive from it, not itself.
        fields: annotated names, in order, which a data class or a named tuple takes as arguments.
    """

    def __init__(self, node: ast.ClassDef, names: frozenset[str], outer: Scope) -> None:
        self.node = node
        self.bases: set[Value] = set()
        self.derived: set[ClassScope] = set()
        self.fields = tuple(item.target.id for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name))
        super().__init__(names, outer, outer.module)


class FunctionScope(Scope):
    """The body of a function, a lambda, or a comprehension (whose `node` has no parameters).

    Attributes:
        owner: the class whose method it is.
        kind: what binds its first argument: `instance`, `class`, or nothing for `plain`; a `property` is called by being looked at.
    """

    def __init__(self, node: ast.AST, names: frozenset[str], outer: Scope) -> None:
        self.node = node
        self.owner = outer if isinstance(outer, ClassScope) and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else None
        self.kind = "plain" if self.owner is None else "instance"
        self.called = False
        super().__init__(names, outer, outer.module)

    @property
    def arguments(self) -> ast.arguments | None:
        return getattr(self.node, "args", None)


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything at all."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """Surely no kernel, and nothing that leads to one."""


UNKNOWN = Unknown()
NOTHING = Nothing()


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant of the source."""

    value: str | int | bool | None


@dataclass(frozen=True, slots=True)
class Gompute:
    """Something of the package gompute, by the last part of its name; the package itself is the empty name."""

    name: str


@dataclass(frozen=True, slots=True)
class External:
    """Something of a module that is not read, by its dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class Builtin:
    """One of Python's own names."""

    name: str


@dataclass(frozen=True, slots=True)
class Module:
    """A module that is read."""

    scope: ModuleScope


@dataclass(frozen=True, slots=True)
class Namespace:
    """A folder that is imported as a package and has no `__init__.py`."""

    folder: Path


@dataclass(frozen=True, slots=True)
class BoundMethod:
    """A function; `bound` is what its first argument is, for a method looked up on an object."""

    scope: FunctionScope
    bound: Value | None = None


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a class that is read, whichever."""

    scope: ClassScope


@dataclass(frozen=True, slots=True)
class ClassValue:
    """A class that is read."""

    scope: ClassScope


@dataclass(frozen=True, slots=True)
class Super:
    """`super()` in a method of `scope`, for `bound`."""

    scope: ClassScope
    bound: Value


@dataclass(frozen=True, slots=True)
class Container:
    """A list, tuple, set, dict or iterator, by the place in the source that makes it; `part` tells several from one place apart."""

    site: ast.AST
    part: str = ""
    mapping: bool = False


@dataclass(frozen=True, slots=True)
class ContainerMethod:
    """`container.name`, to be called."""

    container: Container
    name: str


@dataclass(frozen=True, slots=True)
class Partial:
    """`functools.partial(function, ...)`; `site` is the call that holds the arguments."""

    function: Value
    site: ast.Call
    scope: Scope


@dataclass(frozen=True, slots=True)
class Maker:
    """A decorator that makes kernels, given its options: `g.map(name="two")`, or the bare `g.map` of no options.

    `name` is the one among the options; None where there is none.
    """

    operation: str
    name: Literal | Unknown | None


@dataclass(eq=False, slots=True)
class Declaration:
    """A place in the source where kernels are declared.

    Attributes:
        module: the module that it is in.
        node: the function or the call.
        in_function: it runs when a function is called, perhaps for another module.
        parameters: name and allowed types of each type parameter, in order; empty where it is not generic, or not known to be yet.
    """

    module: ModuleScope
    node: ast.AST
    in_function: bool
    parameters: tuple[tuple[str, tuple[str, ...]], ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Spec:
    """A kernel.

    Attributes:
        name: its public name, without an instance; None where it is computed.
        instance: types of an instance of a generic kernel, joined by commas; None where none was chosen, `?` where it cannot be known.
    """

    declaration: Declaration
    name: str | None
    instance: str | None = None


Value: TypeAlias = (
    Unknown
    | Nothing
    | Literal
    | Gompute
    | External
    | Builtin
    | Module
    | Namespace
    | BoundMethod
    | Instance
    | ClassValue
    | Super
    | Container
    | ContainerMethod
    | Partial
    | Maker
    | Spec
)
Values: TypeAlias = frozenset[Value]


def is_code(value: Value) -> bool:
    """Whether a call of the value runs code that is read."""
    if isinstance(value, Gompute):
        return value.name in LAUNCHERS
    return isinstance(value, BoundMethod | ClassValue | Partial)
