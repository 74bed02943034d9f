"""One kernel root, or one live spec, to LLVM IR and its name table: the frontend from end to end."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path

from gompute.artifacts.describe import entry_of
from gompute.artifacts.entry import KernelEntry
from gompute.errors import CompileError
from gompute.frontend.check.module import check_module
from gompute.frontend.code import CodeDigests, code_digests
from gompute.frontend.emit import emitted
from gompute.frontend.loader import load_root
from gompute.frontend.reads import Reads
from gompute.frontend.separate import kernel_digests
from gompute.frontend.source import Sources
from gompute.lang.spec import KernelSpec
from gompute.targets import FAST, Mode, Target

__all__ = ["KernelIR", "Lowering", "RootIR", "compile_root", "compile_spec", "kernels_not_made", "lower_root"]


@dataclass(frozen=True, slots=True)
class KernelIR:
    """One kernel of a root, lowered for one target with all that it reaches.

    Attributes:
        ir: LLVM IR text of a module of its own. It depends on no other kernel.
        kernels: its entry in the name table, without resources.
    """

    ir: str
    kernels: tuple[KernelEntry, ...]


@dataclass(frozen=True, slots=True)
class RootIR:
    """A root lowered for one target.

    Attributes:
        units: sorted by name.
        reads: what was read for it.
        left_out: names of the kernels that the module makes besides, sorted, where only some were asked for.
    """

    name: str
    units: tuple[KernelIR, ...]
    reads: Reads
    left_out: tuple[str, ...] = ()

    @property
    def ir(self) -> str:
        """The text of all modules, one after the other, to look at."""
        return "\n".join(unit.ir for unit in self.units)

    @property
    def kernels(self) -> tuple[KernelEntry, ...]:
        """The name table, sorted by name, without resources."""
        return tuple(kernel for unit in self.units for kernel in unit.kernels)

    @property
    def sources(self) -> tuple[Path, ...]:
        """Every source file that was read, sorted."""
        return tuple(map(Path, self.reads.sources))


@dataclass(frozen=True, slots=True)
class Lowering:
    """A root whose module was imported, and whose kernels are checked and lowered one by one.

    Attributes:
        count: how many there are.
        units: the kernels, in the order of their names; raises CompileError that lists every fault.
        reads: gives what was read, once the kernels are through.
        left_out: names of the kernels that the module makes besides, sorted, where only some were asked for.
        foreign: it came as LLVM IR, which nobody has checked.
        digests: see `gompute.frontend.separate.kernel_digests`.
        kept: names of the kernels that were not lowered, as nothing that decides them has changed.
        code: gives what `gompute.frontend.code.code_digests` says of sources with these paths; None where they are no Python.
    """

    count: int
    units: Iterator[KernelIR]
    reads: Callable[[], Reads]
    left_out: tuple[str, ...] = ()
    foreign: bool = False
    digests: Mapping[str, str] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    code: Callable[[Iterable[str]], CodeDigests] | None = None


def lower_root(
    source: Path,
    *,
    name: str,
    imports: Sequence[Path] | None,
    target: Target,
    kernels: Collection[str] | None = None,
    mode: Mode = FAST,
    known: Mapping[str, str] | None = None,
) -> Lowering:
    """Import the module of a root; check and lower its kernels for `target` one by one, as the iterator is asked for them.

    Args:
        source: the module's file; faults show it as it is given here.
        name: the root's name.
        imports: files and package folders that the module may import; None for whatever lies beside it.
        kernels: public names of those to check and lower; the others are left as they are. None for all.
        mode: how the code is to be made.
        known: digests of kernels that were lowered before by this compiler for this target and mode; one whose digest is the same is kept.
            None where nobody wants to know digests.

    Raises CompileError when the import fails, and when the module makes no kernel or none of a name in `kernels`.
    """
    sources = Sources(source.resolve().parent, os.path.dirname(source))
    specs, reads = load_root(source, name, imports, sources)
    if not specs:
        raise CompileError(f"{source}: root '{name}' has no kernel; write @g.map or @g.kernel above a function, with import gompute as g")
    named = specs if kernels is None else _named(specs, kernels, f"{source}: root '{name}'")
    left_out = {spec.name for spec in specs} - {spec.name for spec in named}
    digests = {} if known is None else kernel_digests(str(source.resolve()), specs, sources, reads(), lines=mode != FAST)
    before = known or {}
    kept = tuple(sorted(spec.name for spec in named if spec.name in before and before[spec.name] == digests.get(spec.name)))
    units = _lower(name, named, sources, target, mode, kept)
    code = partial(code_digests, str(source.resolve()), sources)
    return Lowering(len(named), units, reads, tuple(sorted(left_out)), digests=digests, kept=kept, code=code)


def _named(specs: Sequence[KernelSpec], names: Collection[str], where: str) -> tuple[KernelSpec, ...]:
    """The specs of these names. Raises CompileError that lists the names that no spec has."""
    there = {spec.name for spec in specs}
    if not there.issuperset(names):
        raise kernels_not_made(where, set(names) - there, there)
    return tuple(spec for spec in specs if spec.name in names)


def kernels_not_made(where: str, missing: Collection[str], made: Collection[str]) -> CompileError:
    """The error of a root, which `where` names, that is asked for kernels that it does not make."""
    lines = []
    for name in sorted(missing):
        near = get_close_matches(name, sorted(made), 3)
        lines.append(f"  {name}" + (f"; did you mean {' or '.join(near)}?" if near else ""))
    return CompileError(
        f"{where} does not make these kernels; it makes {', '.join(sorted(made))}\n" + "\n".join(lines) + "\n"
        "  `gompute manifest check PATH`, PATH being the host code, says which lines launch them.",
        kernels=sorted(missing),
    )


def compile_root(
    source: Path,
    *,
    name: str,
    imports: Sequence[Path] | None,
    target: Target,
    kernels: Collection[str] | None = None,
    mode: Mode = FAST,
) -> RootIR:
    """`lower_root` to its end."""
    lowering = lower_root(source, name=name, imports=imports, target=target, kernels=kernels, mode=mode)
    units = tuple(lowering.units)
    return RootIR(name, units, lowering.reads(), lowering.left_out)


def compile_spec(spec: KernelSpec, target: Target) -> KernelIR:
    """Lower one live spec for `target`, with what its function reaches now. Raises CompileError that lists every fault."""
    (unit,) = _lower(spec.name, (spec,), sources_of(spec), target, FAST)
    return unit


def sources_of(spec: KernelSpec) -> Sources:
    """Source files around a live spec, shown by the paths that Python knows them by."""
    file = Path(spec.file)
    return Sources(file.parent, str(file.parent))


def _lower(
    name: str, specs: Sequence[KernelSpec], sources: Sources, target: Target, mode: Mode, kept: Collection[str] = ()
) -> Iterator[KernelIR]:
    left = {spec.name: spec for spec in specs if spec.name not in kept}
    for module in check_module(name, specs, sources, target, mode, kept):
        made = emitted(module, target, mode)
        entries = [replace(entry_of(left.pop(kernel.name)), checks=made.checks if kernel.checked else None) for kernel in module.kernels]
        yield KernelIR(made.ir, tuple(entries))
    for spec in left.values():
        entry_of(spec)  # says what is missing to make a kernel of it
