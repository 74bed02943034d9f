"""What a machine with a GPU says: the conformance suite's kernels, streams and graphs, other libraries, the sanitizer, and benches.

    python checks/device/check.py -o device.json       # the first GPU, in under 8 minutes

Needs the extras `compiler` and `cuda` or `hip`. Uses whatever of CuPy, PyTorch and JAX is installed, and `compute-sanitizer` where it is on
PATH. Writes one JSON file and prints one table; fails where a check fails. Each check runs in a process of its own and has so many seconds:
one that hangs, crashes or breaks the device ends alone. It has been run against the test driver alone (by a test), never on a GPU: a figure
or a failure from one is worth a report.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "bench"))

import correct
import interop
import speed
from libraries import LIBRARIES, NumPy
from sections import Found, Say, run

import gompute as g
from gompute.runtime import dynamic
from tests.conformance.loading import BLOCKS, SOURCE
from tests.driver.sets import host_target

_ROOT = Path(__file__).resolve().parents[2]

#: The seconds of all of it, and of each check; a check gets no more than what is left of all.
WHOLE = 8 * 60
LIMITS = {
    "device": 20,
    "build": 90,
    "conformance": 60,
    "streams and graphs": 15,
    **{library.name: 10 if library is NumPy else 40 for library in LIBRARIES},
    "memcheck": 70,
    "racecheck": 40,
    "latency": 20,
    "bandwidth": 30,
}
#: What of its limit a check that can stop by itself works for.
_OF_LIMIT = 0.8

Checks = dict[str, Callable[[Say], Found]]


def device(backend: str | None) -> Found:
    """The device, and what is built for it."""
    with dynamic.Compute(backend) as compute:
        found = compute.device
        arch = host_target() if compute.backend == "cpu" else found.arch
        return {"backend": compute.backend, "device": found.label, "driver": found.driver, "target": arch}


def build(target: str, folder: Path) -> Found:
    """The conformance roots for one target."""
    command = [sys.executable, "-m", "gompute", "build", str(SOURCE), str(BLOCKS), "-o", str(folder), "--target", target]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=_ROOT)
    return {} if done.returncode == 0 else {"status": "failed", "error": done.stderr[-2000:]}


def checks(backend: str, folder: Path, quick: bool) -> Checks:
    """By name, in order."""

    def library(kind: Any) -> Callable[[Say], Found]:
        return lambda say: interop.check(kind, backend, g.load(folder), say, 10 if quick else 100)

    rounds, megabytes, passes = (3, 1, 3) if quick else (300, 256, 10)
    return {
        "conformance": lambda say: correct.conformance(backend, g.load(folder), say, _OF_LIMIT * LIMITS["conformance"]),
        "streams and graphs": lambda say: correct.streams_and_graphs(backend, say),
        **{kind.name: library(kind) for kind in LIBRARIES},
        **{
            tool: lambda say, tool=tool: correct.sanitizer(backend, folder, tool, say, _OF_LIMIT * LIMITS[tool])
            for tool in ("memcheck", "racecheck")
        },
        "latency": lambda say: speed.latency(backend, g.load(folder), say, rounds),
        "bandwidth": lambda say: speed.bandwidth(backend, g.load(folder), say, megabytes, passes),
    }


def table(results: dict[str, dict[str, Any]]) -> str:
    lines = ["| check | status | s | found |", "| --- | --- | --- | --- |"]
    for name, result in results.items():
        told = "; ".join(f"{key}: {value}" for key, value in result.items() if key not in ("status", "seconds", "trace", "output"))
        told = told.replace("\n", " ").replace("|", "\\|")
        lines.append(f"| {name} | {result['status']} | {result['seconds']} | {told} |")
    return "\n".join(lines)


def here(name: str, backend: str, folder: Path, seconds: float) -> int:
    """One check in this process, for a tool that looks on."""
    assert name == "conformance"
    found = correct.conformance(backend, g.load(folder), lambda _: None, seconds)
    print(json.dumps(found))
    return int(isinstance(found, dict) and found.get("status") == "failed")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", "-o", type=Path, help="the JSON file to write")
    parser.add_argument("--backend", choices=("cuda", "hip", "cpu"), help="cuda, else hip, when left out")
    parser.add_argument("--kernels", type=Path, help="a set of the conformance roots; built when left out")
    parser.add_argument(
        "--only",
        action="append",
        choices=[name for name in LIMITS if name not in ("device", "build")],
        help="this check alone; may be given again",
    )
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds, to try the script itself")
    parser.add_argument("--here", choices=("conformance",), help="one check in this process, as compute-sanitizer is given it")
    parser.add_argument("--seconds", type=float, default=60.0, help="for --here")
    options = parser.parse_args()
    if options.here is not None:
        return here(options.here, options.backend, options.kernels, options.seconds)
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else JAX takes most of the memory
    until = time.monotonic() + WHOLE
    results: dict[str, dict[str, Any]] = {}

    def do(name: str, work: Callable[[Say], Found]) -> dict[str, Any]:
        results[name] = run(work, min(LIMITS[name], max(0.0, until - time.monotonic() - 5)))
        return results[name]

    with tempfile.TemporaryDirectory() as name:
        found = do("device", lambda _: device(options.backend))
        if found["status"] == "ok" and options.backend is None and found["backend"] == "cpu":
            sys.exit("there is no GPU here; --backend cpu tries the script on the CPU")
        if found["status"] == "ok":
            folder = options.kernels or Path(name) / "set"
            if options.kernels is None:
                do("build", lambda _: build(found["target"], folder))
            for title, work in checks(found["backend"], folder, options.quick).items():
                if options.only is None or title in options.only:
                    do(title, work)
    if options.output is not None:
        options.output.write_text(json.dumps({**found, "checks": results}, indent=1) + "\n", encoding="utf-8")
    print(f"{found.get('device', 'no device')} ({found.get('backend')})\n\n{table(results)}")
    return int(any(result["status"] == "failed" for result in results.values()))


if __name__ == "__main__":
    sys.exit(main())
