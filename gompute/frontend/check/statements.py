"""Statements: assignment, branches, loops, and what holds a value on which path."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from gompute.frontend import typed
from gompute.frontend.check import calls
from gompute.frontend.check.assignments import Assignments, Breaks
from gompute.frontend.check.context import Variable
from gompute.frontend.check.convert import Kind, coerce, condition, join, kind_of
from gompute.frontend.check.expressions import choose, is_call_of
from gompute.frontend.check.operands import Operand, Static, Value, describe
from gompute.frontend.check.together import depends_on_item
from gompute.frontend.faults import KernelFault
from gompute.lang.builtins import static
from gompute.lang.types import BOOL, I64, ScalarType

__all__ = ["Block"]

_REFUSED: dict[type[ast.stmt], tuple[str, str]] = {
    ast.Try: ("'try' is not supported in a kernel", "test for the bad case with if"),
    ast.TryStar: ("'try' is not supported in a kernel", "test for the bad case with if"),
    ast.Raise: ("'raise' is not supported in a kernel", "write an assert, or store an error code"),
    ast.With: ("'with' is not supported in a kernel", "write the statements without it"),
    ast.AsyncWith: ("'async with' is not supported in a kernel", "a kernel runs to its end without waiting"),
    ast.AsyncFor: ("'async for' is not supported in a kernel", "write for i in range(n):"),
    ast.FunctionDef: ("a function inside a kernel is not supported", "define it at module level and call it"),
    ast.AsyncFunctionDef: ("a function inside a kernel is not supported", "define it at module level and call it"),
    ast.ClassDef: ("a class inside a kernel is not supported", "define it at module level"),
    ast.Import: ("an import inside a kernel is not supported", "import at the top of the module"),
    ast.ImportFrom: ("an import inside a kernel is not supported", "import at the top of the module"),
    ast.Global: ("'global' is not supported in a kernel: a compiled kernel cannot change module variables", "write results to an array"),
    ast.Nonlocal: ("'nonlocal' is not supported in a kernel: a compiled kernel cannot change outer variables", "write results to an array"),
    ast.Delete: ("'del' is not supported in a kernel", "leave the variable; it costs nothing"),
    ast.Match: ("'match' is not supported in a kernel", "write if and elif"),
}


def _bound_names(node: ast.AST) -> set[str]:
    """Every name that a piece of syntax would bind in Python, whether or not kernels may bind it so."""
    names: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            names.add(part.id)
        elif isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(part.name)
        elif isinstance(part, ast.alias):
            names.add((part.asname or part.name).partition(".")[0])
    return names


class Block(Assignments):
    """Checks the statements of one function body in one pass.

    A pass may find that a variable needs another type than it had when it was read before (an accumulator that starts as ``0`` and takes
    f32 values); then `changed` is set and the body is checked again with what is known now.
    """

    def check(self, body: list[ast.stmt]) -> tuple[tuple[typed.Statement, ...], bool]:
        """The typed statements, and whether control can run past their end."""
        out: list[typed.Statement] = []
        for statement in body:
            reachable = self._live
            try:
                made = self._statement(statement)
            except KernelFault as fault:
                self._record(fault)
                self._poison(_bound_names(statement))
                continue
            except RecursionError:
                self.faults.add(self.context.source, statement, "this is nested too deeply", "split it into several statements")
                continue
            if reachable:
                if made and self.context.mode.lines:
                    out.append(typed.At(statement.lineno))
                out += made
        return tuple(out), self._live

    def _record(self, fault: KernelFault) -> None:
        for each in fault.all():
            self.faults.add(self.context.source, each.node, each.what, each.fix)

    def _poison(self, names: Iterable[str]) -> None:
        """One mistake is one fault: what a faulty statement would have assigned counts as assigned, and reading it is no new mistake."""
        self.context.poisoned |= set(names) - set(self.context.variables)
        self.context.assigned.update(names)

    def _test(self, node: ast.expr) -> tuple[Operand, typed.Expression]:
        """The head of a branch or loop. A fault in it is recorded here, so that the body is checked all the same."""
        try:
            operand = self.context.expression(node)
            return operand, condition(operand, node)
        except KernelFault as fault:
            self._record(fault)
            self._poison(_bound_names(node))
            return Value(typed.Constant(BOOL, False)), typed.Constant(BOOL, False)

    def _statement(self, node: ast.stmt) -> list[typed.Statement]:
        handler = self._HANDLERS.get(type(node))
        if handler is None:
            what, fix = _REFUSED.get(
                type(node), (f"'{type(node).__name__}' is not supported in a kernel", "write it with assignments and loops")
            )
            raise KernelFault(node, what, fix)
        return handler(self, node)

    # ---- branches and loops ----

    def _if(self, node: ast.If) -> list[typed.Statement]:
        test, truth = self._test(node.test)
        if is_call_of(self.context, node.test, static) and isinstance(test, Static):
            return list(self.check(node.body if test.object else node.orelse)[0])
        assigned, live, barriers = self.context.assigned, self._live, len(self.context.barriers)
        self._branches += 1
        with assigned.path() as by_then:
            then = self.check(node.body)[0]
        live_then, self._live = self._live, live
        with assigned.path() as by_else:
            otherwise = self.check(node.orelse)[0]
        self._branches -= 1
        self._reached_by_all("branch", barriers, truth)
        # A path that has ended does not reach the next line, so it need not have assigned anything.
        ways = [names for names, alive in ((by_then, live_then), (by_else, self._live)) if alive]
        assigned.update(set.intersection(*ways) if ways else by_then | by_else)
        self._live = bool(ways)
        return [typed.If(truth, then, otherwise)]

    def _reached_by_all(self, around: str, since: int, *decided_by: typed.Expression) -> None:
        """Record a fault for each barrier from number `since` on, where what decides on them plainly differs within a block."""
        if any(depends_on_item(node, self.context) for node in decided_by):
            for barrier in self.context.barriers[since:]:
                what = f"not every work-item of the block reaches this barrier: the {around} around it depends on the work-item"
                self._record(KernelFault(barrier, what, f"move the barrier out of the {around}, and keep the work in it"))

    def _loop(self, body: list[ast.stmt], may_skip: bool) -> tuple[typed.Statement, ...]:
        """A loop's body; afterwards `assigned` and liveness are those behind the loop."""
        assigned, live = self.context.assigned, self._live
        self._breaks.append(Breaks(assigned.depth, []))
        with assigned.path():
            made = self.check(body)[0]
        ways = self._breaks.pop().assigned
        if may_skip:
            ways.append(set())
        if ways:
            assigned.update(set.intersection(*ways))
        self._live = live and bool(ways)
        return made

    def _while(self, node: ast.While) -> list[typed.Statement]:
        if node.orelse:
            raise KernelFault(node.orelse[0], "'else' after a loop is not supported in a kernel", "set a flag before break and test it")
        test, truth = self._test(node.test)
        endless = isinstance(test, Static) and bool(test.object)
        barriers = len(self.context.barriers)
        body = self._loop(node.body, may_skip=not endless)
        self._reached_by_all("loop", barriers, truth)
        return [typed.While(truth, body)]

    def _for(self, node: ast.For) -> list[typed.Statement]:
        assigned = self.context.assigned
        known = isinstance(node.target, ast.Name) and node.target.id in assigned
        try:
            if node.orelse:
                raise KernelFault(node.orelse[0], "'else' after a loop is not supported in a kernel", "set a flag before break and test it")
            slot, start, stop, step = self._range(node)
        except KernelFault as fault:
            self._record(fault)
            self._poison(_bound_names(node.target) | _bound_names(node.iter))
            self._loop(node.body, may_skip=True)
            return []
        barriers = len(self.context.barriers)
        if any(depends_on_item(bound, self.context) for bound in (start, step)):
            self.context.divergent.add(slot.name)
        body = self._loop(node.body, may_skip=True)
        self._reached_by_all("loop", barriers, start, stop, step)
        if not known:  # with no iteration the variable is never assigned
            assigned.discard(slot.name)
        return [typed.ForRange(slot, start, stop, step, body)]

    def _range(self, node: ast.For) -> tuple[typed.Slot, typed.Expression, typed.Expression, typed.Expression]:
        """The variable and the bounds of a loop over range."""
        head = node.iter
        if not isinstance(head, ast.Call) or not isinstance(head.func, ast.Name) or self._callee(head) is not range:
            raise KernelFault(head, "a for loop in a kernel runs over range", "write for i in range(n):")
        if not isinstance(node.target, ast.Name):
            raise KernelFault(node.target, "a for loop in a kernel has one variable", "write for i in range(n):")
        if head.keywords or not 1 <= len(head.args) <= 3:
            raise KernelFault(
                head, f"'range' takes 1 to 3 arguments, and {len(head.args) + len(head.keywords)} are given", "write range(n)"
            )
        operands = [self.context.expression(argument) for argument in head.args]
        places: list[ast.AST] = list(head.args)
        if len(operands) == 1:
            operands, places = [Static(0), *operands], [head, *places]
        if len(operands) == 2:
            operands, places = [*operands, Static(1)], [*places, head]
        if isinstance(operands[2], Static) and operands[2].object == 0:
            raise KernelFault(places[2], "the step of 'range' is 0", "write another step")
        entry = self._range_variable(node.target, self._range_kind(operands, places, head))
        bounds = [self._range_bound(operand, entry.kind[0], place) for operand, place in zip(operands, places, strict=True)]
        return entry.slot, bounds[0], bounds[1], bounds[2]

    def _callee(self, node: ast.Call) -> object:
        callee = self.context.expression(node.func)
        return callee.object if isinstance(callee, Static) else None

    def _range_kind(self, operands: list[Operand], places: list[ast.AST], node: ast.AST) -> Kind:
        kind: Kind = (I64, True)
        for operand, place in zip(operands, places, strict=True):
            own = kind_of(operand, place)
            if not own[0].is_integer:
                raise KernelFault(place, f"'range' takes integers, and this is {describe(operand)}", "write i64(...) around it")
            joined = join(kind, own)
            if joined is None:
                raise KernelFault(node, f"'range' mixes {kind[0]} and {own[0]}", f"convert one: {kind[0]}(...) or {own[0]}(...)")
            kind = joined
        return kind

    def _range_variable(self, target: ast.Name, kind: Kind) -> Variable:
        """The loop's variable; its kind is joined with what else is assigned to the name."""
        self.set_variable(target, Value(typed.Constant(kind[0], 0), kind[1]), target)
        return self.context.variables[target.id]

    def _range_bound(self, operand: Operand, kind: ScalarType, place: ast.AST) -> typed.Expression:
        try:
            return coerce(operand, kind, place, "the range").node
        except KernelFault as fault:
            if kind.kind == "uint" and isinstance(operand, Static):
                raise KernelFault(
                    place, f"{operand.object} does not fit {kind}, in which this range counts", "write i64(...) around the start"
                ) from None
            raise fault

    def _leave_loop(self, node: ast.Break | ast.Continue) -> list[typed.Statement]:
        if isinstance(node, ast.Break) and self._live:
            self._breaks[-1].assigned.append(self.context.assigned.since(self._breaks[-1].depth))
        self._live = False
        return [typed.Break() if isinstance(node, ast.Break) else typed.Continue()]

    # ---- the rest ----

    def _return(self, node: ast.Return) -> list[typed.Statement]:
        self._live = False  # also when the value has a fault: the path ends here
        wanted = self.context.header.result
        if wanted is None and node.value is not None:
            raise KernelFault(node, "this function returns nothing", "declare the result: def f(...) -> f32, or write a plain return")
        value = None
        if wanted is not None:
            if node.value is None:
                raise KernelFault(node, f"this function returns {wanted}", "return a value")
            value = coerce(self.context.expression(node.value), wanted, node.value, "the result").node
        return [typed.Return(value)]

    def _assert(self, node: ast.Assert) -> list[typed.Statement]:
        message = ""
        if node.msg is not None:
            if not isinstance(node.msg, ast.Constant) or not isinstance(node.msg.value, str):
                raise KernelFault(node.msg, "the message of an assert is a plain string", 'write assert x > 0, "x is positive"')
            message = node.msg.value
        if self.context.checked:
            self.context.uses.add("check")
        return [typed.Assert(condition(self.context.expression(node.test), node.test), message, self.context.location(node))]

    def _expression(self, node: ast.Expr) -> list[typed.Statement]:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, (str, type(...))):
            return []  # a docstring, or ... as an empty body
        if isinstance(node.value, ast.Call):
            made = calls.call(self.context, node.value, choose)
            if isinstance(made, typed.Barrier):
                return [made]
            if isinstance(made, typed.Call):
                return [typed.Evaluate(made)]
            if isinstance(made, Value) and isinstance(made.node, (typed.Call, typed.Atomic, typed.Warp)):
                return [typed.Evaluate(made.node)]
        else:
            self.context.expression(node.value)
        raise KernelFault(node, "this line computes a value and drops it", "assign it, or remove the line")

    def _pass(self, node: ast.Pass) -> list[typed.Statement]:
        return []

    _HANDLERS: ClassVar[dict[type[ast.stmt], Callable[[Block, Any], list[typed.Statement]]]] = {
        ast.Assign: Assignments.assign,
        ast.AnnAssign: Assignments.annotated,
        ast.AugAssign: Assignments.augmented,
        ast.If: _if,
        ast.While: _while,
        ast.For: _for,
        ast.Break: _leave_loop,
        ast.Continue: _leave_loop,
        ast.Return: _return,
        ast.Assert: _assert,
        ast.Expr: _expression,
        ast.Pass: _pass,
    }
