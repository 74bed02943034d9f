"""`gompute build` around a scripted worker: what it writes, says and exits with."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gompute.artifacts.kernel_set import KernelSet
from tests.cli.conftest import Done

Cli = Callable[..., Done]
Script = Callable[[str, str], Path]


def test_a_set_is_written_and_summed_up(cli: Cli, script: Script, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = cli("build", script("a.py", "compile"), script("b.py", "compile"), "-t", "sm_89", "-t", "x86-64-v3", "-t", "sm_89", "-o", out)
    assert done.code == 0, done.err
    assert done.out == f"{out}: 2 kernels, 4 blobs, 154 B\n"
    assert (
        sorted(line.partition(" (")[0] for line in done.err.splitlines())
        == [
            "a for sm_89: ptx 57 B",
            "a for x86-64-v3: so 20 B",
            "b for sm_89: ptx 57 B",
            "b for x86-64-v3: so 20 B",
        ]
        or done.err.count("ptx") == 2
    )
    assert sorted(line.partition(" (")[0] for line in done.err.splitlines()) == [
        "a for sm_89: ptx 57 B",
        "a for x86-64-v3: so 20 B",
        "b for sm_89: ptx 57 B",
        "b for x86-64-v3: so 20 B",
    ]
    assert sorted(os.listdir(out)) == ["a.sm_89.ptx", "a.x86-64-v3.so", "b.sm_89.ptx", "b.x86-64-v3.so", "index.json"]
    kernels = KernelSet.open(out)
    assert kernels.kernels == ("a_kernel", "b_kernel")
    assert os.listdir(tmp_path).count("out") == 1
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".out")]


def test_json_is_all_that_is_on_the_standard_output(cli: Cli, script: Script, tmp_path: Path) -> None:
    done = cli("build", script("good.py", "compile"), script("bad.py", "refuse"), "-t", "sm_89", "-o", tmp_path / "out", "--json")
    assert done.code == 1
    result = json.loads(done.out)
    assert result["complete"] is False
    assert result["kernels"] == ["good_kernel"]
    assert [blob["file"] for blob in result["blobs"]] == ["good.sm_89.ptx"]
    assert result["failed"] == [{"root": "bad", "target": "sm_89", "kernels": [], "message": "bad.py:1:1: refused"}]


def test_what_compiled_is_written_when_something_else_did_not(cli: Cli, script: Script, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = cli("build", script("good.py", "compile"), script("bad.py", "abort scale"), "-t", "sm_89", "-t", "gfx942", "-o", out)
    assert done.code == 1
    assert KernelSet.open(out).roots == ("good",)
    assert "error: kernel scale, root bad, target sm_89: LLVM gave up" in done.err
    assert "    LLVM ERROR: words of LLVM" in done.err
    assert f"{out} is incomplete.\n  It holds: good for sm_89, gfx942.\n  Missing: bad for sm_89, gfx942." in done.err


def test_a_failure_of_every_target_is_told_once(cli: Cli, script: Script, tmp_path: Path) -> None:
    done = cli("build", script("bad.py", "refuse"), "-t", "sm_89", "-t", "sm_90", "-o", tmp_path / "out")
    assert done.err.count("bad.py:1:1: refused") == 1
    assert "[root bad, for sm_89, sm_90]" in done.err


def test_where_nothing_compiled_the_old_set_stays(cli: Cli, script: Script, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cli("build", script("a.py", "compile"), "-t", "sm_89", "-o", out).code == 0
    before = (out / "index.json").read_bytes()
    done = cli("build", script("a.py", "refuse"), "-t", "sm_89", "-o", out)
    assert done.code == 1
    assert "nothing compiled" in done.err
    assert (out / "index.json").read_bytes() == before


def test_a_set_is_replaced_as_a_whole(cli: Cli, script: Script, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cli("build", script("a.py", "compile"), "-t", "sm_89", "-t", "sm_90", "--emit", "ir,ptx", "-o", out).code == 0
    assert (out / "a.sm_89.ll").read_text() == "; listing\n"
    assert cli("build", script("b.py", "compile"), "-t", "sm_89", "-o", out).code == 0
    assert sorted(os.listdir(out)) == ["b.sm_89.ptx", "index.json"]


def test_a_kernel_of_two_roots_names_both_and_writes_nothing(cli: Cli, script: Script, tmp_path: Path) -> None:
    one, two = script("one.py", "compile same other"), script("two.py", "compile same")
    done = cli("build", one, two, "-t", "sm_89", "-o", tmp_path / "out")
    assert done.code == 1
    assert f"kernel 'same' is defined by root one ({one}) and by root two ({two})" in done.err
    assert not (tmp_path / "out").exists()
    done = cli("check", one, two)
    assert done.code == 1
    assert f"kernel 'same' is defined by root one ({one}) and by root two ({two})" in done.err


def test_what_a_module_prints_is_shown_once(cli: Cli, script: Script, tmp_path: Path) -> None:
    done = cli("build", script("loud.py", "print"), "-t", "sm_89", "-t", "sm_90", "-o", tmp_path / "out")
    assert done.code == 0
    assert done.err.count("  a word on stderr\n") == 1


def test_a_bug_of_ours_asks_for_a_report(cli: Cli, script: Script, tmp_path: Path) -> None:
    done = cli("build", script("a.py", "bug"), "-t", "sm_89", "-o", tmp_path / "out")
    assert done.code == 1
    assert "Please report it" in done.err
    done = cli("build", script("a.py", "silent"), "-t", "sm_89", "-o", tmp_path / "out")
    assert done.code == 1
    assert "Please report it" in done.err
    assert "Traceback" not in done.err


def test_a_folder_that_is_no_kernel_set_is_not_replaced(cli: Cli, script: Script, tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("precious")
    done = cli("build", script("a.py", "compile"), "-t", "sm_89", "-o", tmp_path / "thesis")
    assert done.code == 1
    assert "'chapter.txt'" in done.err
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "precious"


def test_an_output_that_cannot_be_made_is_said_in_a_line(cli: Cli, script: Script, tmp_path: Path) -> None:
    done = cli("build", script("a.py", "compile"), "-t", "sm_89", "-o", "/proc/kernels")
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith("error: /proc/kernels: could not write the kernel set:")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-t", "sm_89"], "Missing option '--output'"),
        (["-o", "out"], "no target: a build is for pinned targets"),
        (["-o", "out", "-t", "sm_999"], "unknown target 'sm_999'"),
        (["-o", "out", "-t", "auto"], "a target is always pinned"),
        (["-o", "out", "-t", "sm_89", "-j", "0"], "'-j'"),
        (["-o", "out", "-t", "sm_89", "--emit", "ptx,sass"], "'sass': choose from ptx, cubin, ir, asm"),
        (["-o", "out", "-t", "sm_89", "missing.py"], "'missing.py' does not exist"),
        (["-o", "out", "-t", "sm_89", "--fast"], "No such option '--fast'"),
        (["-o", "out", "-t", "sm_89", "sub/a.py"], "would both be root 'a'"),
        (["-o", "out", "-t", "sm_89", "a.py"], "a.py is given twice"),
        (["-o", "out", "-t", "sm_89", "not-a-name.py"], "'not-a-name' cannot name a kernel root"),
        (["-o", "out", "-t", "sm_89", "notes.txt"], "a kernel root is a Python module"),
    ],
)
def test_wrong_use_exits_with_2_and_writes_nothing(cli: Cli, script: Script, tmp_path: Path, arguments: list[str], words: str) -> None:
    for name in ("a.py", "sub/a.py", "not-a-name.py", "notes.txt"):
        script(name, "compile")
    done = cli("build", "a.py", *arguments)
    assert done.code == 2
    assert words in " ".join(done.err.split())
    assert not (tmp_path / "out").exists()


def test_without_sources_and_declarations_the_message_shows_both_ways(cli: Cli, script: Script, tmp_path: Path) -> None:
    script("a.py", "compile")
    done = cli("build", "-o", tmp_path / "out", "-t", "sm_89")
    assert done.code == 2
    assert "[tool.gompute.roots.kernels]" in done.err


DECLARED = """
[tool.gompute]
targets = ["sm_89", "x86-64-v3"]

[tool.gompute.roots.second]
source = "src/b.py"
imports = { cuda = ["src/shared.py"] }

[tool.gompute.roots.first]
source = "src/a.py"
imports = ["src/shared.py"]
"""


def test_declared_roots_are_built_from_any_folder_below(cli: Cli, script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("src/a.py", "src/b.py", "src/shared.py"):
        script(name, "compile")
    (tmp_path / "pyproject.toml").write_text(DECLARED)
    monkeypatch.chdir(tmp_path / "src")
    done = cli("build", "-o", "out")
    assert done.code == 0, done.err
    assert sorted(os.listdir(tmp_path / "src" / "out")) == [
        "first.sm_89.ptx",
        "first.x86-64-v3.so",
        "index.json",
        "second.sm_89.ptx",
        "second.x86-64-v3.so",
    ]
    done = cli("build", "-o", "out", "-t", "gfx942")
    assert done.code == 0, done.err
    assert "first.gfx942.so" not in os.listdir(tmp_path / "src" / "out")
    assert "first.gfx942.hsaco" in os.listdir(tmp_path / "src" / "out")
