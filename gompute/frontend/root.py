"""One kernel root, or one live spec, to LLVM IR and its name table: the frontend from end to end."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from gompute.artifacts.describe import entry_of
from gompute.artifacts.entry import KernelEntry
from gompute.errors import CompileError
from gompute.frontend.check.module import check_module
from gompute.frontend.emit import emit
from gompute.frontend.loader import load_root
from gompute.frontend.source import Sources
from gompute.lang.spec import KernelSpec
from gompute.targets import Target

__all__ = ["RootIR", "compile_root", "compile_spec"]


@dataclass(frozen=True, slots=True)
class RootIR:
    """A root lowered for one target.

    Attributes:
        ir: LLVM IR text of the whole module.
        kernels: the name table, sorted by name, without resources.
        sources: every file that was read, sorted.
        left_out: names of the kernels that the module makes besides, sorted, where only some were asked for.
    """

    name: str
    ir: str
    kernels: tuple[KernelEntry, ...]
    sources: tuple[Path, ...]
    left_out: tuple[str, ...] = ()


def compile_root(
    source: Path, *, name: str, imports: Sequence[Path] | None, target: Target, kernels: Collection[str] | None = None
) -> RootIR:
    """Import the module of a root, check its kernels and lower them for `target`.

    Args:
        source: the module's file; faults show it as it is given here.
        name: the root's name.
        imports: files and package folders that the module may import; None for whatever lies beside it.
        kernels: public names of those to check and lower; the others are left as they are. None for all.

    Raises CompileError that lists every fault, and when the module makes no kernel or none of a name in `kernels`.
    """
    sources = Sources(source.resolve().parent, os.path.dirname(source))
    specs, files = load_root(source, name, imports, sources)
    if not specs:
        raise CompileError(f"{source}: root '{name}' has no kernel; write @g.map or @g.kernel above a function, with import gompute as g")
    if kernels is None:
        return _lower(name, specs, sources, files, target)
    named = _named(specs, kernels, f"{source}: root '{name}'")
    left_out = {spec.name for spec in specs} - {spec.name for spec in named}
    return replace(_lower(name, named, sources, files, target), left_out=tuple(sorted(left_out)))


def _named(specs: Sequence[KernelSpec], names: Collection[str], where: str) -> tuple[KernelSpec, ...]:
    """The specs of these names. Raises CompileError that lists the names that no spec has."""
    there = [spec.name for spec in specs]
    missing = [name for name in sorted(names) if name not in there]
    if missing:
        lines = []
        for name in missing:
            near = get_close_matches(name, there, 3)
            lines.append(f"  {name}" + (f"; did you mean {' or '.join(near)}?" if near else ""))
        have = ", ".join(sorted(there))
        raise CompileError(f"{where} does not make these kernels; it makes {have}\n" + "\n".join(lines))
    return tuple(spec for spec in specs if spec.name in names)


def compile_spec(spec: KernelSpec, target: Target) -> RootIR:
    """Lower one live spec for `target`, with what its function reaches now. Raises CompileError as `compile_root`."""
    return _lower(spec.name, (spec,), sources_of(spec), (), target)


def sources_of(spec: KernelSpec) -> Sources:
    """Source files around a live spec, shown by the paths that Python knows them by."""
    file = Path(spec.file)
    return Sources(file.parent, str(file.parent))


def _lower(name: str, specs: Sequence[KernelSpec], sources: Sources, files: tuple[Path, ...], target: Target) -> RootIR:
    module = check_module(name, specs, sources, target)
    entries = tuple(entry_of(spec) for spec in sorted(specs, key=lambda spec: spec.name))
    return RootIR(name, emit(module, target), entries, files)
