"""Functions and statements: every work-item at once, under masks."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.language import numbers
from tests.language.expressions import Expressions
from tests.language.values import Array, Kind, Literal, Memory, Misunderstood, Operand, Thing, Value, joined, kind_of, typed


@dataclass
class _Loop:
    broken: Array
    skipped: Array


@dataclass
class _Known:
    """What the passes over a function found out: its variables' kinds."""

    kinds: dict[str, Kind] = field(default_factory=dict)
    changed: bool = False
    ready: bool = False


class Function(Expressions):
    """One call of a function.

    A variable's type is that of all its assignments together, so a function is first gone through with one work-item, every branch and
    loop body once, until the types stand still.
    """

    def __init__(
        self,
        syntax: ast.FunctionDef,
        names: Mapping[str, Any],
        count: int,
        mask: Array,
        arguments: Mapping[str, Operand],
        known: dict[str, _Known],
        looking: bool = False,
    ) -> None:
        self.syntax = syntax
        self.names = dict(names)
        self.count = count
        self.mask = mask
        self.locals = dict(arguments)
        self.looking = looking
        self._known = known
        self._mine = known.setdefault(syntax.name, _Known())
        self._arguments = {name: kind_of(value) for name, value in arguments.items() if isinstance(value, (Value, Literal))}
        self._loops: list[_Loop] = []
        self.result: Array | None = None
        self.result_type = _type_named(syntax.returns, self.names) if syntax.returns is not None else None

    @classmethod
    def run(
        cls,
        syntax: ast.FunctionDef,
        names: Mapping[str, Any],
        count: int,
        mask: Array,
        arguments: Mapping[str, Operand],
        known: dict[str, _Known],
    ) -> Function:
        """The function after its end."""
        mine = known.setdefault(syntax.name, _Known())
        while not mine.ready:
            mine.changed = False
            first = {name: _first(value) for name, value in arguments.items()}
            cls(syntax, names, 1, np.ones(1, bool), first, known, looking=True).body(syntax.body)
            mine.ready = not mine.changed
        made = cls(syntax, names, count, mask, arguments, known)
        made.body(syntax.body)
        return made

    def call(self, function: ast.FunctionDef, arguments: list[Operand]) -> Value:
        given: dict[str, Operand] = {}
        for argument, operand in zip(function.args.args, arguments, strict=True):
            kind = _type_named(argument.annotation, self.names)
            given[argument.arg] = Value(kind, typed(operand, kind, self.count)) if kind is not None else operand
        result = _type_named(function.returns, self.names)
        assert result is not None
        if self.looking:
            return Value(result, np.zeros(self.count, numbers.dtype_of(result)))
        ended = Function.run(function, self.names, self.count, self.mask, given, self._known)
        return Value(result, ended.result if ended.result is not None else np.zeros(self.count, numbers.dtype_of(result)))

    # ---- statements ----

    def body(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if not self.looking and not self.mask.any():
                return
            handler = getattr(self, f"_do_{type(statement).__name__}", None)
            if handler is None:
                raise Misunderstood(ast.dump(statement))
            handler(statement)

    def _do_Pass(self, node: ast.Pass) -> None:
        pass

    def _do_Assert(self, node: ast.Assert) -> None:
        """Checked builds only."""

    def _do_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.evaluate(node.value)

    def _do_Assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        if isinstance(target, ast.Tuple):
            assert isinstance(node.value, ast.Tuple)
            values = [self.evaluate(element) for element in node.value.elts]
            for each, value in zip(target.elts, values, strict=True):
                self._store(each, value)
            return
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute) and node.value.func.attr == "local":
            element, length = (self.evaluate(argument) for argument in node.value.args)
            assert isinstance(target, ast.Name) and isinstance(element, Thing) and isinstance(length, Literal)
            data = np.zeros((int(length.number), self.count), numbers.dtype_of(element.object))
            self.locals[target.id] = Memory(element.object, data, own=True)
            return
        self._store(target, self.evaluate(node.value))

    def _do_AnnAssign(self, node: ast.AnnAssign) -> None:
        kind = _type_named(node.annotation, self.names)
        assert isinstance(node.target, ast.Name) and kind is not None and node.value is not None
        self._arguments[node.target.id] = (kind, False)
        self._store(node.target, self.evaluate(node.value))

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        current = self.evaluate(ast.copy_location(_loaded(node.target), node.target))
        self._store(node.target, self.binary(type(node.op), current, self.evaluate(node.value)))

    def _store(self, target: ast.expr, value: Operand) -> None:
        if isinstance(target, ast.Subscript):
            memory = self.evaluate(target.value)
            assert isinstance(memory, Memory)
            where = self.index(target.slice, memory)
            data = typed(value, memory.type, self.count)
            lanes = np.flatnonzero(self.mask)
            if memory.own:
                memory.data[where[lanes], lanes] = data[lanes]
            else:
                memory.data[where[lanes]] = data[lanes]
            return
        assert isinstance(target, ast.Name)
        name = target.id
        declared = self._arguments.get(name)
        kind = declared if declared is not None else self._joined(name, kind_of(value))
        new = typed(value, kind[0], self.count)
        old = self.locals.get(name)
        before = typed(old, kind[0], self.count) if isinstance(old, (Value, Literal)) else np.zeros(self.count, new.dtype)
        self.locals[name] = Value(kind[0], np.where(self.mask, new, before), kind[1])

    def _joined(self, name: str, new: Kind) -> Kind:
        known = self._mine.kinds
        kind = joined(known[name], new) if name in known else new
        if known.get(name) != kind:
            if self._mine.ready:
                raise Misunderstood(f"the kind of {name} changed")
            known[name], self._mine.changed = kind, True
        return kind

    def _do_If(self, node: ast.If) -> None:
        test = self.truth(self.evaluate(node.test))
        before = self.mask
        self.mask = before & test
        self.body(node.body)
        after = self.mask
        self.mask = before & ~test
        self.body(node.orelse)
        self.mask = after | self.mask

    def _do_While(self, node: ast.While) -> None:
        before, loop = self.mask, _Loop(np.zeros(self.count, bool), np.zeros(self.count, bool))
        self._loops.append(loop)
        done = np.zeros(self.count, bool)
        while True:
            self.mask = self.mask & ~loop.broken
            done |= self.mask & ~self.truth(self.evaluate(node.test))
            self.mask = self.mask & ~done
            if not self.looking and not self.mask.any():
                break
            loop.skipped = np.zeros(self.count, bool)
            self.body(node.body)
            self.mask = self.mask | loop.skipped
            if self.looking:
                break
        self._loops.pop()
        self.mask = before if self.looking else (self.mask | done | loop.broken)

    def _do_For(self, node: ast.For) -> None:
        assert isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name)
        operands = [self.evaluate(argument) for argument in node.iter.args]
        if len(operands) == 1:
            operands = [Literal(0), *operands]
        if len(operands) == 2:
            operands = [*operands, Literal(1)]
        kind: Kind = ("i64", True)
        for operand in operands:
            kind = joined(kind, kind_of(operand))
        start, stop, step = (typed(operand, kind[0], self.count).astype(object) for operand in operands)
        counts = np.array([len(range(a, b, c)) if c else 0 for a, b, c in zip(start, stop, step, strict=True)], np.int64)
        if self.looking:
            counts = np.ones(self.count, np.int64)
        before, loop, finished = self.mask, _Loop(np.zeros(self.count, bool), np.zeros(self.count, bool)), np.zeros(self.count, bool)
        self._loops.append(loop)
        turn = 0
        while True:
            self.mask = self.mask & ~loop.broken
            finished |= self.mask & (counts <= turn)
            self.mask = self.mask & (counts > turn)
            if turn if self.looking else not self.mask.any():
                break
            at = np.where(self.mask, start + turn * step, 0).astype(np.int64 if kind[0] != "u64" else np.uint64)
            self._store(node.target, Value(kind[0], at.astype(numbers.dtype_of(kind[0])), kind[1]))
            loop.skipped = np.zeros(self.count, bool)
            self.body(node.body)
            self.mask = self.mask | loop.skipped
            turn += 1
        self._loops.pop()
        self.mask = before if self.looking else (finished | loop.broken)

    def _do_Break(self, node: ast.Break) -> None:
        self._loops[-1].broken |= self.mask
        self._leave()

    def _do_Continue(self, node: ast.Continue) -> None:
        self._loops[-1].skipped |= self.mask
        self._leave()

    def _leave(self) -> None:
        if not self.looking:
            self.mask = np.zeros(self.count, bool)

    def _do_Return(self, node: ast.Return) -> None:
        if node.value is not None:
            assert self.result_type is not None
            value = typed(self.evaluate(node.value), self.result_type, self.count)
            self.result = value if self.result is None else np.where(self.mask, value, self.result)
        self._leave()


def _first(operand: Operand) -> Operand:
    """Of the first work-item alone, with memory that may be written."""
    if isinstance(operand, Value):
        return Value(operand.type, operand.data[:1].copy(), operand.weak)
    if isinstance(operand, Memory) and operand.own:
        return Memory(operand.type, operand.data[:, :1].copy(), own=True)
    return Memory(operand.type, operand.data.copy(), own=False) if isinstance(operand, Memory) else operand


def _loaded(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    assert isinstance(target, ast.Subscript)
    return ast.Subscript(target.value, target.slice, ast.Load())


def _type_named(node: ast.expr | None, names: Mapping[str, Any]) -> str | None:
    """The scalar type that an annotation names."""
    found = names.get(node.id) if isinstance(node, ast.Name) else None
    return found if isinstance(found, str) and found in numbers.TYPES else None
