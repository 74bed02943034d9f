"""Expressions: each becomes an operand (a value's name or a constant), with the instructions before it appended to the function's text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from gompute.errors import InternalError
from gompute.frontend import typed
from gompute.frontend.dialects.dialect import CONTEXT_ARGUMENT, Dialect
from gompute.frontend.emit import arithmetic, exact
from gompute.frontend.emit.checks import check_binary, check_index
from gompute.frontend.emit.conversion import cast
from gompute.frontend.emit.quiet import is_quiet
from gompute.frontend.emit.variables import Variables
from gompute.frontend.irtext.failing import Failures, call_failing
from gompute.frontend.irtext.text import FunctionText
from gompute.frontend.irtext.values import constant, element_address, load, value_type
from gompute.lang.types import LocalArrayType, ParamsType, PointerType, ScalarType, SharedArrayType, TableType, ViewType

_FREE = 6
"""So many operations of one side of a conditional are computed whether needed or not: a branch costs more, and stops vectorising."""


class ExpressionEmitter(ABC):
    """What a function's statements and expressions share.

    Attributes:
        text: the function's text so far.
        failures: the ways out of the function that failed checks take.
        variables: the value of every scalar variable.
        places: the address of every local and shared array, the operand of every pointer and params parameter.
        extents: the length of each dimension of every view.
    """

    def __init__(self, text: FunctionText, dialect: Dialect, function: typed.Function) -> None:
        self.text = text
        self.dialect = dialect
        self.function = function
        self.failures = Failures(dialect.private_pointer, dialect if dialect.leaves_together else None)
        self.variables = Variables(text)
        self.places: dict[typed.Slot, str] = {}
        self.extents: dict[typed.Slot, tuple[str, ...]] = {}
        self._expressions: dict[type, Callable[..., str]] = {
            typed.Constant: self._constant,
            typed.ReadLocal: self._read_local,
            typed.ReadParam: self._read_param,
            typed.Unary: self._unary,
            typed.Binary: self._binary,
            typed.Compare: self._compare,
            typed.Logical: self._logical,
            typed.Conditional: self._conditional,
            typed.Select: self._select,
            typed.Cast: self._cast,
            typed.Intrinsic: self._intrinsic,
            typed.Approximate: self._approximate,
            typed.Index: self._index,
            typed.Extent: self._extent,
            typed.Load: self._load,
            typed.Bounded: self._bounded,
            typed.Atomic: self._atomic,
            typed.Warp: self._warp,
            typed.Call: self._call_value,
            typed.Sequence: self._sequence,
        }

    def expression(self, node: typed.Expression) -> str:
        """The operand that holds the value of `node`."""
        return self._expressions[type(node)](node)

    # ---- memory ----

    def array(self, base: typed.Slot | TableType) -> tuple[ScalarType, str, str]:
        """Element type, pointer type and address of what can be indexed."""
        if isinstance(base, TableType):
            return base.element, self.dialect.table_pointer, f"@{self.text.module.table(base)}"
        if isinstance(base.type, (PointerType, ViewType, SharedArrayType, LocalArrayType)):
            return base.type.element, self.pointer_to(base), self._place(base)
        raise InternalError(f"{base.name!r} of type {base.type} cannot be indexed")

    def pointer_to(self, slot: typed.Slot) -> str:
        """The type of the address behind a pointer, a view or an array."""
        if isinstance(slot.type, SharedArrayType):
            return self.dialect.shared_pointer
        return self.dialect.private_pointer if isinstance(slot.type, LocalArrayType) else self.dialect.global_pointer

    def _place(self, slot: typed.Slot) -> str:
        place = self.places.get(slot)
        if place is None:
            raise InternalError(f"the function {self.function.symbol!r} has nothing in memory called {slot.name!r}")
        return place

    # ---- leaves ----

    def _constant(self, node: typed.Constant) -> str:
        return constant(node.type, node.value)

    def _read_local(self, node: typed.ReadLocal) -> str:
        return self.variables[node.slot]

    def _read_param(self, node: typed.ReadParam) -> str:
        text, pointer = self.text, self.dialect.params_pointer
        address = self._place(node.slot)
        if node.offset:
            address = text.value(f"getelementptr inbounds i8, {pointer} {address}, i64 {node.offset}")
        if node.at is not None:
            address = element_address(text, node.type, pointer, address, self.expression(node.at))
        return load(text, node.type, pointer, address, self.dialect.params_metadata)

    def _index(self, node: typed.Index) -> str:
        if self.function.uses.isdisjoint(("index", "warp")):
            raise InternalError(f"the function {self.function.symbol!r} reads {node.name} but is not marked so")
        return self.dialect.index(self.text, node.name, node.dim)

    def _load(self, node: typed.Load) -> str:
        element, pointer, base = self.array(node.base)
        address = element_address(self.text, element, pointer, base, self.expression(node.at))
        if isinstance(node.base, typed.Slot) and not isinstance(node.base.type, LocalArrayType):
            self.failures.seal()  # only of tables and local arrays is every index checked, and a wrong one made a right one
        return load(self.text, element, pointer, address)

    def _bounded(self, node: typed.Bounded) -> str:
        index, bound = self.expression(node.at), self.expression(node.bound)
        return check_index(self, node, index, bound)

    def _extent(self, node: typed.Extent) -> str:
        return self.extents[node.slot][node.axis]

    def _atomic(self, node: typed.Atomic) -> str:
        element, pointer, base = self.array(node.base)
        at = self.expression(node.at)
        operands = tuple(self.expression(operand) for operand in node.operands)
        address = element_address(self.text, element, pointer, base, at)
        self.failures.seal()
        return self.dialect.atomic(self.text, node.op, element, pointer, address, operands, node.scope)

    def _warp(self, node: typed.Warp) -> str:
        operands = tuple(self.expression(operand) for operand in node.operands)
        mask = None if node.mask is None else self.expression(node.mask)
        self.failures.seal()
        return self.dialect.warp(self.text, node.name, _type_of(node.operands[0]), operands, mask)

    # ---- operations ----

    def _unary(self, node: typed.Unary) -> str:
        return arithmetic.unary(self.text, node.type, node.op, self.expression(node.operand))

    def _binary(self, node: typed.Binary) -> str:
        left, right = self.expression(node.left), self.expression(node.right)
        constant_right = node.right.value if isinstance(node.right, typed.Constant) else None
        if node.site is not None:
            check_binary(self, node, node.site, left, right)
        return arithmetic.binary(self.text, node.type, node.op, left, right, constant_right)

    def _compare(self, node: typed.Compare) -> str:
        left, right = self.expression(node.left), self.expression(node.right)
        return arithmetic.compare(self.text, _type_of(node.left), node.op, left, right)

    def _cast(self, node: typed.Cast) -> str:
        return cast(self.text, _type_of(node.operand), node.type, self.expression(node.operand))

    def _intrinsic(self, node: typed.Intrinsic) -> str:
        text, operands = self.text, [self.expression(operand) for operand in node.operands]
        if node.name in ("min", "max"):
            return arithmetic.extreme(text, node.type, node.name, *operands)
        if node.name == "abs":
            return arithmetic.absolute(text, node.type, *operands)
        if node.name == "round":
            return arithmetic.round_half_even(text, node.type, *operands)
        if node.name == "bitcast":
            return arithmetic.bitcast(text, _type_of(node.operands[0]), node.type, *operands)
        return exact.evaluate(text, node.type, node.name, *operands)

    def _approximate(self, node: typed.Approximate) -> str:
        return self.dialect.approximate(self.text, node.name, self.expression(node.operand))

    def _sequence(self, node: typed.Sequence) -> str:
        self.variables[node.slot] = self.expression(node.value)
        return self.expression(node.result)

    # ---- choices ----

    def _logical(self, node: typed.Logical) -> str:
        left = self.expression(node.left)
        if _cost(node.right) <= _FREE:
            return self.text.value(f"{node.op} i1 {left}, {self.expression(node.right)}")
        text, before = self.text, self.text.block
        right, end = text.new_block(node.op), text.new_block("end")
        text.branch_if(left, *((right, end) if node.op == "and" else (end, right)))
        text.start(right)
        value, last = self._only_there(node.right), text.block
        text.start(end)
        return text.phi("i1", [("false" if node.op == "and" else "true", before), (value, last)])

    def _conditional(self, node: typed.Conditional) -> str:
        if _cost(node.then) <= _FREE and _cost(node.otherwise) <= _FREE:
            return self._select(node)
        text = self.text
        condition = self.expression(node.condition)
        blocks = text.new_block("then"), text.new_block("else")
        end = text.new_block("end")
        text.branch_if(condition, *blocks)
        incoming = []
        for block, side in zip(blocks, (node.then, node.otherwise), strict=True):
            text.start(block)
            value = self._only_there(side)
            incoming.append((value, text.block))
            text.branch(end)
        text.start(end)
        return text.phi(value_type(node.type), incoming)

    def _only_there(self, node: typed.Expression) -> str:
        """The operand of an expression that only some paths evaluate."""
        self.variables.open()
        value = self.expression(node)
        self.variables.close()
        return value

    def _select(self, node: typed.Select | typed.Conditional) -> str:
        register, condition = value_type(node.type), self.expression(node.condition)
        then, otherwise = self.expression(node.then), self.expression(node.otherwise)
        return self.text.value(f"select i1 {condition}, {register} {then}, {register} {otherwise}")

    # ---- calls ----

    def call(self, node: typed.Call) -> str | None:
        """Call a device function; gives the result's operand, None for a function without a result."""
        function, arguments = node.function, []
        if not function.uses <= self.function.uses:
            raise InternalError(f"{self.function.symbol!r} calls {function.symbol!r} and is not marked as using what that uses")
        if "barrier" in function.uses and self.dialect.suspension is not None:
            return self._call_in_place(node)
        if function.needs_context and self.dialect.passes_context:
            arguments.append(CONTEXT_ARGUMENT)
        for argument, parameter in zip(node.arguments, function.parameters, strict=True):
            if not isinstance(argument, typed.Slot):
                arguments.append(f"{value_type(_type_of(argument))} {self.expression(argument)}")
            elif isinstance(argument.type, (PointerType, ViewType, SharedArrayType, LocalArrayType)):
                arguments.append(f"{self.pointer_to(argument)} {self._place(argument)}")
                if isinstance(parameter.type, ViewType):
                    arguments += [f"i64 {extent}" for extent in self.extents[argument]]
            elif isinstance(argument.type, ParamsType):
                arguments.append(f"{self.dialect.params_pointer} {self._place(argument)}")
            else:
                raise InternalError(f"{argument.name!r} of type {argument.type} is passed to {function.symbol!r}")
        if "check" in function.uses:
            value, passed = call_failing(self.text, function.result, function.symbol, arguments, self.dialect.private_pointer)
            self.failures.leave_with_note(self.text, passed)
            return value or None
        if self.failures.may_join and not is_quiet(function):
            self.failures.seal()
        if function.result is None:
            self.text.effect(f"call void @{function.symbol}({', '.join(arguments)})")
            return None
        return self.text.value(f"call {value_type(function.result)} @{function.symbol}({', '.join(arguments)})")

    @abstractmethod
    def _call_in_place(self, node: typed.Call) -> str | None:
        """Emit the body of the function here instead of a call: only the coroutine itself can be suspended."""

    def _call_value(self, node: typed.Call) -> str:
        value = self.call(node)
        if value is None:
            raise InternalError(f"the function {node.function.symbol!r} gives nothing but is used as a value")
        return value


