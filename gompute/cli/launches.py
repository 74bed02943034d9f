"""Scanning host code for launches, with the roots of the project at hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from gompute.build.ir_tool import run_ir_tool
from gompute.build.roots import KernelRoot, roots_from_files
from gompute.cli import options
from gompute.manifest.scan import RootSource, Scan, scan

__all__ = ["scanned"]


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


def _source(ctx: click.Context, root: KernelRoot) -> RootSource:
    if not root.foreign:
        return RootSource(root.name, root.sources)
    # Only LLVM reads its own files, in a process of its own.
    names = {name for source in root.sources for name in run_ir_tool(options.compiler(ctx), "kernels", source).launch_names}
    return RootSource(root.name, root.sources, tuple(sorted(names)))
