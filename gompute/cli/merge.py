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
@options.output
@options.as_json
def merge_command(sets: Sequence[Path], output: Path, module: str | None, wheel: bool, as_json: bool) -> int:
    """Unite kernel sets: all roots and targets of every DIR in one set.

    What two sets both have must be the same in both; two kernels of one name in different roots are an error. One of them may be what the
    new set replaces. One DIR alone is packaged as it is.

    \b
    Example:
      gompute merge kernels-cuda kernels-cpu -o kernels
      gompute merge kernels --wheel -o dist
    """
    place, written = merge_sets(sets, options.destination(output, module, wheel), generator={"gompute": gompute.__version__})
    if as_json:
        print_json({**options.place_json(place, wheel), "blobs": [blob.file for blob in written]})
    else:
        click.echo(f"{place}: {count(len(written), 'blob')}, {readable_size(sum(blob.length for blob in written))}")
    return 0
