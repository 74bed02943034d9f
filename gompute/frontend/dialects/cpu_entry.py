"""Entry points on a CPU: ``void NAME(void **args, struct launch *launch, uint64_t begin, uint64_t end)``.

``args[i]`` is the address of the bytes of argument i; a pointer argument's bytes are the pointer. An operation's kernel handles elements
begin to min(end, len), a raw one the blocks of those numbers, counted x fastest.

Each kernel is two functions: the entry point reads the arguments and calls the loops, whose parameters carry what LLVM should know of the
memory behind them. Metadata on loads would not do: it is lost where LLVM moves a load out of an inlined function.
"""

from __future__ import annotations

from typing import NamedTuple

from gompute.frontend.dialects.dialect import FUNCTION_ATTRIBUTES
from gompute.frontend.dialects.reports import REPORT
from gompute.frontend.irtext.text import FunctionText
from gompute.lang.types import ParamsType

__all__ = ["INVARIANT", "Given", "add_loop", "argument", "end_entry", "params_parameter", "report"]

INVARIANT = ", !invariant.load !{}"


class Given(NamedTuple):
    """A parameter of the function of loops: its type and attributes, its name, and the entry point's operand for it."""

    declared: str
    name: str
    operand: str


def end_entry(text: FunctionText, name: str, loop: str, given: list[Given], count: str) -> None:
    """Close an entry point with the call of its loops, up to the smaller of %end and `count`, and add it to the module."""
    stop = text.intrinsic("llvm.umin.i64", "i64", ("i64", "%end"), ("i64", count))
    operands = "".join(f", {declared.split()[0]} {operand}" for declared, _, operand in given)
    text.effect(f"call void @{loop}(i64 %begin, i64 {stop}{operands})")
    text.ret("void")
    header = f"define void @{name}(ptr %args, ptr %launch, i64 %begin, i64 %end) {FUNCTION_ATTRIBUTES}"
    text.module.add_function(text.definition(header))


def add_loop(text: FunctionText, loop: str, given: list[Given]) -> None:
    """Add the function of loops."""
    parameters = "".join(f", {declared} {name}" for declared, name, _ in given)
    text.module.add_function(text.definition(f"define internal void @{loop}(i64 %begin, i64 %stop{parameters}) #0"))


def argument(text: FunctionText, position: int, params: ParamsType | None = None) -> str:
    """The address of an argument's bytes; that of a params struct is known to be readable, so that loads may leave a loop."""
    place = text.value(f"getelementptr inbounds ptr, ptr %args, i64 {position}")
    known = "" if params is None else f", !dereferenceable !{{i64 {params.size}}}, !align !{{i64 {params.align}}}"
    return text.value(f"load ptr, ptr {place}, align 8{INVARIANT}{known}")


def report(text: FunctionText, position: int) -> Given:
    """The record for the first check that fails, which the last argument points to."""
    return Given("ptr", REPORT, text.value(f"load ptr, ptr {argument(text, position)}, align 8{INVARIANT}"))


def params_parameter(params: ParamsType) -> str:
    """The type and attributes of a params struct."""
    return f"ptr noalias readonly dereferenceable({params.size}) align {params.align}"
