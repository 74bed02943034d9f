"""`gompute build` with a launch manifest."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gompute.artifacts.kernel_set import KernelSet
from tests.cli.conftest import Done

Cli = Callable[..., Done]
Script = Callable[[str, str], Path]


@pytest.fixture
def project(script: Script, tmp_path: Path) -> Callable[[dict[str, dict[str, list[str]]]], Path]:
    """Three declared roots with two kernels each, and a declared manifest."""

    def make(kernels: dict[str, dict[str, list[str]]]) -> Path:
        (tmp_path / "manifest.json").write_text(json.dumps({"version": 1, "kernels": kernels}))
        text = '[tool.gompute]\ntargets = ["sm_89", "gfx942"]\nmanifest = "manifest.json"\n'
        for name in "abc":
            script(f"{name}.py", f"compile {name}_one {name}_two {name}_two_f32")
            text += f'[tool.gompute.roots.{name}]\nsource = "{name}.py"\n'
        (tmp_path / "pyproject.toml").write_text(text)
        return tmp_path / "out"

    return make


def test_only_what_the_manifest_names_is_compiled_and_the_set_says_what_is_not_there(cli: Cli, project: Callable[..., Path]) -> None:
    out = project({"a": {"a_one": [], "a_two": ["f32"]}, "c": {"c_two": []}})
    done = cli("build", "-o", out)
    assert done.code == 0, done.err
    assert sorted(line.partition(":")[0] for line in done.err.splitlines()) == [
        f"{root} for {target}" for root in "ac" for target in ("gfx942", "sm_89")
    ]
    kernels = KernelSet.open(out)
    assert kernels.kernels == ("a_one", "a_two_f32", "c_two")
    assert kernels.index.left_out == {"a": ("a_two",), "b": (), "c": ("c_one", "c_two_f32")}


def test_a_program_that_launches_nothing_gives_an_empty_set(cli: Cli, project: Callable[..., Path]) -> None:
    out = project({})
    done = cli("build", "-o", out)
    assert (done.code, done.out, done.err) == (0, f"{out}: 0 kernels, 0 blobs, 0 B\n", "")
    assert KernelSet.open(out).index.left_out == {"a": (), "b": (), "c": ()}


def test_an_option_overrides_the_declaration_and_files_are_built_whole(cli: Cli, project: Callable[..., Path], tmp_path: Path) -> None:
    out = project({"a": {"a_one": []}})
    (tmp_path / "other.json").write_text('{"version": 1, "kernels": {"b": {"b_one": []}}}')
    assert cli("build", "-o", out, "--manifest", "other.json").code == 0
    assert KernelSet.open(out).kernels == ("b_one",)
    assert cli("build", "a.py", "-t", "sm_89", "-o", out).code == 0
    assert KernelSet.open(out).kernels == ("a_one", "a_two", "a_two_f32")


def test_a_root_that_is_not_built_is_told_with_its_kernels(cli: Cli, project: Callable[..., Path]) -> None:
    out = project({"a": {"a_one": []}, "x": {"k": ["f32", "f64"]}})
    done = cli("build", "-o", out)
    assert done.code == 1
    assert done.err == (
        "error: the manifest names kernels of roots that are not built here (the roots are a, b, c):\n"
        "  root x: k_f32, k_f64\n"
        "  Give their sources too, or declare them in [tool.gompute.roots] of pyproject.toml; where the roots have changed, scan again.\n"
    )
    assert not out.exists()


def test_a_manifest_that_is_not_there_or_is_none_is_told(cli: Cli, project: Callable[..., Path], tmp_path: Path) -> None:
    out = project({})
    (tmp_path / "manifest.json").write_text("{}")
    done = cli("build", "-o", out)
    assert done.code == 1
    assert "manifest.json: not a launch manifest: it lacks 'version' or 'kernels'" in done.err
    (tmp_path / "manifest.json").unlink()
    done = cli("build", "-o", out)
    assert done.code == 1
    assert "manifest.json: there is no such manifest, and [tool.gompute] of pyproject.toml names it.\n" in done.err
    assert "  Write it: gompute manifest scan PATH... -o manifest.json\n" in done.err
    assert cli("build", "-o", out, "--manifest", "nothing.json").code == 2
