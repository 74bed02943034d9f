"""Runs the functions of `gompute.math` over all their inputs, or as many as a type allows, and records the outcome in results.json.

    python checks/math/exhaustive.py                     # whatever has changed since it was last run
    python checks/math/exhaustive.py exp sin --type f32  # these
    python checks/math/exhaustive.py --sample            # a part of all of them, in a minute or two
    python checks/math/exhaustive.py --list              # what has changed

f32, one argument: all 2**32, against the C library's double, with every close case decided by MPFR (see reference.c). f32, two arguments:
all pairs of special and boundary values through MPFR, and 10**9 pseudo-random pairs as before. f16 and bf16: all values, and pairs by
chance, through MPFR. It uses all cores (--threads), shows its progress, and goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import struct
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fingerprint import fingerprint
from library import check, compiled_kernel, reference
from mpfr import correct
from narrow import run_narrow
from pairs import boundary_pairs
from results import record, stale, unary_and_binary

import gompute as g
from gompute.lang.types import F32, SCALARS

STATE = Path(__file__).with_name(".progress.json")
CHUNK = 1 << 24
SLICE = 1 << 10
ALL = 1 << 32
PAIRS = 10**9
ROOM = 1 << 16


def _all(arity: int) -> dict[int, int]:
    """How many inputs from which on."""
    total = ALL if arity == 1 else PAIRS
    return {first: min(CHUNK, total - first) for first in range(0, total, CHUNK)}


def _sampled(name: str, arity: int) -> dict[int, int]:
    """A slice from every part of like sign, exponent and first 7 digits; of pairs, the first."""
    if arity == 2:
        return dict.fromkeys(range(0, CHUNK, CHUNK // 4), CHUNK // 4)
    draw = random.Random(name)
    return {part * 65536 + draw.randrange(0, 65536 - SLICE): SLICE for part in range(65536)}


class Run:
    """One function's run over f32: chunks handed to threads, and what is not known to be right."""

    def __init__(self, name: str, mark: str, sample: bool) -> None:
        self.name, self.mark = name + " by sample" * sample, mark
        self.function = getattr(g.math, name)
        self.chunks = _sampled(name, self.function.arity) if sample else _all(self.function.arity)
        self.total = sum(self.chunks.values())
        held = json.loads(STATE.read_text()) if STATE.exists() else {}
        mine = held.get(name, {})
        done = mine.get("done", []) if mine.get("mark") == mark else []
        self.done: set[int] = set(done)
        self.open: list[list[int]] = mine.get("open", []) if done else []
        self.lock = threading.Lock()
        self.started = time.monotonic()

    def work(self, waiting: Iterable[int]) -> None:
        address, width = compiled_kernel(self.function, F32), self.function.arity + 1
        listed = (ctypes.c_uint32 * (ROOM * width))()
        for first in waiting:
            count = check(self.function, address, first, self.chunks[first], listed, ROOM)
            if not 0 <= count <= ROOM:
                raise RuntimeError(f"{self.name}: {count} results in one chunk that are not known to be right")
            with self.lock:
                self.open += [list(listed[width * i : width * (i + 1)]) for i in range(count)]
                self.done.add(first)
                if self.chunks[first] > SLICE or len(self.done) == len(self.chunks):
                    self._save()

    def _save(self) -> None:
        held = json.loads(STATE.read_text()) if STATE.exists() else {}
        held[self.name] = {"mark": self.mark, "done": sorted(self.done), "open": self.open}
        STATE.with_suffix(".new").write_text(json.dumps(held))
        os.replace(STATE.with_suffix(".new"), STATE)
        share, spent = len(self.done) / len(self.chunks), time.monotonic() - self.started
        end = "\r" if sys.stderr.isatty() else "\n"
        if sys.stderr.isatty() or len(self.done) % 32 == 0:
            print(f"{self.name}: {share:6.1%}, {spent:.0f} s, {len(self.open)} for MPFR", end=end, file=sys.stderr, flush=True)

    def run(self, threads: int) -> dict[str, Any]:
        reference()  # these two are made here, before threads ask for them
        compiled_kernel(self.function, F32)
        waiting = Shared([first for first in self.chunks if first not in self.done])
        failures: list[BaseException] = []

        def guarded() -> None:
            try:
                self.work(waiting)
            except BaseException as error:
                failures.append(error)

        workers = [threading.Thread(target=guarded) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if failures:
            raise failures[0]
        cases = [([_float(bits) for bits in inputs], _float(got)) for *inputs, got in self.open]
        extra = boundary_pairs(self.function) if self.function.arity == 2 else []
        name = self.function.__name__
        wrong = [(inputs, got, right) for inputs, got in [*cases, *extra] if not _same(got, right := correct(name, inputs, "f32"))]
        for inputs, got, right in wrong[:20]:
            print(f"{name}{tuple(map(float.hex, inputs))} gave {got.hex()}, and is {right.hex()}", file=sys.stderr)
        return {"inputs": self.total + len(extra), "by_mpfr": len(cases) + len(extra), "wrong": len(wrong)}


class Shared:
    """An iterator for several threads."""

    def __init__(self, things: list[int]) -> None:
        self._things = iter(things)
        self._lock = threading.Lock()

    def __iter__(self) -> Shared:
        return self

    def __next__(self) -> int:
        with self._lock:
            return next(self._things)


def _float(bits: int) -> float:
    value: float = struct.unpack("<f", struct.pack("<I", bits))[0]
    return value


def _same(got: float, right: float) -> bool:
    return (got != got and right != right) or struct.pack("<f", got) == struct.pack("<f", right)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="FUNCTION", help="left out: those that have changed since they were last run")
    parser.add_argument("--type", action="append", choices=("f32", "f16", "bf16"), dest="kinds", help="left out: all three")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--sample", action="store_true", help="f32: 2**26 inputs from everywhere, 2**24 pairs; no proof, but quick")
    parser.add_argument("--list", action="store_true", help="say what has changed and run nothing")
    given = parser.parse_args()
    bad = 0
    for kind in given.kinds or ("f32", "f16", "bf16"):
        for name in given.names or stale(kind):
            if name not in unary_and_binary():
                parser.error(f"no function {name!r}; there are {', '.join(unary_and_binary())}")
            if given.list:
                print(kind, name)
                continue
            function, began = getattr(g.math, name), time.monotonic()
            mark = fingerprint(function, SCALARS[kind])
            entry = Run(name, mark, given.sample).run(given.threads) if kind == "f32" else run_narrow(function, kind)
            record(kind, name, entry)
            bad += entry["wrong"]
            print(f"{kind} {name}: {entry['inputs']} inputs, {entry['wrong']} wrong, {time.monotonic() - began:.0f} s", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
