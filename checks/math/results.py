"""results.json: what the long runs found, by type and function, with the hash of what was run and the versions that ran it.

    python checks/math/results.py    # write the counts of inputs to gompute/math/measured.py, and the table of README.md

What was found of f64 is in results_f64.json, where there is one.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gmpy2
from fingerprint import fingerprint

import gompute as g
from gompute.backends.pipeline import toolchain
from gompute.lang.math_function import NAMES
from gompute.lang.types import SCALARS

__all__ = ["FILE", "MEASURED", "README", "in_readme", "measured", "read", "record", "stale", "table", "unary_and_binary", "versions"]

FILE = Path(__file__).with_name("results.json")
FILE_F64 = Path(__file__).with_name("results_f64.json")
README = FILE.parents[2] / "README.md"
MEASURED = Path(g.__file__).parent / "math" / "measured.py"


def unary_and_binary(exact: bool = False) -> list[str]:
    """The names of the functions that have bodies, of those alone that are one operation with `exact`."""
    return [name for name in NAMES if getattr(g.math, name).exact == exact]


def versions() -> dict[str, str]:
    """What takes part in a run."""
    used = toolchain()
    return {
        "llvm": used["llvm"],
        "llvmlite": used["llvmlite"],
        "ziglang": version("ziglang"),
        "mpfr": gmpy2.mpfr_version(),
        "libc": " ".join(platform.libc_ver()),
        "machine": platform.machine(),
    }


def read() -> dict[str, dict[str, Any]]:
    """Entries by type and function: ``read()["f32"]["exp"]["inputs"]``."""
    if not FILE.exists():
        return {}
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def record(kind: str, name: str, entry: dict[str, Any]) -> None:
    """Add the entry of a run that is done; hash and versions come with it. Whole or not at all."""
    held = read()
    mark = fingerprint(getattr(g.math, name), SCALARS[kind])
    held.setdefault(kind, {})[name] = {**entry, "source": mark, "versions": versions()}
    text = json.dumps(held, indent=1, sort_keys=True) + "\n"
    with tempfile.NamedTemporaryFile("w", dir=FILE.parent, delete=False, encoding="utf-8") as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, FILE)


def stale(kind: str) -> list[str]:
    """The functions whose body for a type is not the one that was run, or was never run."""
    held = read().get(kind, {})
    marks = {name: fingerprint(getattr(g.math, name), SCALARS[kind]) for name in unary_and_binary()}
    return [name for name, mark in marks.items() if held.get(name, {}).get("source") != mark]


def measured() -> str:
    """The text of gompute/math/measured.py."""
    counts = {kind: {name: entry["inputs"] for name, entry in entries.items()} for kind, entries in read().items()}
    if FILE_F64.exists():
        wide = json.loads(FILE_F64.read_text(encoding="utf-8"))
        counts["f64"] = {name: entry["inputs"] for name, entry in wide.items()}
    lines = [
        '"""How many inputs each function was checked on; written by checks/math/results.py."""',
        "",
        "INPUTS: dict[str, dict[str, int]] = {",
    ]
    for kind in sorted(counts):
        lines += [f'    "{kind}": {{', *(f'        "{name}": {counts[kind][name]},' for name in sorted(counts[kind])), "    },"]
    return "\n".join([*lines, "}", ""])


def table() -> str:
    """`g.math.max_ulp` as README.md shows it, functions of equal figures in one row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for name in unary_and_binary():
        held = g.math.max_ulp[name]
        figures = (f"{held[kind].ulp} on {_count(held[kind].inputs)}" if kind in held else "" for kind in ("f32", "f64", "f16", "bf16"))
        rows.setdefault(tuple(figures), []).append(name)
    lines = ["| function | f32 | f64 | f16 | bf16 |", "| --- | --- | --- | --- | --- |"]
    lines += [f"| {' '.join(names)} | {' | '.join(figures)} |" for figures, names in rows.items()]
    return "\n".join(lines) + "\n"


def _count(inputs: int) -> str:
    return f"2^{inputs.bit_length() - 1}" if inputs & (inputs - 1) == 0 else f"{inputs:.2g}".replace("e+0", "e")


def in_readme(text: str, shown: str) -> str:
    """README.md with the table in its place."""
    head, rest = text.split("| function | f32 |", 1)
    return head + shown + rest[rest.index("\n\n") + 1 :]


if __name__ == "__main__":
    MEASURED.write_text(measured(), encoding="utf-8")
    again = "import results; p = results.README; p.write_text(results.in_readme(p.read_text(), results.table()))"
    subprocess.run([sys.executable, "-c", again], cwd=FILE.parent, check=True)  # a process that reads the new counts
