"""Kernel roots: the source files that are compiled as units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gompute.build.modes import Modes
from gompute.errors import CompileError
from gompute.targets import Target

__all__ = ["IR_SUFFIXES", "KernelRoot", "check_root_name", "roots_from_files"]

#: Endings of files of LLVM IR.
IR_SUFFIXES = (".ll", ".bc")


@dataclass(frozen=True, slots=True)
class KernelRoot:
    """One source file that is compiled as a unit.

    Attributes:
        name: an ASCII identifier, unique in a kernel set; part of the file names of the blobs.
        source: absolute path of the Python module, or of a file of LLVM IR from another compiler; where `by_backend` says more, the first.
        imports: what the module may import from outside the standard library and gompute, per backend (`cuda`, `hip`, `cpu`), as absolute
            paths of files or folders; None where nothing was declared and imports are discovered.
        heavy: code generation takes so much time or memory that only few such roots may be at work at once.
        by_backend: files of LLVM IR by backend (`cuda`, `hip`); a backend that is not there gets none of the root. None for one source.
        modes: the optimise modes that the root asks for itself.
    """

    name: str
    source: Path
    imports: Mapping[str, tuple[Path, ...]] | None = None
    heavy: bool = False
    by_backend: Mapping[str, Path] | None = None
    modes: Modes = field(default_factory=Modes)

    @property
    def sources(self) -> tuple[Path, ...]:
        """All files that it is made from, but for imports."""
        return (self.source,) if self.by_backend is None else tuple(dict.fromkeys(self.by_backend.values()))

    @property
    def foreign(self) -> bool:
        """Whether it is LLVM IR."""
        return self.source.suffix in IR_SUFFIXES

    def source_for(self, target: Target) -> Path | None:
        """The file to compile for one target; None where the root is not for its backend."""
        return self.source if self.by_backend is None else self.by_backend.get(target.backend)

    def imports_for(self, target: Target) -> tuple[Path, ...] | None:
        """The declared imports for one target, or None where they are discovered."""
        return None if self.imports is None else self.imports[target.backend]


def check_root_name(name: str, *, where: str, fix: str) -> None:
    """Refuse a name that cannot be part of a file name and of a Nix attribute as it is.

    Args:
        where: what carries the name, for the message (`[tool.gompute.roots]`, a file).
        fix: what to write instead.

    Raises:
        CompileError: `name` is not an ASCII identifier.
    """
    if not (name.isascii() and name.isidentifier()):
        raise CompileError(
            f"{where}: {name!r} cannot name a kernel root: a name is letters, digits and underscores, no digit first.\n  {fix}"
        )


def roots_from_files(files: Sequence[Path]) -> tuple[KernelRoot, ...]:
    """Roots for files without a declaration: each is named by its stem, and its imports are discovered.

    Raises:
        CompileError: a file is missing, is neither Python nor LLVM IR, has a stem that is no identifier, or shares its stem with another.
    """
    roots = []
    for file in files:
        check_source(file, where=str(file))
        check_root_name(
            file.stem,
            where=str(file),
            fix=f"rename the file, or declare it: [tool.gompute.roots.NAME] with source = {str(file)!r} in pyproject.toml.",
        )
        roots.append(KernelRoot(file.stem, file.absolute()))
    check_unique(roots)
    return tuple(sorted(roots, key=lambda root: root.name))


def check_source(file: Path, *, where: str) -> None:
    """Raises:
    CompileError: `file` is not there or is neither a Python module nor LLVM IR.
    """
    if not file.is_file():
        raise CompileError(f"{where}: there is no such file" + ("; it is a folder." if file.is_dir() else "."))
    if file.suffix != ".py" and file.suffix not in IR_SUFFIXES:
        raise CompileError(f"{where}: a kernel root is a Python module (.py), or LLVM IR of another compiler (.ll, .bc).")


def check_unique(roots: Iterable[KernelRoot]) -> None:
    """Raises:
    CompileError: two roots have one name; the message gives both files.
    """
    seen: dict[str, KernelRoot] = {}
    for root in roots:
        other = seen.setdefault(root.name, root)
        if other is not root:
            what = (
                f"{root.source} is given twice"
                if other.source == root.source
                else f"{other.source} and {root.source} would both be root {root.name!r}"
            )
            raise CompileError(
                f"{what}.\n  Name each root once; rename a file, or declare the roots with names of their own in pyproject.toml."
            )
