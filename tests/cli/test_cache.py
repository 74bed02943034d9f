"""What a second build takes from the cache, and what it must not; with the real compiler, on roots that compile in no time."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gompute.backends import codeobject
from gompute.build.store import Store
from gompute.cli.app import run
from gompute.targets import parse_target

KERNELS = """
import gompute as g
from gompute import f32, u64
from shared import shift

STEPS = g.table(f32, [1.0, 2.0, 3.5, 4.25])
MORE = g.table(f32, [0.5, 0.25])

@g.map
def alone(x: f32) -> f32:
    return x * 2.0

@g.map
def shifted(x: f32) -> f32:
    return shift(x)

@g.kernel(block_size=64)
def stepped(data: g.ptr[f32], n: u64) -> None:
    i = g.global_id(0)
    if i < n:
        data[i] += STEPS[i % 4]

@g.kernel(block_size=64)
def more(data: g.ptr[f32], n: u64) -> None:
    i = g.global_id(0)
    if i < n:
        data[i] += STEPS[i % 4] + MORE[i % 2]
"""
SHARED = "from gompute import f32\n\ndef shift(x: f32) -> f32:\n    return x + 1.5\n"
ALL = ["alone", "more", "shifted", "stepped"]

Build = Callable[..., dict[str, Any]]


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Build:
    """Builds `kernels.py` and gives what `--json` says of its first target, with `err`, and every file of the set as `files`."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "shared.py").write_text(SHARED)
    monkeypatch.chdir(tmp_path)

    def call(*options: str, target: str = "sm_89", out: str = "out", cache: str = "cache") -> dict[str, Any]:
        where = () if "--no-cache" in options else ("--cache", cache)
        code = run(["build", "kernels.py", "-t", target, "-o", out, "--json", *where, *options])
        printed, err = capfd.readouterr()
        assert code == 0, err
        files = {path.name: path.read_bytes() for path in Path(out).iterdir()}
        unit: dict[str, Any] = json.loads(printed)["units"][0]
        return unit | {"err": err, "files": files}

    return call


def _edit(name: str, old: str, new: str) -> None:
    text = Path(name).read_text()
    assert old in text
    Path(name).write_text(text.replace(old, new))


def test_an_edit_compiles_what_it_touches_and_the_bytes_are_those_of_a_fresh_build(build: Build) -> None:
    first = build()
    assert (first["compiled"], first["reused"], first["why"]) == (ALL, [], ["cache: never built before"])
    again = build()
    assert (again["compiled"], again["reused"], again["why"]) == ([], ALL, [])
    assert "kernels for sm_89: ptx" in again["err"]
    assert "(from the cache)" in again["err"]
    assert again["files"] == first["files"]
    steps = [
        ("kernels.py", "x * 2.0", "x * 3.0", ["alone"]),
        ("kernels.py", "3.0\n", "3.0  # a comment\n", []),
        ("shared.py", "1.5", "2.5", ["shifted"]),
        ("kernels.py", "4.25", "4.5", ["more", "stepped"]),
    ]
    for file, old, new, compiled in steps:
        _edit(file, old, new)
        made = build("--why")
        assert made["compiled"] == compiled
        assert made["why"] == [f"source: {Path(file).absolute()} changed"]
        assert f"kernels for sm_89: source: {Path(file).absolute()} changed\n" in made["err"]
    _edit("kernels.py", "4.5", "4.25")
    assert (build()["compiled"], build()["why"]) == ([], [])  # as it was before the last edit
    fresh = build("--no-cache", "-j", "1", out="fresh")
    assert fresh["compiled"] == ALL
    assert build()["files"] == fresh["files"]


@pytest.mark.parametrize("target", ["gfx1100", "gfx11-generic", "x86-64-v3"])
def test_joined_objects_are_the_same_however_they_came_together(build: Build, target: str) -> None:
    first = build(target=target)
    _edit("kernels.py", "x * 2.0", "x * 3.0")
    assert build(target=target)["compiled"] == ["alone"]
    _edit("kernels.py", "x * 3.0", "x * 2.0")
    assert build(target=target)["files"] == first["files"] == build("--no-cache", "-j", "1", target=target, out="fresh")["files"]
    if target.startswith("gfx"):
        (blob,) = (data for name, data in first["files"].items() if name.endswith(".hsaco"))
        found = codeobject.read(blob)
        assert sorted(found.kernels) == ALL
        assert found.target.endswith(parse_target(target).name)


def test_another_mode_is_another_build_and_back_again_is_none(build: Build) -> None:
    Path("kernels.py").write_text(KERNELS.replace("return x * 2.0", "return x * (2.0 if g.target.optimize == 'fast' else 4.0)"))
    fast = build()
    safe = build("--optimize", "safe", "--why")
    assert (safe["compiled"], safe["why"]) == (ALL, ["option: fast became safe"])
    assert "kernels for sm_89: option: fast became safe\n" in safe["err"]
    assert safe["files"]["kernels.sm_89.ptx"] != fast["files"]["kernels.sm_89.ptx"]
    units = {name: json.loads(made["files"]["index.json"])["roots"]["kernels"]["sm_89"] for name, made in (("fast", fast), ("safe", safe))}
    assert units["safe"]["mode"] == {"lineinfo": False, "optimize": "safe"}
    assert "mode" not in units["fast"]
    again = build()
    assert (again["compiled"], again["why"], again["files"]) == ([], [], fast["files"])
    assert build("--optimize", "cuda=safe")["compiled"] == []
    assert build("--optimize", "debug")["files"] == fast["files"]  # for all of a project: code for a GPU stays fast
    assert build("--lineinfo")["why"] == ["option: fast became fast with line tables"]


