"""A module and a function of LLVM IR under construction."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from gompute.artifacts.checks import Check
from gompute.errors import InternalError
from gompute.frontend.irtext.lines import Lines
from gompute.frontend.irtext.values import constant, memory_type
from gompute.lang.types import ScalarType, TableType

if TYPE_CHECKING:
    from gompute.frontend.vocabulary import Location

_UNSAFE = re.compile(r"[^A-Za-z0-9_]")
_INCOMING = "[ ]"
"""Stands in a phi for what is not known yet."""


def safe_name(name: str) -> str:
    """`name` with all that an assembler or the IR's grammar might refuse replaced by underscores."""
    return _UNSAFE.sub("_", name)


class ModuleText:
    """The parts of one module, each kept in the order of its first use, so that equal input gives equal text.

    Args:
        reserved: symbols that belong to kernels and device functions.
        table_space: how the address space of constant tables is written, with a blank after it; empty for the default one.
        lines: the line tables, where there are any.

    Attributes:
        checks: those that code was emitted for.

    Raises:
        InternalError: a symbol is reserved twice.
    """

    def __init__(self, reserved: Iterable[str], table_space: str, lines: Lines | None = None) -> None:
        self.lines = lines
        self.checks: list[Check] = []
        self._symbols: set[str] = set()
        for symbol in reserved:
            if symbol in self._symbols:
                raise InternalError(f"two kernels or functions of one module have the symbol {symbol!r}")
            self._symbols.add(symbol)
        self._table_space = table_space
        self._declarations: dict[str, str] = {}
        self._tables: dict[str, str] = {}
        self._tables_seen: dict[int, tuple[TableType, str]] = {}
        self._support: dict[str, str] = {}
        self._functions: list[str] = []
        self._variables: list[str] = []

    def check(self, check: Check) -> str:
        """The number of a new check, counted from 1."""
        self.checks.append(check)
        return str(len(self.checks))

    def add_function(self, definition: str) -> None:
        """Append a complete definition."""
        self._functions.append(definition)

    def shared_array(self, wanted: str, element: ScalarType, length: int) -> str:
        """A new array in memory that a GPU's block shares, not initialised; gives its address."""
        symbol = self.unique_symbol(safe_name(wanted))
        body = f"internal addrspace(3) global [{length} x {memory_type(element)}] poison, align {element.size}"
        self._variables.append(f"@{symbol} = {body}")
        return f"@{symbol}"

    def dynamic_shared_array(self) -> str:
        """The start of the memory that a launch adds to what a GPU's block shares."""
        symbol = self.unique_symbol("gompute_dynamic_shared")
        self._variables.append(f"@{symbol} = external addrspace(3) global [0 x i8], align 16")
        return f"@{symbol}"

    def unique_symbol(self, wanted: str) -> str:
        """A symbol that nothing else in the module has: `wanted`, or that with underscores after it."""
        symbol = wanted
        while symbol in self._symbols:
            symbol += "_"
        self._symbols.add(symbol)
        return symbol

    def declare(self, name: str, result: str, parameters: str) -> None:
        """Declare an intrinsic; a repeated declaration is dropped."""
        if name not in self._declarations:
            self._declarations[name] = f"declare {result} @{name}({parameters})"

    def support(self, wanted: str, make: Callable[[ModuleText, str], str]) -> str:
        """The symbol of a function that the emitter itself provides; `make(module, symbol)` gives its definition on first use."""
        symbol = self._support.get(wanted)
        if symbol is None:
            symbol = self._support[wanted] = self.unique_symbol(wanted)
            self._functions.append(make(self, symbol))
        return symbol

    def table(self, table: TableType) -> str:
        """The symbol of a constant table; tables of equal type and bits share one."""
        seen = self._tables_seen.get(id(table))
        if seen is not None:
            return seen[1]
        # Compared as text, since the values 0.0 and -0.0 are equal and NaN is not.
        element = memory_type(table.element)
        values = ", ".join(f"{element} {constant(table.element, value, in_memory=True)}" for value in table.values)
        body = f"constant [{len(table.values)} x {element}] [{values}], align {table.element.size}"
        symbol = self._tables.get(body)
        if symbol is None:
            symbol = self._tables[body] = self.unique_symbol(f"gompute_table_{len(self._tables)}")
        self._tables_seen[id(table)] = (table, symbol)  # holding the table keeps its id its own
        return symbol

    def render(self, header: str, footer: str) -> str:
        """The whole module: `header`, variables, tables, declarations, functions, `footer`."""
        parts = [header]
        if self._variables:
            parts.append("\n".join(self._variables))
        if self._tables:
            parts.append("\n".join(f"@{name} = private unnamed_addr {self._table_space}{body}" for body, name in self._tables.items()))
        if self._declarations:
            parts.append("\n".join(self._declarations.values()))
        return "\n\n".join([*parts, *self._functions, footer]) + "\n"


