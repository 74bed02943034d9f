"""From PTX text to a module."""

from __future__ import annotations

import re
import struct
from dataclasses import replace

from tests.ptx.faults import PtxError, Unknown
from tests.ptx.syntax import (
    Address,
    Function,
    Immediate,
    Instruction,
    Module,
    Not,
    Operand,
    Pair,
    Register,
    Sink,
    Special,
    Symbol,
    Variable,
    Vector,
    kind_named,
)

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
      | (?P<float>0[fF][0-9a-fA-F]{8}(?![0-9a-fA-F])|0[dD][0-9a-fA-F]{16})
      | (?P<number>0[xX][0-9a-fA-F]+U?|\d+U?)
      | (?P<word>[.%$_A-Za-z][\w$%.]*(?:::[\w$.]+)*)
      | (?P<text>"[^"]*")
      | (?P<mark>[{}()\[\];:,<>@!|+=-])""",
    re.VERBOSE,
)
_LINKAGE = {".visible", ".extern", ".weak"}
_SPACES = {".global", ".const", ".shared", ".local", ".param"}
_LIMITS = {".reqntid", ".maxntid"}


class _Tokens:
    """The text as words, each with its line."""

    def __init__(self, text: str) -> None:
        self.words: list[tuple[str, str, int]] = []
        line, at = 1, 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise Unknown(f"line {line}: {text[at : at + 40]!r} is no PTX that is known here")
            if found.lastgroup != "space":
                self.words.append((str(found.lastgroup), found.group(), line))
            line += found.group().count("\n")
            at = found.end()
        self.at = 0

    @property
    def done(self) -> bool:
        return self.at == len(self.words)

    @property
    def line(self) -> int:
        return self.words[min(self.at, len(self.words) - 1)][2]

    def peek(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.words[place][1] if place < len(self.words) else ""

    def group(self) -> str:
        return self.words[self.at][0] if not self.done else ""

    def take(self) -> str:
        word = self.peek()
        if not word:
            raise PtxError("the text ends too soon")
        self.at += 1
        return word

    def need(self, wanted: str) -> None:
        line, found = self.line, self.take()
        if found != wanted:
            raise Unknown(f"line {line}: {wanted!r} is expected, not {found!r}")

    def given(self, wanted: str) -> bool:
        if self.peek() == wanted:
            self.at += 1
            return True
        return False

    def integer(self) -> int:
        sign = -1 if self.given("-") else 1
        return sign * int(self.take().rstrip("U"), 0)


def parse(text: str) -> Module:
    """The module of a PTX text."""
    tokens = _Tokens(text)
    tokens.need(".version")
    major, minor = tokens.take(), "0"
    if tokens.peek().startswith("."):
        minor = tokens.take()[1:]
    tokens.need(".target")
    target = tokens.take()
    tokens.need(".address_size")
    if tokens.take() != "64":
        raise Unknown("addresses have 64 bits here")
    module = Module((int(major), int(minor)), target, {}, {})
    while not tokens.done:
        _top(tokens, module)
    return module


def _top(tokens: _Tokens, module: Module) -> None:
    line = tokens.line
    linkage = tokens.take() if tokens.peek() in _LINKAGE else ""
    word = tokens.peek()
    if word in _SPACES:
        variable = _variable(tokens)
        tokens.need(";")
        if linkage == ".extern" and not (variable.space == "shared" and variable.size == 0):
            raise Unknown(f"line {line}: the variable {variable.name} is defined elsewhere")
        module.variables[variable.name] = variable
    elif word in (".entry", ".func"):
        function = _function(tokens)
        known = module.functions.get(function.name)
        if known is not None and known.instructions and function.instructions:
            raise PtxError(f"line {line}: {function.name} is defined twice")
        if known is None or function.instructions:
            module.functions[function.name] = function
    elif word == ".file":  # names what line tables refer to
        for _ in range(3):
            tokens.take()
    else:
        raise Unknown(f"line {line}: the directive {word!r} is not known")


# ---- variables ----


def _variable(tokens: _Tokens) -> Variable:
    """``.global .align 4 .b8 name[8] = {...}``, without what ends it; a parameter may say what it points to."""
    space, align, size = tokens.take()[1:], 0, 0
    if space not in {name[1:] for name in _SPACES}:
        raise Unknown(f"line {tokens.line}: the state space .{space} is not known")
    while tokens.peek().startswith("."):
        word = tokens.take()
        if word == ".align":
            align = max(align, tokens.integer()) if not size else align  # after .ptr it is that of the memory pointed to
        elif word in (".ptr", ".global"):
            if space != "param" or not size:
                raise Unknown(f"line {tokens.line}: {word} is not known here")
            if word == ".ptr" and tokens.peek() == ".global":
                tokens.take()
            if tokens.given(".align"):
                tokens.integer()
        else:
            if size:
                raise Unknown(f"line {tokens.line}: {word} is not known here")
            size = kind_named(word[1:]).size
    name = tokens.take()
    element, count = size, 1
    while tokens.given("["):
        count *= 0 if tokens.peek() == "]" else tokens.integer()
        tokens.need("]")
    data = _initialiser(tokens, element, element * count) if tokens.given("=") else None
    return Variable(name, space, align or element, element * count, data)


def _initialiser(tokens: _Tokens, element: int, size: int) -> bytes:
    values: list[str] = []
    if tokens.given("{"):
        while not tokens.given("}"):
            values.append(_value(tokens))
            tokens.given(",")
    else:
        values.append(_value(tokens))
    made = b"".join(_encoded(value, element) for value in values)
    if len(made) > size:
        raise PtxError(f"line {tokens.line}: an initialiser of {len(made)} bytes for {size}")
    return made.ljust(size, b"\0")


def _value(tokens: _Tokens) -> str:
    if tokens.group() not in ("number", "float") and tokens.peek() != "-":
        raise Unknown(f"line {tokens.line}: {tokens.peek()!r} as an initial value is not known here")
    return "-" + tokens.take() if tokens.given("-") else tokens.take()


def _encoded(value: str, element: int) -> bytes:
    if value[:2].lower() in ("0f", "0d"):
        if len(value) != 2 + 2 * element:
            raise PtxError(f"{value} does not have {element} bytes")
        return int(value[2:], 16).to_bytes(element, "little")
    number = int(value.rstrip("U"), 0)
    return (number & ((1 << 8 * element) - 1)).to_bytes(element, "little")


# ---- functions ----


def _function(tokens: _Tokens) -> Function:
    entry = tokens.take() == ".entry"
    results = _parameters(tokens) if tokens.peek() == "(" else ()
    name = tokens.take()
    parameters = _parameters(tokens) if tokens.peek() == "(" else ()
    function = Function(name, entry, results, parameters)
    while tokens.peek().startswith("."):
        word = tokens.take()
        if word in _LIMITS:
            numbers = [tokens.integer()]
            while tokens.given(","):
                numbers.append(tokens.integer())
            x, y, z = (*numbers, 1, 1)[:3]
            function.limits[word[1:]] = (x, y, z)
        elif word in (".minnctapersm", ".maxnreg", ".maxclusterrank"):
            tokens.integer()
        elif word != ".noreturn":
            raise Unknown(f"line {tokens.line}: the directive {word} is not known")
    if not tokens.given(";"):
        tokens.need("{")
        _Body(tokens, function).block({})
    return function


def _parameters(tokens: _Tokens) -> tuple[Variable, ...]:
    tokens.need("(")
    found = []
    while not tokens.given(")"):
        found.append(_variable(tokens))
        tokens.given(",")
    return tuple(found)


class _Body:
    """The statements of a function. A block of its own has names of its own: LLVM wraps each call in one."""

    def __init__(self, tokens: _Tokens, function: Function) -> None:
        self.tokens = tokens
        self.function = function
        self.scopes = 0

    def block(self, renamed: dict[str, str]) -> None:
        """Up to its closing brace."""
        renamed = dict(renamed)
        while not self.tokens.given("}"):
            if self.tokens.given("{"):
                self.scopes += 1
                self.block(renamed)
            else:
                self._statement(renamed)

    def _statement(self, renamed: dict[str, str]) -> None:
        tokens, function = self.tokens, self.function
        word = tokens.peek()
        if tokens.peek(1) == ":":
            tokens.take()
            tokens.take()
            if tokens.given(".branchtargets"):
                function.tables[word] = self._names()
            else:
                function.labels[word] = len(function.instructions)
        elif word == ".reg":
            self._registers(renamed)
        elif word in (".local", ".param", ".shared"):
            variable = _variable(tokens)
            tokens.need(";")
            unique = variable.name if variable.name not in function.variables else f"{variable.name}#{self.scopes}"
            renamed[variable.name] = unique
            function.variables[unique] = replace(variable, name=unique)
        elif word == ".pragma":
            tokens.take()
            text = tokens.take()
            if text != '"nounroll"':  # says how to compile, not what
                raise Unknown(f"line {tokens.line}: the pragma {text} is not known")
            tokens.need(";")
        elif word == ".loc":  # a line table's file, line and column
            for _ in range(4):
                tokens.take()
        elif word.startswith("."):
            raise Unknown(f"line {tokens.line}: the directive {word} is not known")
        else:
            function.instructions.append(self._instruction(renamed))

    def _names(self) -> tuple[str, ...]:
        names = [self.tokens.take()]
        while self.tokens.given(","):
            names.append(self.tokens.take())
        self.tokens.need(";")
        return tuple(names)

    def _registers(self, renamed: dict[str, str]) -> None:
        """``.reg .b32 %r<6>;``: %r0 to %r5; or single names."""
        tokens = self.tokens
        tokens.take()
        kind = kind_named(tokens.take()[1:])
        if kind.lanes != 1 or kind.bits == 8:
            raise Unknown(f"line {tokens.line}: registers of type .{kind.name} are not known here")
        while True:
            name = tokens.take()
            names = [name]
            if tokens.given("<"):
                names = [f"{name}{i}" for i in range(tokens.integer())]
                tokens.need(">")
            for each in names:
                unique = each if each not in self.function.registers else f"{each}#{self.scopes}"
                if unique != each:
                    renamed[each] = unique
                self.function.registers[unique] = kind.width
            if not tokens.given(","):
                break
        tokens.need(";")

    def _instruction(self, renamed: dict[str, str]) -> Instruction:
        tokens, line, guard = self.tokens, self.tokens.line, None
        if tokens.given("@"):
            wanted = not tokens.given("!")
            name = tokens.take()
            guard = (renamed.get(name, name), wanted)
        opcode = tuple(tokens.take().split("."))
        operands = []
        while not tokens.given(";"):
            operands.append(self._operand(renamed))
            if not tokens.given(","):
                tokens.need(";")
                break
        return Instruction(opcode, tuple(operands), guard, line)

    def _operand(self, renamed: dict[str, str]) -> Operand:
        first = self._single(renamed)
        return Pair(first, self._single(renamed)) if self.tokens.given("|") else first

    def _single(self, renamed: dict[str, str]) -> Operand:
        tokens = self.tokens
        if tokens.given("!"):
            return Not(self._single(renamed))
        if tokens.given("["):
            return self._address(renamed)
        if tokens.peek() in ("{", "("):
            closing = {"{": "}", "(": ")"}[tokens.take()]
            elements = []
            while not tokens.given(closing):
                elements.append(self._operand(renamed))
                tokens.given(",")
            return Vector(tuple(elements))
        if tokens.group() == "float":
            word = tokens.take()
            return Immediate(int(word[2:], 16), 32 if word[1] in "fF" else 64)
        if tokens.group() == "number" or tokens.peek() == "-":
            return Immediate(tokens.integer())
        line, name = tokens.line, tokens.take()
        if name == "_":
            return Sink()
        name = renamed.get(name, name)
        if name in self.function.registers:
            return Register(name)
        if name.startswith("%"):
            return Special(name)
        if not re.match(r"[A-Za-z_$]", name):
            raise Unknown(f"line {line}: the operand {name!r} is not known")
        return Symbol(name, self._offset())

    def _offset(self) -> int:
        if self.tokens.given("+"):
            return self.tokens.integer()
        return self.tokens.integer() if self.tokens.peek() == "-" else 0

    def _address(self, renamed: dict[str, str]) -> Address:
        base = self._single(renamed)
        if isinstance(base, Symbol):
            made = Address(Symbol(base.name), base.offset)
        elif isinstance(base, (Register, Immediate)):
            made = Address(base, self._offset())
        else:
            raise Unknown(f"line {self.tokens.line}: {base} is no address")
        self.tokens.need("]")
        return made


def float_immediate(value: Immediate) -> float:
    """The number that a float immediate stands for."""
    code = "<f" if value.float_bits == 32 else "<d"
    number: float = struct.unpack(code, value.bits.to_bytes(value.float_bits // 8, "little"))[0]
    return number