def test_a_mode_that_is_none_is_wrong_use(capfd: pytest.CaptureFixture[str]) -> None:
    for command in (["build", "-o", "out"], ["check"]):
        assert run([*command, "--optimize", "cuda=sfae"]) == 2
        assert "--optimize" in (err := capfd.readouterr().err)
        assert "'cuda=sfae': there is no mode 'sfae' (did you mean 'safe'?); the modes are fast, safe, debug." in " ".join(err.split())


def test_a_cubin_is_made_of_all_kernels(build: Build) -> None:
    files = build("--emit", "ptx,cubin,ir")["files"]
    for name in ALL:
        assert f".text.{name}\0".encode() in files["kernels.sm_89.cubin"]
        assert f"@{name}(".encode() in files["kernels.sm_89.ll"]
    again = build("--emit", "ptx,cubin,ir")
    assert (again["files"], again["compiled"]) == (files, [])
    assert sorted(build()["files"]) == ["index.json", "kernels.sm_89.ptx"]


def test_harm_to_any_file_of_the_cache_changes_no_byte(build: Build) -> None:
    files = build()["files"]
    for harm in (b"", b"gompute cache 1\n", os.urandom(100)):
        for path in sorted(path for path in Path("cache").rglob("*") if path.is_file()):
            path.write_bytes(harm)
        assert build()["files"] == files
        assert build()["compiled"] == []


@pytest.mark.parametrize("harm", ["damaged", "gone after the question"])
@pytest.mark.parametrize("target", ["sm_89", "x86-64-v3"])
def test_code_that_is_not_there_when_it_is_needed_is_made_again(
    build: Build, target: str, harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build counts on the code of the kernels that no edit has touched before it reads it."""
    build(target=target)
    entries = sorted(Path("cache/1/code").glob("*/*"))
    if harm == "damaged":
        entries[0].write_bytes(entries[0].read_bytes()[:-1])
        entries[2].write_bytes(b"")
    else:
        for entry in (entries[0], entries[2]):
            entry.unlink()
        monkeypatch.setattr(Store, "has", lambda *_: True)
    _edit("kernels.py", "x * 2.0", "x * 3.0")
    made = build(target=target)
    assert "alone" in made["compiled"]
    assert 2 <= len(made["compiled"]) <= 3
    assert sorted((*made["compiled"], *made["reused"])) == ALL
    assert made["files"] == build("--no-cache", target=target, out="fresh")["files"]
    assert (harm == "damaged") == ("was damaged; it is dropped and made again" in made["err"])
    assert build(target=target)["compiled"] == []


def test_a_cache_that_cannot_be_written_is_said_and_stops_nothing(build: Build) -> None:
    Path("cache").mkdir()
    Path("cache/1").write_text("a file")
    made = build()
    assert made["compiled"] == ALL
    assert "the cache cache cannot be written (Not a directory); this build goes on without" in made["err"]


def test_a_module_that_comes_to_lie_before_another_is_found(build: Build) -> None:
    Path("shared.py").unlink()
    Path("shared").mkdir()
    Path("shared/__init__.py").write_text(SHARED)
    build()
    assert build()["compiled"] == []
    Path("shared.py").write_text(SHARED.replace("1.5", "4.5"))
    made = build()
    assert made["compiled"] == ["shifted"]
    assert made["why"] == [f"import: {Path('shared.py').absolute()} is there now"]


def test_data_that_a_module_reads_is_a_part_of_it(build: Build) -> None:
    Path("data.txt").write_text("1.5")
    os.utime("data.txt", (1, 1))
    Path("shared.py").write_text(SHARED.replace("1.5", "D").replace("\n\n", '\nD = float(open("data.txt").read())\n\n', 1))
    build()
    assert build()["compiled"] == []
    Path("data.txt").write_text("7.5")
    made = build()
    assert made["compiled"] == ["shifted"]
    assert made["why"] == [f"file: {Path('data.txt').absolute()} changed"]


def test_a_module_that_asks_another_process_is_imported_every_time(build: Build) -> None:
    Path("shared.py").write_text(SHARED + "import subprocess\n" + f"subprocess.run([{sys.executable!r}, '-c', ''])\n")
    build()
    made = build()
    assert made["compiled"] == []
    assert made["why"] == ["cache: never built before"]


def test_timings_name_the_parts_of_the_way(build: Build) -> None:
    err = build("--timings")["err"]
    for part in ("frontend", "optimise", "codegen", "link"):
        assert f"\n{part} " in err
    assert "all from the cache" in build("--timings")["err"]


def test_info_and_clear(build: Build, capfd: pytest.CaptureFixture[str]) -> None:
    build()
    assert run(["cache", "info", "--cache", "cache", "--json"]) == 0
    kinds = json.loads(capfd.readouterr().out)["kinds"]
    assert {kind: counted["entries"] for kind, counted in kinds.items()} == {"root": 1, "ir": 4, "code": 4, "blob": 0, "done": 1}
    assert run(["cache", "info", "--cache", "cache"]) == 0
    assert capfd.readouterr().out.startswith("cache: 10 entries, ")
    assert run(["cache", "clear", "--cache", "cache"]) == 0
    assert capfd.readouterr().out.endswith(" removed\n")
    assert build()["compiled"] == ALL
