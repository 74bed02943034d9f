"""``gompute manifest``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from gompute.artifacts.manifest import Manifest, encode_manifest, merge_manifests, read_manifest
from gompute.artifacts.staging import replace_file
from gompute.cli import options
from gompute.cli.launches import lacking, needless, scanned
from gompute.cli.report import count, print_error, print_note, table
from gompute.errors import CompileError

__all__ = ["manifest_command"]


def _host(_: click.Context, __: click.Parameter, paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """The paths given, else those that the project declares."""
    project = options.project() if not paths else None
    declared = project.host if project is not None else ()
    if not paths and not declared:
        raise click.UsageError('no host code: give PATH, or declare it in pyproject.toml: [tool.gompute] host = ["program"].')
    return paths or tuple(Path(os.path.relpath(path)) for path in declared)


_paths = click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(exists=True, path_type=Path), callback=_host)
_output = click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write here instead of to the screen.")
_roots = click.option(
    "--root",
    "roots",
    multiple=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A kernel root, named by its file; may be given many times. Default: the roots that pyproject.toml declares, else every module "
    "that is met and makes kernels.",
)


@click.group("manifest", no_args_is_help=True)
def manifest_command() -> None:
    """Find the kernels that a program launches, so that a build compiles no others.

    A manifest is JSON that is meant to be committed: build --manifest FILE, or manifest = "FILE" in [tool.gompute] of pyproject.toml.
    With host = ["PATH", ...] beside it, a build fails where that code launches what the manifest does not name.

    \b
    Example:
      gompute manifest scan program/ -o manifest.json
      gompute manifest check program/
      gompute build --manifest manifest.json -o kernels
    """


@manifest_command.command("scan")
@_paths
@_output
@_roots
@click.option("--call-sites", is_flag=True, help="Also write where each launch is, as FILE:LINE; an edit of another line then changes it.")
@click.pass_context
def _scan(ctx: click.Context, paths: Sequence[Path], output: Path | None, roots: Sequence[Path], call_sites: bool) -> int:
    """Find every kernel that host code in PATH launches, and write the manifest.

    PATH is a Python file or a folder of them; without one, what pyproject.toml declares as host is scanned. The code is read and never
    run; imports are followed into modules beside it. A kernel is launched by Kernel, AutoKernel, RawKernel and kernel_by_name, under
    whatever name; one that is passed to code that is not read counts too. A launch whose kernel the source does not show is an error,
    unless it is declared: by a comment `# gompute: keep NAME` at its line, or by keep = ["NAME"] in [tool.gompute] of pyproject.toml.
    """
    found = _noted(ctx, paths, roots)
    _write(encode_manifest(found if call_sites else replace(found, call_sites=None)), output)
    return 0


@manifest_command.command("check")
@_paths
@_roots
@click.option(
    "--manifest",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The manifest to check. Default: as pyproject.toml declares.",
)
@click.option("--allow-more", is_flag=True, help="Let the manifest name kernels that PATH does not launch: those of other programs.")
@click.pass_context
def _check(ctx: click.Context, paths: Sequence[Path], roots: Sequence[Path], file: Path | None, allow_more: bool) -> int:
    """Scan PATH again, and fail when the manifest does not say the same."""
    if file is None:
        project = options.project()
        file = project.manifest if project is not None else None
    if file is None:
        raise click.UsageError('no manifest to check: give --manifest FILE, or declare manifest = "FILE" in [tool.gompute].')
    if not file.exists():
        raise CompileError(f"{file}: there is no such manifest.\n  Write it: gompute manifest scan {' '.join(map(str, paths))} -o {file}")
    found, written = _noted(ctx, paths, roots), read_manifest(file)
    differences = [*lacking(found, written), *(() if allow_more else needless(found, written))]
    if not (differences or allow_more) and written.call_sites not in (None, found.call_sites):
        differences.append("its call sites have moved")
    if differences:
        lines = "\n".join(f"  {line}" for line in differences)
        arguments = " ".join(["--call-sites"] * (written.call_sites is not None) + [*map(str, paths)])
        print_error(f"{file} is stale:\n{lines}\n  Write it again: gompute manifest scan {arguments} -o {os.path.relpath(file)}")
        return 1
    launched = sum(len(found.public_names(root)) for root in found.kernels)
    click.echo(f"{file}: {count(launched, 'kernel')} of {count(len(found.kernels), 'root')}, up to date")
    return 0


@manifest_command.command("merge")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_output
def _merge(files: Sequence[Path], output: Path | None) -> int:
    """Unite the manifests of several packages: what any of them launches."""
    _write(encode_manifest(merge_manifests([(str(file), read_manifest(file)) for file in files])), output)
    return 0


@manifest_command.command("show")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def _show(file: Path) -> int:
    """List what a manifest names: root, kernel, instances, and where they are launched if FILE says so."""
    manifest = read_manifest(file)
    sites = manifest.call_sites or {}
    rows = [
        (root, kernel, " ".join(instances) or None, " ".join(sites.get(root, {}).get(kernel, ())) or None)
        for root, kernels in manifest.kernels.items()
        for kernel, instances in kernels.items()
    ]
    click.echo(table(("root", "kernel", "instances", "launched at"), rows))
    return 0


def _noted(ctx: click.Context, paths: Sequence[Path], roots: Sequence[Path]) -> Manifest:
    found = scanned(ctx, paths, roots)
    for note in found.notes:
        print_note(f"note: {note}")
    return found.manifest


def _write(data: bytes, output: Path | None) -> None:
    if output is not None:
        replace_file(output, data)
    else:
        sys.stdout.write(data.decode())
