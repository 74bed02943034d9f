"""How a kernel tells the host of a check that failed.

Its last argument is a pointer to a record of `gompute.artifacts.checks` in global memory. The first work-item whose check fails takes the
record and fills it; what others find is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gompute.artifacts.checks import COMPLETE, FIELDS, FREE, TAKEN
from gompute.frontend import typed
from gompute.frontend.dialects.dialect import CONTEXT_ARGUMENT, Dialect
from gompute.frontend.irtext.failing import LIKELY, call_failing, make_note, read_note
from gompute.frontend.irtext.text import FunctionText, ModuleText
from gompute.frontend.irtext.values import value_type
from gompute.lang.types import U32, ParamsType, ScalarType

__all__ = ["NOWHERE", "REPORT", "call_or_report", "emit_report", "reporting"]

REPORT = "%gompute.report"
"""The value that holds the last argument: no name of an author's has a dot."""
NOWHERE = ("-1", "-1", "-1")
"""The place of a work-item that is not known."""


class _Atomics(Protocol):
    @property
    def global_pointer(self) -> str: ...


def emit_report(text: FunctionText, dialect: Dialect, place: Sequence[str]) -> None:
    """Copy the note to the record, unless that is taken. `place` is the work-item's global id, as three i64."""
    pointer = dialect.global_pointer
    reported = text.new_block("reported")
    failure = read_note(text, dialect.private_pointer)
    if dialect.leaves_together:
        own = text.new_block("own")
        text.branch_if(text.value(f"icmp ne i32 {failure.check}, 0"), own, reported)
        text.start(own)
    before = dialect.atomic(text, "cas", U32, pointer, REPORT, (str(FREE), str(TAKEN)), "device")
    first = text.new_block("first")
    text.branch_if(text.value(f"icmp eq i32 {before}, {FREE}"), first, reported)
    text.start(first)
    for (offset, register), operand in zip(FIELDS, (*failure, *place), strict=True):
        address = text.value(f"getelementptr inbounds i8, {pointer} {REPORT}, i64 {offset}")
        text.effect(f"store {register} {operand}, {pointer} {address}, align {int(register[1:]) // 8}")
    dialect.atomic(text, "exchange", U32, pointer, REPORT, (str(COMPLETE),), "device")
    text.start(reported)


def call_or_report(
    text: FunctionText, dialect: Dialect, function: typed.Function, arguments: list[str], place: Sequence[str], stop: str
) -> str:
    """Call a function, and where a check failed in it, report that and go to the block `stop`; gives the function's result. There must be
    a note."""
    if "check" not in function.uses:
        if function.result is None:
            text.effect(f"call void @{function.symbol}({', '.join(arguments)})")
            return ""
        return text.value(f"call {value_type(function.result)} @{function.symbol}({', '.join(arguments)})")
    value, right = call_failing(text, function.result, function.symbol, arguments, dialect.private_pointer)
    passed, failed = text.new_block("passed"), text.new_block("failed")
    text.branch_if(right, passed, failed, LIKELY)
    text.start(failed)
    emit_report(text, dialect, place)
    text.branch(stop)
    text.start(passed)
    return value


def reporting(module: ModuleText, dialect: Dialect, function: typed.Function) -> tuple[str, list[str]]:
    """A function that does the same and reports by itself, for callers that go on all the same: its symbol and its first arguments."""
    if "check" not in function.uses:
        return function.symbol, []

    def make(module: ModuleText, symbol: str) -> str:
        text = FunctionText(module, dialect.alloca_suffix)
        text.belong_to(function.symbol, function.location)
        parameters = [_parameter(dialect, slot, f"%a{position}") for position, slot in enumerate(function.parameters)]
        make_note(text, dialect.private_pointer, clear=dialect.leaves_together)
        given = [*_context(dialect, function), *parameters]
        value, right = call_failing(text, function.result, function.symbol, given, dialect.private_pointer)
        failed, passed = text.new_block("failed"), text.new_block("passed")
        text.branch_if(right, passed, failed, LIKELY)
        text.start(failed)
        emit_report(text, dialect, NOWHERE)
        text.start(passed)
        assert function.result is not None, "a reduction's functions have results"
        text.ret(f"{value_type(function.result)} {value}")
        inside = ", ".join([f"{dialect.global_pointer} {REPORT}", *parameters])
        header = f"define internal {value_type(function.result)} @{symbol}({inside}) #0"
        return text.definition(f"{header} convergent" if dialect.leaves_together else header)

    return module.support(f"{function.symbol}_reporting", make), [f"{dialect.global_pointer} {REPORT}"]


def _context(dialect: Dialect, function: typed.Function) -> list[str]:
    return [CONTEXT_ARGUMENT] if dialect.passes_context and function.needs_context else []


def _parameter(dialect: Dialect, slot: typed.Slot, name: str) -> str:
    if isinstance(slot.type, ParamsType):
        return f"{dialect.params_pointer} {name}"
    assert isinstance(slot.type, ScalarType), "an operation's function takes elements and params"
    return f"{value_type(slot.type)} {name}"
