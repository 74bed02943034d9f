"""Runs a typed function on the host, so that a decorated function stays callable with numbers and gives what a device gives.

Every number comes from `gompute.lang.numeric`. A call on the host is a checked run: an assertion that fails and an index outside a local
array or table raise here. Work-item coordinates and memory behind pointers have no meaning on the host, so a tree with them is not for
this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gompute.errors import InternalError, InvalidArgument
from gompute.frontend import typed
from gompute.frontend.typed import Expression, Function, Location, Slot, Statement
from gompute.lang import numeric
from gompute.lang.numeric import Number
from gompute.lang.types import LocalArrayType, ParamsType, PointerType, ScalarType, TableType

__all__ = ["run"]


def run(function: Function, arguments: Sequence[Number | bytes]) -> Number | None:
    """Call `function` with numbers, and with packed bytes where a parameter is a params struct.

    Args:
        function: a checked function without pointers and coordinates.
        arguments: one for each parameter, in order; a number is converted to the parameter's type as a cast converts.

    Returns:
        A value of the function's result type, or None where it has none.

    Raises:
        AssertionError: an ``assert`` of the kernel does not hold; the message begins with its place.
        InvalidArgument: a wrong number of arguments, params bytes of a wrong length, or an index outside a local array, a table or an
            array of a params struct.
        InternalError: the tree holds something that has no meaning on the host, or contradicts itself.
    """
    if len(arguments) != len(function.parameters):
        raise InvalidArgument(f"{function.symbol} takes {len(function.parameters)} arguments, not {len(arguments)}")
    frame = _Frame(function)
    for slot, argument in zip(function.parameters, arguments, strict=True):
        if isinstance(slot.type, ParamsType):
            if not isinstance(argument, bytes):
                raise InvalidArgument(f"argument {slot.name!r} of {function.symbol} is a {slot.type}, packed in bytes, not {argument!r}")
            if len(argument) != slot.type.size:
                raise InvalidArgument(
                    f"argument {slot.name!r} of {function.symbol}: a {slot.type} has {slot.type.size} bytes, not {len(argument)}"
                )
            frame.params[slot] = argument
        elif isinstance(slot.type, ScalarType):
            if isinstance(argument, bytes):
                raise InvalidArgument(f"argument {slot.name!r} of {function.symbol} is a {slot.type}, not bytes")
            frame.scalars[slot] = numeric.convert(argument, slot.type)
        else:
            raise InternalError(f"parameter {slot.name!r} of {function.symbol} is a {slot.type}, which has no value on the host")
    return _execute(function, frame)


class _Frame:
    """The variables of one running call."""

    __slots__ = ("arrays", "function", "params", "scalars")

    def __init__(self, function: Function) -> None:
        self.function = function
        self.scalars: dict[Slot, Number] = {}
        self.arrays: dict[Slot, list[Number]] = {}
        self.params: dict[Slot, bytes] = {}
        for slot in function.locals:
            if isinstance(slot.type, LocalArrayType):
                self.arrays[slot] = []
            elif not isinstance(slot.type, ScalarType):
                raise InternalError(f"local variable {slot.name!r} of {function.symbol} is a {slot.type}")


# ---- statements ----


class _Block:
    """Statements being run, one after the other. `next_round` is None but for the body of a loop: there it prepares the next iteration and
    says whether there is one."""

    __slots__ = ("body", "next_round", "rest")

    def __init__(self, body: tuple[Statement, ...], next_round: Callable[[], bool] | None = None) -> None:
        self.body = body
        self.next_round = next_round
        self.rest: Iterator[Statement] = iter(body)


def _execute(function: Function, frame: _Frame) -> Number | None:
    """Run the body. Nested blocks are kept in a list, so that a long ``elif`` chain does not nest Python calls."""
    blocks = [_Block(function.body)]
    while blocks:
        block = blocks[-1]
        statement = next(block.rest, None)
        match statement:
            case None:
                if block.next_round is not None and block.next_round():
                    block.rest = iter(block.body)
                else:
                    blocks.pop()
            case typed.Assign(slot=slot, value=value):
                frame.scalars[slot] = _value(value, frame)
            case typed.Store():
                _store(statement, frame)
            case typed.If(condition=condition, then=then, otherwise=otherwise):
                blocks.append(_Block(then if _value(condition, frame) else otherwise))
            case typed.While() | typed.ForRange():
                next_round = _rounds_of(statement, frame)
                if next_round():
                    blocks.append(_Block(statement.body, next_round))
            case typed.Break():
                while blocks.pop().next_round is None:
                    pass
            case typed.Continue():
                while blocks[-1].next_round is None:
                    blocks.pop()
                blocks[-1].rest = iter(())
            case typed.Return(value=result):
                return None if result is None else _value(result, frame)
            case typed.Assert(condition=condition, message=message, location=location):
                if not _value(condition, frame):
                    raise AssertionError(f"{_place(location)}: {message or 'assertion failed'}")
            case typed.Evaluate(call=typed.Call() as call):
                _call(call, frame)
            case typed.Clear(slot=slot) if isinstance(slot.type, LocalArrayType):
                frame.arrays[slot] = [numeric.convert(0, slot.type.element)] * slot.type.length
            case _:
                raise InternalError(f"a statement that the host cannot run, in {function.symbol}: {statement}")
    if function.result is not None:
        raise InternalError(f"{function.symbol} ended without the {function.result} that it returns")
    return None


def _rounds_of(loop: typed.While | typed.ForRange, frame: _Frame) -> Callable[[], bool]:
    """What begins each iteration of `loop`."""
    if isinstance(loop, typed.While):
        condition = loop.condition
        return lambda: bool(_value(condition, frame))
    start, stop, step = (int(_value(bound, frame)) for bound in (loop.start, loop.stop, loop.step))
    counter = iter(range(start, stop, step) if step else ())  # Python's integers do not wrap past `stop`
    slot = loop.slot

    def advance() -> bool:
        for number in counter:
            frame.scalars[slot] = number
            return True
        return False  # the slot keeps its last value

    return advance


def _store(statement: typed.Store, frame: _Frame) -> None:
    index = int(_value(statement.at, frame))
    value = _value(statement.value, frame)
    array = _array(statement.base, statement, frame)
    _check_index(index, len(array), f"local array {statement.base.name!r}", frame)
    array[index] = value


# ---- expressions ----


def _value(node: Expression, frame: _Frame) -> Number:
    """The value of an expression, of the node's type."""
    try:
        evaluate = _EVALUATE[type(node)]
    except KeyError:
        raise InternalError(f"an expression that the host cannot evaluate, in {frame.function.symbol}: {node}") from None
    return evaluate(node, frame)


