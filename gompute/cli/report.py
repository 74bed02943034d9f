"""How results and failures read on a terminal and in a log."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

__all__ = ["count", "print_error", "print_json", "print_note", "readable_size", "table"]


def print_error(message: str) -> None:
    """An error on the standard error, in red where that is a terminal."""
    click.echo(click.style("error: ", fg="red", bold=True) + message, err=True)


def print_note(message: str) -> None:
    """A remark on the standard error: what is no result and no failure."""
    click.echo(message, err=True)


def print_json(value: Mapping[str, Any] | Sequence[Any]) -> None:
    """A result for programs: JSON with sorted keys on the standard output."""
    sys.stdout.write(json.dumps(value, indent=1, sort_keys=True) + "\n")


def count(number: int, noun: str) -> str:
    """``1 kernel``, ``2 kernels``."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def readable_size(length: int) -> str:
    """``817 B``, ``4.2 kB``, ``1.3 MB``; units of 1000."""
    size = float(length)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{length} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows in aligned columns under a head; None shows as ``-``, numbers are set to the right. No trailing spaces."""
    cells = [list(head), *(["-" if cell is None else str(cell) for cell in row] for row in rows)]
    right = [
        len(cells) > 1 and all(row[column].replace(".", "").isdecimal() or row[column] == "-" for row in cells[1:])
        for column in range(len(head))
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = (
        "  ".join(cell.rjust(width) if to_right else cell.ljust(width) for cell, width, to_right in zip(row, widths, right, strict=True))
        for row in cells
    )
    return "\n".join(line.rstrip() for line in lines)
