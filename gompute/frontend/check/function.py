"""Device functions: from a live Python function to a checked one, each once per module."""

from __future__ import annotations

import ast
import hashlib
import inspect
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeAlias, TypeVar

from gompute.frontend import typed
from gompute.frontend.check import expressions
from gompute.frontend.check.annotations import instead, resolve, spelled, type_parameters
from gompute.frontend.check.assignments import assigned_names
from gompute.frontend.check.context import NO_ARRAYS, Context, Variable
from gompute.frontend.check.convert import Kind
from gompute.frontend.check.names import closure_values
from gompute.frontend.check.operands import ArrayArgument, ArrayPlace, Operand, PointerPlace, StructPlace, ViewPlace
from gompute.frontend.check.statements import Block
from gompute.frontend.faults import Faults, FollowingFault, KernelFault
from gompute.frontend.recursion import deep_recursion
from gompute.frontend.source import FunctionSyntax, SourceFile, Sources
from gompute.lang.generic import Bindings, bind
from gompute.lang.params import ParamsRejected
from gompute.lang.spec import argument_type
from gompute.lang.types import BOOL, LocalArrayType, ParamsType, PointerType, ScalarType, SharedArrayType, ViewType
from gompute.targets import Mode, Target

__all__ = ["FunctionChecker", "Functions", "head_of"]


_Key: TypeAlias = tuple[FunctionType, tuple[tuple[TypeVar, ScalarType], ...], tuple[tuple[str, ArrayArgument], ...]]
"""A function, what its type parameters stand for, and the arrays that it is called with."""


class FunctionChecker(Context):
    """One pass over one function."""

    functions: Functions

    def expression(self, node: ast.expr) -> Operand:
        return expressions.expression(self, node)

    def instance(
        self, function: FunctionType, bindings: Bindings, node: ast.AST, arrays: Mapping[str, ArrayArgument] = NO_ARRAYS
    ) -> typed.Function:
        return self.functions.called(function, bindings, node, arrays)


@dataclass(frozen=True, slots=True)
class Header:
    """A function's signature, resolved.

    Attributes:
        arrays: what a call passes of its local and shared arrays; the slot of a parameter that takes one has the array's type.
        views: names of the parameters that are views.
    """

    source: SourceFile
    syntax: FunctionSyntax
    bindings: Bindings
    arrays: Mapping[str, ArrayArgument]
    views: frozenset[str]
    parameters: tuple[typed.Slot, ...]
    result: ScalarType | None


