"""Kernel sets for interpreting, built once for all workers of a run: they take long."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from gompute.artifacts.kernel_set import KernelSet
from tests.conformance import matrix
from tests.conformance.conftest import TARGETS
from tests.conformance.loading import BLOCKS, FOLDER, SOURCE

__all__ = ["ROOTS", "block_ptx_set", "matrix_set", "ptx_set"]

#: The roots that are files: every kernel that somebody wrote.
ROOTS = tuple(sorted([*FOLDER.glob("*kernels.py"), BLOCKS]))


def _shared(
    factory: pytest.TempPathFactory, worker: str, name: str, source: Path | str, targets: Iterable[str], *options: str
) -> KernelSet:
    """The set of a root, made by the command line as a user makes it, by the first worker that asks.

    Args:
        source: its file, or its text.
    """
    folder = factory.getbasetemp() if worker == "master" else factory.getbasetemp().parent
    folder = folder / "shared" / name
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        out = folder / "set"
        if not out.exists():
            if isinstance(source, str):
                (folder / f"{name}.py").write_text(source)
                source = folder / f"{name}.py"
            command = [sys.executable, "-m", "gompute", "build", str(source), "-o", str(out)]
            command += [word for target in targets for word in ("--target", target)]
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
        return KernelSet.open(out)


@pytest.fixture(scope="session")
def ptx_set(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> KernelSet:
    """The conformance root for NVIDIA, without cubins, so that a device gets PTX."""
    targets = [target for target in TARGETS if target.startswith("sm_")]
    return _shared(tmp_path_factory, worker_id, "ptx", SOURCE, targets)


@pytest.fixture(scope="session")
def block_ptx_set(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> KernelSet:
    """The root of kernels whose work-items meet, for NVIDIA."""
    targets = [target for target in TARGETS if target.startswith("sm_")]
    return _shared(tmp_path_factory, worker_id, "blocks", BLOCKS, targets)


@pytest.fixture(scope="session")
def matrix_set(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> KernelSet:
    """The root that is made by a rule, for every target; `ptxas` and the linker have taken it."""
    return _shared(tmp_path_factory, worker_id, "matrix", matrix.source(), TARGETS)
