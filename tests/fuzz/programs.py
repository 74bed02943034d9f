"""Random statements, functions, kernels, and modules of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tests.fuzz.expressions import Callee, Expressions, Scope
from tests.fuzz.together import Meeting, kernel, meeting
from tests.language.numbers import FLOATS, INTEGERS, TYPES

HEAD = """\
import gompute as g
from gompute import array, bf16, f16, f32, f64, fixed, i8, i16, i32, i64, ptr, u8, u16, u32, u64

SEVEN = u16(7)
THIRD = f32(1 / 3)
BELOW = i8(-128)
SQUARES = g.table(u32, [0, 1, 4, 9, 16])
WAVE = g.table(f16, [0.5, -0.25, 65504.0])
DEEP = g.table(i64, [-9223372036854775808, -1, 9223372036854775807, 3, 12345])


@g.params
class Params:
    flag: bool
    small: i8
    scale: f32
    half: f16
    brain: bf16
    wide: f64
    count: u64
    taps: fixed[i16, 3]
"""
#: What every kernel may read: constants, tables, fields.
CONSTANTS = {"SEVEN": "u16", "THIRD": "f32", "BELOW": "i8"}
TABLES = {"SQUARES": ("u32", 5), "WAVE": ("f16", 3), "DEEP": ("i64", 5)}
FIELDS = {"flag": "bool", "small": "i8", "scale": "f32", "half": "f16", "brain": "bf16", "wide": "f64", "count": "u64"}
TAPS = ("i16", 3)


@dataclass(frozen=True)
class Program:
    """One kernel.

    Attributes:
        name: the kernel's.
        functions: the text of its device functions, its own function last.
        operation: ``map``, ``map_to``, ``zip``, ``map_indexed``, ``kernel`` or, of one whose work-items meet, ``together``.
        inputs: the types of the elements that its function takes.
        params: it takes params.
        meeting: how its work-items meet, where they do.
    """

    name: str
    functions: tuple[str, ...]
    operation: str
    inputs: tuple[str, ...]
    result: str
    params: bool
    meeting: Meeting | None = None

    @property
    def text(self) -> str:
        return "\n\n\n".join(self.functions)


class _Writer:
    """Writes one function body, line by line."""

    def __init__(self, random: Random, scope: Scope, result: str, size: int) -> None:
        self.random = random
        self.result = result
        self.left = size
        self.lines: list[str] = []
        self.made = 0
        self.scope = scope

    def expression(self, kind: str, depth: int | None = None) -> str:
        return Expressions(self.random, self.scope).of(kind, self.random.randint(1, 3) if depth is None else depth)

    def name(self) -> str:
        self.made += 1
        return f"v{self.made}"

    def body(self) -> list[str]:
        for _ in range(self.random.choice([0, 0, 1, 2])):
            name, kind, length = self.name(), self.random.choice(TYPES), self.random.randint(1, 6)
            self._line(1, f"{name} = g.local({kind}, {length})")
            self.scope.arrays[name] = (kind, length)
        self.block(1, in_loop=False)
        self._line(1, f"return {self.expression(self.result, self.random.randint(2, 4))}")
        return self.lines

    def _line(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def block(self, indent: int, in_loop: bool) -> None:
        count = self.random.randint(1, 4)
        for _ in range(count):
            if self.left <= 0:
                break
            self.left -= 1
            self.statement(indent, in_loop)
        if not self.lines or not self.lines[-1].startswith("    " * indent):
            self._line(indent, "pass")

    def statement(self, indent: int, in_loop: bool) -> None:
        options = [self._assign] * 4 + [self._augmented] * 2 + [self._swap, self._array_store]
        if indent < 4:
            options += [self._if] * 2 + [self._for, self._while]
        if in_loop:
            options.append(self._leave)
        if indent > 1:
            options.append(self._return)
        self.random.choice(options)(indent)

    # ---- statements ----

    def _strong(self) -> list[str]:
        return [name for name in self.scope.variables if name.startswith("v")]

    def _assign(self, indent: int) -> None:
        random, known = self.random, self._strong()
        if known and random.random() < 0.4:
            name = random.choice(known)
            self._line(indent, f"{name} = {self.expression(self.scope.variables[name])}")
            return
        name, kind = self.name(), random.choice(TYPES)
        way = random.random()
        if way < 0.12 and indent == 1:
            self._line(indent, f"{name} = {random.randint(-5, 9)}")
            self.scope.weak[name] = "i64"
            return
        if way < 0.25:
            self._line(indent, f"{name}: {kind} = {self.expression(kind)}")
        else:
            self._line(indent, f"{name} = {self.expression(kind)}")
        self.scope.variables[name] = kind

    def _augmented(self, indent: int) -> None:
        known = [name for name in self._strong() if self.scope.variables[name] != "bool"]
        if not known:
            self._assign(indent)
            return
        name = self.random.choice(known)
        kind = self.scope.variables[name]
        word = self.random.choice(
            ["+", "-", "*", "/", "//", "%"] if kind in FLOATS else ["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"]
        )
        self._line(indent, f"{name} {word}= {self.expression(kind)}")

    def _swap(self, indent: int) -> None:
        by_kind: dict[str, list[str]] = {}
        for name in self._strong():
            by_kind.setdefault(self.scope.variables[name], []).append(name)
        pairs = [names for names in by_kind.values() if len(names) > 1]
        if not pairs:
            self._assign(indent)
            return
        a, b = self.random.sample(self.random.choice(pairs), 2)
        self._line(indent, f"{a}, {b} = {b}, {self.expression(self.scope.variables[a], 1)}")

    def _array_store(self, indent: int) -> None:
        arrays = [name for name in self.scope.arrays if name.startswith("v")]
        if not arrays:
            self._assign(indent)
            return
        name = self.random.choice(arrays)
        kind, length = self.scope.arrays[name]
        index = Expressions(self.random, self.scope).index(length, 2)
        word = self.random.choice(["=", "=", "+=", "*="]) if kind != "bool" else "="
        self._line(indent, f"{name}[{index}] {word} {self.expression(kind)}")

    def _nested(self, indent: int, in_loop: bool) -> None:
        """A block whose new names are not seen after it: some path may not have assigned them."""
        outer = self.scope
        self.scope = outer.copy()
        self.block(indent, in_loop)
        self.scope = outer

    def _if(self, indent: int) -> None:
        loop = self._in_loop
        self._line(indent, f"if {self.expression('bool', 2)}:")
        self._nested(indent + 1, loop)
        if self.random.random() < 0.3:
            self._line(indent, f"elif {self.expression('bool', 1)}:")
            self._nested(indent + 1, loop)
        if self.random.random() < 0.5:
            self._line(indent, "else:")
            self._nested(indent + 1, loop)

    _in_loop = False

    def _looped(self, indent: int, first: str | None = None) -> None:
        before, self._in_loop = self._in_loop, True
        if first is not None:
            self._line(indent, first)
        self._nested(indent, in_loop=True)
        self._in_loop = before

    def _for(self, indent: int) -> None:
        random, name = self.random, self.name()
        outer = self.scope
        self.scope = outer.copy()
        way = random.random()
        if way < 0.4:
            self._line(indent, f"for {name} in range({random.randint(0, 5)}):")
            self.scope.weak[name] = "i64"
        elif way < 0.6:
            a, b, c = random.randint(-6, 6), random.randint(-6, 6), random.choice([-3, -1, 2, 3])
            self._line(indent, f"for {name} in range({a}, {b}, {c}):")
            self.scope.weak[name] = "i64"
        else:
            kind = random.choice(INTEGERS)
            self._line(indent, f"for {name} in range({self.expression(kind, 1)} % {random.randint(1, 6)}):")
            self.scope.variables[name] = kind
        self._looped(indent + 1)
        self.scope = outer

    def _while(self, indent: int) -> None:
        name = self.name()
        self._line(indent, f"{name} = {self.random.choice(['i32', 'u8', 'i64'])}({self.random.randint(1, 6)})")
        test = f"{name} > 0" if self.random.random() < 0.5 else f"{name} > 0 and {self.expression('bool', 1)}"
        self._line(indent, f"while {test}:")
        self._looped(indent + 1, f"{name} -= 1")

    def _leave(self, indent: int) -> None:
        self._line(indent, f"if {self.expression('bool', 1)}:")
        self._line(indent + 1, self.random.choice(["break", "continue"]))

    def _return(self, indent: int) -> None:
        self._line(indent, f"if {self.expression('bool', 1)}:")
        self._line(indent + 1, f"return {self.expression(self.result, 1)}")


def program(random: Random, number: int) -> Program:
    """A kernel with up to two functions beside its own."""
    callees: list[Callee] = []
    texts: list[str] = []
    for helper in range(random.choice([0, 0, 1, 1, 2])):
        arguments = tuple(random.choice(TYPES) for _ in range(random.randint(1, 3)))
        made = Callee(f"f{number}_{helper}", arguments, random.choice(TYPES))
        texts.append(_function(random, made, callees, params=False, size=random.randint(0, 4)))
        callees.append(made)
    operation = random.choice(["map", "map_to", "zip", "zip", "map_indexed", "kernel", "kernel", "together", "together"])
    if operation == "together":
        return _together(random, number, texts, callees)
    kinds = TYPES if operation != "kernel" else TYPES[1:]  # a pointer to bool is not one of the language's types
    inputs = tuple(random.choice(kinds) for _ in range(random.randint(2, 3) if operation in ("zip", "kernel") else 1))
    result = inputs[0] if operation in ("map", "map_indexed") else random.choice(kinds)
    params, name = random.random() < 0.4, f"k{number}"
    arguments = (*inputs, "u64") if operation == "map_indexed" else inputs
    body = _function(
        random, Callee(name if operation != "kernel" else f"f{number}_k", arguments, result), callees, params, random.randint(2, 10)
    )
    if operation == "kernel":
        given = ", ".join([*(f"a{i}[i]" for i in range(len(inputs))), *(["p"] if params else [])])
        pointers = ", ".join([*(f"a{i}: ptr[{kind}]" for i, kind in enumerate(inputs)), f"out: ptr[{result}]", "n: u64"])
        body += f"""


