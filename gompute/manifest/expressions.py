"""What an expression stands for."""

from __future__ import annotations

import ast
from itertools import product

from gompute.manifest.arguments import Arguments
from gompute.manifest.bindings import bound_names, parameter_names
from gompute.manifest.calls import Calls
from gompute.manifest.values import (
    NOTHING,
    UNKNOWN,
    BoundMethod,
    Builtin,
    ClassValue,
    Container,
    External,
    FunctionScope,
    Gompute,
    Instance,
    Literal,
    Nothing,
    Scope,
    Spec,
    Unknown,
    Value,
)

__all__ = ["Expressions"]

# Texts that are put together are followed up to here.
_LONGEST = 255
_MOST_TEXTS = 64

_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


class Expressions:
    """Expressions of one program. Evaluating one also does what is in it: calls, and names bound by a walrus."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.lookup = calls.lookup
        self.store = calls.store
        self._made: dict[ast.AST, set[str]] = {}

    def evaluate(self, node: ast.expr | None, scope: Scope) -> set[Value]:
        """The values of an expression."""
        match node:
            case None:
                return {Literal(None)}
            case ast.Constant():
                return {Literal(node.value)} if isinstance(node.value, str | int | bool | None) else {NOTHING}
            case ast.Name():
                return self.lookup.name(node.id, scope)
            case ast.Attribute():
                of = self.evaluate(node.value, scope)
                return {found for value in list(of) for found in self.lookup.attribute(value, node.attr)}
            case ast.Call():
                return self.calls.call(self.evaluate(node.func, scope), self.arguments(node, scope))
            case ast.Subscript():
                return self._subscript(node, scope)
            case ast.IfExp():
                self.evaluate(node.test, scope)
                return self.evaluate(node.body, scope) | self.evaluate(node.orelse, scope)
            case ast.BoolOp():
                return {value for part in node.values for value in self.evaluate(part, scope)}
            case ast.NamedExpr():
                values = self.evaluate(node.value, scope)
                place = scope
                while isinstance(place, FunctionScope) and place.arguments is None and place.outer is not None:
                    place = place.outer  # out of comprehensions
                self.assign(node.target, values, place)
                return values
            case ast.Tuple() | ast.List() | ast.Set():
                return {self._display(node, scope)}
            case ast.Dict():
                return {self._dictionary(node, scope)}
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return {self._comprehension(node, scope)}
            case ast.Lambda():
                function = self.function(node, scope)
                self.store.add(function, "return ", self.evaluate(node.body, function))
                return {BoundMethod(function)}
            case ast.BinOp():
                return self.joined(node, node.op, self.evaluate(node.left, scope), self.evaluate(node.right, scope))
            case ast.JoinedStr():
                return self._text(node, scope)
            case ast.Await() | ast.Starred() | ast.FormattedValue():
                return self.evaluate(node.value, scope)
            case ast.Yield():
                return self._yielded(self.evaluate(node.value, scope), scope)
            case ast.YieldFrom():
                return self._yielded(self.calls.iterated(self.evaluate(node.value, scope)), scope)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluate(child, scope)
        return {NOTHING}

    def arguments(self, node: ast.Call, scope: Scope) -> Arguments:
        """The arguments of a call, evaluated in order."""
        made = Arguments(node, scope)
        for argument in node.args:
            values = self.evaluate(argument, scope)
            if isinstance(argument, ast.Starred):
                made.starred |= self.calls.iterated(values)
            elif made.starred:
                made.starred |= values  # where it stands depends on how many came before
            else:
                made.positional.append(values)
        for keyword in node.keywords:
            values = self.evaluate(keyword.value, scope)
            if keyword.arg is not None:
                made.keywords[keyword.arg] = values
                continue
            for value in values:
                if isinstance(value, Container):
                    for key in self.store.keys(value):
                        if isinstance(key.value, str):
                            made.keywords[key.value] = made.keywords.get(key.value, set()) | self.store.get(value, key)
                    made.rest |= self.store.get(value, None)
                else:
                    made.rest.add(UNKNOWN)
        return made

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope) -> FunctionScope:
        """The scope of a function, with the defaults of its parameters in it."""
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        made = self.store.function_scope(node, lambda: bound_names(body) | frozenset(parameter_names(node.args)), scope)
        positional = [*node.args.posonlyargs, *node.args.args]
        defaults = [*zip(positional[len(positional) - len(node.args.defaults) :], node.args.defaults, strict=True)]
        defaults += [pair for pair in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if pair[1] is not None]  # type: ignore[misc]
        for parameter, default in defaults:
            self.store.add(made, parameter.arg, self.evaluate(default, scope))
        everything = [*positional, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        for annotation in (*(parameter.annotation for parameter in everything if parameter), getattr(node, "returns", None)):
            if annotation is not None:
                self.evaluate(annotation, scope)
        return made

    def assign(self, target: ast.expr, values: set[Value], scope: Scope) -> None:
        """Bind a target: a name, an attribute, an item, or several at once."""
        match target:
            case ast.Name():
                self.store.bind(scope, target.id, values)
            case ast.Attribute():
                for of in self.evaluate(target.value, scope):
                    self.lookup.assign(of, target.attr, values)
                    self._given_away(of, values, target, scope)
            case ast.Subscript():
                keys = [key if isinstance(key, Literal) else None for key in self.evaluate(target.slice, scope)] or [None]
                if isinstance(target.slice, ast.Slice):
                    values = self.calls.iterated(values)
                for of in self.evaluate(target.value, scope):
                    if isinstance(of, Container):
                        for key in keys:
                            self.store.put(of, key, values)
                    self._given_away(of, values, target, scope)
            case ast.Tuple() | ast.List():
                for number, part in enumerate(target.elts):
                    self.assign(part, self._unpacked(target, number, values), scope)
            case ast.Starred():
                rest = Container(target)
                self.store.put(rest, None, values)
                self.assign(target.value, {rest}, scope)

    def _given_away(self, to: Value, values: set[Value], target: ast.expr, scope: Scope) -> None:
        """What is stored in something of code that is not read may be launched there."""
        if isinstance(to, Unknown | External):
            self.calls.unread(Arguments(target, scope, [values]))

    def _unpacked(self, target: ast.Tuple | ast.List, number: int, values: set[Value]) -> set[Value]:
        """What the part of a target at a place gets."""
        starred = [place for place, part in enumerate(target.elts) if isinstance(part, ast.Starred)]
        made: set[Value] = set()
        for value in values:
            if isinstance(value, Container) and not value.mapping:
                exact = not starred or number < starred[0]
                made |= self.store.item(value, Literal(number)) if exact else self.store.elements(value)
            else:
                made |= self.calls.iterated({value})
        return made

    def _subscript(self, node: ast.Subscript, scope: Scope) -> set[Value]:
        values = self.evaluate(node.value, scope)
        keys = self.evaluate(node.slice, scope)
        made: set[Value] = set()
        for value in values:
            match value:
                case Container() if isinstance(node.slice, ast.Slice):
                    part = Container(node)
                    self.store.put(part, None, self.store.elements(value))
                    made.add(part)
                case Container():
                    for key in keys or {UNKNOWN}:
                        counted = isinstance(key, Literal) and not (isinstance(key.value, int) and key.value < 0)
                        made |= self.store.item(value, key if isinstance(key, Literal) and counted else None)
                case Spec():
                    made |= self._instances(value, node.slice, keys, scope)
                case ClassValue():
                    made.add(value)
                case Instance():
                    made |= self.calls.call(self.lookup.attribute(value, "__getitem__"), Arguments(node, scope, [keys]))
                case Unknown() | External() | Gompute():
                    made.add(UNKNOWN)
                case _:
                    made.add(UNKNOWN if isinstance(value, Literal) else NOTHING)
        return made

    def _instances(self, kernel: Spec, written: ast.expr, keys: set[Value], scope: Scope) -> set[Value]:
        """Instances of a generic kernel by the types in the brackets."""
        if isinstance(written, ast.Tuple):
            columns = [self.evaluate(part, scope) for part in written.elts]
        elif tuples := [key for key in keys if isinstance(key, Container)]:
            wide = max(len(self.store.keys(key)) for key in tuples)
            columns = [{value for key in tuples for value in self.store.item(key, Literal(number))} for number in range(wide)] or [
                {UNKNOWN}
            ]
        else:
            columns = [keys]
        if not all(columns):
            return set()  # not found yet
        chosen = {",".join(name) for name in product(*({_type_name(value) for value in column} for column in columns))}
        return {Spec(kernel.declaration, kernel.name, "?" if "?" in instance else instance) for instance in chosen}

    def _display(self, node: ast.Tuple | ast.List | ast.Set, scope: Scope) -> Container:
        made = Container(node)
        exact = True
        for number, part in enumerate(node.elts):
            values = self.evaluate(part, scope)
            if isinstance(part, ast.Starred):
                exact = False
                values = self.calls.iterated(values)
            self.store.put(made, Literal(number) if exact and not isinstance(node, ast.Set) else None, values)
        return made

    def _dictionary(self, node: ast.Dict, scope: Scope) -> Container:
        made = Container(node, mapping=True)
        for key, item in zip(node.keys, node.values, strict=True):
            values = self.evaluate(item, scope)
            if key is None:
                self.calls.call(self.lookup.attribute(made, "update"), Arguments(node, scope, [values]))
                continue
            for word in self.evaluate(key, scope):
                self.store.put(made, word if isinstance(word, Literal) else None, values)
                if not isinstance(word, Literal):
                    self.store.add(made, "keys", {word})
        return made

    def _comprehension(self, node: _Comprehension, scope: Scope) -> Container:
        inner = self.store.function_scope(node, lambda: bound_names(part.target for part in node.generators), scope)
        for number, part in enumerate(node.generators):
            values = self.calls.iterated(self.evaluate(part.iter, inner if number else scope))
            self.assign(part.target, values, inner)
            for test in part.ifs:
                self.evaluate(test, inner)
        made = Container(node, mapping=isinstance(node, ast.DictComp))
        if isinstance(node, ast.DictComp):
            self.store.add(made, "keys", self.evaluate(node.key, inner))
            self.store.put(made, None, self.evaluate(node.value, inner))
        else:
            self.store.put(made, None, self.evaluate(node.elt, inner))
        return made

    def joined(self, node: ast.AST, operator: ast.operator, left: set[Value], right: set[Value]) -> set[Value]:
        """The values of a binary operation: texts and containers joined; `node` is where it stands."""
        made: set[Value] = set()
        containers = [value for value in (*left, *right) if isinstance(value, Container)]
        if containers:
            joined = Container(node, mapping=any(value.mapping for value in containers))
            for value in containers:
                self.store.put(joined, None, self.store.elements(value))
                self.store.add(joined, "keys", self.store.keys(value) | self.store.get(value, "keys"))
            made.add(joined)
        texts = [[value.value for value in side if isinstance(value, Literal) and isinstance(value.value, str)] for side in (left, right)]
        if isinstance(operator, ast.Add) and all(texts):
            made |= self._texts(node, [texts[0], texts[1]])
        known = all(isinstance(value, Container | Literal | Nothing) for value in (*left, *right))
        if not known or (any(texts) and not isinstance(operator, ast.Add)):
            made.add(UNKNOWN)
        return made or {NOTHING}

    def _text(self, node: ast.JoinedStr, scope: Scope) -> set[Value]:
        parts: list[list[str]] = []
        known = True
        for part in node.values:
            values = self.evaluate(part, scope)
            plain = not isinstance(part, ast.FormattedValue) or (part.format_spec is None and part.conversion in (-1, ord("s")))
            parts.append([str(value.value) for value in values if isinstance(value, Literal)])
            known &= plain and len(parts[-1]) == len(values)
        return self._texts(node, parts) if known else {UNKNOWN}

    def _texts(self, node: ast.AST, parts: list[list[str]]) -> set[Value]:
        """All ways to put texts together; anything, where these are too many or too long, or one grows by being put together again."""
        before = self._made.setdefault(node, set())
        count = 1
        for part in parts:
            count *= len(part)
        if count > _MOST_TEXTS or any(text in before for part in parts for text in part if text):
            return {UNKNOWN}
        made = ["".join(chosen) for chosen in product(*parts)]
        before.update(made)
        return {Literal(text) if len(text) <= _LONGEST else UNKNOWN for text in made}

    def _yielded(self, values: set[Value], scope: Scope) -> set[Value]:
        place: Scope | None = scope
        while place is not None:
            if isinstance(place, FunctionScope) and place.arguments is not None:
                made = Container(place.node, "yields")
                self.store.put(made, None, values)
                self.store.add(place, "return ", {made})
                break
            place = place.outer
        return {UNKNOWN}


def _type_name(value: Value) -> str:
    """The name of a type as an instance shows it; `?` for what is none."""
    if isinstance(value, Gompute):
        return value.name
    if isinstance(value, Builtin) and value.name == "bool":
        return "bool"
    return "?"
