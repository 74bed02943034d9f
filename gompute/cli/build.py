"""``gompute build``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import gompute
from gompute.build.job import EMIT
from gompute.build.kernel_set import BuildReport, BuildRequest, build_set
from gompute.cli import options
from gompute.cli.failures import print_failures, print_said
from gompute.cli.progress import progress
from gompute.cli.report import count, print_error, print_json, readable_size
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
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder of the kernel set. It is replaced as a whole.",
)
@options.jobs
@click.option(
    "--emit",
    default="ptx",
    callback=_emit,
    metavar="KIND,...",
    help="What to make besides the blob that every target has (ptx, for NVIDIA): cubin, which NVIDIA's driver loads without compiling; "
    "ir and asm, listings for people to read.",
)
@click.option(
    "--no-cache",
    is_flag=True,
    help="Build everything afresh. Every build does; the option is there for scripts that want to be sure of it.",
)
@options.as_json
@click.pass_context
def build_command(
    ctx: click.Context,
    sources: Sequence[Path],
    targets: Sequence[Target],
    output: Path,
    jobs: int,
    emit: frozenset[str],
    no_cache: bool,
    as_json: bool,
) -> int:
    """Compile kernel roots into a kernel set.

    SOURCE is a Python module with kernels; its name without .py names the root. Without a SOURCE, the roots that pyproject.toml
    declares are built. The same sources give the same bytes on every machine.

    \b
    Example:
      gompute build kernels.py --target sm_89 --target gfx1100 --target x86-64-v3 -o kernels
    """
    roots, wanted = options.roots_and_targets(sources, targets)
    if not wanted:
        raise click.UsageError(
            "no target: a build is for pinned targets. Give --target NAME, or declare targets in [tool.gompute] of pyproject.toml.\n"
            "`gompute targets` lists them."
        )
    request = BuildRequest(roots, wanted, output, emit, jobs)
    with progress() as reporter:
        report = build_set(request, options.compiler(ctx), reporter, generator={"gompute": gompute.__version__})
    print_said(report.outcomes)
    print_failures(report.failed)
    if as_json:
        print_json(_result(report))
    else:
        _print_summary(report)
    return 0 if report.complete else 1


def _print_summary(report: BuildReport) -> None:
    if report.written is None:
        print_error(f"nothing compiled; {report.directory} was left as it was.")
        return
    size = sum(blob.length for blob in report.written)
    kernels = {kernel.name for unit in report.compiled for kernel in unit.kernels}
    if report.complete:
        click.echo(f"{report.directory}: {count(len(kernels), 'kernel')}, {count(len(report.written), 'blob')}, {readable_size(size)}")
        return
    print_error(f"{report.directory} is incomplete.\n  It holds: {_units(report.compiled)}.\n  Missing: {_units(report.failed)}.")


def _units(outcomes: Sequence[Any]) -> str:
    by_root: dict[str, list[str]] = {}
    for outcome in outcomes:
        by_root.setdefault(outcome.job.root_name, []).append(outcome.job.target.name)
    return "; ".join(f"{root} for {', '.join(names)}" for root, names in by_root.items())


def _result(report: BuildReport) -> dict[str, Any]:
    return {
        "directory": str(report.directory),
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
