"""``gompute merge``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

import gompute
from gompute.artifacts.merge import merge_sets
from gompute.cli import options
from gompute.cli.report import count, print_json, readable_size

__all__ = ["merge_command"]


@click.command("merge")
@click.argument("sets", nargs=-1, required=True, metavar="DIR...", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder of the new set. It is replaced as a whole, and may be one of those that are merged.",
)
@options.as_json
def merge_command(sets: Sequence[Path], output: Path, as_json: bool) -> int:
    """Unite kernel sets: all roots and targets of every DIR in one set.

    What two sets both have must be the same in both; two kernels of one name in different roots are an error.

    \b
    Example:
      gompute merge kernels-cuda kernels-cpu -o kernels
    """
    written = merge_sets(sets, output, generator={"gompute": gompute.__version__})
    if as_json:
        print_json({"directory": str(output), "blobs": [blob.file for blob in written]})
    else:
        click.echo(f"{output}: {count(len(written), 'blob')}, {readable_size(sum(blob.length for blob in written))}")
    return 0
