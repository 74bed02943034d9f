"""Where values are kept while the code is walked: variables, attributes, items and results."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gompute.manifest.bindings import bound_names
from gompute.manifest.values import UNKNOWN, ClassScope, Container, Declaration, FunctionScope, Literal, ModuleScope, Scope, Value

__all__ = ["Launch", "Store"]

# Strings put together in a loop have no end; beyond this many values in one place anything is possible.
_MOST = 2000


@dataclass(slots=True)
class Launch:
    """A place where a kernel is launched.

    Attributes:
        how: the launcher: `Kernel`, `AutoKernel`, `RawKernel`, `kernel_by_name`; empty where a kernel goes to code that is not read.
        argument: the expression that gives the kernel, for messages.
        values: what it can be.
    """

    how: str
    module: ModuleScope
    site: ast.expr | ast.stmt
    argument: ast.expr | None
    values: set[Value] = field(default_factory=set)


class Store:
    """All cells. They only ever grow: when a walk over all code adds nothing, everything is found.

    Attributes:
        changed: something was added since this was last set to False.
        final: everything that can be found by looking on is found, so what has no value yet can be anything.
        launches: by the syntax of the call, and by how it launches.
        declarations: places where kernels are declared, by their syntax.
        made: names of the kernels of each declaration; None for one that is computed.
    """

    def __init__(self) -> None:
        self.changed = False
        self.final = False
        self.launches: dict[tuple[ast.AST, str], Launch] = {}
        self.declarations: dict[ast.AST, Declaration] = {}
        self.made: dict[Declaration, set[str | None]] = {}
        self._cells: dict[tuple[object, object], set[Value]] = {}
        self._names: dict[object, set[object]] = {}
        self._keys: dict[Container, set[Literal]] = {}
        self._functions: dict[ast.AST, FunctionScope] = {}
        self._classes: dict[ast.ClassDef, ClassScope] = {}

    def add(self, of: object, name: object, values: Iterable[Value]) -> None:
        """Add values to a cell."""
        cell = self._cells.setdefault((of, name), set())
        self._names.setdefault(of, set()).add(name)
        before = len(cell)
        if before < _MOST:
            cell.update(values)
            if len(cell) >= _MOST:
                cell.add(UNKNOWN)
        self.changed |= len(cell) != before

    def get(self, of: object, name: object) -> set[Value]:
        """The values of a cell; not to be changed."""
        return self._cells.get((of, name), set())

    def held(self, of: object) -> set[Value]:
        """The values of all cells of a module, a class or an object."""
        return {value for name in self._names.get(of, ()) for value in self.get(of, name)}

    # ---- variables ----

    def bind(self, scope: Scope, name: str, values: Iterable[Value]) -> None:
        """Bind a name as an assignment in `scope` does."""
        place: Scope | None = scope
        while place is not None and (name not in place.names or (place is not scope and isinstance(place, ClassScope))):
            place = place.outer
        self.add(scope.module if place is None else place, name, values)

    # ---- items ----

    def put(self, container: Container, key: Literal | None, values: Iterable[Value]) -> None:
        """Add items; a key of None stands for any."""
        if key is not None:
            keys = self._keys.setdefault(container, set())
            self.changed |= key not in keys
            keys.add(key)
        self.add(container, key, values)

    def item(self, container: Container, key: Literal | None) -> set[Value]:
        """What may lie under a key; None stands for any."""
        if key is None:
            return self.elements(container)
        return self.get(container, key) | self.get(container, None)

    def elements(self, container: Container) -> set[Value]:
        """All values in a container."""
        made = set(self.get(container, None))
        for key in self._keys.get(container, ()):
            made |= self.get(container, key)
        return made

    def keys(self, container: Container) -> set[Literal]:
        """The constant keys of a container."""
        return self._keys.get(container, set())

    def flat(self, values: Iterable[Value]) -> set[Value]:
        """The values, and all that lies in containers among them, however deep."""
        found: set[Value] = set()
        waiting = list(values)
        while waiting:
            value = waiting.pop()
            if value not in found:
                found.add(value)
                if isinstance(value, Container):
                    waiting += [*self.elements(value), *self.get(value, "keys")]
        return found

    # ---- syntax ----

    def function_scope(self, node: ast.AST, names: Callable[[], frozenset[str]], outer: Scope) -> FunctionScope:
        """The scope of a function or a comprehension, made where there is none; `names` gives those that it binds."""
        found = self._functions.get(node)
        if found is None:
            found = self._functions[node] = FunctionScope(node, names(), outer)
        return found

    def class_scope(self, node: ast.ClassDef, outer: Scope) -> ClassScope:
        """The scope of a class, made where there is none."""
        found = self._classes.get(node)
        if found is None:
            found = self._classes[node] = ClassScope(node, bound_names(node.body), outer)
        return found
