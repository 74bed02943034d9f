"""Expressions: from syntax to numbers."""

from __future__ import annotations

import ast
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.conformance import philox
from tests.language import numbers
from tests.language.values import Array, Literal, Memory, Misunderstood, Operand, Thing, Value, is_weak, joined, kind_of, meeting, typed

_BINARY: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.BitAnd: ("&", operator.and_),
    ast.BitOr: ("|", operator.or_),
    ast.BitXor: ("^", operator.xor),
    ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift),
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
_COMPARE: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], bool]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}


class Expressions(ABC):
    """Evaluates for `count` work-items at once; those of `mask` are running.

    Attributes:
        names: the module's names that mean something to the language: types, functions, tables, constants.
        locals: variables and arguments.
    """

    count: int
    mask: Array
    names: dict[str, Any]
    locals: dict[str, Operand]

    def evaluate(self, node: ast.expr) -> Operand:
        handler = getattr(self, f"_{type(node).__name__}", None)
        if handler is None:
            raise Misunderstood(ast.dump(node))
        made: Operand = handler(node)
        return made

    @abstractmethod
    def call(self, function: ast.FunctionDef, arguments: list[Operand]) -> Value: ...

    # ---- leaves ----

    def _Constant(self, node: ast.Constant) -> Operand:
        if not isinstance(node.value, (bool, int, float)):
            raise Misunderstood(ast.dump(node))
        return Literal(node.value)

    def _Name(self, node: ast.Name) -> Operand:
        if node.id in self.locals:
            return self.locals[node.id]
        if node.id not in self.names:
            raise Misunderstood(f"the name {node.id}")
        found = self.names[node.id]
        if isinstance(found, Value):
            return Value(found.type, np.broadcast_to(found.data, (self.count,)))
        return found if isinstance(found, (Literal, Memory)) else Thing(found)

    def _Attribute(self, node: ast.Attribute) -> Operand:
        base = self.evaluate(node.value)
        if not isinstance(base, Thing):
            raise Misunderstood(ast.dump(node))
        if isinstance(base.object, dict):
            found = base.object[node.attr]
            if isinstance(found, Value):
                return Value(found.type, np.broadcast_to(found.data, (self.count,)))
            return found if isinstance(found, (Literal, Memory)) else Thing(found)
        raise Misunderstood(ast.dump(node))

    def _Subscript(self, node: ast.Subscript) -> Operand:
        base = self.evaluate(node.value)
        if not isinstance(base, Memory):
            raise Misunderstood(ast.dump(node))
        return Value(base.type, self.element(base, self.index(node.slice, base)))

    def index(self, node: ast.expr, memory: Memory) -> Array:
        at = self.evaluate(node)
        if isinstance(at, Literal) and at.number < 0:
            at = Literal(at.number + memory.data.shape[0])
        kind = kind_of(at)[0]
        if kind not in numbers.INTEGERS:
            raise Misunderstood(f"an index of {kind}")
        where = typed(at, kind, self.count).astype(np.int64)
        wrong = self.mask & ((where < 0) | (where >= memory.data.shape[0]))
        if wrong.any():
            raise Misunderstood(f"index {where[wrong][0]} is outside {memory.data.shape[0]} elements")
        return np.where(self.mask, where, 0)

    def element(self, memory: Memory, where: Array) -> Array:
        return memory.data[where, np.arange(self.count)] if memory.own else memory.data[where]

    # ---- operators ----

    def _BinOp(self, node: ast.BinOp) -> Operand:
        return self.binary(type(node.op), self.evaluate(node.left), self.evaluate(node.right))

    def binary(self, op: type[ast.operator], left: Operand, right: Operand) -> Operand:
        if op is ast.Pow:
            return self._power(left, right)
        word, function = _BINARY[op]
        if isinstance(left, Literal) and isinstance(right, Literal):
            return Literal(function(left.number, right.number))
        kinds, weak = (kind_of(left)[0], kind_of(right)[0]), is_weak(left) and is_weak(right)
        if weak:
            kind = "f64" if "f64" in kinds or word == "/" else "i64"
            a, b = (kind, kind)
        else:
            a = meeting(left, kinds[1])
            b = meeting(right, kinds[0])
            found = numbers.promoted(a, b) if word != "/" or {a, b} & set(numbers.FLOATS) else "f64"
            if found is None:
                raise Misunderstood(f"{a} {word} {b}")
            kind = found
        x, y = (numbers.cast(typed(operand, own, self.count), own, kind) for operand, own in ((left, a), (right, b)))
        return Value(kind, numbers.binary(word, x, y, kind), weak)

    def _power(self, base: Operand, exponent: Operand) -> Operand:
        """Of integers, wrapped at the end; of floats a product."""
        if isinstance(base, Literal) and isinstance(exponent, Literal):
            return Literal(base.number**exponent.number)
        if not isinstance(base, Value) or base.weak:
            raise Misunderstood("the base of a power is of a declared type")
        if base.type in numbers.FLOATS:
            if not isinstance(exponent, Literal) or exponent.number not in (1, 2):
                raise Misunderstood("a power that is no product")
            return base if exponent.number == 1 else Value(base.type, numbers.binary("*", base.data, base.data, base.type))
        kind = base.type if isinstance(exponent, Literal) else numbers.promoted(base.type, kind_of(exponent)[0])
        if kind is None:
            raise Misunderstood("the types of a power")
        low, high = numbers.limits(kind)
        span = high - low + 1
        exponents = [int(each) for each in typed(exponent, kind_of(exponent)[0], self.count)]
        bases = [int(each) for each in numbers.cast(base.data, base.type, kind)]
        made = [(pow(a, b, span) - low) % span + low for a, b in zip(bases, exponents, strict=True)]
        return Value(kind, np.array(made, numbers.dtype_of(kind)))

    def _UnaryOp(self, node: ast.UnaryOp) -> Operand:
        operand = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            if isinstance(operand, Literal):
                return Literal(not operand.number)
            return Value("bool", ~self.truth(operand))
        if isinstance(operand, Literal):
            functions: dict[type[ast.unaryop], Callable[[Any], Any]] = {
                ast.USub: operator.neg,
                ast.UAdd: operator.pos,
                ast.Invert: operator.invert,
            }
            return Literal(functions[type(node.op)](operand.number))
        assert isinstance(operand, Value)
        if isinstance(node.op, ast.UAdd):
            return operand
        data = ~operand.data if isinstance(node.op, ast.Invert) else -operand.data
        return Value(operand.type, data, operand.weak)

    def truth(self, operand: Operand) -> Array:
        return typed(operand, kind_of(operand)[0], self.count) != 0

    def _BoolOp(self, node: ast.BoolOp) -> Operand:
        """The right side runs only for those whose left side leaves it open."""
        before, is_and = self.mask, isinstance(node.op, ast.And)
        result = np.full(self.count, is_and)
        for part in node.values:
            operand = self.evaluate(part)
            result = np.where(self.mask, self.truth(operand), result)
            self.mask = self.mask & (result == is_and)
        self.mask = before
        return Value("bool", result)

    def _IfExp(self, node: ast.IfExp) -> Operand:
        test = self.truth(self.evaluate(node.test))
        before = self.mask
        self.mask = before & test
        then = self.evaluate(node.body)
        self.mask = before & ~test
        otherwise = self.evaluate(node.orelse)
        self.mask = before
        return self.chosen(test, then, otherwise)

    def chosen(self, test: Array, then: Operand, otherwise: Operand) -> Value:
        kind, weak = joined(kind_of(then), kind_of(otherwise))
        return Value(kind, np.where(test, typed(then, kind, self.count), typed(otherwise, kind, self.count)), weak)

    def _Compare(self, node: ast.Compare) -> Operand:
        before, left, parts = self.mask, self.evaluate(node.left), []
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(comparator)
            holds = self.compared(type(op), left, right)
            parts.append(holds)
            self.mask, left = self.mask & self.truth(holds), right
        self.mask = before
        if all(isinstance(part, Literal) for part in parts):
            return Literal(all(part.number for part in parts if isinstance(part, Literal)))
        return Value("bool", np.logical_and.reduce([np.broadcast_to(self.truth(part), (self.count,)) for part in parts]))

    def compared(self, op: type[ast.cmpop], left: Operand, right: Operand) -> Operand:
        word, function = _COMPARE[op]
        if isinstance(left, Literal) and isinstance(right, Literal):
            return Literal(function(left.number, right.number))
        for literal, other in ((left, right), (right, left)):
            if isinstance(literal, Literal) and type(literal.number) is int and kind_of(other)[0] in numbers.INTEGERS:
                kind = kind_of(other)[0]
                low, high = numbers.limits(kind)
                if not low <= literal.number <= high:  # known without looking
                    holds = function(0, literal.number) if literal is right else function(literal.number, 0)
                    return Value("bool", np.full(self.count, holds))
                return Value("bool", numbers.compare(word, typed(left, kind, self.count), typed(right, kind, self.count)))
        a, b = self._comparable(left, right), self._comparable(right, left)
        kind_or_none = numbers.promoted(a, b)
        if kind_or_none is None:
            return Value("bool", numbers.compare_mixed(word, typed(left, a, self.count), typed(right, b, self.count)))
        x = numbers.cast(typed(left, a, self.count), a, kind_or_none)
        y = numbers.cast(typed(right, b, self.count), b, kind_or_none)
        return Value("bool", numbers.compare(word, x, y))

    def _comparable(self, operand: Operand, other: Operand) -> str:
        """A weak variable of integers is compared as the i64 that it is; other weak numbers take the type that they meet."""
        kind, weak = kind_of(operand)
        other_kind, other_weak = kind_of(other)
        if not weak:
            return kind
        if isinstance(operand, Literal) or (not other_weak and (kind == "f64" or other_kind in numbers.FLOATS)):
            return meeting(operand, other_kind)
        return kind

    # ---- calls ----

    def _Call(self, node: ast.Call) -> Operand:
        callee = self.evaluate(node.func)
        if not isinstance(callee, Thing):
            raise Misunderstood(ast.dump(node))
        target = callee.object
        if isinstance(target, ast.FunctionDef):
            return self.call(target, self._bound(target, node))
        if node.keywords:
            raise Misunderstood(ast.dump(node))
        operands = [self.evaluate(argument) for argument in node.args]
        if target in numbers.TYPES:
            return self._converted(operands[0], target)
        if target == "cast":
            kind = operands[1]
            assert isinstance(kind, Thing)
            return self._converted(operands[0], kind.object)
        if target == "bitcast":
            source, kind = operands
            assert isinstance(source, Value) and isinstance(kind, Thing)
            return Value(kind.object, numbers.bitcast(source.data, source.type, kind.object))
        if target == "select":
            return self.chosen(self.truth(operands[0]), operands[1], operands[2])
        if target in ("bits", "bits64"):
            return self._random(target, operands)
        if target in ("min", "max"):
            result = operands[0]
            for other in operands[1:]:
                result = self._extreme(target, result, other)
            return result
        if target in ("abs", "round"):
            return self._one(target, operands[0])
        if target == "len" and isinstance(operands[0], Memory):
            return Literal(operands[0].data.shape[0])
        raise Misunderstood(ast.dump(node))

    def _random(self, name: str, operands: list[Operand]) -> Value:
        draws = [*operands, Literal(0)][:3]
        function = {"bits": philox.bits, "bits64": philox.bits64}[name]
        rows = zip(*(typed(operand, "u64", self.count).tolist() for operand in draws), strict=True)
        kind = "u32" if name == "bits" else "u64"
        return Value(kind, np.array([function(*row) for row in rows], numbers.dtype_of(kind)))

    def _bound(self, function: ast.FunctionDef, node: ast.Call) -> list[Operand]:
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        names = [argument.arg for argument in function.args.args]
        defaults = dict(zip(reversed(names), reversed(function.args.defaults), strict=False))
        given = dict(zip(names, node.args, strict=False)) | named
        return [self.evaluate(given[name] if name in given else defaults[name]) for name in names]

    def _converted(self, operand: Operand, kind: str) -> Value:
        if isinstance(operand, Literal):
            return Value(kind, _constant(operand.number, kind, self.count))
        assert isinstance(operand, Value)
        return Value(kind, numbers.cast(operand.data, operand.type, kind))

    def _extreme(self, name: str, left: Operand, right: Operand) -> Operand:
        if is_weak(left) and is_weak(right):
            kind = joined(kind_of(left), kind_of(right))[0]
            made = Value(kind, numbers.extreme(name, typed(left, kind, self.count), typed(right, kind, self.count)), True)
            return made if not (isinstance(left, Literal) and isinstance(right, Literal)) else Literal(made.data[0].item())
        a, b = meeting(left, kind_of(right)[0]), meeting(right, kind_of(left)[0])
        found = numbers.promoted(a, b)
        if found is None:
            raise Misunderstood(f"{name} of {a} and {b}")
        x, y = (numbers.cast(typed(operand, own, self.count), own, found) for operand, own in ((left, a), (right, b)))
        return Value(found, numbers.extreme(name, x, y))

    def _one(self, name: str, operand: Operand) -> Operand:
        if isinstance(operand, Literal):
            return Literal(abs(operand.number) if name == "abs" else float(np.rint(operand.number)))
        assert isinstance(operand, Value)
        if name == "abs":
            data = operand.data if operand.type in numbers.UNSIGNED else np.abs(operand.data)
            return Value(operand.type, data, operand.weak)
        return Value(operand.type, np.rint(operand.data), operand.weak) if operand.type in numbers.FLOATS else operand


def _constant(number: float, kind: str, count: int) -> Array:
    """An explicit conversion of a Python number, which may lose digits."""
    if kind == "bool":
        return np.full(count, number != 0)
    if kind in numbers.FLOATS:
        return numbers.literal(number, kind, count)
    if isinstance(number, float):
        return numbers.cast(np.full(count, number), "f64", kind)
    low, high = numbers.limits(kind)
    span = high - low + 1
    return np.full(count, (number - low) % span + low, numbers.dtype_of(kind))