@g.kernel(block_size=64)
def {name}({pointers}{", p: Params" if params else ""}):
    i = g.global_id(0)
    if i < n:
        out[i] = f{number}_k({given})"""
    else:
        body = f"@g.{operation}(block_size={random.choice([32, 64, 256])})\n{body}"
    return Program(name, (*texts, body), operation, inputs, result, params)


def _together(random: Random, number: int, texts: list[str], callees: list[Callee]) -> Program:
    """A kernel whose work-items meet between two functions."""
    how, given = meeting(random), random.choice(TYPES[1:])
    result = random.choice(TYPES[1:]) if how.way == "block" else how.held
    texts.append(_function(random, Callee(f"f{number}_pre", (given,), how.held), callees, params=False, size=random.randint(1, 5)))
    if how.way == "block":
        post = Callee(f"f{number}_post", (how.held, how.held, how.counted), result)
        texts.append(_function(random, post, callees, params=False, size=random.randint(1, 5)))
    return Program(f"k{number}", (*texts, kernel(number, how, given, result)), "together", (given,), result, False, how)


def _function(random: Random, header: Callee, callees: Sequence[Callee], params: bool, size: int) -> str:
    names = [f"x{i}" for i in range(len(header.arguments))]
    read, arrays = dict(CONSTANTS), dict(TABLES)
    if params:
        read |= {f"p.{name}": kind for name, kind in FIELDS.items()}
        arrays["p.taps"] = TAPS
    scope = Scope(dict(zip(names, header.arguments, strict=True)), {}, arrays, read, tuple(callees))
    arguments = ", ".join(
        [*(f"{name}: {kind}" for name, kind in zip(names, header.arguments, strict=True)), *(["p: Params"] if params else [])]
    )
    lines = _Writer(random, scope, header.result, size).body()
    return f"def {header.name}({arguments}) -> {header.result}:\n" + "\n".join(lines)


def module(programs: Sequence[Program]) -> str:
    """The source of a root."""
    return HEAD + "".join(f"\n\n{each.text}\n" for each in programs)
