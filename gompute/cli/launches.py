"""Scanning host code for launches, with the roots of the project at hand, and holding a manifest to what is found."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from gompute.artifacts.manifest import Manifest, public_name
from gompute.build.ir_tool import run_ir_tool
from gompute.build.roots import KernelRoot, roots_from_files
from gompute.cli import options
from gompute.errors import CompileError
from gompute.manifest.scan import RootSource, Scan, scan

__all__ = ["check_made", "covered", "lacking", "needless", "scanned"]


def scanned(ctx: click.Context, paths: Sequence[Path], files: Sequence[Path]) -> Scan:
    """Scan host code.

    Args:
        files: roots by their files; where there are none, those that the project declares.

    Raises:
        CompileError: as `gompute.manifest.scan.scan`.
    """
    project = options.project()
    declared = roots_from_files(files) if files else project.roots if project is not None else ()
    roots = [_source(ctx, root) for root in declared] or None
    keep = project.keep if project is not None else ()
    return scan(paths, roots, keep=keep, base=project.file.parent if project is not None else None)


def covered(ctx: click.Context, manifest: Manifest, file: Path, host: Sequence[Path]) -> Manifest:
    """The manifest of a build, held to the host code that the project declares, and with the places of its launches.

    It may name more than is launched: another program's kernels.

    Raises:
        CompileError: the host code launches what the manifest does not name; or, as `scan`, what no root makes or cannot be known.
    """
    found = scanned(ctx, host, ()).manifest
    lines = list(lacking(found, manifest))
    if lines:
        paths = " ".join(os.path.relpath(path) for path in host)
        raise CompileError(
            f"{file} is stale:\n" + "\n".join(f"  {line}" for line in lines) + "\n"
            f"  Write it again: gompute manifest scan {paths} -o {os.path.relpath(file)}"
        )
    return replace(manifest, call_sites=found.call_sites)


def check_made(launched: Manifest, made: Mapping[str, Collection[str]]) -> None:
    """Raise CompileError where a manifest names what no root makes; `made` has the kernels of each root by their public names."""
    missing = [
        (f"{root}.{name}", launched.sites(root, name))
        for root in launched.kernels
        for name in launched.public_names(root)
        if name not in made.get(root, ())
    ]
    if missing:
        lines = (f"  {name}" + (f", launched at {', '.join(sites)}" if sites else "") for name, sites in missing)
        raise CompileError(
            "the manifest names kernels that no root makes:\n" + "\n".join(lines) + "\n"
            "  `gompute manifest check PATH`, PATH being the host code, says which lines launch them."
        )


def lacking(found: Manifest, written: Manifest) -> Iterator[str]:
    """What is launched and not in a manifest, a line for each kernel."""
    for root, kernel, instance in sorted(_all(found) - _all(written)):
        places = ", ".join((found.call_sites or {}).get(root, {}).get(kernel, ()))
        yield f"{_shown(root, kernel, instance)} is launched and not in it: {places}"


def needless(found: Manifest, written: Manifest) -> Iterator[str]:
    """What is in a manifest and not launched, likewise."""
    for root, kernel, instance in sorted(_all(written) - _all(found)):
        yield f"{_shown(root, kernel, instance)} is in it and not launched"


def _all(manifest: Manifest) -> set[tuple[str, str, str]]:
    return {
        (root, kernel, instance)
        for root, kernels in manifest.kernels.items()
        for kernel, instances in kernels.items()
        for instance in instances or ("",)
    }


def _shown(root: str, kernel: str, instance: str) -> str:
    return f"{root}.{kernel}[{instance}]" if instance else f"{root}.{public_name(kernel, '')}"


def _source(ctx: click.Context, root: KernelRoot) -> RootSource:
    if not root.foreign:
        return RootSource(root.name, root.sources)
    # Only LLVM reads its own files, in a process of its own.
    names = {name for source in root.sources for name in run_ir_tool(options.compiler(ctx), "kernels", source).launch_names}
    return RootSource(root.name, root.sources, tuple(sorted(names)))
