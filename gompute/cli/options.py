"""Options and arguments that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

import gompute
from gompute.artifacts.destination import Destination, PackageFolder, SetFolder, WheelFile
from gompute.artifacts.manifest import Manifest, read_manifest
from gompute.artifacts.names import MODULE, module_fault
from gompute.artifacts.wheel import wheel_name_fault
from gompute.build.modes import Modes, read_word
from gompute.build.project import Project, find_project
from gompute.build.roots import KernelRoot, roots_from_files
from gompute.build.zygote import Zygote
from gompute.cli.invocation import Invocation
from gompute.errors import CompileError, UnknownTarget
from gompute.targets import Target, parse_target

__all__ = [
    "TARGET",
    "Work",
    "as_json",
    "cache_folder",
    "compiler",
    "destination",
    "jobs",
    "launched",
    "optimize",
    "output",
    "place_json",
    "project",
    "sources",
    "work",
]

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


def _modes(_: click.Context, __: click.Parameter, words: Sequence[str]) -> Modes:
    modes = Modes()
    for word in words:
        try:
            modes = read_word(word).over(modes)
        except CompileError as error:
            raise click.BadParameter(str(error)) from None
    return modes


def optimize(function: Function) -> Function:
    """``--optimize``."""
    text = (
        "How code is made: fast; safe, with checks of indices, divisors, shifts and asserts that report file and line; debug, with checks, "
        "line tables and little optimisation. May be given many times, with BACKEND (cuda, hip, cpu) for one of them. A root's own mode in "
        "pyproject.toml goes first, then a backend's; debug without a BACKEND leaves code for GPUs fast. Default: as declared, else fast."
    )
    return click.option("--optimize", "modes", multiple=True, metavar="[BACKEND=]MODE", callback=_modes, help=text)(function)


def as_json(function: Function) -> Function:
    """``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON on the standard output.")(function)


def _module(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and (fault := module_fault(value)) is not None:
        raise click.BadParameter(f"{value!r} cannot name the module: {fault}.")
    return value


def output(function: Function) -> Function:
    """``-o``, and the forms in which a set is put there."""
    place = click.option(
        "--output",
        "-o",
        required=True,
        type=click.Path(path_type=Path, file_okay=False),
        help="The folder of the kernel set, which is replaced as a whole. With --module or --wheel, the folder that the package or the "
        "wheel is put into, beside what is there.",
    )
    module = click.option(
        "--module",
        metavar="NAME",
        callback=_module,
        help=f"Write a Python package NAME around the set, for programs to import. Gompute itself finds one that is called {MODULE}.",
    )
    wheel = click.option("--wheel", is_flag=True, help=f"Write that package as a wheel. Without --module it is called {MODULE}.")
    return place(module(wheel(function)))


def cache_folder(function: Function) -> Function:
    """``--cache``."""
    text = "The folder of the cache. Default: $XDG_CACHE_HOME/gompute, else ~/.cache/gompute."
    return click.option("--cache", "cache", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help=text)(function)


def destination(folder: Path, module: str | None, wheel: bool) -> Destination:
    """What the options of `output` ask for.

    Raises:
        click.UsageError: the wheel cannot be named after the module.
    """
    if wheel:
        name = module or MODULE
        if (fault := wheel_name_fault(name)) is not None:
            raise click.BadParameter(f"{name!r} cannot name a wheel: {fault}.", param_hint="'--module'")
        return WheelFile(folder, name, gompute.__version__)
    return SetFolder(folder) if module is None else PackageFolder(folder, module)


def place_json(place: Path | None, wheel: bool) -> dict[str, str | None]:
    """Where a set was put, for ``--json``: the folder of the set, or the wheel; null where it was not written."""
    return {"directory": None, "wheel": None} | {"wheel" if wheel else "directory": None if place is None else str(place)}


def compiler(ctx: click.Context) -> Zygote:
    """The compiler's process: the one that was started ahead, else one that starts when it is needed. It ends with the command."""
    if isinstance(ctx.obj, Invocation) and ctx.obj.zygote is not None:
        return ctx.obj.zygote
    return ctx.with_resource(Zygote())


def project() -> Project | None:
    """What pyproject.toml declares where the command runs.

    Raises:
        CompileError: a declaration is wrong.
    """
    return find_project(Path.cwd())


@dataclass(frozen=True, slots=True)
class Work:
    """What a command is about.

    Attributes:
        targets: each once, sorted; there may be none.
        heavy_lanes: how many heavy roots may be at work at a time, as declared.
        manifest: the launch manifest that the project declares; None where files were given.
        modes: the optimise modes that were asked for, or that the project declares.
        host: the host code that the project declares; empty where files were given.
    """

    roots: tuple[KernelRoot, ...]
    targets: tuple[Target, ...]
    heavy_lanes: int
    manifest: Path | None
    modes: Modes
    host: tuple[Path, ...] = ()


def work(files: Sequence[Path], targets: Sequence[Target], modes: Modes) -> Work:
    """The files given, else the roots that the project declares; the targets and the modes given, else the declared ones.

    Raises:
        click.UsageError: the files cannot be roots, or there is neither a file nor a declaration.
        CompileError: a declaration is wrong.
    """
    declared = None if files and targets else project()
    if files:
        try:
            roots = roots_from_files(files)
        except CompileError as error:
            raise click.UsageError(str(error)) from None
    elif declared is not None and declared.roots:
        roots = declared.roots
    else:
        raise click.UsageError(
            "nothing to compile: name a source file (gompute build kernels.py ...), or declare roots in pyproject.toml:\n\n"
            '  [tool.gompute]\n  targets = ["sm_89", "x86-64-v3"]\n\n  [tool.gompute.roots.kernels]\n  source = "kernels.py"'
        )
    wanted = targets or (declared.targets if declared is not None else ())
    by_name = {target.name: target for target in wanted}
    lanes = declared.heavy_lanes if declared is not None else 1
    manifest, host = (declared.manifest, declared.host) if declared is not None and not files else (None, ())
    asked = modes.over(declared.modes) if declared is not None and not files else modes
    return Work(roots, tuple(sorted(by_name.values(), key=lambda target: target.sort_key)), lanes, manifest, asked, host)


def launched(ctx: click.Context, file: Path | None, host: Sequence[Path]) -> Manifest | None:
    """The manifest in a file, held to the host code if there is any; None for none.

    Raises:
        ArtifactError: the file is no manifest.
        CompileError: it is not there, or the host code launches what it does not name, or what no root makes.
    """
    if file is None:
        return None
    if not file.exists():
        raise CompileError(
            f"{file}: there is no such manifest, and [tool.gompute] of pyproject.toml names it.\n"
            f"  Write it: gompute manifest scan PATH... -o {os.path.relpath(file)}"
        )
    if not host:
        return read_manifest(file)
    from gompute.cli.launches import covered  # most builds scan nothing

    return covered(ctx, read_manifest(file), file, host)
