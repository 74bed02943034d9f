"""Builds that are killed, run out of room, run side by side, find their cache damaged; after each the next makes the right bytes.

Run: python checks/chaos.py --rounds 200 --seed 1

Each round edits a project of two roots, does something bad, and then builds in peace: the set must be byte for byte that of a build
without a cache, and nothing may lie beside it.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["Chaos", "main"]

TARGETS = ("sm_89", "gfx1100", "x86-64-v3")

_FIRST = """
import gompute as g
from gompute import f32
from shared import blend

TABLE = g.table(f32, [1.0, {a}, 3.0])

@g.map
def first_one(x: f32) -> f32:
    return blend(x, {a}) + TABLE[1]

@g.map
def first_two(x: f32) -> f32:
    return x * {b} if x > 0 else TABLE[2]
"""
_SECOND = """
import gompute as g
from gompute import f32, u64

@g.kernel(block_size=64)
def second(data: g.ptr[f32], n: u64) -> None:
    i = g.global_id(0)
    if i < n:
        data[i] += {b}
"""
_SHARED = "from gompute import f32\n\ndef blend(x: f32, y: f32) -> f32:\n    return x * y + {c}\n"


class Chaos:
    """One project, its cache, and what can go wrong with a build of it.

    Args:
        folder: an empty folder for both.
        seed: of everything that is picked.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.pick = random.Random(seed)
        self.cache = folder / "cache"
        self.project = folder / "project"
        self.project.mkdir()
        self._clean: dict[tuple[str, str, str], dict[str, bytes]] = {}
        self._state = ("1.5", "2.5", "0.5")
        self._next: list[Callable[[], None]] = []
        self.disasters: tuple[Callable[[], None], ...] = (self.kill, self.interrupt, self.fill, self.damage, self.swap, self.race)

    def round(self) -> str:
        """Edit, do something bad, build in peace.

        Returns:
            What was done.

        Raises:
            AssertionError: what came out is not what a build without a cache makes, or something was left.
        """
        self._edit()
        if not self._next:  # each once before any comes again
            self._next = self.pick.sample(self.disasters, len(self.disasters))
        disaster = self._next.pop()
        disaster()
        what = f"{disaster.__name__} with {self._state}"
        done = self._start("out").communicate(timeout=300)
        assert self._files("out") == self._reference(), f"{what}: other bytes than those of a clean build\n{done[1]}"
        left = sorted(os.listdir(self.project))
        assert left == ["first.py", "out", "second.py", "shared.py"], f"{what}: left {left}"
        return what

    # ---- what goes wrong ----

    def kill(self) -> None:
        """A build is killed, and what it had started."""
        self._end(self._start("out"), signal.SIGKILL)

    def interrupt(self) -> None:
        """A build is interrupted from the terminal."""
        self._end(self._start("out"), signal.SIGINT)

    def fill(self) -> None:
        """The disk takes no more than so many blocks of 512 bytes of any file."""
        self._start("out", room=self.pick.choice((0, 1, 4, 16))).communicate(timeout=300)
        if not (self.project / "out").exists() or self.pick.random() < 0.2:
            shutil.rmtree(self.cache, ignore_errors=True)

    def damage(self) -> None:
        """Files of the cache lose bits, their end, or are gone."""
        for path in self._entries():
            match self.pick.randrange(12):
                case 0:
                    path.unlink()
                case 1:
                    data = bytearray(path.read_bytes())
                    if data:
                        data[self.pick.randrange(len(data))] ^= 1 << self.pick.randrange(8)
                    path.write_bytes(data)
                case 2:
                    path.write_bytes(path.read_bytes()[: self.pick.randrange(200)])

    def swap(self) -> None:
        """Two files of the cache have each other's content."""
        entries = self._entries()
        if len(entries) > 1:
            one, two = self.pick.sample(entries, 2)
            first, second = one.read_bytes(), two.read_bytes()
            one.write_bytes(second)
            two.write_bytes(first)

    def race(self) -> None:
        """Two builds at once, into two folders and one cache."""
        builds = [self._start(out) for out in ("out", "other")]
        for build in builds:
            build.communicate(timeout=300)
        assert self._files("other") == self._files("out") == self._reference(), "two builds at once made other bytes"
        shutil.rmtree(self.project / "other")

    # ---- the project ----

    def _edit(self) -> None:
        states = [self.pick.choice(values) for values in (("1.5", "1.25"), ("2.5", "2.25"), ("0.5", "0.75"))]
        self._state = (states[0], states[1], states[2])
        a, b, c = self._state
        for name, text in (("first.py", _FIRST), ("second.py", _SECOND), ("shared.py", _SHARED)):
            made = text.format(a=a, b=b, c=c)
            path = self.project / name
            if not path.exists() or path.read_text() != made:
                path.write_text(made)

    def _reference(self) -> dict[str, bytes]:
        if self._state not in self._clean:
            self._start("clean", "--no-cache").communicate(timeout=300)
            self._clean[self._state] = self._files("clean")
            shutil.rmtree(self.project / "clean")
        return self._clean[self._state]

    def _files(self, out: str) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.project / out).iterdir()}

    def _entries(self) -> list[Path]:
        return sorted(path for path in self.cache.rglob("*") if path.is_file())

    def _start(self, out: str, *options: str, room: int | None = None) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "gompute", "build", "first.py", "second.py", "-o", out]
        command += [word for target in TARGETS for word in ("-t", target)]
        command += options or ("--cache", str(self.cache))

        if room is not None:
            command = ["/bin/sh", "-c", f'ulimit -f {room}; exec "$@"', "sh", *command]
        packages = os.pathsep.join(path for path in (str(Path(__file__).parents[1]), *sys.path) if path)
        return subprocess.Popen(
            command,
            cwd=self.project,
            env={"PYTHONPATH": packages, "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(self.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _end(self, build: subprocess.Popen[str], number: signal.Signals) -> None:
        time.sleep(self.pick.uniform(0.02, 0.8))
        build.send_signal(number)
        build.communicate(timeout=300)


def main() -> int:
    """Run the rounds; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        chaos = Chaos(Path(folder), arguments.seed)
        for number in range(arguments.rounds):
            print(f"{number + 1}/{arguments.rounds}: {chaos.round()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
