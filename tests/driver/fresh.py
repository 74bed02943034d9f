"""Code in an interpreter of its own, for what a process can do once: load a driver, fork, end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[2]


def fresh(code: str, **environment: str | Path) -> str:
    """What the code prints; a failure or a word on stderr fails the test."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("GOMPUTE_", "TEST_DRIVER_"))}
    # NumPy's own threads make Python 3.12 and later warn of every fork, which some of these tests are about.
    warnings = ["-W", "error", "-W", "ignore:This process:DeprecationWarning"]
    done = subprocess.run(
        [sys.executable, *warnings, "-c", dedent(code)],
        env={**inherited, "PYTHONPATH": str(ROOT), **{name: str(value) for name, value in environment.items()}},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0 and not done.stderr, done.stderr or f"exit status {done.returncode}"
    return done.stdout.strip()
