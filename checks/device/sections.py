"""Work in a process of its own, under a limit: a check that hangs, crashes or breaks the device ends alone."""

from __future__ import annotations

import json
import os
import select
import signal
import time
import traceback
from collections.abc import Callable
from typing import Any, TypeAlias

__all__ = ["Found", "Say", "run"]

#: What a section found; a text is the reason for which it was left out.
Found: TypeAlias = dict[str, Any] | str
#: Notes what the section is about to do, for the words on one that does not come back.
Say: TypeAlias = Callable[[str], None]


def run(work: Callable[[Say], Found], limit: float) -> dict[str, Any]:
    """Does the work in a fork of this process, which must not have used a driver yet.

    Args:
        limit: seconds after which it is ended, with every process that it has started.

    Returns:
        `status` (``ok``, ``failed`` or ``left out``), `seconds`, and what was found.
    """
    start = time.monotonic()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.setsid()  # a group to end as a whole
        _work(work, writing)
    os.close(writing)
    lines, late = _lines(reading, start + limit)
    os.close(reading)
    if late:
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    said = [json.loads(line) for line in lines]
    found = next((one["found"] for one in said if "found" in one), None)
    if found is None:
        at = next((one["at"] for one in reversed(said) if "at" in one), "the start")
        end = os.waitstatus_to_exitcode(status)
        how = f"not done in {limit:.3g} s" if late else f"ended by signal {-end}" if end < 0 else f"ended with status {end}"
        found = {"status": "failed", "error": f"{how}; it was at {at}"}
    result = {"status": "left out", "reason": found} if isinstance(found, str) else {"status": "ok", **found}
    return {**result, "seconds": round(time.monotonic() - start, 3)}


def _work(work: Callable[[Say], Found], writing: int) -> None:
    """In the child: never returns."""

    def tell(what: str, value: Any) -> None:
        os.write(writing, json.dumps({what: value}).encode() + b"\n")

    try:
        found: Found = work(lambda at: tell("at", at))
    except BaseException as error:
        found = {"status": "failed", "error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
    tell("found", found)
    os._exit(0)  # no library's teardown: it may hang with a device that is broken


def _lines(reading: int, until: float) -> tuple[list[bytes], bool]:
    """What is written up to what was found, or up to the other end's closing; and whether that did not come in time."""
    data, late, ended = b"", False, False
    while not (ended or late or (b'\n{"found": ' in b"\n" + data and data.endswith(b"\n"))):
        ready, _, _ = select.select([reading], [], [], max(0.0, until - time.monotonic()))
        part = os.read(reading, 1 << 16) if ready else b""
        data += part
        late, ended = not ready, bool(ready) and not part
    return [line for line in data.splitlines(keepends=True) if line.endswith(b"\n")], late
