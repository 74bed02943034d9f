"""``gompute check``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from gompute.build.clashes import check_kernel_names
from gompute.build.engine import run_jobs
from gompute.build.job import CompileJob
from gompute.build.modes import Modes, chosen
from gompute.build.outcome import Compiled, Failed
from gompute.cli import options
from gompute.cli.failures import print_failures, print_said
from gompute.cli.launches import check_made
from gompute.cli.progress import progress
from gompute.cli.report import count, print_json
from gompute.targets import Mode, Target, parse_target

__all__ = ["check_command"]

# What a module may tell apart without naming an architecture: one target of each backend.
_ONE_PER_BACKEND = ("gfx942", "sm_75", "x86-64-v3")


@click.command("check")
@options.sources
@click.option("--target", "-t", "targets", multiple=True, type=options.TARGET, help="A target to check for; may be given many times.")
@options.optimize
@options.jobs
@options.as_json
@click.pass_context
def check_command(ctx: click.Context, sources: Sequence[Path], targets: Sequence[Target], modes: Modes, jobs: int, as_json: bool) -> int:
    """Type-check kernels for every target, without generating code.

    Targets are those given, else those that pyproject.toml declares, else one of each backend (sm_75, gfx942, x86-64-v3). Where it
    declares a manifest too, a kernel there that no root makes is an error.

    \b
    Example:
      gompute check kernels.py
    """
    work = options.work(sources, targets, modes)
    launched = options.launched(ctx, work.manifest, work.host)
    roots = work.roots
    wanted = work.targets or tuple(parse_target(name) for name in _ONE_PER_BACKEND)
    with progress() as reporter:
        outcomes = run_jobs(
            [
                CompileJob(root, target, check_only=True, mode=Mode(chosen(target.backend, root.modes, work.modes)))
                for root in roots
                for target in wanted
                if root.source_for(target) is not None
            ],
            options.compiler(ctx),
            limit=jobs,
            reporter=reporter,
        )
    print_said(outcomes)
    compiled = [outcome for outcome in outcomes if isinstance(outcome, Compiled)]
    failed = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    print_failures(failed)
    check_kernel_names(compiled, roots)
    if launched is not None and not failed:
        made: dict[str, set[str]] = {}
        for outcome in compiled:
            made.setdefault(outcome.job.root_name, set()).update(kernel.name for kernel in outcome.kernels)
        check_made(launched, made)
    kernels = sorted({kernel.name for outcome in compiled for kernel in outcome.kernels})
    if as_json:
        print_json(
            {
                "complete": not failed,
                "kernels": kernels,
                "targets": [target.name for target in wanted],
                "failed": [{"root": unit.job.root_name, "target": unit.job.target.name, "message": unit.message} for unit in failed],
            }
        )
    elif not failed:
        click.echo(f"{', '.join(target.name for target in wanted)}: {count(len(kernels), 'kernel')} checked: {', '.join(kernels)}")
    return 1 if failed else 0