def _type_of(node: typed.Expression) -> ScalarType:
    if node.type is None:
        raise InternalError("a call without a result is used as a value")
    return node.type


_CHEAP_BINARY = frozenset({"add", "sub", "mul", "and", "or", "xor", "shl", "shr"})
_DEAR = _FREE + 1


def _cost(node: typed.Expression, budget: int = _FREE) -> int:
    """How many operations `node` takes; more than `_FREE` for what must not be done unasked, or is not worth it. Gives up past `budget`."""
    if isinstance(node, (typed.Constant, typed.ReadLocal, typed.Extent)):
        return 0
    if isinstance(node, typed.ReadParam):
        return 1 if node.at is None else _DEAR
    if isinstance(node, (typed.Unary, typed.Cast, typed.Approximate)):
        operands: tuple[typed.Expression, ...] = (node.operand,)
    elif isinstance(node, typed.Compare) or (isinstance(node, typed.Binary) and node.op in _CHEAP_BINARY and node.site is None):
        operands = (node.left, node.right)
    elif isinstance(node, typed.Select):
        operands = (node.condition, node.then, node.otherwise)
    elif isinstance(node, typed.Intrinsic) and node.name != "fmod":
        operands = node.operands
    else:
        return _DEAR
    cost = 1
    for operand in operands:
        if cost > budget:
            return _DEAR
        cost += _cost(operand, budget - cost)
    return cost
