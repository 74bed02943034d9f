"""What a module declares, defines and refers to.

The binding lists functions and variables, but no aliases, no calling conventions, no inline assembly and no uses. LLVM's own printing of
a parsed module shows all of it in one canonical form, so that is what is read here: one statement a line, names quoted where they need
it, and no quote inside a string.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from gompute.ir.printout import NAME, decoded

__all__ = ["FunctionOutline", "ModuleOutline", "VariableOutline", "outline"]

_TOP_LEVEL = re.compile(
    rf"^(?P<kind>define|declare) (?P<head>[^\n]*?)(?P<function>{NAME})\([^\n]*"
    rf"|^(?P<variable>{NAME}) = (?P<rest>[^\n]*)"
    r"|^(?P<assembly>module asm )",
    re.MULTILINE,
)
_REFERENCE = re.compile(rf'({NAME})|"[^"]*"')
_INLINE_ASSEMBLY = re.compile(r'(?<= )asm (?:(?:sideeffect|alignstack|inteldialect|unwind) )*"')
_FREM = re.compile(r"^ +%\S+ = frem ", re.MULTILINE)
_CONVENTION = re.compile(r"\w*cc|(?:ptx|amdgpu|spir)_\w+|aarch64_\w+_pcs")
_VARIABLE_KIND = re.compile(r"(?:^| )(global|constant|alias|ifunc) ")
_ADDRESS_SPACE = re.compile(r" addrspace\((\d+)\) ")
_EMPTY = re.compile(r"\[0 x \w+\]")
_LOCAL = frozenset({"internal", "private"})
_NO_INITIALISER = frozenset({"external", "extern_weak"})


class FunctionOutline(NamedTuple):
    """A function.

    Attributes:
        local: internal or private, so that no other module sees it.
        convention: LLVM's word for the calling convention (`ptx_kernel`); empty for that of C.
        body: LLVM's text between the braces; None for a declaration.
        uses: names of the globals that the body refers to.
    """

    name: str
    local: bool
    convention: str
    body: str | None
    uses: frozenset[str]

    @property
    def inline_assembly(self) -> bool:
        return self.body is not None and _INLINE_ASSEMBLY.search(self.body) is not None

    @property
    def float_remainder(self) -> bool:
        """Whether the body holds LLVM's `frem`."""
        return self.body is not None and _FREM.search(self.body) is not None

    def reorders(self, name: str) -> bool:
        """Whether a call of `name`, which needs no quotes, has a flag that lets its operands change places."""
        return re.search(rf" call [^\n@]*\b(?:reassoc|fast) [^\n@]*@{re.escape(name)}\(", self.body or "") is not None

    def calls_of(self, name: str) -> list[str]:
        """The text of the arguments of each direct call of `name`, which needs no quotes."""
        return re.findall(rf" call [^\n]*?@{re.escape(name)}\(([^\n]*)\)", self.body or "")


class VariableOutline(NamedTuple):
    """A variable, an alias or an ifunc; `kind` is `global`, `constant`, `alias` or `ifunc`. An `empty` one is an array without elements: of
    shared memory, whatever a launch adds to it."""

    name: str
    kind: str
    defined: bool
    local: bool
    address_space: int
    uses: frozenset[str]
    empty: bool = False


class ModuleOutline:
    """All globals of a module.

    Attributes:
        functions: by name, in the module's order.
        variables: variables, aliases and ifuncs likewise.
        module_assembly: the module holds assembly text.
    """

    def __init__(self, functions: dict[str, FunctionOutline], variables: dict[str, VariableOutline], module_assembly: bool) -> None:
        self.functions = functions
        self.variables = variables
        self.module_assembly = module_assembly

    def items(self) -> Iterator[FunctionOutline | VariableOutline]:
        """Functions, then variables."""
        yield from self.functions.values()
        yield from self.variables.values()

    @property
    def longest_body(self) -> int:
        """Lines of LLVM's text in the longest function; 0 where none is defined."""
        return max((function.body.count("\n") for function in self.functions.values() if function.body is not None), default=0)

    def users(self, name: str) -> list[str]:
        """Names of the functions and variables that refer to `name`, sorted."""
        return sorted(self._users.get(name, ()))

    def reached_from(self, name: str) -> set[str]:
        """Every name that `name` refers to, directly or not, itself included."""
        return _closure(name, self._uses)

    def reaching(self, name: str) -> set[str]:
        """Every name that refers to `name`, directly or not, itself included."""
        return _closure(name, self.users)

    def _uses(self, name: str) -> Iterable[str]:
        item = self.functions.get(name) or self.variables.get(name)
        return item.uses if item is not None else ()

    @cached_property
    def _users(self) -> dict[str, list[str]]:
        users: dict[str, list[str]] = defaultdict(list)
        for item in self.items():
            for used in item.uses:
                users[used].append(item.name)
        return users


def outline(text: str) -> ModuleOutline:
    """Read the outline of a module from `str(module)`."""
    functions: dict[str, FunctionOutline] = {}
    variables: dict[str, VariableOutline] = {}
    module_assembly = False
    position = 0
    while (match := _TOP_LEVEL.search(text, position)) is not None:
        position = match.end()
        if match["assembly"]:
            module_assembly = True
        elif match["variable"]:
            variable = _variable(decoded(match["variable"]), match["rest"])
            variables[variable.name] = variable
        else:
            body = None
            if match["kind"] == "define":
                end = text.index("\n}\n", position)
                body, position = text[position:end], end
            name = decoded(match["function"])
            words = match["head"].split(" ")
            convention = next((word for word in words if _CONVENTION.fullmatch(word)), "")
            uses = _references(body) if body is not None else frozenset()
            functions[name] = FunctionOutline(name, not _LOCAL.isdisjoint(words), convention, body, uses)
    return ModuleOutline(functions, variables, module_assembly)


def _variable(name: str, rest: str) -> VariableOutline:
    kind = _VARIABLE_KIND.search(rest)
    assert kind is not None, f"LLVM printed a variable in an unknown form: {rest}"
    words = rest[: kind.start()].split(" ")
    space = _ADDRESS_SPACE.search(rest[: kind.start() + 1])
    return VariableOutline(
        name=name,
        kind=kind[1],
        defined=_NO_INITIALISER.isdisjoint(words),
        local=not _LOCAL.isdisjoint(words),
        address_space=int(space[1]) if space is not None else 0,
        uses=_references(rest[kind.end() :]),
        empty=_EMPTY.match(rest, kind.end()) is not None,
    )


def _references(text: str) -> frozenset[str]:
    return frozenset(decoded(name) for name in _REFERENCE.findall(text) if name)


def _closure(start: str, step: Callable[[str], Iterable[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(step(name))
    return seen
