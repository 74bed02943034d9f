"""A whole build: every root for every target, and the kernel set that they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gompute.artifacts.destination import Destination
from gompute.artifacts.index import SourceEntry
from gompute.artifacts.manifest import Manifest
from gompute.artifacts.write import NewBlob, NewUnit, WrittenBlob, set_content
from gompute.build.clashes import check_kernel_names
from gompute.build.engine import Reporter, run_jobs
from gompute.build.job import CompileJob
from gompute.build.modes import Modes, chosen
from gompute.build.outcome import Compiled, Failed, Outcome
from gompute.build.roots import KernelRoot, check_unique
from gompute.build.store import Store
from gompute.build.task import Limits
from gompute.build.zygote import Zygote
from gompute.errors import CompileError
from gompute.targets import Mode, Target

__all__ = ["BuildReport", "BuildRequest", "build_set"]


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What to build.

    Attributes:
        destination: where the kernel set goes, and in which form.
        emit: some of `gompute.build.job.EMIT`.
        limit: units at work at a time.
        heavy_lanes: how many of these may be of heavy roots.
        manifest: what is launched; nothing else is compiled. None for every kernel of every root.
        limits: of each worker; None for none.
        modes: the optimise modes of roots that ask for none themselves.
        lineinfo: whether code has line tables in every mode.
    """

    roots: tuple[KernelRoot, ...]
    targets: tuple[Target, ...]
    destination: Destination
    emit: frozenset[str]
    limit: int
    heavy_lanes: int = 1
    manifest: Manifest | None = None
    limits: Limits | None = None
    modes: Modes = field(default_factory=Modes)
    lineinfo: bool = False


@dataclass(frozen=True, slots=True)
class BuildReport:
    """How a build went.

    Attributes:
        outcomes: one per root and target, by root and then target.
        written: the blobs, in the order of the set's index; None when nothing was written, because nothing compiled, or because some units
            failed and the form of the destination wants all.
        place: the folder or the file that was written.
        files: what is in it; see `gompute.artifacts.destination.Prepared.files`.
    """

    outcomes: tuple[Outcome, ...]
    written: tuple[WrittenBlob, ...] | None = None
    place: Path | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)

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


def build_set(
    request: BuildRequest, zygote: Zygote, reporter: Reporter, *, generator: Mapping[str, str], store: Store | None = None
) -> BuildReport:
    """Compile every root for every target, and write what compiled as a kernel set, in one step.

    Args:
        generator: name and version of the program that builds, for the index.
        store: the cache; None for none.

    Raises:
        ArtifactError: the destination cannot take a kernel set, or writing fails; what was there is there still.
        BackendUnavailable: the compiler is not installed.
        CompileError: two roots have one name, or define a kernel of one name, or the manifest names a root that is not built, or the
            compiler's process was ended from outside; nothing is written.
    """
    check_unique(request.roots)
    request.destination.check()
    roots, whole = _launched(request)
    jobs = [
        CompileJob(
            root,
            target,
            request.emit,
            kernels=request.manifest.public_names(root.name) if request.manifest is not None else None,
            mode=Mode(chosen(target.backend, root.modes, request.modes), request.lineinfo),
        )
        for root in roots
        for target in sorted(request.targets, key=lambda target: target.sort_key)
        if root.source_for(target) is not None
    ]
    outcomes = run_jobs(
        jobs, zygote, limit=request.limit, heavy_lanes=request.heavy_lanes, reporter=reporter, store=store, limits=request.limits
    )
    if store is not None:
        store.finish()
    report = BuildReport(tuple(outcomes))
    check_kernel_names(report.compiled, request.roots)
    if not (report.compiled or report.complete) or not (report.complete or request.destination.partial):
        return report
    content = set_content(map(_unit, report.compiled), generator=generator, left_out=_left_out(report.compiled, whole))
    prepared = request.destination.prepare(content)
    zygote.guard(prepared.staging)
    prepared.write()
    zygote.release()
    return BuildReport(report.outcomes, content.blobs, prepared.place, prepared.files)


def _launched(request: BuildRequest) -> tuple[list[KernelRoot], list[KernelRoot]]:
    """The roots to compile, by name, and those that nothing is launched of.

    Raises:
        CompileError: the manifest names a root that is not among those to build.
    """
    roots = sorted(request.roots, key=lambda root: root.name)
    if request.manifest is None:
        return roots, []
    launched = request.manifest.kernels
    missing = sorted(name for name in launched.keys() - {root.name for root in roots} if launched[name])
    if missing:
        lines = [
            f"  root {name}: {', '.join(_with_sites(request.manifest, name, kernel) for kernel in request.manifest.public_names(name))}"
            for name in missing
        ]
        have = ", ".join(root.name for root in roots)
        raise CompileError(
            "the manifest names kernels of roots that are not built here (the roots are " + have + "):\n" + "\n".join(lines) + "\n"
            "  Give their sources too, or declare them in [tool.gompute.roots] of pyproject.toml; where the roots have changed, scan again."
        )
    return [root for root in roots if launched.get(root.name)], [root for root in roots if not launched.get(root.name)]


def _with_sites(manifest: Manifest, root: str, kernel: str) -> str:
    sites = manifest.sites(root, kernel)
    return f"{kernel} (launched at {', '.join(sites)})" if sites else kernel


def _left_out(compiled: tuple[Compiled, ...], whole: list[KernelRoot]) -> dict[str, tuple[str, ...]]:
    """See `Index.left_out`. A kernel that a root makes for some targets alone is not left out."""
    made: dict[str, tuple[str, ...]] = {root.name: () for root in whole}
    for root in {outcome.job.root_name for outcome in compiled}:
        units = [outcome for outcome in compiled if outcome.job.root_name == root]
        left_out = {name for unit in units for name in unit.left_out} - {kernel.name for unit in units for kernel in unit.kernels}
        if left_out:
            made[root] = tuple(sorted(left_out))
    return made


def _unit(outcome: Compiled) -> NewUnit:
    code = outcome.reads.get("code")
    return NewUnit(
        root=outcome.job.root_name,
        target=outcome.job.target,
        blobs=tuple(NewBlob(blob.kind, blob.data, blob.version) for blob in outcome.blobs),
        kernels=outcome.kernels,
        toolchain=outcome.toolchain,
        listings=outcome.listings,
        ir=outcome.ir,
        mode=outcome.job.mode,
        source=None if code is None else SourceEntry(code["module"], code["imports"]),
    )