class FunctionText:
    """The body of one function. Values are numbered in the order of the text, as the IR's grammar wants; blocks and allocas have names.

    Attributes:
        module: where intrinsics and support functions are declared.
        block: the name of the current block.
        open: whether the current block still lacks its last instruction; text appended while it is False would be a syntax error.
        mark: what is attached to every instruction from now on, with a comma before it.
    """

    __slots__ = ("_alloca_suffix", "_allocas", "_home", "_lines", "_next_block", "_next_value", "_scope", "block", "mark", "module", "open")

    def __init__(self, module: ModuleText, alloca_suffix: str = "") -> None:
        self.module = module
        self.block = "entry"
        self.open = True
        self.mark = ""
        self._scope: int | None = None
        self._home = ""
        self._alloca_suffix = alloca_suffix
        self._allocas: list[str] = []
        self._lines: list[str] = []
        self._next_value = 0
        self._next_block = 0

    def belong_to(self, name: str, location: Location) -> None:
        """Where there are line tables, this is the function of that name, and what follows is of the line that it begins in."""
        if self.module.lines is not None:
            self._scope, self._home = self.module.lines.function(name, location), location.path
            self.at(location.path, location.line)

    def at(self, path: str, line: int) -> None:
        """What follows is of that line."""
        lines, scope = self.module.lines, self._scope
        if lines is not None and scope is not None:
            self.mark = lines.at(scope if path == self._home else lines.inside(scope, path), line)

    def value(self, instruction: str) -> str:
        """Append an instruction that has a result; gives the result's name."""
        name = f"%{self._next_value}"
        self._next_value += 1
        self._lines.append(f"  {name} = {instruction}{self.mark}")
        return name

    def effect(self, instruction: str) -> None:
        """Append an instruction without a result."""
        self._lines.append(f"  {instruction}{self.mark}")

    def phi(self, register: str, incoming: Iterable[tuple[str, str]]) -> str:
        """Choose a value by where the block was entered from: pairs of a value and a block. Stands before all else in its block."""
        name, place = self.open_phi(register)
        self.close_phi(place, incoming)
        return name

    def open_phi(self, register: str) -> tuple[str, int]:
        """A phi of which not all is known; gives its name, and its place for `close_phi`, which must follow."""
        return self.value(f"phi {register} {_INCOMING}"), len(self._lines) - 1

    def close_phi(self, place: int, incoming: Iterable[tuple[str, str]]) -> None:
        """Complete a phi."""
        chosen = ", ".join(f"[ {value}, %{block} ]" for value, block in incoming)
        self._lines[place] = self._lines[place].replace(_INCOMING, chosen)

    def alloca(self, register: str, align: int, name: str) -> str:
        """A stack place, made in the entry block wherever the text is now; gives its address."""
        address = f"%{safe_name(name)}.{len(self._allocas)}"
        self._allocas.append(f"  {address} = alloca {register}, align {align}{self._alloca_suffix}")
        return address

    def new_block(self, purpose: str) -> str:
        """A fresh block name, for branches to it; `start` begins the block itself."""
        self._next_block += 1
        return f"{purpose}.b{self._next_block}"  # blocks and values share their names

    def start(self, block: str) -> None:
        """Begin `block`; the text before it must be closed by then, or falls through into it."""
        if self.open:
            self._lines.append(f"  br label %{block}{self.mark}")
        self._lines.append(f"{block}:")
        self.block = block
        self.open = True

    def branch(self, block: str, suffix: str = "") -> None:
        """End the current block with a jump; `suffix` is metadata to attach."""
        self._lines.append(f"  br label %{block}{suffix}{self.mark}")
        self.open = False

    def branch_if(self, condition: str, then: str, otherwise: str, suffix: str = "") -> None:
        """End the current block with a choice by an i1; `suffix` is metadata to attach."""
        self._lines.append(f"  br i1 {condition}, label %{then}, label %{otherwise}{suffix}{self.mark}")
        self.open = False

    def choose(self, condition: str, then: str, otherwise: str, suffix: str = "") -> int:
        """`branch_if`, and begin the block `then`; gives a place for `unchoose`."""
        self.branch_if(condition, then, otherwise, suffix)
        self.start(then)
        return len(self._lines) - 2

    def unchoose(self, place: int, block: str) -> None:
        """Take a `choose` back, as long as the block that it began is the current one: the text goes on in `block`, which it ended."""
        del self._lines[place : place + 2]
        self.block = block

    def ret(self, value: str) -> None:
        """End the current block with a return of `value` (type and operand, or ``void``)."""
        self._lines.append(f"  ret {value}{self.mark}")
        self.open = False

    def intrinsic(self, name: str, result: str, *arguments: tuple[str, str]) -> str:
        """Call an intrinsic with (type, operand) pairs."""
        self.module.declare(name, result, ", ".join(register for register, _ in arguments))
        return self.value(f"call {result} @{name}({', '.join(f'{register} {operand}' for register, operand in arguments)})")

    def call(self, name: str, *arguments: tuple[str, str]) -> None:
        """Call an intrinsic that gives nothing with (type, operand) pairs."""
        self.module.declare(name, "void", ", ".join(register for register, _ in arguments))
        self.effect(f"call void @{name}({', '.join(f'{register} {operand}' for register, operand in arguments)})")

    def definition(self, header: str) -> str:
        """The finished text: `header` is all before the opening brace."""
        if self.open:
            raise InternalError(f"a block of this function was left open: {header}")
        if self._scope is not None:
            header += f" !dbg !{self._scope}"
        return "\n".join([f"{header} {{", "entry:", *self._allocas, *self._lines, "}"])
