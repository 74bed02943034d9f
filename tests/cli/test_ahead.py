"""A command that finds what it wrote as it was, and everything that it read: nothing is left to do, and whatever differs is seen."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gompute.build import keys
from gompute.cli import ahead
from gompute.cli.app import run

ROOT = Path(__file__).resolve().parents[2]
KERNELS = """
import gompute as g
from gompute import f32
from shared import SHIFT

@g.map
def shifted(x: f32) -> f32:
    return x + SHIFT
"""
SHARED = """
from pathlib import Path

SHIFT = float(Path(__file__).with_name("data.txt").read_text())
"""
PROJECT = """
[tool.gompute]
targets = ["x86-64-v3"]
manifest = "manifest.json"
[tool.gompute.roots.kernels]
source = "kernels.py"
imports = ["shared.py"]
"""
MANIFEST = '{"version": 1, "kernels": {"kernels": {"shifted": []}}}'
COMMAND = ["build", "-o", "out", "--cache", "cache"]


@pytest.fixture(scope="module")
def _built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project, built once, in the folder that the tests run in: what is known of a command is known of its folder."""
    folder = tmp_path_factory.mktemp("ahead")
    (folder / "project").mkdir()
    for name, text in (("kernels.py", KERNELS), ("shared.py", SHARED), ("data.txt", "1.5"), ("manifest.json", MANIFEST)):
        (folder / "project" / name).write_text(text)
    (folder / "project" / "pyproject.toml").write_text(PROJECT)
    os.utime(folder / "project" / "data.txt", (1, 1))
    before = Path.cwd()
    os.chdir(folder / "project")
    try:
        assert run(COMMAND) == 0
        assert run([*COMMAND, "--json"]) == 0
    finally:
        os.chdir(before)
    shutil.copytree(folder / "project", folder / "kept", symlinks=True)
    return folder


@pytest.fixture
def project(_built: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the project, as it was when it had been built."""
    shutil.rmtree(_built / "project")
    shutil.copytree(_built / "kept", _built / "project", symlinks=True)
    monkeypatch.chdir(_built / "project")
    return _built / "project"


def _edit(name: str, old: str, new: str) -> Callable[[], object]:
    return lambda: Path(name).write_text(Path(name).read_text().replace(old, new))


def _link(name: str) -> None:
    """Another file comes to lie behind a name."""
    Path(f"other_{name}").write_text(Path(name).read_text() + "\n# another\n")
    Path(name).unlink()
    Path(name).symlink_to(f"other_{name}")


def _flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def test_a_command_that_has_nothing_to_do_says_what_it_said_and_writes_nothing(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(COMMAND) == 0
    said = capfd.readouterr()
    assert re.fullmatch(r"kernels for x86-64-v3: so \d\.\d kB \(from the cache\)\n", said.err)
    before = os.stat("out").st_ino
    done = subprocess.run(
        [sys.executable, "-m", "gompute", *COMMAND],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, said.out, said.err)
    assert os.stat("out").st_ino == before, "a set that is written is another folder"


def test_what_more_is_asked_for_than_the_set_is_told_anew(project: Path) -> None:
    known = ahead.past([*COMMAND, "--json"])
    assert known is not None
    assert not known.whole


@pytest.mark.parametrize(
    "edit",
    [
        _edit("kernels.py", "x + SHIFT", "x - SHIFT"),
        _edit("shared.py", "float(", "2 * float("),
        _edit("data.txt", "1.5", "2.5"),
        _edit("pyproject.toml", "x86-64-v3", "x86-64-v4"),
        _edit("manifest.json", "[]", "[ ]"),
        lambda: Path("manifest.json").unlink(),
        lambda: Path("data.txt").unlink(),
        lambda: _link("kernels.py"),
        lambda: _link("shared.py"),
        lambda: _link("data.txt"),
        lambda: os.chdir(Path.cwd().parent),
        lambda: shutil.rmtree("cache"),
        lambda: [_flip(path, 90) for path in Path("cache/1/done").glob("*/*")],
        lambda: [path.write_bytes(path.read_bytes()[:60]) for path in Path("cache/1/done").glob("*/*")],
    ],
)
def test_whatever_was_read_is_compared(project: Path, edit: Callable[[], object]) -> None:
    assert ahead.past(COMMAND) is not None
    edit()
    assert ahead.past(COMMAND) is None


def test_another_compiler_and_another_python_are_others(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = dict(keys.toolchain_identity())
    monkeypatch.setattr(keys, "toolchain_identity", lambda: {**known, "llvmlite": "another"})
    assert ahead.past(COMMAND) is None
    monkeypatch.setattr(keys, "toolchain_identity", lambda: known)
    assert ahead.past(COMMAND) is not None
    monkeypatch.setattr(ahead, "python_identity", lambda: "another")
    assert ahead.past(COMMAND) is None


@pytest.mark.parametrize(
    "harm",
    [
        lambda: shutil.rmtree("out"),
        lambda: Path("out/index.json").unlink(),
        lambda: Path("out/more").write_text(""),
        lambda: _flip(Path("out/kernels.x86-64-v3.so"), 1000),
        lambda: _flip(Path("out/index.json"), 100),
        lambda: (Path("out/index.json").unlink(), os.mkfifo("out/index.json")),
    ],
)
def test_what_lies_there_is_compared_and_made_again(project: Path, harm: Callable[[], object]) -> None:
    known = ahead.past(COMMAND)
    assert known is not None
    assert known.whole
    harm()
    known = ahead.past(COMMAND)
    assert known is not None, "there is still nothing to compile"
    assert not known.whole


def test_a_package_and_a_wheel_are_known_too(project: Path) -> None:
    for option, place in ((["--module", "kernels_of_mine"], "packages/kernels_of_mine/kernels.x86-64-v3.so"), (["--wheel"], "packages")):
        command = ["build", "-o", "packages", "--cache", "cache", *option]
        assert run(command) == 0
        known = ahead.past(command)
        assert known is not None
        assert known.whole
        found = Path(place)
        (file,) = [found] if found.is_file() else found.glob("*.whl")
        _flip(file, 50)
        known = ahead.past(command)
        assert known is not None
        assert not known.whole


def test_a_module_that_prints_or_asks_another_process_is_never_done_ahead(project: Path) -> None:
    Path("shared.py").write_text(SHARED + "print('a word')\n")
    assert run(COMMAND) == 0
    known = ahead.past(COMMAND)
    assert known is not None
    assert not known.whole, "what it printed is to be printed again"
    Path("shared.py").write_text(SHARED + f"import subprocess\nsubprocess.run([{sys.executable!r}, '-c', ''])\n")
    assert run(COMMAND) == 0
    assert ahead.past(COMMAND) is None
