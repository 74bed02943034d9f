"""The example's program runs, and its manifest is what it launches."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "checks" / "example"


def run(*command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{EXAMPLE}"}
    done = subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_manifest_is_fresh() -> None:
    assert run("-m", "gompute", "manifest", "check", "checks/example/develop.py").endswith("2 kernels of 1 root, up to date\n")


def test_the_program_runs(tmp_path: Path) -> None:
    run("-m", "gompute", "build", "-t", "x86-64-v3", "--manifest", "checks/example/manifest.json", "-o", str(tmp_path / "set"))
    program = (
        "import numpy as np, develop\n"
        "image = np.full((5, 7, 3), 0.5, np.float32)\n"
        f"made = develop.develop(image, {str(tmp_path / 'set')!r})\n"
        "print(made.shape, np.allclose(made, 0.6))\n"
    )
    assert run("-c", program) == "(5, 7, 3) True\n"
