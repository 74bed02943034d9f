"""What became of one unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gompute.artifacts.entry import KernelEntry
from gompute.build.job import Job
from gompute.targets import BlobKind

__all__ = ["Compiled", "CompiledBlob", "Failed", "Outcome"]


@dataclass(frozen=True, slots=True)
class CompiledBlob:
    """One blob in memory.

    Attributes:
        version: the PTX version or the code object version that a driver must take, as text; None where there is none.
    """

    kind: BlobKind
    data: bytes
    version: str | None


@dataclass(frozen=True, slots=True)
class Compiled:
    """A unit that compiled (or, for a check, type-checked: then there are no blobs).

    Attributes:
        listings: text by kind of listing (`ir`, `asm`), as asked for.
        sources: every source file that the unit has reached, sorted.
        toolchain: name and version of each tool that had a part in it.
        left_out: names of the kernels that the root makes and the job did not ask for, sorted.
        said: what the author's module and the tools printed.
        seconds: wall time of the worker.
    """

    job: Job
    kernels: tuple[KernelEntry, ...]
    blobs: tuple[CompiledBlob, ...]
    listings: Mapping[str, str]
    sources: tuple[Path, ...]
    toolchain: Mapping[str, str]
    left_out: tuple[str, ...]
    said: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Failed:
    """A unit that did not compile.

    Attributes:
        message: what is wrong, where, and what to do.
        kernels: the kernels that the unit was at work on, as far as they are known.
        internal: True for a bug of Gompute's own.
        said: what the author's module and the tools printed.
    """

    job: Job
    message: str
    kernels: tuple[str, ...]
    internal: bool
    said: str
    seconds: float


Outcome = Compiled | Failed
