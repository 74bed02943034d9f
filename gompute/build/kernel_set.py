"""A whole build: every root for every target, and the kernel set that they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gompute.artifacts.write import NewBlob, NewUnit, WrittenBlob, check_destination, staging_folder, write_set
from gompute.build.clashes import check_kernel_names
from gompute.build.engine import Reporter, run_jobs
from gompute.build.job import CompileJob
from gompute.build.outcome import Compiled, Failed, Outcome
from gompute.build.roots import KernelRoot, check_unique
from gompute.build.zygote import Zygote
from gompute.targets import Target

__all__ = ["BuildReport", "BuildRequest", "build_set"]


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What to build.

    Attributes:
        directory: where the kernel set goes; a set that is there is replaced as a whole.
        emit: some of `gompute.build.job.EMIT`.
        limit: units at work at a time.
    """

    roots: tuple[KernelRoot, ...]
    targets: tuple[Target, ...]
    directory: Path
    emit: frozenset[str]
    limit: int


@dataclass(frozen=True, slots=True)
class BuildReport:
    """How a build went.

    Attributes:
        outcomes: one per root and target, by root and then target.
        written: the blobs in `directory`, in its index's order; None when nothing compiled and the directory was left as it was.
    """

    directory: Path
    outcomes: tuple[Outcome, ...]
    written: tuple[WrittenBlob, ...] | None

    @property
    def compiled(self) -> tuple[Compiled, ...]:
        return tuple(outcome for outcome in self.outcomes if isinstance(outcome, Compiled))

    @property
    def failed(self) -> tuple[Failed, ...]:
        return tuple(outcome for outcome in self.outcomes if isinstance(outcome, Failed))

    @property
    def complete(self) -> bool:
        """Every unit compiled."""
        return not self.failed


def build_set(request: BuildRequest, zygote: Zygote, reporter: Reporter, *, generator: Mapping[str, str]) -> BuildReport:
    """Compile every root for every target, and write those units that compiled as a kernel set, in one step.

    Args:
        generator: name and version of the program that builds, for the index.

    Raises:
        ArtifactError: the directory cannot take a kernel set, or writing fails; what was there is there still.
        BackendUnavailable: the compiler is not installed.
        CompileError: two roots have one name, or define a kernel of one name, or the compiler's process was ended from outside; nothing is
            written.
    """
    check_unique(request.roots)
    check_destination(request.directory)
    jobs = [
        CompileJob(root, target, request.emit)
        for root in sorted(request.roots, key=lambda root: root.name)
        for target in sorted(request.targets, key=lambda target: target.sort_key)
    ]
    report = BuildReport(request.directory, tuple(run_jobs(jobs, zygote, limit=request.limit, reporter=reporter)), None)
    check_kernel_names(report.compiled, request.roots)
    if not report.compiled:
        return report
    staging = staging_folder(request.directory)
    zygote.guard(staging)
    written = write_set(request.directory, map(_unit, report.compiled), generator=generator, staging=staging)
    zygote.release()
    return BuildReport(report.directory, report.outcomes, written)


def _unit(outcome: Compiled) -> NewUnit:
    return NewUnit(
        root=outcome.job.root_name,
        target=outcome.job.target,
        blobs=tuple(NewBlob(blob.kind, blob.data, blob.version) for blob in outcome.blobs),
        kernels=outcome.kernels,
        toolchain=outcome.toolchain,
        listings=outcome.listings,
    )
