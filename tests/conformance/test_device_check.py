"""checks/device runs through against the test driver, whose launches are the CPU build of the same kernels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gompute.artifacts.kernel_set import KernelSet
from tests.driver.control import CUDA, VENDORS, Vendor
from tests.driver.fresh import fresh

ROOT = Path(__file__).resolve().parents[2]


def check(
    vendor: Vendor, kernels: KernelSet, driver: Path, folder: Path, *options: str, setup: str = ""
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """What it prints and what it writes, on a machine without what only tests need."""
    pytest.importorskip({"cuda": "cuda.bindings.driver", "hip": "rocm.bindings.hip"}[vendor.backend])
    for module in ("pytest", "hypothesis"):
        (folder / f"{module}.py").write_text(f"raise ImportError('{module}')\n")
    told = [f"device 0 {vendor.arch}", *(f"kernels {path}" for path in kernels.path.glob("*.x86-64-v3*.so")), setup]
    command = [sys.executable, "checks/device/check.py", "--backend", vendor.backend, "--quick", "--kernels", str(kernels.path), *options]
    environment = {"PYTHONPATH": f"{ROOT}:{folder}", "TEST_DRIVER_SETUP": ";".join(told), vendor.variable: str(driver)}
    output = folder / "found.json"
    done = subprocess.run(
        [*command, "-o", str(output)], cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    return done, json.loads(output.read_text()) if output.exists() else {}


@pytest.mark.parametrize("vendor", VENDORS.values(), ids=list(VENDORS))
def test_the_script_runs_through(vendor: Vendor, conformance_set: KernelSet, driver_paths: dict[str, Path], tmp_path: Path) -> None:
    done, found = check(vendor, conformance_set, driver_paths[vendor.backend], tmp_path)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert found["device"].startswith("Test Device 0") and found["backend"] == vendor.backend
    checks = found["checks"]
    assert {name for name, one in checks.items() if one["status"] == "failed"} == set()
    assert {name for name, one in checks.items() if one["status"] == "ok"} >= {
        "device",
        "conformance",
        "streams and graphs",
        "latency",
        "bandwidth",
    }
    assert checks["numpy"]["reason"] == f"numpy has no arrays on {vendor.backend}"
    assert checks["memcheck"]["reason"] in ("there is no compute-sanitizer on PATH", "compute-sanitizer is for CUDA")
    conformance = checks["conformance"]
    assert conformance["wrong"] == [] and conformance["cases"] > 100
    assert conformance["cases"] + conformance["not in the set"] == conformance["of"]
    assert {"launch [us]", "graph and wait [us]", "the binding's launch, prepared [us]"} <= checks["latency"].keys()
    assert {"pinned to device [GB/s]", "kernel in place [GB/s]"} <= checks["bandwidth"].keys()
    assert "| conformance | ok |" in done.stdout and "| numpy | left out |" in done.stdout


def test_a_check_that_fails_does_not_end_the_others(
    conformance_set: KernelSet, driver_paths: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Among them the sanitizer's, here with a program in its place that runs what it is given."""
    tool = tmp_path / "compute-sanitizer"
    # Not for a shell: in Nix's sandbox none lies where a script looks for it.
    wanted = "--tool memcheck --error-exitcode 9".split()
    tool.write_text(
        f"#!{sys.executable}\nimport os, sys\nif sys.argv[1:5] != {wanted}:\n    sys.exit(9)\nos.execv(sys.argv[5], sys.argv[5:])\n"
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    done, found = check(
        CUDA,
        conformance_set,
        driver_paths["cuda"],
        tmp_path,
        *("--only", "streams and graphs", "--only", "memcheck", "--only", "bandwidth"),
        setup="fail cuGraphLaunch 700",
    )
    assert done.returncode == 1
    assert list(found["checks"]) == ["device", "streams and graphs", "memcheck", "bandwidth"]
    looked_on = found["checks"]["memcheck"]
    assert looked_on["status"] == "ok" and json.loads(looked_on["said"])["cases"] > 100, looked_on
    failed = found["checks"]["streams and graphs"]
    assert failed["status"] == "failed" and failed["error"].startswith("GraphFailed: cuda: cannot launch the graph: cuGraphLaunch gave")
    assert found["checks"]["bandwidth"]["status"] == "ok"
    assert "| streams and graphs | failed |" in done.stdout and "| bandwidth | ok |" in done.stdout


SECTIONS = """
import json, os, signal, subprocess, sys, time
sys.path.insert(0, "checks/device")
from sections import run

def hangs(say):
    say("the third case")
    subprocess.run([sys.executable, "-c", "import time; time.sleep(60)"])

def dies(say):
    os.kill(os.getpid(), signal.SIGSEGV)

def raises(say):
    raise ValueError("wrong")

def ends(say):
    os._exit(3)

works = {"ok": lambda say: {"figure": 7}, "left out": lambda say: "it is not here", "hangs": hangs, "dies": dies, "raises": raises}
works |= {"ends": ends, "long": lambda say: {"text": "x" * 200_000}}
print(json.dumps({name: run(work, 3.0 if name == "hangs" else 20.0) for name, work in works.items()}))
import check
print(sum(check.LIMITS.values()), check.WHOLE)
"""


def test_each_check_is_a_process_under_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    results, limits = fresh(SECTIONS).splitlines()
    assert limits == "475 480"  # all of them, and what all of it may take
    found = json.loads(results)
    assert all(0 <= one.pop("seconds") < 20 for one in found.values())
    assert found.pop("raises")["error"] == "ValueError: wrong"
    assert found == {
        "ok": {"status": "ok", "figure": 7},
        "left out": {"status": "left out", "reason": "it is not here"},
        "hangs": {"status": "failed", "error": "not done in 3 s; it was at the third case"},
        "dies": {"status": "failed", "error": "ended by signal 11; it was at the start"},
        "ends": {"status": "failed", "error": "ended with status 3; it was at the start"},
        "long": {"status": "ok", "text": "x" * 200_000},
    }
