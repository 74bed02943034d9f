"""A root of many slow kernels of which a program launches a few: a whole build of it, and one with the program's manifest.

Run: python checks/bench/manifest_time.py
Both builds are whole processes with one worker and no cache, one after the other in each round. Before, every kernel is built alone, to see
that each is slow: the shortest is printed.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import environment, package_version, processor
from seeded_root import kernel_names, root_source

HOST = "import gompute as g\nimport heavy\n\n{launches}"


def gompute(folder: Path, *arguments: str) -> str:
    """Run a command; what it wrote on the standard error."""
    command = [sys.executable, "-m", "gompute", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stderr


def build(folder: Path, *more: str) -> tuple[float, float]:
    """Seconds of a build, as a process and in its worker."""
    began = time.perf_counter()
    said = gompute(folder, "build", "heavy.py", "-t", "sm_89", "-j", "1", "--no-cache", "-o", "out", *more)
    whole = time.perf_counter() - began
    return whole, sum(float(seconds) for seconds in re.findall(r"\(([0-9.]+) s\)$", said, re.MULTILINE))


def scan(folder: Path, kernels: list[str]) -> None:
    """A program that launches these, and its manifest."""
    (folder / "host.py").write_text(HOST.format(launches="".join(f"g.AutoKernel(heavy.{name})\n" for name in kernels)))
    gompute(folder, "manifest", "scan", "host.py", "--root", "heavy.py", "-o", "manifest.json")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=64)
    parser.add_argument("--launched", type=int, default=4)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--skip-alone", action="store_true", help="do not build every kernel alone first")
    parser.add_argument("--limit", type=float, help="exit with 1 when the build with a manifest takes more than this times the whole one")
    arguments = parser.parse_args()
    names = kernel_names(arguments.kernels)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "heavy.py").write_text(root_source(arguments.kernels, arguments.lines))
        alone = []
        for name in [] if arguments.skip_alone else names:
            scan(folder, [name])
            alone.append(build(folder, "--manifest", "manifest.json")[1])
        scan(folder, names[:: arguments.kernels // arguments.launched][: arguments.launched])
        whole, some = [], []
        for _ in range(arguments.rounds):
            whole.append(build(folder)[0])
            some.append(build(folder, "--manifest", "manifest.json")[0])
    ratio = statistics.median(some) / statistics.median(whole)
    print(f"{processor()}, {package_version('gompute')}, {package_version('llvmlite')}\n")
    print("| what | median s | times whole |\n| --- | ---: | ---: |")
    print(f"| whole, {arguments.kernels} kernels | {statistics.median(whole):.2f} | 1.00 |")
    print(f"| with a manifest, {arguments.launched} kernels | {statistics.median(some):.2f} | {ratio:.3f} |")
    if alone:
        print(f"\nshortest kernel alone, in its worker: {min(alone):.2f} s")
    return int(arguments.limit is not None and ratio > arguments.limit)


if __name__ == "__main__":
    sys.exit(main())
