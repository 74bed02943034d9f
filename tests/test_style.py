"""Formatting, lint and types of the whole tree, by the tools as pyproject.toml sets them up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("command", [["ruff", "format", "--diff", "."], ["ruff", "check", "."], ["mypy"]], ids=" ".join)
def test_the_tree_is_clean(command: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_file_is_too_long_to_read() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / "gompute").rglob("*.py")}
    assert not {str(path.relative_to(ROOT)): length for path, length in lengths.items() if length > 400}
