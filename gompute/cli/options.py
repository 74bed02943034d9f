"""Options and arguments that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from gompute.build.project import find_project
from gompute.build.roots import KernelRoot, roots_from_files
from gompute.build.zygote import Zygote
from gompute.errors import CompileError, UnknownTarget
from gompute.targets import Target, parse_target

__all__ = ["TARGET", "as_json", "compiler", "jobs", "roots_and_targets", "sources"]

Function = TypeVar("Function", bound=Callable[..., Any])


class _TargetType(click.ParamType[Target]):
    name = "target"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Target:
        if isinstance(value, Target):
            return value
        try:
            return parse_target(value)
        except UnknownTarget as error:
            self.fail(str(error), param, ctx)


TARGET = _TargetType()


def sources(function: Function) -> Function:
    """The source files of a build or a check."""
    path = click.Path(exists=True, dir_okay=False, path_type=Path)
    return click.argument("sources", nargs=-1, metavar="[SOURCE]...", type=path)(function)


def jobs(function: Function) -> Function:
    """``-j``."""
    text = "How many units (one root for one target) to work on at a time. Default: as many as this process may use processors."
    return click.option("-j", "--jobs", type=click.IntRange(min=1), default=lambda: len(os.sched_getaffinity(0)), help=text)(function)


def as_json(function: Function) -> Function:
    """``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON on the standard output.")(function)


def compiler(ctx: click.Context) -> Zygote:
    """The compiler's process: the one that was started ahead, else a new one. It ends with the command."""
    if isinstance(ctx.obj, Zygote):
        return ctx.obj
    return ctx.with_resource(Zygote.start())


def roots_and_targets(files: Sequence[Path], targets: Sequence[Target]) -> tuple[tuple[KernelRoot, ...], tuple[Target, ...]]:
    """What a command is about: the files given, else the roots that the project declares; the targets given, else the declared ones (which
    may be none). Each once.

    Raises:
        click.UsageError: the files cannot be roots, or there is neither a file nor a declaration.
        CompileError: a declaration is wrong.
    """
    project = None if files and targets else find_project(Path.cwd())
    if files:
        try:
            roots = roots_from_files(files)
        except CompileError as error:
            raise click.UsageError(str(error)) from None
    elif project is not None and project.roots:
        roots = project.roots
    else:
        raise click.UsageError(
            "nothing to compile: name a source file (gompute build kernels.py ...), or declare roots in pyproject.toml:\n\n"
            '  [tool.gompute]\n  targets = ["sm_89", "x86-64-v3"]\n\n  [tool.gompute.roots.kernels]\n  source = "kernels.py"'
        )
    wanted = targets or (project.targets if project is not None else ())
    by_name = {target.name: target for target in wanted}
    return roots, tuple(sorted(by_name.values(), key=lambda target: target.sort_key))
