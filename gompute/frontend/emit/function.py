"""Device functions: header, parameters, locals, statements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gompute.errors import InternalError
from gompute.frontend import typed
from gompute.frontend.dialects.dialect import CONTEXT_ARGUMENT, Dialect, Suspension
from gompute.frontend.dialects.reports import REPORT, emit_report
from gompute.frontend.emit.checks import check_assert
from gompute.frontend.emit.expression import ExpressionEmitter
from gompute.frontend.emit.loops import begin_range
from gompute.frontend.emit.variables import Join, assigned_in, scalar_of
from gompute.frontend.irtext.failing import NOTE, failed, failing_type, given_back, make_note
from gompute.frontend.irtext.text import FunctionText, ModuleText, safe_name
from gompute.frontend.irtext.values import constant, element_address, memory_type, store, value_type
from gompute.lang.types import LocalArrayType, ParamsType, PointerType, ScalarType, SharedArrayType, ViewType

_STORES_TO_CLEAR = 64
"""Local arrays up to this length are zeroed by one store an element, which LLVM can fold away; longer ones by a loop."""


def emit_function(module: ModuleText, dialect: Dialect, function: typed.Function, *, is_kernel: bool = False) -> None:
    """Add the definition of `function` to the module.

    Where work-items are coroutines, a function with a barrier in it is one if it `is_kernel`, and else emitted where it is called.
    """
    if dialect.suspension is None or "barrier" not in function.uses:
        module.add_function(_FunctionEmitter(module, dialect, function).definition())
    elif is_kernel:
        module.add_function(_FunctionEmitter(module, dialect, function).coroutine(dialect.suspension))


@dataclass(frozen=True, slots=True)
class _Loop:
    """Where `continue` and `break` of the innermost loop go."""

    next: Join
    end: Join


@dataclass(frozen=True, slots=True)
class _Exit:
    """Where `return` goes in a function that is emitted inside another, and what it has brought there: pairs of a value and a block."""

    block: str
    results: list[tuple[str, str]] = field(default_factory=list)


class _FunctionEmitter(ExpressionEmitter):
    def __init__(self, module: ModuleText, dialect: Dialect, function: typed.Function) -> None:
        super().__init__(FunctionText(module, dialect.alloca_suffix), dialect, function)
        self._loops: list[_Loop] = []
        self._exit: _Exit | None = None
        self._statements: dict[type, Callable[..., None]] = {
            typed.Assign: self._assign,
            typed.Store: self._store,
            typed.If: self._if,
            typed.While: self._while,
            typed.ForRange: self._for_range,
            typed.Break: self._break,
            typed.Continue: self._continue,
            typed.Return: self._return,
            typed.Assert: self._assert,
            typed.Evaluate: self._evaluate,
            typed.Clear: self._clear,
            typed.Barrier: self._barrier,
            typed.At: self._at,
        }

    def definition(self) -> str:
        """The whole function as text."""
        function = self.function
        attributes = f"#{int(function.inline)}"
        if self.dialect.suspension is None and (function.together or ("check" in function.uses and self.dialect.leaves_together)):
            attributes += " convergent"
        self.text.belong_to(function.symbol, function.location)
        parameters = self._parameters()
        if "check" in function.uses:
            parameters.append(f"{self.dialect.private_pointer} {NOTE}")
        header = f"define internal {self._result_type()} @{function.symbol}({', '.join(parameters)}) {attributes}"
        self._shared()
        self._arrays(function)
        self._block(function.body)
        if self.text.open:
            if function.result is not None:
                raise InternalError(f"a path of the function {function.symbol!r} ends without a value")
            self._give(None)
        if self.failures.any:
            self.failures.gather(self.text)
            self.text.ret(failed(self.text, function.result))
        return self.text.definition(header)

    def coroutine(self, suspension: Suspension) -> str:
        """The whole function as text: a kernel's work-item that stops at its barriers."""
        function, text = self.function, self.text
        text.belong_to(function.symbol, function.location)
        suspension.begin(text, context=function.needs_context)
        parameters = [*suspension.parameters, *self._parameters(context=False)]
        if "check" in function.uses:
            parameters.append(f"{self.dialect.global_pointer} {REPORT}")
            make_note(text, self.dialect.private_pointer)
        self._shared()
        self._arrays(function)
        self._exit = _Exit("finished")
        self._block(function.body)
        if text.open:
            text.branch("finished")
        if self.failures.any:
            self.failures.gather(text)
            emit_report(text, self.dialect, [self.dialect.index(text, "global_id", dim) for dim in range(3)])
            text.branch("finished")
        suspension.end(text)
        return text.definition(f"define internal ptr @{function.symbol}({', '.join(parameters)}) presplitcoroutine #0")

    def _result_type(self) -> str:
        if "check" in self.function.uses and self._exit is None:
            return failing_type(self.function.result)
        return "void" if self.function.result is None else value_type(self.function.result)

    def _parameters(self, *, context: bool = True) -> list[str]:
        """The IR's parameters."""
        dialect, parameters = self.dialect, []
        if context and dialect.passes_context and self.function.needs_context:
            parameters.append(CONTEXT_ARGUMENT)
        for position, slot in enumerate(self.function.parameters):
            name = f"%{safe_name(slot.name)}.p{position}"
            if isinstance(slot.type, ScalarType):
                parameters.append(f"{value_type(slot.type)} {name}")
                self.variables[slot] = name
            elif isinstance(slot.type, (PointerType, ViewType)):
                parameters.append(f"{dialect.global_pointer} {name}")
                self.places[slot] = name
                if isinstance(slot.type, ViewType):
                    self.extents[slot] = tuple(f"{name}.extent{axis}" for axis in range(slot.type.ndim))
                    parameters += [f"i64 {extent}" for extent in self.extents[slot]]
            elif isinstance(slot.type, (LocalArrayType, SharedArrayType)):
                parameters.append(f"{self.pointer_to(slot)} {name}")
                self.places[slot] = name
            elif isinstance(slot.type, ParamsType):
                known = f"readonly dereferenceable({slot.type.size}) align {slot.type.align}"
                parameters.append(f"{dialect.params_pointer} {known} {name}")
                self.places[slot] = name
            else:
                raise InternalError(f"the function {self.function.symbol!r} takes a {slot.type}, which cannot be passed")
        return parameters

    def _shared(self) -> None:
        for slot in self.function.shared:
            self.places[slot] = self.dialect.shared_array(self.text, slot)

    def _arrays(self, function: typed.Function) -> None:
        for slot in function.locals:
            if isinstance(slot.type, LocalArrayType):
                element = slot.type.element
                self.places[slot] = self.text.alloca(f"[{slot.type.length} x {memory_type(element)}]", element.size, slot.name)
            else:
                scalar_of(slot)

    def _clear(self, node: typed.Clear) -> None:
        array = node.slot.type
        if not isinstance(array, LocalArrayType):
            raise InternalError(f"{node.slot.name!r} of type {array} is cleared")
        text, element, pointer, base = self.text, array.element, self.dialect.private_pointer, self._place(node.slot)
        zero = constant(element, 0)
        if array.length <= _STORES_TO_CLEAR:
            for position in range(array.length):
                store(text, element, zero, pointer, element_address(text, element, pointer, base, str(position)))
            return
        before, clear, cleared = text.block, text.new_block("clear"), text.new_block("cleared")
        text.start(clear)
        index = text.phi("i64", [("0", before), (f"%{clear}.next", clear)])
        store(text, element, zero, pointer, element_address(text, element, pointer, base, index))
        text.effect(f"%{clear}.next = add nuw i64 {index}, 1")
        text.branch_if(text.value(f"icmp ult i64 %{clear}.next, {array.length}"), clear, cleared)
        text.start(cleared)

    # ---- statements ----

    def _block(self, statements: tuple[typed.Statement, ...]) -> None:
        for statement in statements:
            if not self.text.open:  # what follows a return, break or continue is never reached
                return
            self._statements[type(statement)](statement)

    def _assign(self, node: typed.Assign) -> None:
        self.variables[node.slot] = self.expression(node.value)

    def _store(self, node: typed.Store) -> None:
        element, pointer, base = self.array(node.base)
        index = self.expression(node.at)
        value = self.expression(node.value)
        self.failures.seal()
        store(self.text, element, value, pointer, element_address(self.text, element, pointer, base, index))

    def _if(self, node: typed.If) -> None:
        if isinstance(node.condition, typed.Constant):
            self._block(node.then if node.condition.value else node.otherwise)
            return
        text, variables = self.text, self.variables
        condition = self.expression(node.condition)
        then, end = text.new_block("then"), variables.join("end")
        sides = [(then, node.then)]
        if node.otherwise:
            sides.append((text.new_block("else"), node.otherwise))
        else:
            variables.reach(end)
        text.branch_if(condition, then, sides[1][0] if node.otherwise else end.block)
        for block, statements in sides:
            text.start(block)
            variables.open()
            self._block(statements)
            if text.open:
                variables.go(end)
            variables.close()
        if end.edges:
            variables.arrive(end)

    def _while(self, node: typed.While) -> None:
        text, variables = self.text, self.variables
        forever = isinstance(node.condition, typed.Constant)
        if isinstance(node.condition, typed.Constant) and not node.condition.value:
            return
        loop, end = variables.begin_loop("while", assigned_in(node.body)), variables.join("end")
        if not forever:
            condition = self.expression(node.condition)
            body = text.new_block("body")
            variables.reach(end)
            text.branch_if(condition, body, end.block)
            text.start(body)
        line = text.mark
        self._loop_body(node.body, _Loop(next=loop.head, end=end), line)
        variables.end_loop(loop)
        if end.edges:
            variables.arrive(end)

    def _for_range(self, node: typed.ForRange) -> None:
        variables = self.variables
        counter = begin_range(self, node)
        line = self.text.mark
        variables.open()
        step = variables.join("step")
        variables[node.slot] = counter.value
        self._loop_body(node.body, _Loop(next=step, end=counter.end), line)
        if step.edges:
            variables.arrive(step)
            counter.advance(self.text)
            variables.go(counter.loop.head)
        else:
            counter.end_after_one(self.text)
        variables.close()
        variables.end_loop(counter.loop)
        variables.arrive(counter.end)

    def _loop_body(self, body: tuple[typed.Statement, ...], loop: _Loop, line: str) -> None:
        """The body up to the jump to the next iteration, which is marked as of `line`."""
        self._loops.append(loop)
        self.variables.open()
        self._block(body)
        self.text.mark = line
        if self.text.open:
            self.variables.go(loop.next)
        self.variables.close()
        self._loops.pop()

    def _break(self, node: typed.Break) -> None:
        self.variables.go(self._loops[-1].end)

    def _continue(self, node: typed.Continue) -> None:
        self.variables.go(self._loops[-1].next)

    def _return(self, node: typed.Return) -> None:
        if self._exit is not None:
            if node.value is not None:
                value = self.expression(node.value)
                self._exit.results.append((value, self.text.block))
            self.text.branch(self._exit.block)
        else:
            self._give(None if node.value is None else self.expression(node.value))

    def _give(self, value: str | None) -> None:
        if "check" in self.function.uses:
            self.text.ret(given_back(self.text, self.function.result, value))
        else:
            self.text.ret("void" if value is None else f"{self._result_type()} {value}")

    def _assert(self, node: typed.Assert) -> None:
        if "check" in self.function.uses:
            check_assert(self, node)

    def _evaluate(self, node: typed.Evaluate) -> None:
        if isinstance(node.call, typed.Call):
            self.call(node.call)
        else:
            self.expression(node.call)

    def _at(self, node: typed.At) -> None:
        self.text.at(self.function.location.path, node.line)

    def _barrier(self, node: typed.Barrier) -> None:
        if "barrier" not in self.function.uses:
            raise InternalError(f"the function {self.function.symbol!r} has a barrier but is not marked so")
        self.failures.seal()
        self.dialect.barrier(self.text)

    def _call_in_place(self, node: typed.Call) -> str | None:
        text, callee = self.text, node.function
        values = [argument if isinstance(argument, typed.Slot) else self.expression(argument) for argument in node.arguments]
        self.variables.open()
        for slot, value in zip(callee.parameters, values, strict=True):
            if isinstance(value, str):
                self.variables[slot] = value
                continue
            self.places[slot] = self._place(value)
            if value in self.extents:
                self.extents[slot] = self.extents[value]
        around = self.function, self._loops, self._exit
        self.function, self._loops, self._exit = callee, [], _Exit(text.new_block("returned"))
        self._arrays(callee)
        self._block(callee.body)
        text.start(self._exit.block)
        results = self._exit.results
        self.function, self._loops, self._exit = around
        self.variables.close()
        if callee.result is None:
            return None
        return text.phi(value_type(callee.result), results) if results else constant(callee.result, 0)  # one that never returns
