"""Random functions: every kind of statement and expression, over every type, always terminating."""

from __future__ import annotations

import random
from collections.abc import Sequence

from gompute.frontend import typed
from gompute.frontend.typed import Expression, Function, Slot, Statement
from gompute.lang import numeric
from gompute.lang.types import BF16, BOOL, F16, F32, F64, I8, I32, I64, U8, U16, U32, U64, LocalArrayType, ScalarType, TableType
from tests.frontend.emit import values
from tests.frontend.emit.trees import HERE, binary, compare, constant, read, zeros

TYPES = (BOOL, I8, U8, U16, I32, U32, I64, U64, F16, BF16, F32, F64)
ARITHMETIC: tuple[typed.BinaryOp, ...] = ("add", "sub", "mul", "floordiv", "mod")
BITS: tuple[typed.BinaryOp, ...] = ("and", "or", "xor", "shl", "shr")


class Program:
    """One function of `parameters` that returns a `result`; `callees` are functions that it may call."""

    def __init__(self, seed: int, parameters: Sequence[ScalarType], result: ScalarType, callees: Sequence[Function] = ()) -> None:
        self._draw = random.Random(seed)
        self._callees = callees
        self._loops = 0
        self._work = 1  # iterations that the loops around here multiply to
        given = [Slot(f"p{position}", scalar) for position, scalar in enumerate(parameters)]
        self._slots = [Slot(f"v{position}", scalar) for position, scalar in enumerate(TYPES)]
        self._slots += [Slot(f"w{position}", scalar) for position, scalar in enumerate(parameters)]
        self._array = Slot("local", LocalArrayType(F32, 8))
        self._table = TableType(I32, tuple(self._draw.randint(-(2**31), 2**31 - 1) for _ in range(16)))
        self._locals = [*self._slots, self._array]
        self._readable = [*given, *self._slots]
        body = (typed.Clear(self._array), *self._block(2, 6))
        self.function = Function(
            f"program_{seed}",
            tuple(given),
            result,
            HERE,
            self._locals,
            (*zeros(self._locals), *body, typed.Return(self._expression(result, 3))),
        )

    # ---- statements ----

    def _block(self, depth: int, length: int) -> tuple[Statement, ...]:
        return tuple(statement for _ in range(self._draw.randint(1, length)) for statement in self._statement(depth))

    def _statement(self, depth: int) -> list[Statement]:
        kind = self._draw.randint(0, 9) if depth else self._draw.randint(0, 3)
        if kind <= 2:
            slot = self._draw.choice(self._slots)
            assert isinstance(slot.type, ScalarType)
            return [typed.Assign(slot, self._expression(slot.type, 3))]
        if kind == 3:
            return [typed.Store(self._array, self._index(7), self._expression(F32, 2))]
        if kind <= 5:
            otherwise = self._block(depth - 1, 3) if self._draw.random() < 0.5 else ()
            return [typed.If(self._expression(BOOL, 2), self._block(depth - 1, 3), otherwise)]
        if kind == 6 and self._loops:
            return [typed.If(self._expression(BOOL, 2), (self._draw.choice((typed.Break(), typed.Continue())),), ())]
        if kind == 7:
            return [self._while(depth)] if self._work < 100 else []
        return [self._for(depth)] if self._work < 100 else []

    def _loop_body(self, depth: int, times: int) -> tuple[Statement, ...]:
        self._loops += 1
        self._work *= times
        body = self._block(depth - 1, 3)
        self._work //= times
        self._loops -= 1
        return body

    def _while(self, depth: int) -> Statement:
        counter = Slot(f"count{len(self._locals)}", U16)
        self._locals.append(counter)
        limit = self._draw.randint(0, 5)
        step = typed.Assign(counter, binary("add", read(counter), constant(U16, 1)))
        condition: Expression = compare("lt", read(counter), constant(U16, limit))
        if self._draw.random() < 0.5:
            condition = typed.Logical("and", condition, self._expression(BOOL, 2), BOOL)
        return typed.While(condition, (step, *self._loop_body(depth, 5)))

    def _for(self, depth: int) -> Statement:
        scalar = self._draw.choice((I8, U8, I32, U32, I64, U64))
        slot = self._draw.choice([slot for slot in self._slots if slot.type == scalar])
        if scalar.bits == 8 and self._work == 1:
            bounds = [self._expression(scalar, 1) for _ in range(3)]
            return typed.ForRange(slot, *bounds, self._loop_body(1, 255))
        low, high = numeric.limits(scalar)
        start = self._draw.choice((low, high, 0, 5, high - 3, low + 2))
        step = self._draw.choice((1, 1, 2, 7, -1, -3) if scalar.kind == "int" else (1, 1, 2, 7))
        stop = start + step * self._draw.randint(-1, 4) + self._draw.randint(-1, 1)
        stop = min(max(stop, low), high)  # at the ends of the type the counter must not wrap
        return typed.ForRange(slot, constant(scalar, start), constant(scalar, stop), constant(scalar, step), self._loop_body(depth, 5))

    # ---- expressions ----

    def _expression(self, scalar: ScalarType, depth: int) -> Expression:
        if depth == 0 or self._draw.random() < 0.15:
            return self._leaf(scalar)
        made = self._operation(scalar, depth - 1)
        return self._leaf(scalar) if made is None else made

    def _leaf(self, scalar: ScalarType) -> Expression:
        readable = [slot for slot in self._readable if slot.type == scalar]
        if readable and self._draw.random() < 0.7:
            return read(self._draw.choice(readable))
        if self._draw.random() < 0.5:
            return constant(scalar, numeric.convert(self._draw.randint(-9, 9), scalar))
        return constant(scalar, numeric.from_bits(self._draw.choice(values.edges(scalar)), scalar))

    def _index(self, mask: int) -> Expression:
        return binary("and", self._expression(U64, 1), constant(U64, mask))

    def _operation(self, scalar: ScalarType, depth: int) -> Expression | None:
        kind = self._draw.randint(0, 11)
        if kind == 0:
            return typed.Conditional(
                scalar, self._expression(BOOL, depth), self._expression(scalar, depth), self._expression(scalar, depth)
            )
        if kind == 1:
            value, slot = self._expression(scalar, depth), Slot(f"s{len(self._locals)}", scalar)
            self._locals.append(slot)
            self._readable.append(slot)
            result = self._expression(scalar, depth)
            self._readable.remove(slot)
            return typed.Sequence(scalar, slot, value, result)
        if kind == 2:
            callees = [callee for callee in self._callees if callee.result == scalar]
            if callees and self._work < 3:
                callee = self._draw.choice(callees)
                arguments = (self._expression(slot.type, depth) for slot in callee.parameters if isinstance(slot.type, ScalarType))
                return typed.Call(scalar, callee, tuple(arguments))
        if kind <= 4:
            return typed.Cast(scalar, self._expression(self._draw.choice(TYPES), depth))
        if scalar.kind == "bool":
            return self._truth(depth)
        if kind == 5:
            name = self._draw.choice(("abs", "round"))
            return typed.Intrinsic(scalar, name, (self._expression(scalar, depth),))
        if kind == 6:
            return typed.Intrinsic(
                scalar, self._draw.choice(("min", "max")), (self._expression(scalar, depth), self._expression(scalar, depth))
            )
        if kind == 7:
            op = self._draw.choice(("neg", "invert")) if scalar.is_integer else "neg"
            return typed.Unary(scalar, op, self._expression(scalar, depth))
        if kind == 8 and scalar == F32:
            return typed.Load(F32, self._array, self._index(7))
        if kind == 8 and scalar == I32:
            return typed.Load(I32, self._table, self._index(15))
        ops = (*ARITHMETIC, "truediv") if scalar.is_float else ARITHMETIC + BITS
        return binary(self._draw.choice(ops), self._expression(scalar, depth), self._expression(scalar, depth))

    def _truth(self, depth: int) -> Expression:
        kind = self._draw.randint(0, 5)
        if kind == 0:
            return typed.Unary(BOOL, "not", self._expression(BOOL, depth))
        if kind <= 2:
            return typed.Logical(self._draw.choice(("and", "or")), self._expression(BOOL, depth), self._expression(BOOL, depth), BOOL)
        scalar = self._draw.choice(TYPES)
        op = self._draw.choice(("eq", "ne", "lt", "le", "gt", "ge"))
        return compare(op, self._expression(scalar, depth), self._expression(scalar, depth))
