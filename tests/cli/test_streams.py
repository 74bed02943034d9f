"""The command line under callers that close its streams or leave it few resources: daemons, cron, small containers."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = "import gompute as g\n\n@g.map\ndef f(x: g.f32) -> g.f32:\n    return x\n"


def in_shell(folder: Path, before: str, after: str) -> subprocess.CompletedProcess[str]:
    """``BEFORE; python -m gompute build ... AFTER`` in a shell of its own."""
    (folder / "root.py").write_text(SOURCE)
    python = shlex.quote(sys.executable)
    line = f"{before} {python} -m gompute build root.py -t x86-64-v3 -o out {after}"
    return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_does_not_stop_a_build(tmp_path: Path, closed: str) -> None:
    done = in_shell(tmp_path, "", closed)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "index.json").is_file()
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("limit", ["-n 7", "-n 9", "-f 1"])
def test_too_few_resources_are_said_plainly(tmp_path: Path, limit: str) -> None:
    done = in_shell(tmp_path, f"ulimit {limit};", "")
    assert done.returncode == 1
    assert "error: " in done.stderr
    assert "Traceback" not in done.stderr
    assert "bug in gompute" not in done.stderr
    assert not (tmp_path / "out").exists()
