"""What a call does: it launches a kernel, makes one, runs a function that is read, or goes where nothing is read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from gompute.lang import operations, reductions
from gompute.manifest.arguments import Arguments
from gompute.manifest.containers import members, method, rows
from gompute.manifest.kinds import TypeParameters, type_parameters
from gompute.manifest.lookup import Lookup
from gompute.manifest.program import is_standard
from gompute.manifest.store import Launch
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
    Declaration,
    External,
    FunctionScope,
    Gompute,
    Instance,
    Literal,
    Maker,
    Module,
    Partial,
    Scope,
    Spec,
    Super,
    Unknown,
    Value,
    is_code,
)

__all__ = ["Calls"]

#: Operations whose kernel is named by the first argument and that decorate nothing.
_DECORATORS = frozenset({"kernel", "map", "map_to", "map_indexed", "zip", "reduce", "scan"})
_NAMED = frozenset({*operations.__all__, *reductions.__all__}) - _DECORATORS
_INERT = frozenset({"isinstance", "issubclass", "print", "repr", "str", "len", "type", "id", "hash", "callable", "hasattr", "bool", "int"})
#: Python's own functions that give back what they were given, or something out of it.
_TRANSPARENT = frozenset(
    "filter frozenset iter list map max min next property range reversed set sorted sum tuple staticmethod classmethod abs round".split()
)
_TRANSPARENT_MODULES = frozenset("collections contextlib copy dataclasses enum functools heapq itertools operator queue typing".split())
_HIDING = frozenset({"eval", "exec", "globals", "locals", "vars"})


class Calls:
    """Calls of one program."""

    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup
        self.store = lookup.store
        self._partials: dict[ast.AST, Arguments] = {}

    def call(self, functions: Iterable[Value], given: Arguments) -> set[Value]:
        """The values of a call; everything that it does is recorded."""
        made: set[Value] = set()
        for function in list(functions):
            made |= self._call(function, given)
        return made

    def _call(self, function: Value, given: Arguments) -> set[Value]:
        match function:
            case Gompute():
                return self._gompute(function.name, given)
            case Maker():
                return self._decorated(function, given)
            case BoundMethod():
                return self._function(function, given)
            case ClassValue():
                return self._instance(function.scope, given)
            case Instance():
                return self.call(self.lookup.attribute(function, "__call__"), given)
            case Partial():
                return self._call(function.function, self._partials[function.site].before(given))
            case ContainerMethod():
                return method(self.store, function.container, function.name, given)
            case Builtin():
                return self._builtin(function.name, given)
            case External():
                return self._external(function.name, given)
            case Container():
                return self._made_by_python(function, given)
            case Unknown():
                return self.unread(given)
            case _:
                return {NOTHING}  # a kernel called on the host among them

    # ---- gompute ----

    def _gompute(self, name: str, given: Arguments) -> set[Value]:
        if name in LAUNCHERS:
            self.launch(name, given)
            return {NOTHING}
        if name.endswith(".__init__"):
            self.launch(name.partition(".")[0], given.without_first())
            return {NOTHING}
        if name in _NAMED:
            return self._declared(given, given.get(0, "name"))
        if name in _DECORATORS:
            options = given.keywords.get("name", set()) | given.rest
            makers = {Maker(name, option if isinstance(option, Literal) else UNKNOWN) for option in options}
            if "name" not in given.keywords and not makers:
                makers.add(Maker(name, None))
            return {value for maker in makers for value in (self._decorated(maker, given) if given.positional else {maker})}
        if name == "params":
            return given.get(0, "cls") or {NOTHING}
        return {UNKNOWN}

    def launch(self, how: str, given: Arguments) -> None:
        """Record a launch."""
        assert isinstance(given.site, ast.expr | ast.stmt)
        argument = None
        if isinstance(given.site, ast.Call):
            named = (keyword.value for keyword in given.site.keywords if keyword.arg == LAUNCHERS.get(how))
            argument = next(iter(given.site.args), None) or next(named, None)
        found = self.store.launches.setdefault((given.site, how), Launch(how, given.scope.module, given.site, argument))
        values = given.get(0, LAUNCHERS.get(how, ""))
        self.store.changed |= not values <= found.values
        found.values |= values

    def _decorated(self, maker: Maker, given: Arguments) -> set[Value]:
        if maker.name == UNKNOWN:
            return self._declared(given, {UNKNOWN})
        if isinstance(maker.name, Literal) and maker.name.value is not None:
            return self._declared(given, {maker.name})
        functions = [value for value in given.get(0, "function") if isinstance(value, BoundMethod)]
        names = {Literal(value.scope.node.name) for value in functions if isinstance(value.scope.node, ast.FunctionDef)}
        return self._declared(given, set(names) or {UNKNOWN})

    def _declared(self, given: Arguments, names: set[Value]) -> set[Value]:
        scope: Scope | None = given.scope
        while isinstance(scope, ClassScope) or (isinstance(scope, FunctionScope) and scope.arguments is None):
            scope = scope.outer  # classes and comprehensions run with what is around them
        node = given.site
        known = self.store.declarations.get(node)
        if known is None:
            known = self.store.declarations[node] = Declaration(given.scope.module, node, isinstance(scope, FunctionScope))
        parameters = tuple((dict(known.parameters) | dict(_type_parameters(given))).items())
        self.store.changed |= parameters != known.parameters
        known.parameters = parameters
        made: set[Value] = set()
        for name in names:
            text = name.value if isinstance(name, Literal) and isinstance(name.value, str) else None
            before = self.store.made.setdefault(known, set())
            self.store.changed |= text not in before
            before.add(text)
            made.add(Spec(known, text))
        return made

    # ---- functions and classes that are read ----

    def _function(self, function: BoundMethod, given: Arguments) -> set[Value]:
        self.bind(function.scope, given if function.bound is None else given.behind(function.bound))
        return self.lookup.result(function.scope)

    def bind(self, scope: FunctionScope, given: Arguments) -> None:
        """Give a function its arguments."""
        arguments = scope.arguments
        if not isinstance(arguments, ast.arguments):
            return
        named = [*arguments.posonlyargs, *arguments.args]
        for position, parameter in enumerate(named):
            self.store.add(scope, parameter.arg, given.get(position, parameter.arg))
        for parameter in arguments.kwonlyargs:
            self.store.add(scope, parameter.arg, given.keywords.get(parameter.arg, set()) | given.rest)
        if arguments.vararg is not None:
            extra = Container(arguments, "args")
            self.store.add(scope, arguments.vararg.arg, {extra})
            for number, values in enumerate(given.positional[len(named) :]):
                self.store.put(extra, Literal(number), values)
            self.store.put(extra, None, given.starred)
        if arguments.kwarg is not None:
            extra = Container(arguments, "keywords", mapping=True)
            self.store.add(scope, arguments.kwarg.arg, {extra})
            known = {parameter.arg for parameter in (*arguments.args, *arguments.kwonlyargs)}
            for name, values in given.keywords.items():
                if name not in known:
                    self.store.put(extra, Literal(name), values)
            self.store.put(extra, None, given.rest)

    def _instance(self, scope: ClassScope, given: Arguments) -> set[Value]:
        made = Instance(scope)
        launcher = self.lookup.launcher_of(scope)
        makers = [here for here in self.lookup.lineage(scope) if self.store.get(here, "__init__")]
        if makers:
            self.call(self.lookup.attribute(made, "__init__"), given)
        elif launcher is not None and launcher.name in LAUNCHERS:
            self.launch(launcher.name, given)
        else:
            fields = [name for here in reversed(list(self.lookup.lineage(scope))) for name in here.fields]
            for position, name in enumerate(fields):
                self.store.add(scope, name, given.get(position, name))
        return {made}

    # ---- what is not read ----

    def iterated(self, values: Iterable[Value]) -> set[Value]:
        """What a loop over the values gives one by one."""
        made: set[Value] = set()
        for value in values:
            if isinstance(value, Container):
                made |= members(self.store, value)
            elif isinstance(value, Unknown | External):
                made.add(UNKNOWN)
            elif isinstance(value, Instance):
                given = Arguments(value.scope.node, value.scope.outer or value.scope)
                items = self.call(self.lookup.attribute(value, "__iter__"), given)
                made |= self.iterated(items - {value}) | ({UNKNOWN} if UNKNOWN in items else set())
            else:
                made.add(NOTHING)
        return made

    def _builtin(self, name: str, given: Arguments) -> set[Value]:
        if name in _INERT:
            return {NOTHING}
        if name in _HIDING:
            texts = [word.value for word in given.get(0, "source") if isinstance(word, Literal) and isinstance(word.value, str)]
            for how in sorted(LAUNCHERS) if name in ("eval", "exec") else ():
                if any(re.search(rf"\b{how}\b", text) for text in texts):
                    self.launch(how, Arguments(given.site, given.scope, [{UNKNOWN}]))
            return self.unread(given)
        match name:
            case "getattr":
                names = [word.value if isinstance(word, Literal) else None for word in given.get(1, "name")]
                found = {
                    value
                    for of in given.get(0, "object")
                    for word in names
                    for value in (self.lookup.attribute(of, word) if isinstance(word, str) else {UNKNOWN})
                }
                return found | given.get(2, "default")
            case "setattr":
                for of in given.get(0, "object"):
                    for word in given.get(1, "name"):
                        if isinstance(word, Literal) and isinstance(word.value, str):
                            self.lookup.assign(of, word.value, given.get(2, "value"))
                return {NOTHING}
            case "super":
                return self._super(given.scope)
            case "enumerate":
                return {rows(self.store, [{NOTHING}, self.iterated(given.get(0, "iterable"))], given.site)}
            case "zip":
                return {rows(self.store, [self.iterated(values) for values in given.positional], given.site)}
            case "dict" | "OrderedDict" | "defaultdict":
                made = Container(given.site, mapping=True)
                for keyword, values in given.keywords.items():
                    self.store.put(made, Literal(keyword), values)
                method(self.store, made, "update", Arguments(given.site, given.scope, given.positional))
                return {made}
            case "__import__":
                return self._imported(given)
        return self._passed_on(given) | (set() if name in _TRANSPARENT else {UNKNOWN})

    def _super(self, scope: Scope) -> set[Value]:
        place: Scope | None = scope
        while place is not None:
            if isinstance(place, FunctionScope) and place.owner is not None:
                owner = place.owner
                kind = ClassValue if place.kind == "class" else Instance
                return {Super(owner, kind(derived)) for derived in self.lookup.derived(owner)}
            place = place.outer
        return {UNKNOWN}

    def _external(self, name: str, given: Arguments) -> set[Value]:
        if name == "functools.partial" and given.positional and isinstance(given.site, ast.Call):
            rest = Arguments(given.site, given.scope, given.positional[1:], given.keywords, given.starred, given.rest)
            self._partials[given.site] = rest
            # In a loop a partial object may be made of itself; what one place adds is there already.
            return {value if _is_made_at(value, given.site) else Partial(value, given.site, given.scope) for value in given.positional[0]}
        if name in ("functools.wraps", "functools.lru_cache"):
            return {External(f"{name}.decorator")}
        if name == "importlib.import_module":
            return self._imported(given)
        if name.startswith("collections.") and name.rpartition(".")[2] in ("OrderedDict", "defaultdict"):
            return self._builtin("dict", given)
        if name == "itertools.product" and not given.keywords:
            return {rows(self.store, [self.iterated(values) for values in given.positional], given.site)}
        if name == "dataclasses.replace":
            for value in given.get(0, "obj"):
                for keyword, values in given.keywords.items():
                    self.lookup.assign(value, keyword, values)
            return given.get(0, "obj")
        if not is_standard(name):
            return self.unread(given)
        package = name.partition(".")[0]
        # What it makes may be an object, whose methods launch nothing themselves either.
        return self._passed_on(given) | (set() if package in _TRANSPARENT_MODULES else {External(f"{package}.")})

    def _made_by_python(self, made: Container, given: Arguments) -> set[Value]:
        """A call of what Python's own code has made of `made`: it may call what is in there, or look up what it is given there by name."""
        passed = self.store.flat({made, *given.everything()})
        if any(is_code(value) for value in passed):
            return self._passed_on(Arguments(given.site, given.scope, starred=passed))
        return self.unread(Arguments(given.site, given.scope, starred=passed))

    def _imported(self, given: Arguments) -> set[Value]:
        names = given.get(0, "name")
        texts = [name.value for name in names if isinstance(name, Literal) and isinstance(name.value, str)]
        if len(texts) < len(names) or any(text.startswith(".") for text in texts):
            return {UNKNOWN}
        return {self.lookup.program.imported(text, given.scope.module.file) for text in texts}

    def _passed_on(self, given: Arguments) -> set[Value]:
        """Through Python's own code, which launches nothing itself: it may call what it is given with what it is given, and gives back
        something made of that."""
        passed = self.store.flat(given.everything())
        made = Container(given.site, "mixed")
        self.store.put(made, None, passed - {made} | self._called_with(passed, given))
        return {made} | self.store.flat({made}) - {made}

    def _called_with(self, passed: set[Value], given: Arguments) -> set[Value]:
        results: set[Value] = set()
        data = {value for value in passed if not is_code(value)}
        for value in passed:
            if is_code(value) and not isinstance(value, Module):
                results |= self._call(value, Arguments(given.site, given.scope, starred=data))
        return results

    def unread(self, given: Arguments) -> set[Value]:
        """To code that is not read: it may launch the kernels that it is given, and call functions with anything."""
        passed = self.lookup.reached(given.everything())
        kernels = {value for value in passed if isinstance(value, Spec)}
        if kernels:
            self.launch("", Arguments(given.site, given.scope, [set(kernels)]))
        for value in self.store.flat(given.everything()):
            if isinstance(value, BoundMethod):
                self._function(value, Arguments(given.site, given.scope, starred={UNKNOWN, *kernels}))
            elif isinstance(value, Gompute) and value.name in LAUNCHERS:
                self.launch(value.name, Arguments(given.site, given.scope, [{UNKNOWN}]))
        return {UNKNOWN}


def _is_made_at(value: Value, site: ast.Call) -> bool:
    while isinstance(value, Partial):
        if value.site is site:
            return True
        value = value.function
    return False


def _type_parameters(given: Arguments) -> TypeParameters:
    """Those of the functions and kernels that a kernel is made of, in their order."""
    found: dict[str, tuple[str, ...]] = {}
    for values in (*given.positional, *given.keywords.values()):
        for value in values:
            if isinstance(value, Spec):
                found |= {name: types for name, types in value.declaration.parameters if value.instance is None}
            elif isinstance(value, BoundMethod) and isinstance(value.scope.node, ast.FunctionDef):
                found |= dict(type_parameters(value.scope.node, value.scope.module.tree))
    return tuple(found.items())
