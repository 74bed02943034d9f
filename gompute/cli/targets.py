"""``gompute targets``."""

from __future__ import annotations

import sys

import click

from gompute.cli import options
from gompute.cli.report import table
from gompute.targets import Target, all_targets
from gompute.targets.dump import targets_json

__all__ = ["targets_command"]


@click.command("targets")
@options.as_json
def targets_command(as_json: bool) -> int:
    """List the targets that kernels can be compiled for.

    The list is gompute's own and the same on every machine: nothing is read of the one it runs on.

    \b
    Example:
      gompute targets --json
    """
    if as_json:
        sys.stdout.write(targets_json())
        return 0
    head = ("target", "backend", "blobs", "needs", "warp", "shared memory", "parameters")
    click.echo(table(head, (_row(target) for target in all_targets())))
    return 0


def _row(target: Target) -> tuple[object, ...]:
    return (
        target.name,
        target.backend,
        ", ".join(target.kinds),
        _needs(target),
        target.warp_size,
        target.max_static_shared,
        target.max_params,
    )


def _needs(target: Target) -> str | None:
    """What the machine that loads the blobs must know."""
    if target.ptx_version is not None:
        return "PTX {}.{}".format(*target.ptx_version)
    if target.code_object_version is not None:
        return f"code object {target.code_object_version}"
    return None
