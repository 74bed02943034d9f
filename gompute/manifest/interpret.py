"""Walking over all code of a program until nothing new is found."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gompute.errors import InternalError
from gompute.frontend.recursion import deep_recursion
from gompute.manifest.arguments import Arguments
from gompute.manifest.calls import Calls
from gompute.manifest.expressions import Expressions
from gompute.manifest.lookup import Lookup
from gompute.manifest.program import Program
from gompute.manifest.store import Store
from gompute.manifest.values import (
    BoundMethod,
    Builtin,
    ClassValue,
    Container,
    External,
    FunctionScope,
    Gompute,
    Instance,
    Module,
    ModuleScope,
    Scope,
    Spec,
    Unknown,
    Value,
)

__all__ = ["interpret"]

# Each walk finds at least one value of finitely many, so this is not met; it keeps a mistake of ours from walking for ever.
_MOST_WALKS = 1000


def interpret(program: Program) -> Store:
    """Walk over every module of a program, and every module that it imports and that can be read."""
    walk = _Walk(program)
    with deep_recursion():
        for _ in range(_MOST_WALKS):
            walk.store.changed = False
            for module in list(program.modules.values()):
                walk.run(module.tree.body, module)
            if not walk.store.changed and walk.seen == len(program.modules):
                if walk.store.final:
                    return walk.store
                walk.store.final = True
            walk.seen = len(program.modules)
    raise InternalError("a scan of host code finds no end")


class _Walk:
    """Statements of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.store = Store()
        self.lookup = Lookup(program, self.store)
        self.calls = Calls(self.lookup)
        self.expressions = Expressions(self.calls)
        self.seen = 0

    def run(self, body: Iterable[ast.stmt], scope: Scope) -> None:
        """Do statements in a scope, every branch and every function among them."""
        for statement in body:
            self._statement(statement, scope)

    def _statement(self, node: ast.stmt, scope: Scope) -> None:
        evaluate, assign = self.expressions.evaluate, self.expressions.assign
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(node, scope)
            case ast.ClassDef():
                self._class(node, scope)
            case ast.Import() | ast.ImportFrom():
                self._import(node, scope)
            case ast.Assign():
                values = evaluate(node.value, scope)
                for target in node.targets:
                    assign(target, values, scope)
            case ast.AnnAssign():
                evaluate(node.annotation, scope)
                if node.value is not None:
                    assign(node.target, evaluate(node.value, scope), scope)
            case ast.AugAssign():
                before = evaluate(node.target, scope)
                assign(node.target, before | self.expressions.joined(node, node.op, before, evaluate(node.value, scope)), scope)
            case ast.For() | ast.AsyncFor():
                assign(node.target, self.calls.iterated(evaluate(node.iter, scope)), scope)
                self._inside(node, scope)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    entered = self._entered(evaluate(item.context_expr, scope), item, scope)
                    if item.optional_vars is not None:
                        assign(item.optional_vars, entered, scope)
                self._inside(node, scope)
            case ast.Return():
                function: Scope | None = scope
                while function is not None and not isinstance(function, FunctionScope):
                    function = function.outer
                values = evaluate(node.value, scope)
                if function is not None:
                    self.store.add(function, "return ", values)
            case ast.Match():
                self._match(node, scope)
            case ast.Delete():
                for target in node.targets:
                    for part in ast.iter_child_nodes(target):
                        if isinstance(part, ast.expr):
                            evaluate(part, scope)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr) and not isinstance(getattr(child, "ctx", None), ast.Store | ast.Del):
                        evaluate(child, scope)
                self._inside(node, scope)

    def _inside(self, node: ast.stmt, scope: Scope) -> None:
        for name in ("body", "orelse", "finalbody"):
            self.run(getattr(node, name, ()), scope)
        for handler in getattr(node, "handlers", ()):
            self.expressions.evaluate(handler.type, scope)
            self.run(handler.body, scope)

    def _match(self, node: ast.Match, scope: Scope) -> None:
        values = self.expressions.evaluate(node.subject, scope)
        inside = self.store.flat(values)
        for case in node.cases:
            for pattern in ast.walk(case.pattern):
                name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
                if isinstance(pattern, ast.MatchStar | ast.MatchMapping) and isinstance(name, str):
                    rest = Container(pattern, mapping=isinstance(pattern, ast.MatchMapping))
                    self.store.put(rest, None, inside)
                    self.store.bind(scope, name, {rest})
                elif isinstance(name, str):
                    self.store.bind(scope, name, inside)
            if case.guard is not None:
                self.expressions.evaluate(case.guard, scope)
            self.run(case.body, scope)

    def _entered(self, values: set[Value], item: ast.withitem, scope: Scope) -> set[Value]:
        """What ``with ... as`` binds: what `__enter__` gives; for a generator of `contextlib` what it yields."""
        made: set[Value] = set()
        for value in values:
            if isinstance(value, Instance):
                made |= self.calls.call(self.lookup.attribute(value, "__enter__"), Arguments(item.context_expr, scope))
            else:
                made |= {value} | {found for found in self.calls.iterated({value}) if not isinstance(found, Unknown)}
        return made

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        function = self.expressions.function(node, scope)
        values: set[Value] = {BoundMethod(function)}
        for decorator in reversed(node.decorator_list):
            values = self._decorated(node, self.expressions.evaluate(decorator, scope), values, function, scope)
        self.store.bind(scope, node.name, values)
        if any(isinstance(value, Spec) for value in values):
            return  # device code
        if function.owner is not None and function.kind != "plain":
            first = next(iter([*node.args.posonlyargs, *node.args.args]), None)
            if first is not None:
                owners = self.lookup.derived(function.owner)
                kind = ClassValue if function.kind == "class" else Instance
                self.store.add(function, first.arg, {kind(owner) for owner in owners})
        self.run(node.body, function)

    def _decorated(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef,
        decorators: set[Value],
        values: set[Value],
        function: FunctionScope,
        scope: Scope,
    ) -> set[Value]:
        made: set[Value] = set()
        for decorator in decorators:
            name = decorator.name if isinstance(decorator, Builtin | External) else ""
            if name in ("staticmethod", "classmethod"):
                function.kind = "plain" if name == "staticmethod" else "class"
            elif name in ("property", "functools.cached_property"):
                function.kind = "property"
            if isinstance(decorator, Builtin | External | Unknown):
                made |= values  # code that is not read gives a function that does the same
            else:
                made |= self.calls.call({decorator}, Arguments(node, scope, [values]))
        return made or values

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        made = self.store.class_scope(node, scope)
        bases = {value for base in node.bases for value in self.expressions.evaluate(base, scope)}
        self.store.changed |= not bases <= made.bases
        made.bases |= bases
        for keyword in node.keywords:
            self.expressions.evaluate(keyword.value, scope)
        self.run(node.body, made)
        for base in bases:
            if isinstance(base, ClassValue):
                self.store.changed |= made not in base.scope.derived
                base.scope.derived.add(made)
        values: set[Value] = {ClassValue(made)}
        for decorator in reversed(node.decorator_list):
            found = self.expressions.evaluate(decorator, scope)
            given = self.calls.call(found, Arguments(node, scope, [values]))
            # Code that is not read gives a class that does the same.
            values = given if found and all(isinstance(value, BoundMethod) for value in found) else values
        self.store.bind(scope, node.name, values)

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        file = scope.module.file
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname is not None else alias.name.partition(".")[0]
                self.program.imported(alias.name, file)  # the inner module is read, whatever name is bound
                self.store.bind(scope, alias.asname or name, {self.program.imported(name, file)})
            return
        module = (
            self.program.relative(file, node.level, node.module or "") if node.level else self.program.imported(node.module or "", file)
        )
        for alias in node.names:
            if alias.name == "*":
                self._star(module, scope.module)
            else:
                self.store.bind(scope, alias.asname or alias.name, self.lookup.attribute(module, alias.name))

    def _star(self, module: Value, into: ModuleScope) -> None:
        if isinstance(module, Module | Gompute) and module not in into.stars:
            into.stars.add(module)
            self.store.changed = True
