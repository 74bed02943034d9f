"""Whether a build is about to find everything in the cache.

The compiler's process is started before anything else, unless the files of the same command are as they were when it last had nothing to
compile. That is a guess from their times and sizes, made in a millisecond: a wrong one costs time and changes nothing.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

__all__ = ["nothing_to_do", "remember"]

_FOLDER = "ahead"


def nothing_to_do(arguments: Sequence[str]) -> bool:
    """Whether the command with these arguments, run in this folder, will probably compile nothing."""
    place = _place(arguments)
    if place is None:
        return False
    try:
        files = json.loads(place.read_bytes())
        return bool(files) and all(_stamp(path) == stamp for path, stamp in files.items())
    except (OSError, ValueError, AttributeError):
        return False


def remember(arguments: Sequence[str], files: Iterable[Path]) -> None:
    """The command with these arguments has everything in the cache now, made from `files`. Best effort, as all of this."""
    place = _place(arguments)
    if place is None:
        return
    with suppress(OSError):
        text = json.dumps({str(path): _stamp(str(path)) for path in files})
        place.parent.mkdir(parents=True, exist_ok=True)
        unfinished = place.with_name(f"{place.name}.{os.getpid()}")
        unfinished.write_text(text)
        unfinished.replace(place)


def _stamp(path: str) -> list[int]:
    status = os.stat(path)
    return [status.st_mtime_ns, status.st_size]


def _place(arguments: Sequence[str]) -> Path | None:
    from gompute.build.store import default_folder

    if "--no-cache" in arguments:
        return None
    named = [after for word, after in itertools.pairwise(arguments) if word == "--cache"]
    named += [word.partition("=")[2] for word in arguments if word.startswith("--cache=")]
    folder = Path(named[-1]) if named else default_folder(os.environ)
    key = hashlib.sha256("\0".join([os.getcwd(), *arguments]).encode("utf-8", "surrogateescape")).hexdigest()
    return None if folder is None else folder / _FOLDER / key
