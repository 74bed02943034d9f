"""The commands behind the README's numbers run and print what they promise; times are judged only where a loss would be many times over."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "checks" / "bench"


def table(script: str, *arguments: str) -> dict[str, list[str]]:
    """Run a bench; gives the rows of its table by their first cell."""
    command = [sys.executable, str(BENCH / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines() if line.startswith("|")]
    return {row[0]: row[1:] for row in rows[2:]}


def test_run_map_keeps_up_with_a_c_loop() -> None:
    """A loop that is not vectorised, or a call that copies, takes several times the C loop."""
    rows = table("run_map.py", "--rounds", "40", "--limit", "2")
    assert {"clang", "gompute", "numpy"} <= rows.keys()


def test_run_sum_keeps_up_with_numpy() -> None:
    """Lanes that are not vectors, or a tile that is read twice, take several times NumPy's sum."""
    rows = table("run_sum.py", "--counts", "1048576", "--rounds", "20", "--limit", "4")
    assert {"numpy", "gompute, 1 thread"} <= rows.keys()


def test_launch_cost() -> None:
    """A launch that goes a long way round takes many bare calls."""
    rows = table("launch_cost.py", "--rounds", "4", "--limit", "3")
    assert {
        "bare cuda-python",
        "RawKernel.launch, cuda",
        "bare hip-python",
        "RawKernel.launch, hip",
        "Kernel.run on 1024, cpu",
    } <= rows.keys()


def test_import_time() -> None:
    rows = table("import_time.py", "--rounds", "2")
    assert {"python", "import numpy", "import gompute"} <= rows.keys()
    assert float(rows["python"][0]) < float(rows["import numpy"][0])


def test_math_time() -> None:
    rows = table("math_time.py", "exp", "pow", "--type", "f64", "--count", "4096", "--rounds", "3")
    assert {"exp", "pow"} <= rows.keys()


@pytest.mark.skipif(shutil.which("g++") is None, reason="nvcc needs a C++ compiler for the host")
def test_build_time() -> None:
    rows = table("build_time.py", "--rounds", "2", "--limit", "4")
    assert {"nvcc -ptx", "gompute build"} <= rows.keys()


def test_manifest_time() -> None:
    """A build with a manifest that compiled everything would take as long as the whole one."""
    few = ("--kernels", "12", "--launched", "1", "--lines", "300", "--rounds", "1", "--skip-alone")
    rows = table("manifest_time.py", *few, "--limit", "0.9")
    assert {"whole, 12 kernels", "with a manifest, 1 kernels"} <= rows.keys()


def test_ir_rewrite() -> None:
    """Work that grows faster than the module takes many times LLVM's own."""
    rows = table("ir_rewrite.py", "--megabytes", "2", "--rounds", "1", "--limit", "8")
    assert {"parse and print", "rewrite"} <= rows.keys()
