"""What a build costs after an edit, as a whole process: of device models made from a seed, with the cache and without.

Run: python checks/bench/rebuild.py            (about half an hour; --quick for a smaller one)

One root of 64 kernels: from nothing on one core and on two, and again after nothing, a comment, one kernel or a helper was edited, and with
a launch manifest that names one kernel. Eight roots for three targets with nothing edited. One kernel of 25, 50 and 100 thousand
operations for each backend, and where the time of the one in the middle goes. One of 50,000 operations, a fifth of them on integers and
tables, in each mode.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from device_model import model_source
from measure import environment, processor

TARGETS = ("sm_89", "gfx1100", "x86-64-v3")
FRONTEND = ("import", "lower")


class Bench:
    """A folder with a root, and builds of it.

    Attributes:
        processor_seconds: what the last build took of processors, in all of its processes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.processor_seconds = 0.0

    def build(
        self, *options: str, roots: tuple[str, ...] = ("model.py",), targets: tuple[str, ...] = ("sm_89",), told: bool = True
    ) -> tuple[float, Any]:
        """Seconds of the whole process, and what `--json` says; with `told` False it is not asked for, and it is what is said of units."""
        command = [sys.executable, "-m", "gompute", "build", *roots, "-o", "out", "--memory", "48", *(["--json"] if told else [])]
        command += [word for target in targets for word in ("-t", target)]
        command += options if "--no-cache" in options else (*options, "--cache", str(self.cache))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        done = subprocess.run(command, cwd=self.folder, env=environment(), capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.processor_seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        if done.returncode:
            raise SystemExit(done.stderr)
        return seconds, json.loads(done.stdout) if told else done.stderr


def _row(what: str, seconds: float, of: float | None, compiled: int | None = None) -> None:
    share = "" if of is None else f"{seconds / of:.3f}"
    print(f"| {what} | {seconds:.2f} | {share} | {'' if compiled is None else compiled} |", flush=True)


def edits(bench: Bench, kernels: int, operations: int, target: str) -> None:
    """One root of many kernels, edited in every way; the least that each took, as a machine with other work only adds."""
    print(f"\n{kernels} kernels of {operations} operations for {target}\n")
    print("| what | s | of cold, one core | compiled |\n| --- | ---: | ---: | ---: |")
    source = bench.folder / "model.py"
    source.write_text(model_source(operations, kernels))
    (bench.folder / "manifest.json").write_text(json.dumps({"version": 1, "kernels": {"model": {"k00": []}}}))

    def compiled(said: str) -> int:
        if "(from the cache)" in said:  # as `gompute build` says on standard error
            return 0
        some = re.search(r"(\d+) of \d+ kernels compiled", said)
        return kernels if some is None else int(some[1])

    cold = [[bench.build("--no-cache", "-j", cores, targets=(target,))[0] for cores in ("1", "2")] for _ in range(2)]
    one_core, two_cores = map(min, zip(*cold, strict=True))
    _row("cold, one core", one_core, None, kernels)
    _row(f"cold, two cores ({one_core / two_cores:.2f} times as fast)", two_cores, one_core, kernels)
    for mode in ("safe", "debug"):
        _row(f"cold, one core, {mode}", bench.build("--no-cache", "-j", "1", "--optimize", mode, targets=(target,))[0], one_core, kernels)
    alone, _ = bench.build("--no-cache", "--manifest", "manifest.json", targets=(target,))
    _row("cold, a manifest with one kernel", alone, one_core, 1)
    shutil.rmtree(bench.cache, ignore_errors=True)
    _row("cold, into the cache", bench.build(targets=(target,))[0], one_core, kernels)
    text = source.read_text()
    steps: tuple[tuple[str, int, Callable[[int], str]], ...] = (
        ("nothing edited", 5, lambda _: text),
        ("a comment edited", 5, lambda number: text.replace("import gompute as g\n", f"import gompute as g  # comment {number}\n")),
        (
            "one kernel edited",
            5,
            lambda number: re.sub(r"(def k07\(.*?\n.*?= )", rf"\g<1>0.{number + 1}25 + ", text, count=1, flags=re.DOTALL),
        ),
        ("the helper of all edited", 1, lambda _: text.replace("-40.0), 40.0", "-39.0), 39.0")),
    )
    for what, rounds, edited in steps:
        taken = []
        for number in range(rounds):
            if source.read_text() != edited(number):
                source.write_text(edited(number))
            seconds, said = bench.build("-j", "1", targets=(target,), told=False)
            taken.append(seconds)
        _row(f"{what} (least of {rounds})" if rounds > 1 else what, min(taken), one_core, compiled(said))


def nothing(bench: Bench, rounds: int) -> None:
    """Eight small roots for three targets."""
    roots = tuple(f"root{number}.py" for number in range(8))
    for number, name in enumerate(roots):
        (bench.folder / name).write_text(model_source(100, 2, seed=number).replace("def k0", f"def r{number}_k0"))
    print("\n8 roots for 3 targets\n\n| what | s | of cold | compiled |\n| --- | ---: | ---: | ---: |")
    cold, _ = bench.build(roots=roots, targets=TARGETS, told=False)
    _row("cold", cold, None)
    taken = sorted(bench.build(roots=roots, targets=TARGETS, told=False)[0] for _ in range(rounds))
    _row(f"nothing edited (median of {rounds})", taken[rounds // 2], cold, 0)


def lines(bench: Bench, sizes: tuple[int, ...], rounds: int) -> None:
    """One straight-line kernel of growing size; the least that it took, as a machine with other work only adds."""
    print("\n| operations | target | processor s | of half the size | frontend's share |\n| ---: | --- | ---: | ---: | ---: |")
    for target in TARGETS:
        taken: dict[int, list[tuple[float, float]]] = {size: [] for size in sizes}
        for _ in range(rounds):
            for size in sizes:
                (bench.folder / "model.py").write_text(model_source(size))
                _, result = bench.build("--no-cache", targets=(target,))
                phases = result["units"][0]["phases"]
                share = sum(phases.get(phase, 0.0) for phase in FRONTEND) / sum(phases.values())
                taken[size].append((bench.processor_seconds, share))
        before = None
        for size in sizes:
            total, share = min(taken[size])
            grown = "" if before is None else f"{total / before:.2f}"
            print(f"| {size} | {target} | {total:.2f} | {grown} | {share:.2f} |", flush=True)
            before = total


def modes(bench: Bench, size: int) -> None:
    """One straight-line kernel in every mode."""
    print(f"\n{size} operations\n\n| mode | target | processor s | of fast |\n| --- | --- | ---: | ---: |")
    (bench.folder / "model.py").write_text(model_source(size, integers=True))
    for target in TARGETS:
        fast = None
        for mode in ("fast", "safe", "debug"):
            words = [f"--optimize={backend}={mode}" for backend in ("cuda", "hip", "cpu")]
            bench.build("--no-cache", *words, targets=(target,))
            total = bench.processor_seconds
            fast = fast or total
            print(f"| {mode} | {target} | {total:.2f} | {total / fast:.2f} |", flush=True)


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="8 kernels, and up to 10,000 operations")
    parser.add_argument("--kernels", type=int, default=64)
    parser.add_argument("--operations", type=int, default=1500)
    parser.add_argument("--target", default="sm_89")
    parser.add_argument("--only", choices=("edits", "nothing", "lines", "modes"), action="append")
    arguments = parser.parse_args()
    wanted = arguments.only or ("nothing", "edits", "lines", "modes")
    print(f"{processor()}, {len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        if "nothing" in wanted:
            nothing(bench, 3 if arguments.quick else 9)
        if "edits" in wanted:
            edits(bench, 8 if arguments.quick else arguments.kernels, arguments.operations, arguments.target)
        if "lines" in wanted:
            lines(bench, (2500, 5000, 10000) if arguments.quick else (25000, 50000, 100000), 1 if arguments.quick else 3)
        if "modes" in wanted:
            modes(bench, 5000 if arguments.quick else 50000)
    return 0


if __name__ == "__main__":
    sys.exit(main())
