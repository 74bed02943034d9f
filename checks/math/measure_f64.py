"""Measure the errors of the f64 functions, and keep what was found in ``checks/math/results_f64.json``.

    python checks/math/measure_f64.py                  # what is missing or stale, to 10**8 random inputs a function
    python checks/math/measure_f64.py exp log --random 1e7

For each function: random inputs (`f64_inputs.batch`) against the C library's 80-bit functions, what looks worst against its binary128
ones; a share of them against MPFR outright; the published hard cases against MPFR; neighbouring doubles around the tables' seams, which
must not fall where the function does not. An interrupted run goes on where it stopped. Results count for one source of the function,
known by a hash: another source starts from nothing. Needs gmpy2, the `compiler` extra, and glibc.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import f64_inputs as inputs
import f64_reference as reference
import gmpy2
import numpy as np
from fingerprint import fingerprint

import gompute.math
from gompute.lang.types import F64
from gompute.math.f64 import BOUNDS

RESULTS = Path(__file__).with_name("results_f64.json")
NEIGHBOURS = 4096


def versions() -> dict[str, str]:
    import llvmlite
    from llvmlite import binding as llvm

    return {
        "glibc": platform.libc_ver()[1],
        "gmpy2": gmpy2.version(),
        "llvm": ".".join(str(part) for part in llvm.llvm_version_info),
        "llvmlite": llvmlite.__version__,
        "mpfr": gmpy2.mpfr_version().removeprefix("MPFR "),
        "numpy": np.__version__,
        "ziglang": version("ziglang"),
    }


def read() -> dict[str, Any]:
    return dict(json.loads(RESULTS.read_text())) if RESULTS.exists() else {}


def keep(name: str, entry: dict[str, Any]) -> None:
    """Put one function's entry into the file, beside what other processes put there."""
    with open(RESULTS.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = read()
        known[name] = entry
        staged = RESULTS.with_suffix(f".{os.getpid()}")
        staged.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
        staged.rename(RESULTS)
    RESULTS.with_suffix(".lock").unlink(missing_ok=True)


def function(name: str) -> Any:
    return getattr(gompute.math, name)


def wanted_hash(name: str) -> str:
    return fingerprint(function(name), F64)


def hexed(arguments: Sequence[float]) -> list[str]:
    return [float(argument).hex() for argument in arguments]


def worse(entry: dict[str, Any], key: str, error: float, arguments: Sequence[float]) -> None:
    part = entry.setdefault(key, {})
    if error >= part.get("worst", -1.0):
        part["worst"], part["at"] = round(error, 6), hexed(arguments)


def random_part(name: str, entry: dict[str, Any], count: int) -> None:
    part = entry.setdefault("random", {"count": 0, "beyond_half": 0})
    shown = time.monotonic()
    while part["count"] < count:
        arguments = inputs.batch(name, part["count"] // inputs.BATCH)
        got = function(name)(*arguments)
        worst, where, beyond = reference.measure(name, arguments, got)
        if where >= 0:
            at = [values[where] for values in arguments]
            worse(entry, "random", reference.error(name, float(got[where]), *at), at)
            assert abs(part["worst"] - worst) < 1e-4 or part["worst"] > worst, (name, at, worst)
        part["count"] += inputs.BATCH
        part["beyond_half"] += beyond
        if time.monotonic() - shown > 20 or part["count"] >= count:
            shown = time.monotonic()
            keep(name, entry)
            print(f"{name}: {part['count']:.3g} of {count:.3g} random inputs, worst {part.get('worst', 0)}", flush=True)


def mpfr_part(name: str, entry: dict[str, Any], count: int) -> None:
    """Random inputs of batches that the other part does not use, against MPFR alone."""
    part = entry.setdefault("mpfr", {"count": 0})
    size = 50_000
    while part["count"] < count:
        arguments = inputs.batch(name, 1_000_000 + part["count"] // size, size)
        got = function(name)(*arguments)
        for index, result in enumerate(got):
            at = [float(values[index]) for values in arguments]
            found = reference.error(name, float(result), *at)
            if found > part.get("worst", 0.0):
                worse(entry, "mpfr", found, at)
        part["count"] += size
        keep(name, entry)
    print(f"{name}: {part['count']:.3g} inputs against MPFR, worst {part['worst']}", flush=True)


def published_part(name: str, entry: dict[str, Any]) -> None:
    cases = inputs.PUBLISHED[name]
    got = function(name)(*(np.array(values) for values in zip(*cases, strict=True)))
    for result, at in zip(got, cases, strict=True):
        worse(entry, "published", reference.error(name, float(result), *at), at)
    entry["published"]["count"] = len(cases)


def monotonic_part(name: str, entry: dict[str, Any]) -> None:
    """Neighbours at each seam. Where the function itself turns, the seam lies off the turn."""
    pairs, broken = 0, []
    for place in inputs.SEAMS.get(name, []):
        values = (
            inputs.consecutive(place, NEIGHBOURS)
            if place
            else np.concatenate([-inputs.consecutive(1e-300, 64)[::-1], inputs.consecutive(1e-300, 64)])
        )
        got = function(name)(values)
        middle = [reference.exact(name, float(values[index])) for index in (0, -1)]
        rises = middle[0] <= middle[1]
        with np.errstate(invalid="ignore"):
            falls = np.flatnonzero(np.diff(got) * (1 if rises else -1) < 0)
        pairs += values.size - 1
        broken += hexed(values[falls[:3]])
    entry["monotonic"] = {"pairs": pairs, "broken": broken}


def run(name: str, random: int, against_mpfr: int) -> bool:
    """Complete one function's entry; whether it keeps its bound."""
    entry = read().get(name, {})
    fresh = wanted_hash(name)
    if entry.get("source") != fresh or entry.get("versions", {}).get("llvm") != versions()["llvm"]:
        entry = {"source": fresh}
    entry |= {"versions": versions(), "bound": BOUNDS[name]}
    published_part(name, entry)
    monotonic_part(name, entry)
    mpfr_part(name, entry, min(against_mpfr, 50_000))
    random_part(name, entry, random)
    mpfr_part(name, entry, against_mpfr)
    entry["inputs"] = sum(entry[part]["count"] for part in ("random", "mpfr", "published"))
    keep(name, entry)
    worst = max(entry[part]["worst"] for part in ("random", "mpfr", "published"))
    good = worst <= entry["bound"] and not entry["monotonic"]["broken"]
    print(f"{name}: {'within' if good else 'BEYOND'} {entry['bound']}: worst {worst}, broken {entry['monotonic']['broken']}", flush=True)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the errors of the f64 functions.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="functions; all where none is named")
    parser.add_argument("--random", type=float, default=1e8, metavar="COUNT", help="random inputs a function (default 1e8)")
    parser.add_argument("--mpfr", type=float, default=1e6, metavar="COUNT", help="random inputs against MPFR alone (default 1e6)")
    options = parser.parse_args()
    unknown = set(options.names) - set(reference.NAMES)
    if unknown:
        parser.error(f"no such function: {', '.join(sorted(unknown))}")
    good = [run(name, int(options.random), int(options.mpfr)) for name in options.names or reference.NAMES]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
