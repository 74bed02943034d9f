"""The conformance root, built once for every target that a test looks at."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gompute.artifacts.kernel_set import KernelSet
from tests.conformance.loading import BLOCKS, SOURCE
from tests.driver.fixtures import _libraries, amd, driver_paths, kernels_so, nvidia, zig_cache

__all__ = ["_libraries", "amd", "driver_paths", "kernels_so", "nvidia", "zig_cache"]

TARGETS = ("sm_75", "sm_90", "sm_120", "gfx90a", "gfx942", "gfx1100", "gfx1201", "x86-64-v3", "aarch64")


def _build(source: Path, out: Path) -> KernelSet:
    command = [sys.executable, "-m", "gompute", "build", str(source), "-o", str(out), "--emit", "cubin"]
    command += [word for target in TARGETS for word in ("--target", target)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return KernelSet.open(out)


@pytest.fixture(scope="session")
def conformance_set(tmp_path_factory: pytest.TempPathFactory) -> KernelSet:
    """A set of the whole root, made by the command line as a user makes it."""
    return _build(SOURCE, tmp_path_factory.mktemp("conformance") / "set")


@pytest.fixture(scope="session")
def block_set_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the same of the root of kernels whose work-items meet."""
    out = tmp_path_factory.mktemp("conformance") / "blocks"
    _build(BLOCKS, out)
    return out


@pytest.fixture(scope="session")
def block_set(block_set_path: Path) -> KernelSet:
    return KernelSet.open(block_set_path)
