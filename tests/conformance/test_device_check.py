"""checks/device runs through against the test driver, whose launches are the CPU build of the same kernels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gompute.artifacts.kernel_set import KernelSet
from tests.driver.control import VENDORS, Vendor

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("vendor", VENDORS.values(), ids=list(VENDORS))
def test_the_script_runs_through(vendor: Vendor, conformance_set: KernelSet, driver_paths: dict[str, Path], tmp_path: Path) -> None:
    pytest.importorskip({"cuda": "cuda.bindings.driver", "hip": "rocm.bindings.hip"}[vendor.backend])
    setup = [f"device 0 {vendor.arch}", *(f"kernels {path}" for path in conformance_set.path.glob("*.x86-64-v3*.so"))]
    command = [sys.executable, "checks/device/check.py", "--backend", vendor.backend, "--quick", "--kernels", str(conformance_set.path)]
    environment = {"PYTHONPATH": str(ROOT), "TEST_DRIVER_SETUP": ";".join(setup), vendor.variable: str(driver_paths[vendor.backend])}
    done = subprocess.run(
        [*command, "-o", str(tmp_path / "found.json")],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["device"].startswith("Test Device 0") and found["backend"] == vendor.backend
    status = {name: check["status"] for name, check in found["checks"].items()}
    assert {name for name, said in status.items() if said == "ok"} >= {"conformance", "streams and graphs", "latency", "bandwidth"}
    assert found["checks"]["conformance"]["wrong"] == [] and found["checks"]["conformance"]["cases"] > 40
    assert "| conformance | ok |" in done.stdout
