"""``gompute inspect``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from gompute.artifacts.index import UnitEntry
from gompute.artifacts.kernel_set import KernelSet
from gompute.artifacts.name_table import kernel_to_json
from gompute.cli import options
from gompute.cli.compare import compare_sets
from gompute.cli.report import count, print_json, readable_size, table

__all__ = ["inspect_command"]

# What the version of a blob asks of the machine that loads it; a cubin's says which ptxas made it, and asks nothing.
_VERSIONS = {"ptx": "PTX", "hsaco": "code object"}


@click.command("inspect")
@click.argument("sets", nargs=-1, required=True, metavar="DIR [DIR]", type=click.Path(exists=True, file_okay=False, path_type=Path))
@options.as_json
def inspect_command(sets: Sequence[Path], as_json: bool) -> int:
    """Show what a kernel set holds, or what differs between two.

    Every blob is read and checked against the index. Registers, spills and shared memory are shown where the compiler knows them: PTX is
    compiled further by the driver, so its registers show with a cubin (build --emit cubin).

    Of two, it says what was edited (the root's module or an import, comments aside) and which option or tool is another one.

    \b
    Example:
      gompute inspect kernels
      gompute inspect kernels.old kernels
    """
    if len(sets) > 2:
        raise click.UsageError("inspect takes one kernel set, or two to compare.")
    opened = [KernelSet.open(path) for path in sets]
    for kernels in opened:
        _verify(kernels)
    if len(opened) == 2:
        differences = compare_sets(*opened)
        if as_json:
            print_json({"same": not differences, "differences": [difference.to_json() for difference in differences]})
        else:
            click.echo("\n".join(map(str, differences)) if differences else f"{sets[0]} and {sets[1]} are the same.")
    elif as_json:
        print_json(_document(sets[0], opened[0]))
    else:
        click.echo("\n".join(_text(sets[0], opened[0])))
    return 0


def _verify(kernels: KernelSet) -> None:
    for unit in kernels.index.units:
        for blob in unit.blobs:
            kernels.blob(unit.root, unit.target, blob.kind)


def _text(path: Path, kernels: KernelSet) -> Iterator[str]:
    units = kernels.index.units
    blobs = [blob for unit in units for blob in unit.blobs]
    size = readable_size(sum(blob.length for blob in blobs))
    generator = ", ".join(f"{name} {version}" for name, version in kernels.index.generator.items())
    yield f"{path}: {count(len(kernels.kernels), 'kernel')}, {count(len(kernels.roots), 'root')}, {count(len(blobs), 'blob')}, {size}"
    yield f"written by {generator}"
    yield ""
    yield table(
        ("root", "target", "blob", "size", "mode", "needs", "made by"),
        (
            (
                unit.root,
                unit.target.name,
                blob.kind,
                readable_size(blob.length),
                str(unit.mode),
                _needs(blob.kind, blob.version),
                _tools(unit),
            )
            for unit in units
            for blob in unit.blobs
        ),
    )
    yield ""
    head = ("kernel", "root", "target", "block", "registers", "scalar registers", "shared", "private", "spills")
    yield table(head, (_kernel_row(name, unit) for name in kernels.kernels for unit in units if name in unit.kernels))
    yield ""
    width = max(map(len, kernels.kernels), default=0)
    for name in kernels.kernels:
        yield f"{name:{width}}  {kernels.entry(name).signature}"


def _needs(kind: str, version: str | None) -> str | None:
    return f"{_VERSIONS[kind]} {version}" if version is not None and kind in _VERSIONS else None


def _tools(unit: UnitEntry) -> str:
    return ", ".join(f"{name} {version}" for name, version in unit.toolchain.items())


def _kernel_row(name: str, unit: UnitEntry) -> tuple[object, ...]:
    kernel = unit.kernels[name]
    resources = kernel.resources
    return (
        name,
        unit.root,
        unit.target.name,
        "x".join(map(str, kernel.block_size)),
        resources.registers,
        resources.scalar_registers,
        resources.shared,
        resources.private,
        resources.spills,
    )


def _document(path: Path, kernels: KernelSet) -> dict[str, Any]:
    return {
        "directory": str(path),
        "generator": dict(kernels.index.generator),
        "units": [
            {
                "root": unit.root,
                "target": unit.target.name,
                "optimize": unit.mode.optimize,
                "lineinfo": unit.mode.lineinfo,
                "blobs": [
                    {"kind": blob.kind, "file": blob.file, "length": blob.length, "sha256": blob.sha256, "version": blob.version}
                    for blob in unit.blobs
                ],
                "kernels": [kernel_to_json(kernel) for kernel in unit.kernels.values()],
                "toolchain": dict(unit.toolchain),
            }
            for unit in kernels.index.units
        ],
    }
