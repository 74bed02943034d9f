"""Which kernels there are, and which root makes each, as far as sources show it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product
from pathlib import Path

from gompute.artifacts.manifest import public_name
from gompute.manifest.program import Program
from gompute.manifest.store import Store
from gompute.manifest.values import Declaration, ModuleScope, Spec

__all__ = ["Kernels", "Known", "RootSource"]


@dataclass(frozen=True, slots=True)
class RootSource:
    """A declared kernel root.

    Attributes:
        sources: its file; of a root in LLVM IR one file per backend.
        kernels: public names, where something other than Python source says them; None where they are read from the source.
    """

    name: str
    sources: tuple[Path, ...]
    kernels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A kernel of a root.

    Attributes:
        parameters: name and allowed types of each type parameter.
        open: the source does not show the kernel, which its root may make all the same.
    """

    root: str
    name: str
    parameters: tuple[tuple[str, tuple[str, ...]], ...] = ()
    open: bool = False


class Kernels:
    """The kernels of all roots.

    Args:
        roots: those that are declared; None where every module that makes kernels is one.
    """

    def __init__(self, store: Store, program: Program, roots: Sequence[RootSource] | None) -> None:
        self._store = store
        self._program = program
        self._declared = roots is not None
        self._roots = {root.name: root for root in (self._modules_with_kernels() if roots is None else roots)}
        self._by_file = {source.resolve(): root.name for root in self._roots.values() for source in root.sources}
        self._known: dict[str, dict[str, Known]] = {name: {} for name in self._roots}
        self._open: set[str] = set()
        for root in self._roots.values():
            for name in root.kernels or ():
                self._known[root.name][name] = Known(root.name, name)
        for declaration, names in store.made.items():
            for root_name in self._owners(declaration):
                for made in names:
                    if made is None:
                        self._open.add(root_name)
                    else:
                        self._known[root_name][made] = Known(root_name, made, declaration.parameters)

    @property
    def roots(self) -> tuple[str, ...]:
        """Names of the roots, sorted."""
        return tuple(sorted(self._roots))

    def of(self, kernel: Spec) -> tuple[Known | None, tuple[str, str]]:
        """The kernel that a value of the source is, or what is wrong and what to do."""
        assert kernel.name is not None
        owners = self._owners(kernel.declaration)
        if owners:
            return Known(owners[0], kernel.name, kernel.declaration.parameters), ("", "")
        file = kernel.declaration.module.file
        shown = os.path.relpath(file)
        if file in self._by_file:
            where = f"is made when a function runs that {shown} does not call at its top level"
            return None, (
                f"{kernel.name!r} is launched, and no kernel root makes it: it {where}",
                "make the kernel at the top level of its root",
            )
        fix = f'declare it in pyproject.toml: [tool.gompute.roots.{file.stem}] with source = "{shown}"'
        return None, (f"{kernel.name!r} of {shown} is launched, and no kernel root makes it", fix)

    def by_name(self, root: str | None, name: str) -> tuple[Known | None, str]:
        """A kernel by its name without an instance, of one root or of any; or what is wrong."""
        if root is not None and root not in self._roots:
            return None, f"there is no root {root!r}; the roots are {', '.join(self.roots) or 'none'}"
        roots = self.roots if root is None else (root,)
        found = [self._known[owner][name] for owner in roots if name in self._known[owner]]
        if len(found) > 1:
            return None, f"{name!r} is in the roots {' and '.join(known.root for known in found)}; write ROOT.{name}"
        if found:
            return found[0], ""
        possible = [owner for owner in roots if owner in self._open]
        if len(possible) == 1:
            return Known(possible[0], name, open=True), ""
        if possible:
            return None, f"{name!r} may be made by the roots {' and '.join(possible)}, whose sources compute names; write ROOT.{name}"
        return None, f"no root makes a kernel {name!r}{self._near(name)}"

    def by_public_name(self, text: str) -> tuple[Known | None, str, tuple[str, str]]:
        """The kernel and the instance that a name at run time stands for; or what is wrong and what to do."""
        for known in self._all():
            for instance in _instances(known):
                if public_name(known.name, instance) == text:
                    return known, instance, ("", "")
        found, problem = self.by_name(None, text)
        if found is not None and found.parameters:
            types = ",".join(types[0] for _, types in found.parameters if types)
            what = f"{text!r} is generic, and this launches no instance of it"
            return None, "", (what, f"launch an instance: {public_name(text, types)!r}")
        return found, "", (f"{problem}, and this launches it", "launch a kernel that a root defines, or declare the root that makes it")

    def _all(self) -> Iterator[Known]:
        for root in self.roots:
            yield from self._known[root].values()

    def _near(self, name: str) -> str:
        names = sorted({public_name(known.name, instance) for known in self._all() for instance in _instances(known)})
        near = get_close_matches(name, names, 3)
        return f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""

    def _owners(self, declaration: Declaration) -> list[str]:
        """Names of the roots that make the kernels of a declaration."""
        if not declaration.in_function:
            name = self._by_file.get(declaration.module.file)
            return [name] if name is not None else []
        made = [
            name
            for file, name in self._by_file.items()
            if file in self._program.modules and self._holds(self._program.modules[file], declaration)
        ]
        return sorted(set(made))

    def _holds(self, module: ModuleScope, declaration: Declaration) -> bool:
        """Whether the top level of a module binds kernels that a function made for it."""
        values = {value for name in module.names - module.imported for value in self._store.get(module, name)}
        return any(isinstance(value, Spec) and value.declaration is declaration for value in self._store.flat(values))

    def _modules_with_kernels(self) -> list[RootSource]:
        files = {declaration.module.file for declaration in self._store.made if not declaration.in_function}
        for module in self._program.modules.values():
            if any(declaration.in_function and self._holds(module, declaration) for declaration in self._store.made):
                files.add(module.file)
        return [RootSource(file.stem, (file,)) for file in sorted(files)]


def _instances(known: Known) -> list[str]:
    if not known.parameters:
        return [""]
    return [",".join(types) for types in product(*(types for _, types in known.parameters))]
