"""Faults that few make: of syntax that is seldom written, of Python objects that a kernel meets, and of functions of other libraries."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from gompute.frontend.check import expressions
from tests.frontend.authoring import faults, only_fault

MODULE = """
import math
from typing import NamedTuple

import numpy as np

TEXT = b"abc"
WRITABLE = np.arange(3, dtype=np.float32)
SQUARE = np.eye(3, dtype=np.float32)
SQUARE.setflags(write=False)

class Pair(NamedTuple):
    a: float
    b: int

PAIR = Pair(1.0, 2)

@g.params
class Inner:
    w: f32

@g.params
class Params:
    v: f32
    inner: Inner

def weight(p: Inner) -> f32:
    return p.w

def half(x: f32) -> f32:
    return x * 0.5

@g.kernel
def k(d: ptr[f32], b: ptr[bool], n: u64, k: i32, x: f32, p: Params):
"""

# A statement of that kernel, and what is said of it.
STATEMENTS: list[tuple[str, str, str]] = [
    ("a, *b = x, x, x", "'*' unpacking is not supported in a kernel", "give each value a name"),
    ("a, (c, e) = x, x", "this cannot be assigned to", "assign to a name or to an element: data[i] = x"),
    ("a, c = e = x, x", "a tuple and another target in one assignment are not supported", "write two assignments"),
    ("y: f32 = 1\ny: i32 = 2", "'y' already has another type", "use another name"),
    ("d[0]: f32 = x", "an annotation belongs to a name", "write the assignment without it"),
    ("half(**x)", "'**' unpacking is not supported in a kernel", "write each argument"),
    ("y = {i for i in range(3)}", "a set comprehension is not supported in a kernel", "write a for loop over range"),
    ("y = {i: 1 for i in range(3)}", "a dict comprehension is not supported in a kernel", "write a for loop over range"),
    ("y = abs(i for i in range(3))", "a generator expression is not supported in a kernel", "write a for loop over range"),
    ("y = range(3)", "'range' is only for the head of a for loop", "write for i in range(n):"),
    ("y = g.max(x, x)", "'max' is gompute's here, not Python's", "write 'import gompute as g', and g.max for the declaration of a kernel"),
    ("y = g.zeros(k)", "'zeros' of gompute is no function for a kernel", "call it on the host, and pass what it gives"),
    ("y = hex(k)", "'hex' cannot be called in a kernel", "call a Python function with annotated arguments"),
    (
        "y = weight(p.inner)",
        "argument 'p' of 'weight': a nested params struct cannot be passed on",
        "pass the whole struct, or the fields that are needed",
    ),
    ("y = ord(TEXT)", "'TEXT' is bytes, which a kernel cannot read", "write TEXT = g.table(u8, b'...')"),
    ("y = x + (1 << 4000)", "the integer of 4001 bits does not fit 64 bits", "write a smaller number, or a float"),
    ("y = (10 ** 4000) * (10 ** 4000) + x", "the integer of 26576 bits does not fit 64 bits", "write a smaller number, or a float"),
    ("y = 2 ** 99999 // 4", "this power of a literal has more than 65536 bits", "write a float, or a smaller number"),
    ("y = (10 ** 4000) ** 4000", "this power of a literal has more than 65536 bits", "write a float, or a smaller number"),
    ("y = ord('ab')", "'ord' takes text of one character, and this is a str", 'write ord("a")'),
    (
        "y = WRITABLE[0]",
        "the array 'WRITABLE' is writable: a compiled kernel would not see it change",
        "write WRITABLE.setflags(write=False)",
    ),
    ("y = SQUARE[0]", "the array 'SQUARE' (2-D, float32) is no constant table", "use one dimension of a scalar type, with an element"),
    ("y = PAIR.c", "'.c' of a Pair is not supported in a kernel", "only modules, enums, params and g.target have attributes"),
    ("b[0] = 1", "the element is bool, and this is the number 1", "write True or False"),
    ("y = 0\ny += k\nb[0] = y", "the element is bool, and this is i32: the conversion could lose digits", "compare it with 0"),
    ("y = 2\nb[0] = y", "the element is bool, and this is a Python int", "compare it with 0"),
    ("y = math.isnan(x)", "math.isnan cannot be compiled for a device", "write x != x"),
    ("y = np.sqrt(x)", "numpy.sqrt cannot be compiled for a device", "write g.math.sqrt"),
    ("y = np.maximum(x, 1)", "numpy.maximum cannot be compiled for a device", "write max(x, y)"),
    ("y = np.float32(x)", "numpy.float32 is not supported in a kernel", "write f32(...)"),
    ("y = float('inf')", "'float' of text is not supported in a kernel", "write the number, math.inf or math.nan"),
    ("y = -(k > 0)", "`-` does not work on bool", "write `not` for the opposite or write i32(...) around the operand to count"),
]


@pytest.mark.parametrize(("statement", "what", "fix"), STATEMENTS, ids=[statement for statement, _, _ in STATEMENTS])
def test_statement(tmp_path: Path, statement: str, what: str, fix: str) -> None:
    assert only_fault(tmp_path, MODULE + textwrap.indent(statement, "    ") + "\n") == (what, fix)


# A whole module and what is said of it.
DECLARATIONS: list[tuple[str, str, str]] = [
    (
        "def two(x: f32) -> tuple[f32, f32]:\n    return x, x\n@g.map\ndef f(x: f32) -> f32:\n    a, b = two(x)\n    return a",
        "the result type is tuple[f32, f32], which is no scalar type",
        "return one number, such as f32, and write others to an array that is passed",
    ),
    (
        "@g.map\ndef f(x: f32) -> 'missing':\n    return x",
        "the result type of 'f' cannot be resolved: name 'missing' is not defined",
        "import the name, or correct it",
    ),
    (
        "@g.map\ndef f(x: f32 | None) -> f32:\n    return x",
        "the type of 'x' is typing.Optional[f32], which is no kernel type",
        "write a scalar type such as f32, ptr[f32], or a @g.params class",
    ),
    (
        "@g.params\nclass P:\n    w: f32 | None\n@g.map\ndef f(x: f32, p: P) -> f32:\n    return x",
        "P.w: an optional value (typing.Optional[f32]) cannot cross by value",
        "add a bool field that says whether it is set",
    ),
    (
        "@g.params\nclass P:\n    pass\n@g.map\ndef f(x: f32, p: P) -> f32:\n    return x",
        "P: a params struct needs a field",
        "write a line like 'scale: f32'",
    ),
    (
        (
            "def made():\n    @g.map\n    def f(x: f32) -> f32:\n        nonlocal late\n        late = 1\n        return x\n"
            "    late = 0\n    return f\nf = made()"
        ),
        "'nonlocal' is not supported in a kernel: a compiled kernel cannot change outer variables",
        "write results to an array",
    ),
    (
        (
            "def made():\n    @g.map\n    def f(x: f32) -> f32:\n        return x * late\n    if f is None:\n        late = 1\n"
            "    return f\nf = made()"
        ),
        "'late' has no value yet in the enclosing function",
        "assign it before the kernel is made",
    ),
    (
        "@g.map(fast=1)\ndef f(x: f32) -> f32:\n    return x",
        "fast=1 is neither True nor False",
        "write fast=True for the hardware's approximations",
    ),
    (
        'pick = g.scatter_add("pick", bool, u32)',
        "a scatter_add adds numbers, and these are bool",
        'write g.scatter_add("pick", u8, u32)',
    ),
]


@pytest.mark.parametrize(("body", "what", "fix"), DECLARATIONS, ids=[what for _, what, _ in DECLARATIONS])
def test_declaration(tmp_path: Path, body: str, what: str, fix: str) -> None:
    assert only_fault(tmp_path, body) == (what, fix)


# Statements of a function that Python compiles to something else than a function; what is said of the function, and of each of them.
INSIDE: list[tuple[str, str, str, str]] = [
    ("def", "y = yield x", "'yield' is not supported in a kernel", "write results to an array"),
    ("def", "y = yield from d", "'yield from' is not supported in a kernel", "write results to an array"),
    ("async def", "y = await x", "'await' is not supported in a kernel", "a kernel runs to its end without waiting"),
    ("async def", "async with x:\n    pass", "'async with' is not supported in a kernel", "a kernel runs to its end without waiting"),
    ("async def", "async for i in d:\n    pass", "'async for' is not supported in a kernel", "write for i in range(n):"),
]


@pytest.mark.parametrize(("head", "statement", "what", "fix"), INSIDE, ids=[statement for _, statement, _, _ in INSIDE])
def test_a_statement_of_a_generator_or_an_async_function(tmp_path: Path, head: str, statement: str, what: str, fix: str) -> None:
    kind = "a generator" if head == "def" else "an async function"
    body = f"@g.kernel\n{head} f(d: ptr[f32], x: f32):\n{textwrap.indent(statement, '    ')}\n"
    assert only_fault(tmp_path, body) == (f"'f' is {kind}, which cannot be compiled", "write a plain function")


TABLES: list[tuple[str, str, str]] = [
    ("g.table(i32, [1, 2.5])", "table(i32, ...): value 1: 2.5 is a float, and i32 is not a float type", "write i32(2.5) to convert it"),
    ("g.table(f32, [10**400])", "table(f32, ...): value 0: the integer of 1329 bits is too large for f32", "write it as a float"),
    ("g.table(bool, [True, 2])", "table(bool, ...): value 1: 2 is not a bool", "write True or False or compare it with 0"),
    ("g.table(u8, b'a' * 3 + [1])", "importing this module fails: TypeError: can't concat list to bytes", ""),
]


@pytest.mark.parametrize(("made", "what", "fix"), TABLES, ids=[made for made, _, _ in TABLES])
def test_a_table_that_is_none(tmp_path: Path, made: str, what: str, fix: str) -> None:
    text = faults(tmp_path, f"TABLE = {made}\n@g.map\ndef f(x: f32) -> f32:\n    return x\n")
    assert text.splitlines()[0].partition(": ")[2] == (f"{what}; {fix}" if fix else what)


@pytest.mark.parametrize("written", ["ptr[P]", "array[P, 1]", "fixed[P, 2]", "vec[P, 2]"])
def test_an_array_of_structs_is_refused_by_the_name_of_its_class(tmp_path: Path, written: str) -> None:
    body = f"from gompute import array, vec\n@g.params\nclass P:\n    a: f32\n@g.params\nclass Q:\n    b: {written}\n"
    text = faults(tmp_path, body)
    assert f": {written} is no " in text.splitlines()[0]


@pytest.mark.parametrize("depth", [6000, 200_000])
def test_what_pythons_parser_does_not_take_is_told_in_words(tmp_path: Path, depth: int) -> None:
    text = faults(tmp_path, f"@g.map\ndef f(x: f32) -> f32:\n    return {'-' * depth}x\n")
    assert text == "root.py: an expression is nested too deeply for Python's parser; split it"


def test_what_the_compiler_cannot_walk_is_told_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deep(*arguments: object) -> None:
        raise RecursionError

    monkeypatch.setitem(expressions._HANDLERS, ast.UnaryOp, deep)  # type: ignore[arg-type]
    body = "@g.map\ndef f(x: f32) -> f32:\n    y = -x\n    return x\n"
    assert only_fault(tmp_path, body) == ("this is nested too deeply", "split it into several statements")
