"""``gompute build``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import gompute
from gompute.artifacts.destination import Destination
from gompute.build.cache_files import default_folder
from gompute.build.job import EMIT
from gompute.build.kernel_set import BuildReport, BuildRequest, build_set
from gompute.build.modes import Modes
from gompute.build.project import places
from gompute.build.roots import KernelRoot
from gompute.build.store import Store
from gompute.build.task import Limits
from gompute.cli import ahead, options
from gompute.cli.accounts import print_timings, print_why, unit_json
from gompute.cli.failures import print_failures, print_said
from gompute.cli.invocation import Invocation
from gompute.cli.progress import kept_line, progress
from gompute.cli.report import count, print_error, print_json, print_note, readable_size
from gompute.targets import Target

__all__ = ["build_command"]


def _emit(_: click.Context, __: click.Parameter, value: str) -> frozenset[str]:
    kinds = frozenset(kind.strip() for kind in value.split(","))
    if unknown := sorted(kinds.difference(EMIT)):
        raise click.BadParameter(f"{', '.join(map(repr, unknown))}: choose from {', '.join(EMIT)}.")
    return kinds


@click.command("build")
@options.sources
@click.option(
    "--target",
    "-t",
    "targets",
    multiple=True,
    type=options.TARGET,
    help="A target to build for; may be given many times. `gompute targets` lists them.",
)
@options.output
@options.jobs
@click.option("--heavy", "heavy", multiple=True, metavar="NAME", help="A root whose compilation is heavy; may be given many times.")
@click.option(
    "--heavy-lanes",
    type=click.IntRange(min=1),
    help="How many units of heavy roots, of the -j at work, to work on at a time. Default: as declared, else 1.",
)
@click.option(
    "--manifest",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Compile only the kernels that this launch manifest names, and what they reach. `gompute manifest scan` writes one. Default: as "
    "declared, else all kernels.",
)
@click.option(
    "--emit",
    default="ptx",
    callback=_emit,
    metavar="KIND,...",
    help="What to make besides the blob that every target has (ptx, for NVIDIA): cubin, which NVIDIA's driver loads without compiling; "
    "ir and asm, listings for people to read.",
)
@options.optimize
@click.option(
    "--lineinfo", is_flag=True, help="Put line tables into the code, in any mode: profilers and debuggers then show kernels' lines."
)
@click.option(
    "--no-cache",
    is_flag=True,
    help="Take nothing from the cache and put nothing there.",
)
@options.cache_folder
@click.option(
    "--memory", type=click.FloatRange(min=0.25), default=16.0, metavar="GIB", help="The most memory that one worker may have. Default: 16."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="The longest that one worker may take. Default: no limit.",
)
@click.option("--why", is_flag=True, help="Say why each kernel was compiled, and what came from the cache.")
@click.option("--timings", is_flag=True, help="Say where the time went: by phase, and the kernels that took longest.")
@options.as_json
@click.pass_context
def build_command(
    ctx: click.Context,
    sources: Sequence[Path],
    targets: Sequence[Target],
    output: Path,
    module: str | None,
    wheel: bool,
    jobs: int,
    heavy: Sequence[str],
    heavy_lanes: int | None,
    manifest: Path | None,
    emit: frozenset[str],
    modes: Modes,
    lineinfo: bool,
    no_cache: bool,
    cache: Path | None,
    memory: float,
    timeout: float | None,
    why: bool,
    timings: bool,
    as_json: bool,
) -> int:
    """Compile kernel roots into a kernel set.

    SOURCE is a Python module with kernels, or LLVM IR of another compiler (.ll or
    .bc); its name without the suffix names the root. Without a SOURCE, the roots that pyproject.toml
    declares are built. The same sources give the same bytes on every machine.

    \b
    Example:
      gompute build kernels.py --target sm_89 --target gfx1100 --target x86-64-v3 -o kernels
      gompute build kernels.py --target sm_89 --wheel -o dist
    """
    read = ahead.contents(map(str, places(Path.cwd())))
    work = options.work(sources, targets, modes)
    roots = _with_heavy(work.roots, heavy)
    if not work.targets:
        raise click.UsageError(
            "no target: a build is for pinned targets. Give --target NAME, or declare targets in [tool.gompute] of pyproject.toml.\n"
            "`gompute targets` lists them."
        )
    destination = options.destination(output, module, wheel)
    limits = Limits(int(memory * (1 << 30)), timeout)
    named = manifest or work.manifest
    read |= ahead.contents([str(path.absolute()) for path in (*_files_of(roots), *((named,) if named is not None else ()))])
    launched = options.launched(ctx, named, work.host)
    lanes = heavy_lanes or work.heavy_lanes
    request = BuildRequest(roots, work.targets, destination, emit, jobs, lanes, launched, limits, work.modes, lineinfo)
    store = None if no_cache else _store(cache)
    with progress() as reporter:
        report = build_set(request, options.compiler(ctx), reporter, generator={"gompute": gompute.__version__}, store=store)
    if store is not None and report.complete and not work.host:  # what host code there is, is found anew each time
        _remember(ctx, store, read, report, tell=not (as_json or why or timings))
    for note in store.notes if store is not None else ():
        print_note(note)
    print_said(report.outcomes)
    if why:
        print_why(report.outcomes)
    if timings:
        print_timings(report.outcomes)
    print_failures(report.failed, launched)
    if as_json:
        print_json(_result(report, wheel) | {"units": [unit_json(outcome) for outcome in report.outcomes]})
    else:
        _print_summary(report, destination)
    return 0 if report.complete else 1


def _files_of(roots: Sequence[KernelRoot]) -> set[Path]:
    """The files that roots name; what else they read is known when they are compiled."""
    imports = (path for root in roots for paths in (root.imports or {}).values() for path in paths)
    return {source for root in roots for source in root.sources} | set(imports)


def _remember(ctx: click.Context, store: Store, read: Mapping[str, str | None], report: BuildReport, *, tell: bool) -> None:
    """Keep what this command has read and written; see `gompute.cli.ahead`.

    Args:
        read: the sha256 of what the command itself has read, taken before, by path.
        tell: it prints what it prints of every build.
    """
    if not isinstance(ctx.obj, Invocation) or report.place is None:
        return
    files, folders = dict(read), dict[str, str]()
    for outcome in report.compiled:
        reads = outcome.reads
        found = {**reads["sources"], **reads["files"], **dict.fromkeys(reads["absent"])}
        if reads["unknown"] is not None or any(files.get(path, digest) != digest for path, digest in found.items()):
            return  # it may differ the next time, or has changed while it was built
        files |= found
        folders |= reads["folders"]
    told = None
    if tell and not any(outcome.said for outcome in report.compiled):
        told = f"{_summary(report)}\n", "".join(f"{kept_line(outcome)}\n" for outcome in report.compiled)
    store.put(ahead.KIND, ahead.command_key(ctx.obj.arguments), ahead.record(files, folders, str(report.place), report.files, told))
    store.finish()


def _store(folder: Path | None) -> Store | None:
    """The cache in a folder, or in that of the user."""
    place = folder or default_folder(os.environ)
    return None if place is None else Store(Path(place))


def _with_heavy(roots: Sequence[KernelRoot], names: Sequence[str]) -> tuple[KernelRoot, ...]:
    """`roots`, those of these names heavy besides those that are declared so.

    Raises:
        click.BadParameter: there is no root of such a name.
    """
    known = {root.name for root in roots}
    for name in names:
        if name not in known:
            raise click.BadParameter(f"there is no root {name!r}; the roots are {', '.join(sorted(known))}.", param_hint="'--heavy'")
    return tuple(replace(root, heavy=root.heavy or root.name in names) for root in roots)


def _print_summary(report: BuildReport, destination: Destination) -> None:
    if report.failed and not report.compiled:
        print_error(f"nothing compiled; {destination.label} was left as it was.")
        return
    if report.written is None:
        missing, held = _units(report.failed), _units(report.compiled)
        print_error(f"{destination.label} was not written: it would be incomplete.\n  Compiled: {held}.\n  Missing: {missing}.")
        return
    if report.complete:
        click.echo(_summary(report))
        return
    print_error(f"{report.place} is incomplete.\n  It holds: {_units(report.compiled)}.\n  Missing: {_units(report.failed)}.")


def _summary(report: BuildReport) -> str:
    written = report.written or ()
    kernels = {kernel.name for unit in report.compiled for kernel in unit.kernels}
    size = readable_size(sum(blob.length for blob in written))
    return f"{report.place}: {count(len(kernels), 'kernel')}, {count(len(written), 'blob')}, {size}"


def _units(outcomes: Sequence[Any]) -> str:
    by_root: dict[str, list[str]] = {}
    for outcome in outcomes:
        by_root.setdefault(outcome.job.root_name, []).append(outcome.job.target.name)
    return "; ".join(f"{root} for {', '.join(names)}" for root, names in by_root.items())


def _result(report: BuildReport, wheel: bool) -> dict[str, Any]:
    return {
        **options.place_json(report.place, wheel),
        "complete": report.complete,
        "blobs": [
            {"file": blob.file, "root": blob.root, "target": blob.target, "kind": blob.kind, "length": blob.length, "sha256": blob.sha256}
            for blob in report.written or ()
        ],
        "kernels": sorted({kernel.name for unit in report.compiled for kernel in unit.kernels}) if report.written is not None else [],
        "failed": [
            {"root": unit.job.root_name, "target": unit.job.target.name, "kernels": list(unit.kernels), "message": unit.message}
            for unit in report.failed
        ],
    }