def _constant(node: typed.Constant, frame: _Frame) -> Number:
    return node.value


def _read_local(node: typed.ReadLocal, frame: _Frame) -> Number:
    try:
        return frame.scalars[node.slot]
    except KeyError:
        raise InternalError(f"{node.slot.name!r} is no variable of {frame.function.symbol}") from None


def _read_param(node: typed.ReadParam, frame: _Frame) -> Number:
    offset = node.offset
    if node.at is not None:
        index = int(_value(node.at, frame))
        _check_index(index, node.length or 0, f"the array in {node.slot.name!r} at byte {node.offset}", frame)
        offset += index * node.type.size
    try:
        packed = frame.params[node.slot]
    except KeyError:
        raise InternalError(f"{node.slot.name!r} is no params argument of {frame.function.symbol}") from None
    return numeric.from_bits(int.from_bytes(packed[offset : offset + node.type.size], "little"), node.type)


def _unary(node: typed.Unary, frame: _Frame) -> Number:
    return numeric.unary(node.op, _value(node.operand, frame), node.type)


def _binary(node: typed.Binary, frame: _Frame) -> Number:
    # Down the left side in a loop: a sum of many terms must not nest as many Python calls.
    spine = [node]
    while isinstance(spine[-1].left, typed.Binary):
        spine.append(spine[-1].left)
    value = _value(spine[-1].left, frame)
    for term in reversed(spine):
        value = numeric.binary(term.op, value, _value(term.right, frame), term.type)
    return value


def _compare(node: typed.Compare, frame: _Frame) -> Number:
    left = _value(node.left, frame)
    return numeric.compare(node.op, left, _value(node.right, frame))


