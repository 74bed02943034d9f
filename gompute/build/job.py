"""What one worker is asked to do, as the calling process names it and as it crosses to the worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gompute.artifacts.entry import KernelEntry
from gompute.build.roots import KernelRoot
from gompute.targets import FAST, Mode, Target

__all__ = ["EMIT", "CodegenJob", "CompileJob", "Job", "mode_of", "mode_order"]

EMIT = ("ptx", "cubin", "ir", "asm")
"""What `--emit` takes: `ptx` is made for every NVIDIA target, named or not; `cubin` adds one; `ir` and `asm` add listings."""


@dataclass(frozen=True, slots=True)
class CompileJob:
    """One root for one target.

    Attributes:
        emit: some of `EMIT`.
        check_only: stop after type checking; nothing is generated.
        kernels: public names of the kernels to look at, sorted; None for all that the root makes.
        mode: how the code is made.
    """

    root: KernelRoot
    target: Target
    emit: frozenset[str] = frozenset({"ptx"})
    check_only: bool = False
    kernels: tuple[str, ...] | None = None
    mode: Mode = FAST

    @property
    def root_name(self) -> str:
        return self.root.name

    @property
    def heavy(self) -> bool:
        """Whether it takes one of the lanes for heavy roots; a check takes none."""
        return self.root.heavy and not self.check_only

    def lower_order(self) -> dict[str, Any]:
        """The order to import and check it, and, unless that is all, to lower it."""
        imports = self.root.imports_for(self.target)
        folder = Path.cwd()
        source = self.root.source_for(self.target)
        assert source is not None, "there is no job for a backend that the root is not for"
        return {
            "work": "check" if self.check_only else "lower",
            "root": self.root.name,
            # Faults show the source as it is named here: short, where it is below the folder that the user is in.
            "source": str(source.relative_to(folder) if source.is_relative_to(folder) else source),
            "folder": str(folder),
            "imports": None if imports is None else [str(path) for path in imports],
            "kernels": None if self.kernels is None else list(self.kernels),
            "target": self.target.name,
            **mode_order(self.mode),
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

    emit: frozenset[str] = frozenset({"ptx"})
    heavy: bool = False
    mode: Mode = FAST


def mode_order(mode: Mode) -> dict[str, Any]:
    """A mode as a part of an order; see `mode_of`."""
    return {"optimize": mode.optimize, "lineinfo": mode.lineinfo}


def mode_of(order: Mapping[str, Any]) -> Mode:
    """The mode in an order."""
    return Mode(order["optimize"], order["lineinfo"])


Job = CompileJob | CodegenJob
