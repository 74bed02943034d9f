"""What a name and an attribute stand for."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator

from gompute.lang import names, operations, reductions
from gompute.manifest.program import Program
from gompute.manifest.store import Store
from gompute.manifest.values import (
    LAUNCHERS,
    NOTHING,
    UNKNOWN,
    BoundMethod,
    Builtin,
    ClassScope,
    ClassValue,
    Container,
    ContainerMethod,
    External,
    FunctionScope,
    Gompute,
    Instance,
    Literal,
    Module,
    ModuleScope,
    Namespace,
    Scope,
    Spec,
    Super,
    Value,
)

__all__ = ["Lookup"]

#: What ``from gompute import *`` gives that a launch can be about.
_PUBLIC = frozenset({*LAUNCHERS, *operations.__all__, *reductions.__all__, *names.__all__, "params", "load"})
_BUILTINS = frozenset(dir(builtins))
_MOST_PARTS = 16
#: Bases that add nothing to the attributes of a class that a program looks at.
_PLAIN_BASES = frozenset({"object", "Exception", "BaseException"})
_PLAIN_EXTERNAL = ("abc.", "typing.", "enum.", "dataclasses.", "collections.abc.", "contextlib.", "threading.")


class Lookup:
    """Names and attributes of one program."""

    def __init__(self, program: Program, store: Store) -> None:
        self.program = program
        self.store = store

    def name(self, name: str, scope: Scope) -> set[Value]:
        """The values of a name where it is used."""
        place: Scope | None = scope
        while place is not None:
            # The names of a class are seen by its own body alone.
            if name in place.names and (place is scope or not isinstance(place, ClassScope)):
                return self._missing(self.store.get(place, name))
            place = place.outer
        return self._global(name, scope.module)

    def _global(self, name: str, module: ModuleScope) -> set[Value]:
        # Bound by a `global` statement, or by an assignment to an attribute from elsewhere.
        found = set(self.store.get(module, name))
        found |= self._starred(module.stars, name)
        if not found and name in _BUILTINS:
            return {Builtin(name)}
        return self._missing(found)

    def _starred(self, stars: Iterable[Value], name: str) -> set[Value]:
        """What `name` is through `from ... import *`, of modules that may import all of one another."""
        found: set[Value] = set()
        seen: set[Value] = set()
        waiting = list(stars)
        while waiting:
            star = waiting.pop()
            if star in seen:
                continue
            seen.add(star)
            if isinstance(star, Gompute) and name in _PUBLIC:
                found.add(Gompute(name))
            elif isinstance(star, Module) and self._exports(star.scope, name):
                found |= self.store.get(star.scope, name)
                waiting += star.scope.stars
        return found

    def _exports(self, module: ModuleScope, name: str) -> bool:
        """Whether a star may take a name: one with an underscore in front only where `__all__` lists it."""
        if not name.startswith("_"):
            return True
        listed = self.store.flat(self.store.get(module, "__all__"))
        return Literal(name) in listed

    def attribute(self, value: Value, name: str) -> set[Value]:
        """The values of `value.name`."""
        match value:
            case Gompute():
                # Of a base class whose constructor a class of the program calls by its name, the handle is the first argument.
                return {Gompute(f"{value.name}.{name}" if name == "__init__" and value.name in LAUNCHERS else name)}
            case External():
                # A walk along a list that is linked by attributes has no end.
                return {External(f"{value.name}.{name}") if value.name.count(".") < _MOST_PARTS else UNKNOWN}
            case Module():
                return self._of_module(value, name)
            case Namespace():
                found = self.program.submodule(value.folder, name)
                return {found} if found is not None else {UNKNOWN}
            case ClassValue():
                return self._of_class(value.scope, name, value)
            case Instance() if name == "__class__":
                return {ClassValue(value.scope)}
            case Instance():
                return self._of_class(value.scope, name, value)
            case Super():
                return self._inherited(value, name)
            case Container():
                return {ContainerMethod(value, name)}
            case BoundMethod():
                return self._missing(self.store.get(value.scope, f".{name}"))
            case Literal():
                return {External(f"builtins.str.{name}") if isinstance(value.value, str) else NOTHING}
            case Spec():
                return {Literal(value.name)} if name == "name" and value.name is not None and value.instance is None else {NOTHING}
            case _:
                # A kernel set may come from anywhere; what it is asked for by name is a launch.
                return {Gompute(name)} if name == "kernel_by_name" else {UNKNOWN if value == UNKNOWN else NOTHING}

    def reached(self, values: Iterable[Value]) -> set[Value]:
        """The values, all that lies in containers among them, and in attributes of objects, classes and modules, however deep."""
        found: set[Value] = set()
        waiting = list(values)
        while waiting:
            value = waiting.pop()
            if value in found:
                continue
            found.add(value)
            match value:
                case Container():
                    waiting += self.store.flat({value})
                case Instance() | ClassValue():
                    for here in self.lineage(value.scope):
                        waiting += self.store.held(here)
                case Module():
                    waiting += self.store.held(value.scope)
        return found

    def assign(self, value: Value, name: str, values: set[Value]) -> None:
        """Record ``value.name = ...``."""
        match value:
            case Module():
                self.store.add(value.scope, name, values)
            case ClassValue() | Instance():
                self.store.add(value.scope, name, values)
            case BoundMethod():
                self.store.add(value.scope, f".{name}", values)
            case _:
                pass  # reading it back gives what can be anything

    def lineage(self, scope: ClassScope) -> Iterator[ClassScope]:
        """The class and its known bases, nearest first, each once."""
        seen: set[ClassScope] = set()
        waiting = [scope]
        while waiting:
            here = waiting.pop(0)
            if here not in seen:
                seen.add(here)
                yield here
                waiting += [base.scope for base in sorted_bases(here)]

    def launcher_of(self, scope: ClassScope) -> Gompute | None:
        """The handle class of Gompute that a class derives from."""
        for here in self.lineage(scope):
            for base in here.bases:
                if isinstance(base, Gompute):
                    return base
        return None

    def derived(self, scope: ClassScope) -> set[ClassScope]:
        """The class and all that derive from it."""
        seen: set[ClassScope] = set()
        waiting = [scope]
        while waiting:
            here = waiting.pop()
            if here not in seen:
                seen.add(here)
                waiting += here.derived
        return seen

    def _of_module(self, module: Module, name: str) -> set[Value]:
        found = self._global(name, module.scope)
        if found and found != {UNKNOWN} and not all(isinstance(value, Builtin) for value in found):
            return found
        inside = self.program.submodule(module.scope, name)
        return {inside} if inside is not None else self._missing(set(self.store.get(module.scope, name)))

    def _of_class(self, scope: ClassScope, name: str, value: Instance | ClassValue) -> set[Value]:
        for here in self.lineage(scope):
            found = self.store.get(here, name)
            if found:
                return self._bound(found, value)
        return self._not_in_class(scope, name)

    def _inherited(self, value: Super, name: str) -> set[Value]:
        for here in self.lineage(value.scope):
            found = self.store.get(here, name) if here is not value.scope else set()
            if found:
                return self._bound(found, value.bound)
        launcher = self.launcher_of(value.scope)
        if name == "__init__" and launcher is not None:
            return {launcher}
        return {NOTHING} if name == "__init__" else self._not_in_class(value.scope, name)

    def _not_in_class(self, scope: ClassScope, name: str) -> set[Value]:
        """A class that others derive from may leave an attribute to them."""
        if name == "kernel_by_name":
            return {Gompute(name)}
        known = all(_adds_nothing(base) for here in self.lineage(scope) for base in here.bases)
        if known and scope.derived:
            return set()
        return self._missing(set())

    def _bound(self, found: set[Value], value: Value) -> set[Value]:
        made: set[Value] = set()
        for item in found:
            if not isinstance(item, BoundMethod) or item.scope.owner is None or item.scope.kind == "plain":
                made.add(item)
            elif item.scope.kind == "property" and isinstance(value, Instance):
                made |= self.result(item.scope)
            elif item.scope.kind == "class":
                made.add(BoundMethod(item.scope, ClassValue(value.scope) if isinstance(value, Instance) else value))
            else:
                made.add(BoundMethod(item.scope, value) if isinstance(value, Instance) else item)
        return made

    def result(self, scope: FunctionScope) -> set[Value]:
        """What a function gives."""
        return self.store.get(scope, "return ")

    def _missing(self, found: set[Value]) -> set[Value]:
        """What has no value when all is found can be anything."""
        return found if found or not self.store.final else {UNKNOWN}


def sorted_bases(scope: ClassScope) -> list[ClassValue]:
    """The bases that are read, in the order of their syntax, whatever the order in which they were found."""
    return sorted(
        (base for base in scope.bases if isinstance(base, ClassValue)), key=lambda base: (base.scope.node.lineno, base.scope.node.name)
    )


def _adds_nothing(base: Value) -> bool:
    if isinstance(base, Builtin):
        return base.name in _PLAIN_BASES
    return isinstance(base, ClassValue | Gompute) or (isinstance(base, External) and base.name.startswith(_PLAIN_EXTERNAL))
