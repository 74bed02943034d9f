"""The second root of the suite, made by a rule: every operator, conversion and comparison of every type, over the edges of its values.

Raw kernels, one work-item a pair of values. What they must give comes from `tests.language`, the language's meaning in NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.conformance.cases import Case
from tests.language import numbers, samples
from tests.language.numbers import FLOATS, INTEGERS, TYPES

Array = np.ndarray[Any, Any]

NUMBERS = (*INTEGERS, *FLOATS)
ARITHMETIC = {kind: ("+", "-", "*", "//", "%", *("/" if kind in FLOATS else ("&", "|", "^", "<<", ">>"))) for kind in NUMBERS}
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
LOGIC = ("x & y", "x | y", "x ^ y", "~x", "not x", "x and y", "x or y", "min(x, y)", "max(x, y)", *(f"x {word} y" for word in COMPARISONS))
#: Of `g.math`, those that are one operation of the language.
FUNCTIONS = (*(f"{name}(x)" for name in ("sqrt", "floor", "ceil", "trunc", "round")), "copysign(x, y)", "fmod(x, y)", "fma(x, y, x)")
_HEAD = """\
import gompute as g
from gompute import bf16, f16, f32, f64, i8, i16, i32, i64, ptr, u8, u16, u32, u64
"""


#: A function called for its effect, and a branch that does nothing.
_EFFECTS = """

def put(out: ptr[i32], at: u64, x: i32) -> None:
    out[at] = x


@g.kernel
def effects(data: ptr[i32], out: ptr[i32], n: u64):
    i = g.global_id(0)
    if i < n:
        if data[i] == 0:
            pass
        else:
            put(out, i, data[i] * 2)
"""


def _unary(kind: str) -> tuple[str, ...]:
    return ("-x", "+x", "abs(x)", "round(x)", *(() if kind in FLOATS else ("~x",)))


def _expressions(kind: str) -> list[str]:
    return [*(f"x {word} y" for word in ARITHMETIC[kind]), *_unary(kind), "min(x, y)", "max(x, y)"]


def _same_width(kind: str) -> list[str]:
    return [other for other in NUMBERS if other != kind and numbers.bits_of(other) == numbers.bits_of(kind)]


def _partners(kind: str) -> list[str]:
    """The types that meet this one in a third without losing digits."""
    return [other for other in NUMBERS if other != kind and numbers.promoted(kind, other) is not None]


def _kernel(name: str, arguments: list[str], lines: list[str]) -> str:
    body = "\n".join(f"        {line}" for line in lines)
    return f"\n\n@g.kernel\ndef {name}({', '.join([*arguments, 'n: u64'])}):\n    i = g.global_id(0)\n    if i < n:\n{body}\n"


def source() -> str:
    """The root's text."""
    parts = [_HEAD]
    for kind in NUMBERS:
        made = _expressions(kind)
        lines = ["x, y = a[i], b[i]", *(f"out[i * {len(made)} + {at}] = {text}" for at, text in enumerate(made))]
        lines += [f"truth[i * 6 + {at}] = u8(x {word} y)" for at, word in enumerate(COMPARISONS)]
        lines += ["quotient[i] = f64(x / y)"]
        pointers = [f"a: ptr[{kind}]", f"b: ptr[{kind}]", f"out: ptr[{kind}]", "truth: ptr[u8]", "quotient: ptr[f64]"]
        parts.append(_kernel(f"arithmetic_{kind}", pointers, lines))
        others = [other for other in NUMBERS if other != kind]
        lines = ["x = a[i]", "truth[i] = u8(bool(x))", *(f"to_{other}[i] = {other}(x)" for other in others)]
        lines += [f"bits_{other}[i] = g.bitcast(x if x == x else {kind}(1), {other})" for other in _same_width(kind)]
        pointers = [f"a: ptr[{kind}]", "truth: ptr[u8]", *(f"to_{other}: ptr[{other}]" for other in others)]
        parts.append(_kernel(f"convert_{kind}", pointers + [f"bits_{other}: ptr[{other}]" for other in _same_width(kind)], lines))
        partners = _partners(kind)
        lines = ["x = a[i]", *(f"sum_{other}[i] = x + b_{other}[i]" for other in partners)]
        pointers = [f"a: ptr[{kind}]", *(f"b_{other}: ptr[{other}]" for other in partners)]
        parts.append(
            _kernel(f"mixed_{kind}", pointers + [f"sum_{other}: ptr[{numbers.promoted(kind, other)}]" for other in partners], lines)
        )
        lines = ["x = a[i]", *(f"less_{other}[i] = u8(x < b_{other}[i]) + u8(x == b_{other}[i]) * 2" for other in others)]
        pointers = [f"a: ptr[{kind}]", *(f"b_{other}: ptr[{other}]" for other in others), *(f"less_{other}: ptr[u8]" for other in others)]
        parts.append(_kernel(f"compare_{kind}", pointers, lines))
    for kind in FLOATS:
        lines = ["x, y = a[i], b[i]", *(f"out[i * {len(FUNCTIONS)} + {at}] = g.math.{text}" for at, text in enumerate(FUNCTIONS))]
        parts.append(_kernel(f"functions_{kind}", [f"a: ptr[{kind}]", f"b: ptr[{kind}]", f"out: ptr[{kind}]"], lines))
    lines = ["x, y = a[i] != 0, b[i] != 0", *(f"out[i * {len(LOGIC)} + {at}] = u8({text})" for at, text in enumerate(LOGIC))]
    parts.append(_EFFECTS)
    parts.append(_kernel("arithmetic_bool", ["a: ptr[u8]", "b: ptr[u8]", "out: ptr[u8]"], lines))
    lines = [
        "x = a[i] != 0",
        *(f"to_{other}[i] = {other}(x)" for other in NUMBERS),
        *(f"sum_{other}[i] = x + b_{other}[i]" for other in NUMBERS),
    ]
    pointers = ["a: ptr[u8]", *(f"to_{other}: ptr[{other}]" for other in NUMBERS), *(f"b_{other}: ptr[{other}]" for other in NUMBERS)]
    parts.append(_kernel("mixed_bool", pointers + [f"sum_{other}: ptr[{other}]" for other in NUMBERS], lines))
    return "".join(parts)


