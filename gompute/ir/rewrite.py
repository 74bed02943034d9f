"""Rewriting foreign modules so that every kernel is a definition under a name to launch it by, and leaving out those not wanted.

Zig 0.16 exports a kernel as an alias of a private definition. The NVPTX backend dies of an alias of a kernel, and on AMD the metadata
keep the private name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches
from typing import NamedTuple

from llvmlite import binding as llvm

from gompute.errors import CompileError, InternalError
from gompute.ir.debug_info import DebugInfo
from gompute.ir.foreign import Printed, opened, printed
from gompute.ir.kernels import Kernel, kernel_plan
from gompute.ir.layout import Platform
from gompute.ir.printout import NAME, Alias, Definition, references, split_commas, substituted

__all__ = ["Rewritten", "bitcode", "kernels", "prune", "rewrite"]

_HEADER = re.compile(r"; ModuleID = [^\n]*\n")
_LABEL_ADDRESS = re.compile(rf'"[^"]*"|;[^\n]*|blockaddress\(({NAME}), ')
_USED_LIST = re.compile(r"^(@llvm(?:\.compiler)?\.used = [^\n]*?)\[\d+ x ptr\] \[([^\n]*)\]([^\n]*\n)", re.MULTILINE)


class Rewritten(NamedTuple):
    """A module whose kernels are all definitions with their symbols for names.

    Attributes:
        text: LLVM IR for the pinned target.
        kernels: what can be launched.
        warnings: where its meaning may have changed with its target.
    """

    text: str
    kernels: tuple[Kernel, ...]
    warnings: tuple[str, ...]

    @property
    def names(self) -> dict[str, str]:
        """Symbol by public name, sorted."""
        return dict(sorted((kernel.public, kernel.symbol) for kernel in self.kernels))


def kernels(data: bytes, where: str) -> tuple[Kernel, ...]:
    """The public kernels of a module, in its order.

    Args:
        data: the contents of a `.ll` or `.bc` file.
        where: the file's name, for messages.

    Raises:
        CompileError: LLVM cannot read it, it is for no GPU, or there is no kernel.
    """
    handed = [data]
    del data
    return kernel_plan(printed(handed, where), where).kernels


def rewrite(data: bytes, where: str) -> Rewritten:
    """Make every alias of a kernel a definition with the public name. Other aliases stay, and follow what they stand for.

    Takes time in proportion to the module. Args and errors as `kernels`.
    """
    handed = [data]
    del data
    result = _rewritten(printed(handed, where), where)
    with _reopened(result.text, where):
        return result


def prune(data: bytes, where: str, keep: Collection[str]) -> Rewritten:
    """Rewrite, then make every kernel that is not in `keep` local to the module, and remove what nothing needs any more.

    Args:
        keep: public names.

    Raises:
        CompileError: as `kernels`; or the module has no kernel of a name in `keep`.
    """
    handed = [data]
    del data
    module = printed(handed, where)
    platform = module.platform
    result = _rewritten(module, where)
    del module
    public = [kernel.public for kernel in result.kernels]
    missing = [name for name in keep if name not in public]
    if missing:
        lines = []
        for name in missing:
            near = get_close_matches(name, public, 3)
            lines.append(f"  {name}" + (f" (near names: {', '.join(near)})" if near else ""))
        raise CompileError(f"{where}: these kernels to keep are not in the module, which has {', '.join(public)}:\n" + "\n".join(lines))
    if not keep:
        raise CompileError(f"{where}: nothing to keep: name at least one of {', '.join(public)}")
    dropped = {kernel.symbol for kernel in result.kernels if kernel.public not in keep}
    text = _without_uses(result.text, {f"@{symbol}" for symbol in dropped})
    with _reopened(text, where) as left:
        for symbol in dropped:
            function = left.get_function(symbol)
            function.visibility = llvm.Visibility.default  # a local symbol can have no other
            function.linkage = llvm.Linkage.internal
        _remove_dead(left, platform)
        text = _HEADER.sub("", str(left), count=1)
    return Rewritten(text, tuple(kernel for kernel in result.kernels if kernel.public in keep), result.warnings)


def bitcode(text: str, where: str) -> bytes:
    """A rewritten module as bitcode."""
    with _reopened(text, where) as module:
        made: bytes = module.as_bitcode()
        return made


@contextmanager
def _reopened(text: str, where: str) -> Iterator[llvm.ModuleRef]:
    """A module that was made here; that LLVM does not take it can be no fault of the user's."""
    with ExitStack() as stack:
        try:
            module = stack.enter_context(opened([text.encode()], where))
        except CompileError as error:
            raise InternalError(f"the rewritten module is not valid.\n{error}") from None
        yield module


