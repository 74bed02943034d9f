from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gompute.build.zygote import Zygote, ZygoteCommand
from gompute.cli.app import run

WORKERS = Path(__file__).parent.parent / "build" / "workers"
SCRIPTED = ZygoteCommand("scripted_worker", (WORKERS,))


@dataclass(frozen=True)
class Done:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Runs a command in this process; a compiling one with a scripted worker in the compiler's place (tests/build/workers)."""

    def call(*arguments: object) -> Done:
        words = [str(argument) for argument in arguments]
        zygote = Zygote.start(SCRIPTED) if words[:1] in (["build"], ["check"]) else None
        cached = words[:1] != ["build"] or "--cache" in words
        code = run(words if cached else ["build", "--no-cache", *words[1:]], zygote)
        return Done(code, *capfd.readouterr())

    return call


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Makes a source file for the scripted worker, in the current folder."""
    monkeypatch.chdir(tmp_path)

    def make(name: str, words: str) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# {words}\n")
        return file

    return make