def _logical(node: typed.Logical, frame: _Frame) -> Number:
    spine = [node]
    while isinstance(spine[-1].left, typed.Logical):
        spine.append(spine[-1].left)
    value = _value(spine[-1].left, frame)
    for term in reversed(spine):
        if bool(value) == (term.op == "and"):  # else the left side has decided
            value = _value(term.right, frame)
    return value


def _conditional(node: typed.Conditional, frame: _Frame) -> Number:
    chosen: Expression = node
    while isinstance(chosen, typed.Conditional):
        chosen = chosen.then if _value(chosen.condition, frame) else chosen.otherwise
    return _value(chosen, frame)


def _select(node: typed.Select, frame: _Frame) -> Number:
    condition, then, otherwise = (_value(operand, frame) for operand in (node.condition, node.then, node.otherwise))
    return then if condition else otherwise


def _cast(node: typed.Cast, frame: _Frame) -> Number:
    return numeric.convert(_value(node.operand, frame), node.type)


def _intrinsic(node: typed.Intrinsic, frame: _Frame) -> Number:
    operands = [_value(operand, frame) for operand in node.operands]
    operand_type = node.operands[0].type
    if operand_type is None:
        raise InternalError(f"an operand of {node.name} without a value, in {frame.function.symbol}")
    return numeric.intrinsic(node.name, operands, node.type, operand_type)


def _load(node: typed.Load, frame: _Frame) -> Number:
    index = int(_value(node.at, frame))
    if isinstance(node.base, TableType):
        _check_index(index, len(node.base.values), f"a constant table of {node.base.element}", frame)
        return node.base.values[index]
    array = _array(node.base, node, frame)
    _check_index(index, len(array), f"local array {node.base.name!r}", frame)
    return array[index]


def _sequence(node: typed.Sequence, frame: _Frame) -> Number:
    frame.scalars[node.slot] = _value(node.value, frame)
    return _value(node.result, frame)


def _call_value(node: typed.Call, frame: _Frame) -> Number:
    result = _call(node, frame)
    if result is None:
        raise InternalError(f"{node.function.symbol} returns nothing, but {frame.function.symbol} uses its value")
    return result


def _call(node: typed.Call, frame: _Frame) -> Number | None:
    inner = _Frame(node.function)
    for slot, argument in zip(node.function.parameters, node.arguments, strict=True):
        if not isinstance(argument, Slot):
            inner.scalars[slot] = _value(argument, frame)
        elif argument in frame.params:
            inner.params[slot] = frame.params[argument]
        elif argument in frame.arrays:
            inner.arrays[slot] = frame.arrays[argument]
        else:
            raise InternalError(
                f"{frame.function.symbol} passes {argument.name!r} to {node.function.symbol}: a {argument.type} has no value on the host"
            )
    return _execute(node.function, inner)


_EVALUATE: dict[type, Callable[[Any, _Frame], Number]] = {
    typed.Constant: _constant,
    typed.ReadLocal: _read_local,
    typed.ReadParam: _read_param,
    typed.Unary: _unary,
    typed.Binary: _binary,
    typed.Compare: _compare,
    typed.Logical: _logical,
    typed.Conditional: _conditional,
    typed.Select: _select,
    typed.Cast: _cast,
    typed.Intrinsic: _intrinsic,
    typed.Load: _load,
    typed.Sequence: _sequence,
    typed.Call: _call_value,
}

# ---- places ----


def _array(base: Slot, node: typed.Load | typed.Store, frame: _Frame) -> list[Number]:
    try:
        return frame.arrays[base]
    except KeyError:
        kind = "memory behind a pointer" if isinstance(base.type, PointerType) else "no local array"
        raise InternalError(f"{base.name!r} in {frame.function.symbol} is {kind}, which the host cannot reach: {node}") from None


def _check_index(index: int, length: int, what: str, frame: _Frame) -> None:
    if not 0 <= index < length:
        where = f"{frame.function.symbol}, {_place(frame.function.location)}"
        raise InvalidArgument(f"index {index} is outside {what}, which has {length} elements (in {where})")


def _place(location: Location) -> str:
    return f"{location.path}:{location.line}:{location.column}"
