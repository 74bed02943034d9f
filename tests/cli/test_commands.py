"""The command line around its commands: help, versions, tables, and how failures leave the program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import gompute
from gompute.cli import app
from gompute.cli.report import readable_size, table
from gompute.errors import InternalError
from gompute.targets import all_targets
from tests.cli.conftest import Done

Cli = Callable[..., Done]
COMMANDS = ("build", "cache", "check", "demo", "doctor", "inspect", "ir", "manifest", "merge", "run", "targets")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(cli: Cli, command: str) -> None:
    done = cli(command, "--help")
    assert done.code == 0
    assert f"Usage: gompute {command} " in done.out
    assert f"Example:\n    gompute {command}" in done.out


def test_the_program_lists_its_commands(cli: Cli) -> None:
    done = cli("--help")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.partition("Commands:\n")[2].splitlines()] == list(COMMANDS)
    assert cli("--version").out == f"gompute {gompute.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["bild"], ["targets", "--all"], ["targets", "more"]])
def test_wrong_use_exits_with_2(cli: Cli, arguments: list[str]) -> None:
    done = cli(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "Usage: gompute" in done.err


def test_targets_are_all_listed(cli: Cli) -> None:
    lines = cli("targets").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [target.name for target in all_targets()]
    assert "PTX 7.8" in next(line for line in lines if line.startswith("sm_89 "))
    assert json.loads(cli("targets", "--json").out)["gfx1100"]["backend"] == "hip"


def test_our_own_bug_asks_for_a_report_and_shows_no_traceback(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> str:
        raise InternalError("the table is upside down")

    monkeypatch.setattr("gompute.cli.targets.targets_json", broken)
    done = cli("targets", "--json")
    assert done.code == app.FAILED
    assert "error: the table is upside down" in done.err
    assert "Please report it" in done.err
    assert "Traceback" not in done.err


def _program(*arguments: str, cwd: Path, stdout: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)])
    command = [sys.executable, "-m", "gompute", *arguments]
    return subprocess.run(
        command, cwd=cwd, env=os.environ | {"PYTHONPATH": path}, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
    )


def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = _program("targets", cwd=tmp_path, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_full_device_is_said_in_a_line(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = _program("targets", cwd=tmp_path, stdout=full.fileno())
    assert done.returncode == 1
    assert done.stderr == "error: [Errno 28] No space left on device\n"


def test_columns_are_aligned_and_numbers_set_to_the_right() -> None:
    assert (
        table(("name", "size"), [("a", 5), ("long one", 1234), ("b", None)])
        == "name      size\na            5\nlong one  1234\nb            -"
    )


@pytest.mark.parametrize(
    ("length", "text"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (123456, "123.5 kB"), (10**7, "10.0 MB"), (5 * 10**9, "5.0 GB")]
)
def test_sizes_read_easily(length: int, text: str) -> None:
    assert readable_size(length) == text


# ---- demo ----


def test_the_demo_runs_on_the_photograph_that_a_package_ships(tmp_path: Path) -> None:
    done = _program("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Photograph: ascent (public domain, from PyWavelets), 512 x 512, grey." in done.stdout
    assert "tone: all 262144 numbers equal NumPy's, bit for bit." in done.stdout
    assert "soften: all 262144 numbers equal NumPy's, bit for bit." in done.stdout
    for target in ("sm_75", "sm_89", "sm_90", "gfx942", "gfx1100", "x86-64-v3"):
        assert f"photo for {target}: " in done.stderr
    with Image.open(tmp_path / "gompute-demo.png") as written:
        assert (written.format, written.size, written.mode) == ("PNG", (512, 512), "L")
    assert os.listdir(tmp_path) == ["gompute-demo.png"]


def test_the_demo_takes_a_picture_in_colour(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    Image.fromarray(random.integers(0, 256, (37, 61, 3), dtype=np.uint8)).save(tmp_path / "mine.png")
    done = _program("demo", "mine.png", "-o", "softer.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Photograph: mine.png, 61 x 37, colour." in done.stdout
    assert f"soften: all {37 * 61 * 3} numbers equal NumPy's" in done.stdout
    with Image.open(tmp_path / "softer.png") as written:
        assert (written.size, written.mode) == ((61, 37), "RGB")


def test_the_demo_refuses_what_is_no_image(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no image")
    done = _program("demo", "notes.txt", cwd=tmp_path)
    assert done.returncode == 1
    assert "notes.txt: not an image that Pillow reads" in done.stderr
    assert "Traceback" not in done.stderr
