"""What one worker is asked to do, as the calling process names it and as it crosses to the worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gompute.artifacts.entry import KernelEntry
from gompute.artifacts.name_table import kernel_to_json
from gompute.build.roots import KernelRoot
from gompute.targets import Target

__all__ = ["EMIT", "CodegenJob", "CompileJob", "Job"]

EMIT = ("ptx", "cubin", "ir", "asm")
"""What `--emit` takes: `ptx` is made for every NVIDIA target, named or not; `cubin` adds one; `ir` and `asm` add listings."""


@dataclass(frozen=True, slots=True)
class CompileJob:
    """One root for one target.

    Attributes:
        emit: some of `EMIT`.
        check_only: stop after type checking; nothing is generated.
        kernels: public names of the kernels to look at, sorted; None for all that the root makes.
    """

    root: KernelRoot
    target: Target
    emit: frozenset[str] = frozenset({"ptx"})
    check_only: bool = False
    kernels: tuple[str, ...] | None = None

    @property
    def root_name(self) -> str:
        return self.root.name

    @property
    def heavy(self) -> bool:
        """Whether it takes one of the lanes for heavy roots; a check takes none."""
        return self.root.heavy and not self.check_only

    def order(self) -> dict[str, Any]:
        """The job as JSON for a worker."""
        imports = self.root.imports_for(self.target)
        folder = Path.cwd()
        source = self.root.source
        return {
            "work": "check" if self.check_only else "compile",
            "root": self.root.name,
            # Faults show the source as it is named here: short, where it is below the folder that the user is in.
            "source": str(source.relative_to(folder) if source.is_relative_to(folder) else source),
            "folder": str(folder),
            "imports": None if imports is None else [str(path) for path in imports],
            "kernels": None if self.kernels is None else list(self.kernels),
            "target": self.target.name,
            "emit": sorted(self.emit),
        }


@dataclass(frozen=True, slots=True)
class CodegenJob:
    """LLVM IR that the calling process has made, for one target: code generation alone.

    Attributes:
        root_name: for messages.
        ir: the module's text.
        kernels: name table of the module, resources not filled in.
    """

    root_name: str
    ir: str
    kernels: tuple[KernelEntry, ...]
    target: Target

    @property
    def heavy(self) -> bool:
        return False

    def order(self) -> Mapping[str, Any]:
        """The job as JSON for a worker."""
        return {
            "work": "codegen",
            "root": self.root_name,
            "ir": self.ir,
            "kernels": [kernel_to_json(kernel) for kernel in self.kernels],
            "target": self.target.name,
            "emit": [],
        }


Job = CompileJob | CodegenJob
