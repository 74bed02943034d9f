"""What the benches share: interleaved timing, and a Markdown table of medians."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path

__all__ = ["command_version", "environment", "interleaved", "package_version", "print_table", "processor", "run_process"]


def interleaved(contenders: Mapping[str, Callable[[], object]], rounds: int, warm: int = 2) -> dict[str, list[float]]:
    """Time each contender once per round, so that a slow minute of the machine falls on all of them; each round starts with another one.

    Returns:
        Seconds per call, `rounds` of them per contender; the `warm` rounds before are not counted.
    """
    names = list(contenders)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for number in range(-warm, rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            call = contenders[name]
            start = time.perf_counter()
            call()
            taken = time.perf_counter() - start
            if number >= 0:
                seconds[name].append(taken)
    return seconds


def environment() -> dict[str, str]:
    """The environment of a process that is timed: Python keeps bytecode, as an installation has it."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def run_process(command: Sequence[str | Path], cwd: Path | None = None) -> Callable[[], object]:
    """A contender that is a whole process; its words are shown when it fails."""

    def call() -> None:
        done = subprocess.run([str(part) for part in command], cwd=cwd, env=environment(), capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(str(part) for part in command)} failed:\n{done.stdout}{done.stderr}")

    return call


def print_table(seconds: Mapping[str, Sequence[float]], base: str, versions: Mapping[str, str], *, unit: str = "ms") -> dict[str, float]:
    """Print medians, the fastest and slowest quarter, and ratios to `base`.

    Returns:
        The ratio of each median to that of `base`.
    """
    scale = {"s": 1.0, "ms": 1e3, "us": 1e6}[unit]
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    ratios = {name: median / medians[base] for name, median in medians.items()}
    print(f"{processor()}, {platform.system()} {platform.release()}, Python {platform.python_version()}\n")
    print(f"| what | median {unit} | quartiles | times {base} | version |")
    print("| --- | ---: | ---: | ---: | --- |")
    for name, taken in seconds.items():
        low, _, high = statistics.quantiles(taken, n=4)
        figures = f"{medians[name] * scale:.3f} | {low * scale:.3f} to {high * scale:.3f} | {ratios[name]:.2f}"
        print(f"| {name} | {figures} | {versions.get(name, '')} |")
    return ratios


def command_version(command: Sequence[str | Path], line: int = 0) -> str:
    """One line of what a command says of its version."""
    done = subprocess.run([*map(str, command), "--version"], capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[line]


def package_version(name: str) -> str:
    """The installed version of a distribution, or an empty text where there is none."""
    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:
        return ""


def processor() -> str:
    """The processor's name as the kernel gives it."""
    info = Path("/proc/cpuinfo")
    names = (
        [line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")] if info.exists() else []
    )
    return names[0] if names else platform.machine()
