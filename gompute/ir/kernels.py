"""The kernels of a foreign module: which functions they are, and the public names that lead to them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from gompute.errors import CompileError
from gompute.ir.foreign import Printed
from gompute.ir.parameters import parameters
from gompute.ir.printout import Alias, Definition, Statement, aliasee, decoded, encoded, references, statements
from gompute.ir.verify import is_kernel_name

__all__ = ["Kernel", "KernelPlan", "Link", "kernel_plan"]

_UNSAFE = re.compile(r"[^A-Za-z0-9_]")


class Kernel(NamedTuple):
    """A kernel that the module's users can launch.

    Attributes:
        public: the name that its author gave it.
        symbol: the name of its function after a rewrite: `public`, or a safe form of it where assemblers do not take that.
        function: the function that it is before.
        arguments: types of its arguments, as LLVM writes them.
    """

    public: str
    symbol: str
    function: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.public}({', '.join(self.arguments)})"


class Link(NamedTuple):
    """Where an alias ends: names as printed, pointer types as text.

    Attributes:
        kernel: the kernel's function.
        from_type: the type of that function's address.
        to_type: the type of the alias's; another where there is a cast on the way.
    """

    kernel: str
    from_type: str
    to_type: str

    def cast(self, symbol: str) -> str:
        """The expression for the alias, once its kernel is `symbol`."""
        return symbol if self.from_type == self.to_type else f"addrspacecast ({self.from_type} {symbol} to {self.to_type})"


class KernelPlan(NamedTuple):
    """What a rewrite has to do.

    Attributes:
        statements: the whole printed module.
        kernels: public ones, in the module's order, the name of the definition itself first where it is public.
        links: every alias of a kernel, public or not, by its name as printed.
        symbols: the new names of each public kernel's function, by its name as printed: one for the function itself, then one per copy.
        chosen: the symbol of each public name, both as printed.
    """

    statements: list[Statement]
    kernels: tuple[Kernel, ...]
    links: dict[str, Link]
    symbols: dict[str, list[str]]
    chosen: dict[str, str]


def kernel_plan(module: Printed, where: str) -> KernelPlan:
    """Find the kernels of a module.

    Raises:
        CompileError: there is none, or an alias points into the middle of one.
    """
    items = list(statements(module.text, module.platform.convention))
    definitions = {item.name: item for item in items if isinstance(item, Definition)}
    aliases = {item.name: item for item in items if isinstance(item, Alias)}
    links = _links(aliases, definitions, where)
    publics: dict[str, list[str]] = {
        name: [] if definition.local or name[1:].isdecimal() else [name] for name, definition in definitions.items()
    }
    for name, link in links.items():
        if not aliases[name].local:
            publics[link.kernel].append(name)
    if not any(publics.values()):
        raise CompileError(_no_kernels(module, definitions, where))
    chosen = dict(_symbols([name for names in publics.values() for name in names], module.text))
    kernels = tuple(
        Kernel(decoded(name), decoded(chosen[name]), decoded(function), tuple(map(str, parameters(definitions[function]))))
        for function, names in publics.items()
        for name in names
    )
    symbols = {function: [chosen[name] for name in names] for function, names in publics.items() if names}
    return KernelPlan(items, kernels, links, symbols, chosen)


def _links(aliases: dict[str, Alias], definitions: dict[str, Definition], where: str) -> dict[str, Link]:
    """Where each alias that ends at a kernel ends. LLVM's verifier has seen to it that all end; each is looked at once."""
    ends: dict[str, Link | None] = {}
    for start in aliases:
        chain = [start]
        while chain:
            name = chain[-1]
            kind, to, pointer = aliasee(aliases[name].target)
            if to in aliases and to not in ends:
                chain.append(to)
                continue
            chain.pop()
            if to in ends:
                link = ends[to]
                ends[name] = link and link._replace(to_type=pointer)
            else:
                ends[name] = Link(to, _address_type(definitions[to]), pointer) if to in definitions else None
            if ends[name] is not None and kind == "part":
                raise CompileError(
                    f"{where}: the alias `{decoded(name)}` is an address inside the kernel `{decoded(to)}`, not the kernel itself.\n"
                    f"  Remove the alias, or let it stand for `{decoded(to)}`."
                )
    return {name: link for name, link in ends.items() if link is not None}


def _address_type(definition: Definition) -> str:
    space = re.search(r"\) (?:(?:local_)?unnamed_addr )?(addrspace\(\d+\))(?= |$)", definition.after)
    return f"ptr {space[1]}" if space is not None else "ptr"


def _no_kernels(module: Printed, definitions: dict[str, Definition], where: str) -> str:
    convention = module.platform.convention
    if definitions:
        names = ", ".join(f"`{decoded(name)}`" for name in definitions)
        return (
            f"{where}: the module has no kernels that can be launched: {names} cannot be seen from outside.\n"
            "  Export them in the source under the names to launch them by."
        )
    return (
        f"{where}: the module has no kernels: no function in it has the calling convention `{convention}`.\n"
        f"  Mark kernels in the source (Zig: callconv(.{'nvptx' if convention == 'ptx_kernel' else 'amdgcn'}_kernel); C: "
        f"__attribute__(({'nvptx' if convention == 'ptx_kernel' else 'amdgpu'}_kernel)))."
    )


def _symbols(names: list[str], text: str) -> Iterator[tuple[str, str]]:
    """For each public name, as printed, the symbol, as printed: the same, or where assemblers do not take it a safe one that is free."""
    taken: set[str] | None = None
    for name in names:
        public = decoded(name)
        if is_kernel_name(public):
            yield name, name
            continue
        taken = set(references(text)) if taken is None else taken
        digest = hashlib.sha256(public.encode()).hexdigest()
        stem = _UNSAFE.sub("_", public)
        stem = stem if stem[:1].isalpha() or stem[:1] == "_" else f"_{stem}"
        symbol = next(free for length in range(8, 65) if (free := encoded(f"{stem}_{digest[:length]}")) not in taken)
        taken.add(symbol)
        yield name, symbol
