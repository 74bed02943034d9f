"""From what a walk over host code met to a manifest, or to faults at the lines of launches."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from gompute.artifacts.manifest import Manifest
from gompute.errors import CompileError
from gompute.frontend.faults import Faults
from gompute.manifest.interpret import interpret
from gompute.manifest.kernels import Kernels, Known, RootSource
from gompute.manifest.program import Program, python_files
from gompute.manifest.store import Launch
from gompute.manifest.values import NOTHING, External, Gompute, Literal, Spec, Unknown, Value

__all__ = ["RootSource", "Scan", "scan"]

_KEEP_FORM = re.compile(r"(?:(?P<root>[\w.-]+?)\.)?(?P<kernel>[A-Za-z_]\w*)(?:\[(?P<instance>\w+(?:,\w+)*)\])?")

#: How to say which kernel a launch is of, where the source does not.
_DECLARE = 'name the kernel here, or declare it: # gompute: keep NAME at this line, or keep = ["NAME"] in [tool.gompute] of pyproject.toml'


@dataclass(frozen=True, slots=True)
class Scan:
    """What a program launches.

    Attributes:
        manifest: with call sites, as ``FILE:LINE`` relative to the folder of the project.
        notes: launches whose kernel cannot be known, and that `keep` of the project is taken to declare.
    """

    manifest: Manifest
    notes: tuple[str, ...]


def scan(paths: Sequence[Path], roots: Sequence[RootSource] | None, *, keep: Sequence[str] = (), base: Path | None = None) -> Scan:
    """Find every kernel that host code launches.

    Args:
        paths: files and folders of host code.
        roots: the declared kernel roots; None where there is no declaration, and every module that makes kernels is a root by the name of
            its file.
        keep: kernels that are launched whatever is found: ``KERNEL``, ``ROOT.KERNEL``, ``KERNEL[f32]``.
        base: the folder that call sites are relative to; the current one when left out.

    Raises:
        CompileError: a file cannot be read; or, all of them with their lines, launches whose kernel cannot be known or is defined by no
            root, or whose instance the kernel does not allow.
    """
    sources = [source for root in roots or () for source in root.sources]
    folders = [path if path.is_dir() else path.parent for path in paths] + [source.parent for source in sources]
    folders.append(base or Path.cwd())
    program = Program(python_files(paths), folders)
    for source in sources:
        if source.suffix == ".py":
            program.read(source)
    store = interpret(program)
    found = _Found(program, Kernels(store, program, roots), tuple(keep), base or Path.cwd())
    for launch in store.launches.values():
        found.take(launch)
    found.take_keep()
    found.faults.raise_if_any()
    return Scan(found.manifest(), tuple(sorted(found.notes)))


class _Found:
    """The launches of a program, one after the other."""

    def __init__(self, program: Program, kernels: Kernels, keep: tuple[str, ...], base: Path) -> None:
        self.faults = Faults()
        self.notes: set[str] = set()
        self._program = program
        self._kernels = kernels
        self._keep = keep
        self._base = base.resolve()
        self._sites: dict[str, dict[str, dict[str, set[str]]]] = {}

    def manifest(self) -> Manifest:
        """All that was taken."""
        kernels = {
            root: {kernel: tuple(sorted(filter(None, made))) for kernel, made in sorted(known.items())}
            for root, known in sorted(self._sites.items())
        }
        sites = {
            root: {
                kernel: tuple(sorted({site for places in made.values() for site in places}, key=_by_line)) for kernel, made in known.items()
            }
            for root, known in self._sites.items()
        }
        return Manifest(kernels, sites)

    def take(self, launch: Launch) -> None:
        """Add a launch, or what is wrong with it."""
        kept = self._kept_at(launch)
        for name in kept:
            self._take_named(name, launch)
        values = {value for value in launch.values if value != Literal(None)}
        kernels = [value for value in values if isinstance(value, Spec)]
        texts = [value.value for value in values if isinstance(value, Literal) and isinstance(value.value, str)]
        by_name = launch.how in ("RawKernel", "kernel_by_name")
        for kernel in sorted(kernels, key=lambda kernel: (kernel.name or "", kernel.instance or "")):
            self._take_kernel(kernel, launch, bool(kept))
        for text in sorted(texts if by_name else ()):
            self._take_text(text, launch, bool(kept))
        unknown = any(isinstance(value, Unknown | External | Gompute) for value in values)
        known = kernels or (texts and by_name)
        if not kept and (unknown or not known) and launch.how:
            self._unknown(launch, self._why(launch, values))

    def take_keep(self) -> None:
        """Add what the project declares."""
        for text in self._keep:
            match = _KEEP_FORM.fullmatch(text.replace(", ", ","))
            where = f"[tool.gompute] keep {text!r}"
            if match is None:
                raise CompileError(f'{where}: write a kernel\'s name: "KERNEL", "ROOT.KERNEL" or "KERNEL[f32]".')
            known, problem = self._kernels.by_name(match["root"], match["kernel"])
            if known is None:
                raise CompileError(f"{where}: {problem}.")
            instances = self._instances_to_keep(known, match["instance"])
            if instances is None:
                raise CompileError(f"{where}: {_not_allowed(known, match['instance'])}.")
            for instance in instances:
                self._add(known, instance, "pyproject.toml")

    def _take_named(self, text: str, launch: Launch) -> None:
        match = _KEEP_FORM.fullmatch(text)
        known, problem = (
            self._kernels.by_name(match["root"], match["kernel"]) if match is not None else (None, f"{text!r} is no kernel's name")
        )
        if known is None or match is None:
            self._fault(launch, f"# gompute: keep {text}: {problem}", "name a kernel that a root defines")
            return
        instances = self._instances_to_keep(known, match["instance"])
        if instances is None:
            self._fault(launch, f"# gompute: keep {text}: {_not_allowed(known, match['instance'])}", _allowed(known))
            return
        for instance in instances:
            self._add(known, instance, self._site(launch))

    def _instances_to_keep(self, known: Known, instance: str | None) -> list[str] | None:
        if instance is not None:
            return [instance] if _allows(known, instance) else None
        if not known.parameters:
            return [""]
        return [",".join(types) for types in product(*(types for _, types in known.parameters))]

    def _take_kernel(self, kernel: Spec, launch: Launch, kept: bool) -> None:
        if kernel.name is None:
            if not kept:
                self._unknown(launch, "the name of the kernel that is launched here is computed, so it cannot be read from the source")
            return
        known, problem = self._kernels.of(kernel)
        if known is None:
            self._fault(launch, *problem)
        elif not known.parameters and kernel.instance is None:
            self._add(known, "", self._site(launch))
        elif kernel.instance is None:
            if not kept:
                types = ",".join(types[0] for _, types in known.parameters if types)
                fix = f"launch an instance: {known.name}[{types}]"
                self._fault(launch, f"{known.name!r} is generic, and this launches no instance of it", fix)
        elif kernel.instance == "?":
            if not kept:
                self._unknown(launch, f"the types of this instance of {known.name!r} cannot be known from the source")
        elif _allows(known, kernel.instance):
            self._add(known, kernel.instance, self._site(launch))
        else:
            self._fault(launch, _not_allowed(known, kernel.instance), _allowed(known))

    def _take_text(self, text: str, launch: Launch, kept: bool) -> None:
        known, instance, problem = self._kernels.by_public_name(text)
        if known is not None:
            self._add(known, instance, self._site(launch))
        elif not kept:
            self._fault(launch, *problem)

    def _unknown(self, launch: Launch, why: str) -> None:
        if self._keep:
            self.notes.add(
                f"{self._site(launch)}: {why}; it is taken to be one of those that [tool.gompute] keeps: {', '.join(self._keep)}"
            )
        else:
            self._fault(launch, why, _DECLARE)

    def _why(self, launch: Launch, values: set[Value]) -> str:
        what = f"the kernel of this {launch.how}"
        argument = launch.argument
        if argument is None:
            return f"{what} is not among its arguments in the source"
        shown = ast.unparse(argument)
        shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
        if values and not any(isinstance(value, Unknown | External) or value == NOTHING for value in values):
            taken = "a kernel or its name" if launch.how == "RawKernel" else "a name" if launch.how == "kernel_by_name" else "a kernel"
            return f"`{shown}` is not {taken}"
        return f"{what}, `{shown}`, cannot be known from the source"

    def _fault(self, launch: Launch, what: str, fix: str) -> None:
        self.faults.add(self._program.source(launch.module.file), launch.site, what, fix)

    def _kept_at(self, launch: Launch) -> list[str]:
        keeps = self._program.keeps(launch.module.file)
        lines = range(launch.site.lineno, (launch.site.end_lineno or launch.site.lineno) + 1)
        return [name for line in lines for name in keeps.get(line, ())]

    def _site(self, launch: Launch) -> str:
        return f"{Path(os.path.relpath(launch.module.file, self._base)).as_posix()}:{launch.site.lineno}"

    def _add(self, known: Known, instance: str, site: str) -> None:
        self._sites.setdefault(known.root, {}).setdefault(known.name, {}).setdefault(instance, set()).add(site)


def _allows(known: Known, instance: str) -> bool:
    types = instance.split(",")
    if known.open:
        return True
    return len(types) == len(known.parameters) and all(name in allowed for name, (_, allowed) in zip(types, known.parameters, strict=True))


def _not_allowed(known: Known, instance: str | None) -> str:
    if not known.parameters:
        return f"{known.name!r} is not generic, so it has no instance {known.name}[{instance}]"
    return f"{known.name}[{instance}] is no instance of {known.name!r} of root {known.root!r}"


def _allowed(known: Known) -> str:
    if not known.parameters:
        return f"launch {known.name}"
    listed = "; ".join(f"{name}: {', '.join(types)}" for name, types in known.parameters)
    return f"its types are {listed}; launch one of these, or add a type to the kernel"


def _by_line(site: str) -> tuple[str, int]:
    file, _, line = site.rpartition(":")
    return file, int(line) if line.isdecimal() else 0