def _rewritten(module: Printed, where: str) -> Rewritten:
    plan = kernel_plan(module, where)
    names = {function: symbols[0] for function, symbols in plan.symbols.items()}
    for name, link in plan.links.items():
        names[name] = link.cast(plan.chosen.get(name) or names.get(link.kernel, link.kernel))
    changed = {old: new for old, new in names.items() if old != new}
    debug = DebugInfo(module.text)
    visibility = ("protected",) if module.platform.convention == "amdgpu_kernel" else ()
    # Before the rest, which holds the metadata: only then is known what becomes of that.
    made = {
        item.name: _definitions(item._replace(words=visibility).without_comdat(), plan.symbols[item.name], changed, debug)
        for item in plan.statements
        if isinstance(item, Definition) and item.name in plan.symbols
    }
    pieces: list[str] = []
    for item in plan.statements:
        if isinstance(item, Definition):
            pieces.append(made[item.name] if item.name in made else substituted(f"{item.head()}{item.body}", changed))
        elif isinstance(item, Alias):
            pieces.append("" if item.name in plan.links else substituted(f"{item.text}\n", changed))
        else:
            pieces.append(substituted(debug.applied(item.text), changed))
    pieces.append(substituted(debug.added(), changed))
    return Rewritten(_HEADER.sub("", "".join(pieces), count=1), plan.kernels, module.warnings)


def _definitions(kernel: Definition, symbols: list[str], names: dict[str, str], debug: DebugInfo) -> str:
    """A public kernel's function under its symbol, and a copy under each further one, as text."""
    first, *further = symbols
    copies: list[str] = []
    for symbol in further:
        after, body = debug.copied(kernel.after, kernel.body, kernel.name, symbol)
        copy = kernel._replace(after=substituted(after, names), before=substituted(kernel.before, names), name=symbol)
        copies.append(f"\n{copy.head()}{_own_labels(substituted(body, names), first, symbol)}")
        debug.annotate_copy(kernel.name, symbol)
    debug.rename(kernel.after, kernel.name, first)
    renamed = kernel._replace(after=substituted(kernel.after, names), before=substituted(kernel.before, names), name=first)
    return "".join([f"{renamed.head()}{substituted(kernel.body, names)}", *copies])


def _own_labels(body: str, original: str, copy: str) -> str:
    """The body of a copy, in which the addresses of the original's labels are those of its own."""
    return _LABEL_ADDRESS.sub(lambda match: f"blockaddress({copy}, " if match[1] == original else match[0], body)


def _without_uses(text: str, dropped: set[str]) -> str:
    """The module without `dropped` in its lists of what must stay."""

    def shorter(line: re.Match[str]) -> str:
        kept = [part for part in split_commas(line[2]) if dropped.isdisjoint(references(part))]
        return f"{line[1]}[{len(kept)} x ptr] [{', '.join(kept)}]{line[3]}" if kept else ""

    return _USED_LIST.sub(shorter, text) if "@llvm.used = " in text or "@llvm.compiler.used = " in text else text


def _remove_dead(module: llvm.ModuleRef, platform: Platform) -> None:
    machine = llvm.Target.from_triple(platform.triple).create_target_machine(cpu=platform.processor)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(module, builder)