class Functions:
    """Every device function of one module for one target, in the order in which their checks end: callees before callers. A generic one
    is there once for each choice of types that is called, one with pointers and views once for each kind of memory behind them."""

    def __init__(self, sources: Sources, faults: Faults, target: Target, mode: Mode, *, approximate: bool = False) -> None:
        self.sources = sources
        self.faults = faults
        self.target = target
        self.mode = mode
        self.approximate = approximate
        self.checked: list[typed.Function] = []
        self._instances: dict[_Key, typed.Function | None] = {}
        self._active: list[FunctionType] = []
        self._stems: dict[typed.Function, str] = {}
        self._checking: list[_Key] = []
        self._calls: dict[_Key, dict[_Key, None]] = {}

    def called(self, function: FunctionType, bindings: Bindings, node: ast.AST, arrays: Mapping[str, ArrayArgument]) -> typed.Function:
        """The instance for a call. Faults at the call for recursion; a function with faults of its own ends the caller's statement."""
        if function in self._active:
            cycle = " -> ".join(f.__name__ for f in [*self._active[self._active.index(function) :], function])
            raise KernelFault(node, f"recursion is not supported in a kernel: {cycle}", "write a loop")
        made = self.instance(function, bindings, arrays)
        if made is None:
            raise FollowingFault(node, f"'{function.__name__}' has faults of its own", "")
        return made

    def instance(
        self, function: FunctionType, bindings: Bindings, arrays: Mapping[str, ArrayArgument] = NO_ARRAYS
    ) -> typed.Function | None:
        """The checked function; None when its signature or body has faults, which are recorded.

        Args:
            bindings: what the type parameters of the function stand for; others are ignored.
            arrays: the local and shared arrays that are passed, by the name of the parameter.
        """
        own = {parameter: bindings[parameter] for parameter in type_parameters(function) if parameter in bindings}
        key = (function, tuple(own.items()), tuple(arrays.items()))
        if self._checking:
            self._calls.setdefault(self._checking[-1], {})[key] = None
        if key in self._instances:
            return self._instances[key]
        before = len(self.faults)
        self._active.append(function)
        self._checking.append(key)
        try:
            with deep_recursion():
                header = self.header(function, own, arrays)
                made = None if header is None else self._check(function, header)
        finally:
            self._active.pop()
            self._checking.pop()
        self._instances[key] = made if len(self.faults) == before else None
        return self._instances[key]

    def reached_by(self, parts: Iterable[typed.Function], composed: Container[typed.Function]) -> tuple[typed.Function, ...]:
        """These functions and all that they call, directly or not, callees before callers, and then what was composed of them. Their order
        and their symbols, which are told apart here, are those that a module with no other kernel would give them."""
        keys = {made: key for key, made in self._instances.items() if made is not None}
        order: dict[_Key, None] = {}
        entered: set[_Key] = set()
        waiting = [keys[part] for part in parts][::-1]
        while waiting:
            key = waiting[-1]
            below = [] if key in entered else [callee for callee in self._calls.get(key, ()) if callee not in entered]
            entered.add(key)
            if below:
                waiting += below[::-1]
            else:
                order[waiting.pop()] = None
        found = [made for key in order if (made := self._instances.get(key)) is not None]
        found += [made for made in self.checked if made in composed and made not in found]
        taken: set[str] = set()
        for made in found:
            made.symbol, count = self._stems[made], 1
            while made.symbol in taken:  # two lambdas on one line, say
                count += 1
                made.symbol = f"{self._stems[made]}_{count}"
            taken.add(made.symbol)
        return tuple(found)

    def header(self, function: FunctionType, bindings: Bindings, arrays: Mapping[str, ArrayArgument]) -> Header | None:
        """Parameters and result from the annotations; None when they have faults, which are recorded."""
        source, syntax = self.sources.of(function)
        before = len(self.faults)
        flags = function.__code__.co_flags
        for flag, word in (
            (inspect.CO_GENERATOR, "a generator"),
            (inspect.CO_COROUTINE, "an async function"),
            (inspect.CO_ASYNC_GENERATOR, "an async function"),
        ):
            if flags & flag:
                self.faults.add(
                    source, head_of(syntax), f"'{function.__name__}' is {word}, which cannot be compiled", "write a plain function"
                )
                return None
        arguments = syntax.args
        for extra, stars in ((arguments.vararg, "*"), (arguments.kwarg, "**")):
            if extra is not None:
                self.faults.add(source, extra, f"'{stars}{extra.arg}' is not supported in a kernel", "name each argument")
        parameters: list[typed.Slot] = []
        views: set[str] = set()
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            kind = self._parameter(function, source, syntax, argument, bindings)
            if kind is not None:
                parameters.append(typed.Slot(argument.arg, _passed(kind, arrays.get(argument.arg))))
                if isinstance(kind, ViewType):
                    views.add(argument.arg)
        result = self._result(function, source, syntax, bindings)
        return Header(source, syntax, bindings, arrays, frozenset(views), tuple(parameters), result) if len(self.faults) == before else None

    def _parameter(
        self, function: FunctionType, source: SourceFile, syntax: FunctionSyntax, argument: ast.arg, bindings: Bindings
    ) -> ScalarType | PointerType | ViewType | ParamsType | None:
        name = argument.arg
        if name not in function.__annotations__:
            is_lambda = isinstance(syntax, ast.Lambda)
            fix = "write a def: a lambda has no place for a type" if is_lambda else f"write {name}: f32 or another kernel type"
            self.faults.add(source, argument, f"argument '{name}' has no type", fix)
            return None
        place = argument.annotation or argument
        try:
            annotation = bind(resolve(function, name), bindings)
            kind = argument_type(annotation)
        except ParamsRejected as rejected:
            for fault in rejected.faults:
                self.faults.add(source, place, f"{fault.path}: {fault.reason}", fault.fix)
            return None
        except Exception as error:  # whatever an annotation's own code raises
            self.faults.add(source, place, f"the type of '{name}' cannot be resolved: {error}", "import the name, or correct it")
            return None
        if kind is None:
            self.faults.add(source, place, f"the type of '{name}' is {spelled(annotation)}, which is no kernel type", instead(annotation))
        return kind

    def _result(self, function: FunctionType, source: SourceFile, syntax: FunctionSyntax, bindings: Bindings) -> ScalarType | None:
        place = getattr(syntax, "returns", None) or head_of(syntax)
        if "return" not in function.__annotations__:
            return None  # then a return with a value is the fault
        try:
            annotation = bind(resolve(function, "return"), bindings)
        except Exception as error:  # whatever an annotation's own code raises
            self.faults.add(
                source, place, f"the result type of '{function.__name__}' cannot be resolved: {error}", "import the name, or correct it"
            )
            return None
        if annotation is None or annotation is type(None):
            return None
        if annotation is bool:
            return BOOL
        if not isinstance(annotation, ScalarType):
            self.faults.add(
                source, place, f"the result type is {spelled(annotation)}, which is no scalar type", instead(annotation, result=True)
            )
            return None
        return annotation

    def _check(self, function: FunctionType, header: Header) -> typed.Function:
        made = typed.Function(
            self._symbol(function, header),
            header.parameters,
            header.result,
            typed.Location(header.source.relative, header.syntax.lineno, 1),
            inline=function.__module__.startswith("gompute.math."),
        )
        kinds: dict[str, Kind] = {}
        while True:
            faults = Faults()
            checker = FunctionChecker(function, header.source, self.target, self.mode, made, header.bindings, self.approximate)
            checker.functions = self
            block = Block(checker, faults, kinds)
            body = self._pass(checker, block, header)
            if not block.changed:
                break
        self.faults.update(faults)
        made.body, made.locals = body, checker.locals
        made.uses, made.shared = frozenset(checker.uses), tuple(dict.fromkeys(checker.shared))
        self._add(made)
        return made

    def _add(self, made: typed.Function) -> None:
        self.checked.append(made)
        self._stems[made] = made.symbol

    def _pass(self, checker: FunctionChecker, block: Block, header: Header) -> tuple[typed.Statement, ...]:
        syntax = header.syntax
        statements: list[ast.stmt] = (
            [ast.copy_location(ast.Return(syntax.body), syntax.body)] if isinstance(syntax, ast.Lambda) else syntax.body
        )
        assigned = assigned_names(statements)
        checker.local_names = frozenset(assigned) | {slot.name for slot in header.parameters}
        copies: list[typed.Statement] = []
        for slot in header.parameters:
            if isinstance(slot.type, PointerType):
                checker.places[slot.name] = PointerPlace(slot, slot.type.element)
            elif isinstance(slot.type, ViewType):
                checker.places[slot.name] = ViewPlace(slot, slot.type.element, slot.type.ndim)
            elif isinstance(slot.type, ParamsType):
                checker.places[slot.name] = StructPlace(slot, slot.type)
            elif isinstance(slot.type, (LocalArrayType, SharedArrayType)):
                element, shape = slot.type.element, header.arrays[slot.name].shape
                checker.places[slot.name] = ArrayPlace(slot, element, shape) if slot.name in header.views else PointerPlace(slot, element)
                checker.assigned.add(slot.name)
            elif isinstance(slot.type, ScalarType):
                variable = slot
                if slot.name in assigned:
                    # A parameter that is assigned lives in a local: parameters themselves never change.
                    variable = typed.Slot(slot.name, slot.type)
                    checker.locals.append(variable)
                    copies.append(typed.Assign(variable, typed.ReadLocal(slot.type, slot)))
                checker.variables[slot.name] = Variable(variable, (slot.type, False), declared=True)
                checker.assigned.add(slot.name)
        body, falls_through = block.check(statements)
        if falls_through and header.result is not None and not len(block.faults):
            block.faults.add(header.source, head_of(syntax), f"not every path returns a {header.result}", "end each path with a return")
        return (*copies, *body)

    def composed(self, name: str, parts: list[typed.Function]) -> typed.Function:
        """The function that applies `parts`, each of an element and perhaps params, one after the other, the first part first.

        Args:
            name: of the kernel that it is for.
        """
        first = parts[0]
        x = typed.Slot("x", first.parameters[0].type)
        params = [part.parameters[1].type for part in parts if len(part.parameters) == 2]
        p = typed.Slot("p", params[0]) if params else None
        assert isinstance(x.type, ScalarType), "the form of the parts was checked"
        value: typed.Expression = typed.ReadLocal(x.type, x)
        for part in parts:
            passed = (value,) if p is None or len(part.parameters) == 1 else (value, p)
            value = typed.Call(part.result, part, passed)
        digest = hashlib.sha256("\0".join([name, *(self._stems[part] for part in parts)]).encode()).hexdigest()[:8]
        return self.define(f"{name}_{digest}", (x,) if p is None else (x, p), value, first.location, parts)

    def define(
        self,
        name: str,
        parameters: tuple[typed.Slot, ...],
        value: typed.Expression,
        location: typed.Location,
        calls: Iterable[typed.Function] = (),
    ) -> typed.Function:
        """A function that nobody wrote, under a symbol like `name`: it returns `value`, which `calls` these."""
        uses = frozenset(use for function in calls for use in function.uses)
        made = typed.Function(name, parameters, value.type, location, body=(typed.Return(value),), uses=uses)
        self._add(made)
        return made

    def _symbol(self, function: FunctionType, header: Header) -> str:
        """A name for the module's symbol table: it says where the function comes from, for which types it is and which values its closure
        holds, and neither its line nor an address, so that an edit elsewhere in the file does not rename it."""
        held = [f"{name}={_text(value)}" for name, value in sorted(closure_values(function).items())]
        held += [f"{parameter.__name__}={kind}" for parameter, kind in header.bindings.items()]
        held += [f"{name}={given}" for name, given in header.arrays.items()]
        digest = hashlib.sha256("\0".join([header.source.relative, function.__qualname__, *held]).encode()).hexdigest()[:8]
        return f"{re.sub(r'[^A-Za-z0-9_]', '_', function.__name__)}_{digest}"


