"""Waiting for what another process does, with a limit that a loaded machine keeps."""

from __future__ import annotations

import os
import time
from pathlib import Path

LIMIT = 60
"""Seconds until a wait is a failure."""


def wait_for(path: Path) -> None:
    """Return once the file is there; who writes it renames it there, so that it is whole."""
    until = time.monotonic() + LIMIT
    while not path.exists():
        assert time.monotonic() < until, f"{path} did not appear"
        time.sleep(0.01)


def pid_in(path: Path) -> int:
    """The process number in a file that another process writes."""
    wait_for(path)
    return int(path.read_text())


def gone(pid: int) -> bool:
    """Whether the process has ended, or ends within the limit."""
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False
