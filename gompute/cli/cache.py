"""``gompute cache``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from gompute.build.cache_files import default_folder
from gompute.build.store import KINDS, LIMIT, Store
from gompute.cli import options
from gompute.cli.report import print_json, readable_size, table
from gompute.errors import Unsupported

__all__ = ["cache_command"]


@click.group("cache", no_args_is_help=True)
def cache_command() -> None:
    """Show or clear what builds have kept for the next one.

    The cache may be cleared, and whole files of it may be lost, at any time: what is missing is made again.

    \b
    Example:
      gompute cache info
    """


@cache_command.command("info")
@options.cache_folder
@options.as_json
def info_command(cache: Path | None, as_json: bool) -> int:
    """Say where the cache lies and how much is in it."""
    store = _store(cache)
    entries = list(store.entries())
    sizes = {kind: [entry.size for entry in entries if entry.kind == kind] for kind in KINDS}
    if as_json:
        kinds = {kind: {"entries": len(found), "bytes": sum(found)} for kind, found in sizes.items()}
        print_json({"directory": str(store.folder), "limit": LIMIT, "kinds": kinds})
        return 0
    total = sum(entry.size for entry in entries)
    click.echo(
        f"{store.folder}: {len(entries)} {'entry' if len(entries) == 1 else 'entries'}, {readable_size(total)} of {readable_size(LIMIT)}"
    )
    names = {
        "root": "what a root has read and gave",
        "ir": "IR of a kernel",
        "code": "code of a kernel",
        "blob": "blobs of a root",
        "done": "what a command has read and gave",
    }
    if entries:
        rows = ((kind, len(found), readable_size(sum(found)), names[kind]) for kind, found in sizes.items())
        click.echo("\n" + table(("kind", "entries", "size", "what"), rows))
    return 0


@cache_command.command("clear")
@options.cache_folder
def clear_command(cache: Path | None) -> int:
    """Remove everything from the cache."""
    store = _store(cache)
    size = sum(entry.size for entry in store.entries())
    store.clear()
    click.echo(f"{store.folder}: {readable_size(size)} removed")
    return 0


def _store(folder: Path | None) -> Store:
    place = folder or default_folder(os.environ)
    if place is None:
        raise Unsupported("there is no cache: this user has no home; name a folder with --cache DIR")
    return Store(Path(place))
