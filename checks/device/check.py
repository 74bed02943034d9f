"""What a machine with a GPU says: the conformance suite's kernels, streams and graphs, other libraries, the sanitizer, and benches.

    python checks/device/check.py -o device.json       # the first GPU, in under 8 minutes

Needs the extras `compiler` and `cuda` or `hip`. Uses whatever of CuPy, PyTorch and JAX is installed, and `compute-sanitizer` where it is on
PATH. Writes one JSON file and prints one table; fails where a check fails. It has been run against the test driver alone (by a test), never
on a GPU: a figure or a failure from one is worth a report.
"""

from __future__ import annotations

import argparse
import importlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import numpy as np
from measure import interleaved

import gompute as g
from gompute.runtime import dynamic
from tests.conformance.cases import Case, cases
from tests.conformance.loading import SOURCE, spec
from tests.conformance.test_values import same_bits
from tests.driver.sets import host_target

_SECONDS = 8 * 60
_LIBRARIES = ("cupy", "torch", "jax")


class Check:
    """One device's checks.

    Attributes:
        results: by the name of the check, in order: `status` (``ok``, ``failed``, ``left out``), `seconds` and what it found.
    """

    def __init__(self, compute: dynamic.Compute, kernels: g.KernelSet, quick: bool) -> None:
        self.compute = compute
        self.kernels = kernels
        self.rounds = 3 if quick else 200
        self.megabytes = 1 if quick else 256
        self.until = time.monotonic() + _SECONDS
        self.results: dict[str, dict[str, Any]] = {}

    def do(self, name: str, work: Callable[[], dict[str, Any] | str]) -> None:
        """Runs one check; a text is the reason for which it was left out."""
        start = time.monotonic()
        if start > self.until:
            found: dict[str, Any] | str = f"the {_SECONDS} seconds are over"
        else:
            try:
                found = work()
            except Exception as error:
                found = {"status": "failed", "error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
        result = {"status": "left out", "reason": found} if isinstance(found, str) else {"status": "ok", **found}
        self.results[name] = {**result, "seconds": round(time.monotonic() - start, 3)}

    # ---- right or wrong ----

    def conformance(self) -> dict[str, Any]:
        wrong = []
        for number, case in enumerate(cases()):
            try:
                self._case(case)
            except Exception as error:
                wrong.append(f"case {number}, {case.kernel}: {type(error).__name__}: {error}")
        return {"cases": number + 1, "wrong": wrong, **({"status": "failed"} if wrong else {})}

    def _case(self, case: Case) -> None:
        arguments = [value.copy() if isinstance(value, np.ndarray) else value for value in case.arguments]
        backend = self.compute.backend
        if case.grid is None:
            with g.Kernel(spec(case.kernel), backend, kernels=self.kernels) as kernel:
                kernel.run(*arguments)
        else:
            with g.RawKernel(case.kernel, backend, kernels=self.kernels) as raw:
                buffers = {}
                for place, value in enumerate(arguments):
                    if isinstance(value, np.ndarray):
                        buffers[place] = raw.alloc(value.nbytes)
                        buffers[place].upload(value)
                raw.launch(case.grid, case.block, *[buffers.get(place, value) for place, value in enumerate(arguments)])
                for place, buffer in buffers.items():
                    buffer.download(arguments[place])
                    buffer.free()
        for place, wanted in case.expected.items():
            same_bits(arguments[place], wanted)

    def streams_and_graphs(self) -> dict[str, Any]:
        compute, size = self.compute, 1 << 20
        host = np.arange(size // 4, dtype=np.uint32)
        back = np.zeros_like(host)
        with (
            compute.alloc(size) as one,
            compute.alloc(size) as other,
            compute.create_stream(non_blocking=True) as first,
            compute.create_stream(non_blocking=True) as second,
        ):
            for _ in range(20):
                event = compute.create_event(timing=False)
                one.upload_async(host, first)
                event.record(first)
                second.wait_event(event)
                other.copy_from(one, stream=second)
                other.download_async(back, second)
                second.synchronize()
                assert np.array_equal(back, host)
            with compute.alloc_pinned(size) as pinned:
                array = pinned.array(np.uint32)
                first.begin_capture()
                one.fill(b"\x01\x02\x03\x04", stream=first)
                other.copy_from(one, stream=first)
                other.download_async(array, first)
                with first.end_capture() as graph:
                    graph.instantiate()
                    for _ in range(10):
                        array[:] = 0
                        graph.launch(first)
                        first.synchronize()
                        assert (array == 0x04030201).all()
        return {}

    def library(self, name: str) -> dict[str, Any] | str:
        """Gives work to the library's stream, and the library our stream."""
        try:
            library = importlib.import_module(name)
        except ImportError as error:
            return str(error)
        compute, back = self.compute, np.zeros(4, np.uint32)
        if name == "jax":
            return "has no streams to share"
        stream = library.cuda.Stream()
        with compute.wrap_stream(stream) as wrapped, compute.alloc(16) as buffer, compute.create_stream() as ours:
            buffer.fill(7, stream=wrapped)
            buffer.download_async(back, wrapped)
            stream.synchronize()
            assert (back == 0x07070707).all()
            foreign = library.cuda.ExternalStream(ours.pointer)
            buffer.fill(9, stream=ours)
            buffer.download_async(back, ours)
            foreign.synchronize()
            assert (back == 0x09090909).all()
        return {"version": library.__version__}

    def sanitizer(self, folder: Path) -> dict[str, Any] | str:
        tool = shutil.which("compute-sanitizer")
        if tool is None or self.compute.backend != "cuda":
            return "there is no compute-sanitizer on PATH" if tool is None else "it is for CUDA"
        command = [tool, "--error-exitcode", "9", sys.executable, __file__, "--kernels", str(folder), "--only", "conformance"]
        limit = max(10.0, self.until - time.monotonic())
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
        return {"status": "ok" if done.returncode == 0 else "failed", "output": done.stdout[-4000:] + done.stderr[-4000:]}

    # ---- how fast ----

    def latency(self) -> dict[str, Any]:
        """Microseconds of the host per launch."""
        compute = self.compute
        case = next(case for case in cases() if case.grid is not None)
        with g.RawKernel(case.kernel, compute.backend, kernels=self.kernels) as raw, compute.create_stream(non_blocking=True) as stream:
            buffers = [raw.alloc(max(1, value.nbytes)) if isinstance(value, np.ndarray) else value for value in case.arguments]
            for buffer, value in zip(buffers, case.arguments, strict=True):
                if isinstance(value, np.ndarray):
                    buffer.upload(value)
            stream.begin_capture()
            raw.launch(case.grid, case.block, *buffers, stream=stream)
            graph = stream.end_capture().instantiate()
            contenders = {
                "launch": lambda: raw.launch(case.grid, case.block, *buffers, stream=stream),
                "launch and wait": lambda: (raw.launch(case.grid, case.block, *buffers, stream=stream), stream.synchronize()),
                "graph and wait": lambda: (graph.launch(stream), stream.synchronize()),
            }
            seconds = interleaved(contenders, self.rounds)
            stream.synchronize()
            graph.close()
        return {f"{name} [us]": round(1e6 * float(np.median(times)), 2) for name, times in seconds.items()}

    def bandwidth(self) -> dict[str, Any]:
        """GB/s of copies, by events on the stream; beside PyTorch's copy of the same pinned size where that is installed."""
        compute, size, found = self.compute, self.megabytes << 20, {}
        with (
            compute.alloc(size) as one,
            compute.alloc(size) as other,
            compute.alloc_pinned(size) as pinned,
            compute.create_stream(non_blocking=True) as stream,
        ):
            host, pageable = pinned.array(), np.zeros(size, np.uint8)
            copies = {
                "pinned to device": lambda: one.upload_async(host, stream),
                "device to pinned": lambda: one.download_async(host, stream),
                "pageable to device": lambda: one.upload_async(pageable, stream),
                "device to device": lambda: other.copy_from(one, stream=stream),
                "fill": lambda: one.fill(0, stream=stream),
            }
            for name, copy in copies.items():
                times = []
                for _ in range(3 if self.rounds < 10 else 10):
                    start, end = compute.create_event(), compute.create_event()
                    start.record(stream)
                    copy()
                    end.record(stream)
                    end.synchronize()
                    times.append(start.elapsed_us(end))
                found[f"{name} [GB/s]"] = round(size / 1000 / max(1e-3, float(np.median(times))), 2)
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_available():
            source, target = torch.empty(size, dtype=torch.uint8).pin_memory(), torch.empty(size, dtype=torch.uint8, device="cuda")
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            target.copy_(source, non_blocking=True)
            end.record()
            end.synchronize()
            found["PyTorch, pinned to device [GB/s]"] = round(size / 1e6 / start.elapsed_time(end), 2)
        return found


def build(arch: str, folder: Path) -> Path:
    """The conformance root for one target."""
    command = [sys.executable, "-m", "gompute", "build", str(SOURCE), "-o", str(folder), "--target", arch]
    subprocess.run(command, check=True, cwd=Path(__file__).resolve().parents[2])
    return folder


def table(results: dict[str, dict[str, Any]]) -> str:
    lines = ["| check | status | s | found |", "| --- | --- | --- | --- |"]
    for name, result in results.items():
        found = "; ".join(f"{key}: {value}" for key, value in result.items() if key not in ("status", "seconds", "trace", "output"))
        lines.append(f"| {name} | {result['status']} | {result['seconds']} | {found} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", "-o", type=Path, help="the JSON file to write")
    parser.add_argument("--backend", choices=("cuda", "hip", "cpu"), help="cuda, else hip, when left out")
    parser.add_argument("--kernels", type=Path, help="a set of the conformance root; built when left out")
    parser.add_argument("--only", help="one check alone")
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds, to try the script itself")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, dynamic.Compute(options.backend) as compute:
        if options.backend is None and compute.backend == "cpu":
            sys.exit("there is no GPU here; --backend cpu tries the script on the CPU")
        arch = compute.device.arch if compute.backend != "cpu" else host_target()
        folder = options.kernels or build(arch, Path(name) / "set")
        check = Check(compute, g.load(folder), options.quick)
        checks: dict[str, Callable[[], dict[str, Any] | str]] = {
            "conformance": check.conformance,
            "streams and graphs": check.streams_and_graphs,
            **{library: lambda library=library: check.library(library) for library in _LIBRARIES},
            "compute-sanitizer": lambda: check.sanitizer(folder),
            "latency": check.latency,
            "bandwidth": check.bandwidth,
        }
        for title, work in checks.items():
            if options.only in (None, title):
                check.do(title, work)
        found = {"device": compute.device.label, "backend": compute.backend, "driver": compute.device.driver, "checks": check.results}
    if options.output is not None:
        options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"{found['device']} ({found['backend']})\n\n{table(check.results)}")
    return int(any(result["status"] == "failed" for result in check.results.values()))


if __name__ == "__main__":
    sys.exit(main())