def _passed(
    declared: ScalarType | PointerType | ViewType | ParamsType, given: ArrayArgument | None
) -> ScalarType | PointerType | ViewType | ParamsType | LocalArrayType | SharedArrayType:
    """The type of a parameter that a call gives this array: a pointer takes every array of its elements, a view one of its dimensions."""
    if given is None or not isinstance(declared, (PointerType, ViewType)) or declared.element != given.type.element:
        return declared
    return given.type if isinstance(declared, PointerType) or declared.ndim == len(given.shape) else declared


def _text(value: Any) -> str:
    """What a closure's value adds to a symbol: no address, so of something callable its name."""
    return str(getattr(value, "__qualname__", None) or repr(value)) if callable(value) else repr(value)


def head_of(syntax: FunctionSyntax) -> ast.AST:
    """The name in ``def name``, as the place of a fault that concerns the whole function."""
    if isinstance(syntax, ast.Lambda):
        return syntax
    start = syntax.col_offset + (len("async def ") if isinstance(syntax, ast.AsyncFunctionDef) else len("def "))
    marker = ast.Name(syntax.name, ast.Load())
    marker.lineno = marker.end_lineno = syntax.lineno
    marker.col_offset, marker.end_col_offset = start, start + len(syntax.name.encode())
    return marker