# ---- what they give ----


@dataclass(frozen=True)
class MatrixCase(Case):
    """A case of this root.

    Attributes:
        bfloat: the positions of `expected` that hold the bits of bfloat16.
    """

    bfloat: frozenset[int] = frozenset()


class _Table:
    """The arguments of one launch, and what they hold afterwards."""

    def __init__(self, kernel: str, count: int) -> None:
        self.kernel = kernel
        self.count = count
        self.arguments: list[Any] = []
        self.expected: dict[int, Array] = {}
        self.bfloat: set[int] = set()

    def give(self, values: Array, kind: str) -> None:
        self.arguments.append(samples.memory(values, kind))

    def expect(self, values: Array, kind: str) -> None:
        position, held = len(self.arguments), samples.memory(np.ascontiguousarray(values), kind)
        self.arguments.append(np.zeros_like(held))
        self.expected[position] = held
        if kind == "bf16":
            self.bfloat.add(position)

    def case(self) -> MatrixCase:
        block = 100
        grid = (-(-self.count // block), 1, 1)
        arguments = (*self.arguments, self.count)
        return MatrixCase(self.kernel, arguments, self.expected, grid=grid, block=(block, 1, 1), bfloat=frozenset(self.bfloat))


def _value(text: str, x: Array, y: Array, kind: str) -> Array:
    """An expression of `_expressions` or `LOGIC`."""
    functions = {
        "-x": lambda: -x,
        "+x": lambda: x,
        "~x": lambda: ~x,
        "not x": lambda: ~x,
        "x and y": lambda: x & y,
        "x or y": lambda: x | y,
        "abs(x)": lambda: x if kind in numbers.UNSIGNED else np.abs(x),
        "round(x)": lambda: np.rint(x) if kind in FLOATS else x,
        "min(x, y)": lambda: numbers.extreme("min", x, y),
        "max(x, y)": lambda: numbers.extreme("max", x, y),
    }
    if text in functions:
        return functions[text]()
    _, word, _ = text.split()
    return numbers.compare(word, x, y) if word in COMPARISONS else numbers.binary(word, x, y, kind)


def _arithmetic(kind: str) -> MatrixCase:
    x, y = samples.pairs(kind, kind)
    table = _Table(f"arithmetic_{kind}", x.size)
    table.give(x, kind)
    table.give(y, kind)
    table.expect(np.stack([_value(text, x, y, kind) for text in _expressions(kind)], 1).ravel(), kind)
    table.expect(np.stack([numbers.compare(word, x, y) for word in COMPARISONS], 1).ravel().astype(np.uint8), "u8")
    wide = kind if kind in FLOATS else "f64"
    quotient = numbers.binary("/", *(numbers.cast(value, kind, wide) for value in (x, y)), wide)
    table.expect(numbers.cast(quotient, wide, "f64"), "f64")
    return table.case()


def _functions(kind: str) -> MatrixCase:
    x, y = samples.pairs(kind, kind)
    plain = [np.sqrt(x), np.floor(x), np.ceil(x), np.trunc(x), np.rint(x), np.copysign(x, y), np.fmod(x, y)]
    table = _Table(f"functions_{kind}", x.size)
    table.give(x, kind)
    table.give(y, kind)
    values = [numbers.rounded(value.astype(np.float64), kind) for value in plain]
    table.expect(np.stack([*values, numbers.fused(x, y, x, kind)], 1).ravel(), kind)
    return table.case()


def _convert(kind: str) -> MatrixCase:
    x = samples.edges(kind)
    table = _Table(f"convert_{kind}", x.size)
    table.give(x, kind)
    table.expect((x != 0).astype(np.uint8), "u8")
    for other in NUMBERS:
        if other != kind:
            table.expect(numbers.cast(x, kind, other), other)
    for other in _same_width(kind):
        seen = np.where(np.isnan(x), x.dtype.type(1), x) if kind in FLOATS else x
        table.expect(numbers.bitcast(seen, kind, other), other)
    return table.case()


def _spread(kind: str, count: int) -> Array:
    """Edges, repeated to a length."""
    values = samples.edges(kind)
    return values[np.arange(count) % values.size]


def _mixed(kind: str) -> MatrixCase:
    partners = _partners(kind)
    count = samples.edges(kind).size * 23  # no multiple of another type's number of edges: most pairs meet
    x = np.repeat(samples.edges(kind), 23)
    table = _Table(f"mixed_{kind}", count)
    table.give(x, kind)
    for other in partners:
        table.give(_spread(other, count), other)
    for other in partners:
        common = numbers.promoted(kind, other)
        assert common is not None
        a, b = numbers.cast(x, kind, common), numbers.cast(_spread(other, count), other, common)
        table.expect(numbers.binary("+", a, b, common), common)
    return table.case()


def _compare(kind: str) -> MatrixCase:
    others = [other for other in NUMBERS if other != kind]
    x = np.repeat(samples.edges(kind), 23)
    table = _Table(f"compare_{kind}", x.size)
    table.give(x, kind)
    for other in others:
        table.give(_spread(other, x.size), other)
    for other in others:
        y, common = _spread(other, x.size), numbers.promoted(kind, other)
        if common is None:
            less, equal = numbers.compare_mixed("<", x, y), numbers.compare_mixed("==", x, y)
        else:
            a, b = numbers.cast(x, kind, common), numbers.cast(y, other, common)
            less, equal = numbers.compare("<", a, b), numbers.compare("==", a, b)
        table.expect(less.astype(np.uint8) + equal.astype(np.uint8) * np.uint8(2), "u8")
    return table.case()


def _effects() -> MatrixCase:
    x = np.arange(-50, 50, dtype=np.int32) % 3
    table = _Table("effects", x.size)
    table.give(x, "i32")
    table.expect(x * 2, "i32")
    return table.case()


def _logic() -> list[MatrixCase]:
    x, y = samples.pairs("bool", "bool")
    table = _Table("arithmetic_bool", x.size)
    table.give(x.astype(np.uint8), "u8")
    table.give(y.astype(np.uint8), "u8")
    table.expect(np.stack([_value(text, x, y, "bool") for text in LOGIC], 1).ravel().astype(np.uint8), "u8")
    x = np.arange(60) % 2 == 1
    mixed = _Table("mixed_bool", x.size)
    mixed.give(x.astype(np.uint8), "u8")
    for other in NUMBERS:
        mixed.expect(numbers.cast(x, "bool", other), other)
    for other in NUMBERS:
        mixed.give(np.repeat(_spread(other, 30), 2), other)
    for other in NUMBERS:
        mixed.expect(numbers.binary("+", numbers.cast(x, "bool", other), np.repeat(_spread(other, 30), 2), other), other)
    return [table.case(), mixed.case()]


def cases() -> list[MatrixCase]:
    """One launch of each kernel."""
    assert set(NUMBERS) | {"bool"} == set(TYPES)
    with np.errstate(all="ignore"):
        return [
            *(make(kind) for kind in NUMBERS for make in (_arithmetic, _convert, _mixed, _compare)),
            *map(_functions, FLOATS),
            *_logic(),
            _effects(),
        ]
