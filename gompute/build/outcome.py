"""What became of one unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gompute.artifacts.entry import KernelEntry
from gompute.build.job import Job
from gompute.targets import BlobKind

__all__ = ["Compiled", "CompiledBlob", "Failed", "Outcome", "Step"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step on a root's way for a target.

    Attributes:
        work: `lower` (source to IR), `code` (a kernel's IR to its code) or `join` (all of it to the root's blobs).
        kernels: what it was about.
        reused: it was found in the cache.
        seconds: wall time of the worker.
        phases: seconds by phase: `import`, `lower`, `read`, `optimise`, `generate`, `link`.
        why: why it was done; empty where it was not.
    """

    work: str
    kernels: tuple[str, ...]
    reused: bool
    seconds: float = 0.0
    phases: Mapping[str, float] = field(default_factory=dict)
    why: str = ""


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
        reads: what it was made from, as JSON of `gompute.frontend.reads.Reads`, and `code`, of `gompute.frontend.code.CodeDigests`.
        toolchain: name and version of each tool that had a part in it.
        left_out: names of the kernels that the root makes and the job did not ask for, sorted.
        said: what the author's module and the tools printed.
        seconds: wall time from the first worker's start to the last one's end.
        steps: what was done for it and what was found in the cache.
        ir: the sha256 of the LLVM IR that each kernel was compiled from, by name.
        why: why it could not be taken from the cache as it was; empty where it was, or where there is no cache.
    """

    job: Job
    kernels: tuple[KernelEntry, ...]
    blobs: tuple[CompiledBlob, ...]
    listings: Mapping[str, str]
    reads: Mapping[str, Any]
    toolchain: Mapping[str, str]
    left_out: tuple[str, ...]
    said: str
    seconds: float
    steps: tuple[Step, ...] = ()
    why: tuple[str, ...] = ()
    ir: Mapping[str, str] = field(default_factory=dict)

    @property
    def reused(self) -> bool:
        """Whether no worker had a part in it."""
        return all(step.reused for step in self.steps) and bool(self.steps)


@dataclass(frozen=True, slots=True)
class Failed:
    """A unit that did not compile.

    Attributes:
        message: what is wrong, where, and what to do.
        kernels: the kernels that the unit was at work on, as far as they are known; or those that it was asked for and does not make.
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
