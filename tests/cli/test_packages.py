"""`--module`, `--wheel`, `--heavy` and `--heavy-lanes`, around a scripted worker."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gompute.artifacts.kernel_set import KernelSet
from gompute.build import kernel_set
from gompute.build.job import Job
from tests.cli.conftest import Done

Cli = Callable[..., Done]
Script = Callable[[str, str], Path]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_module_is_put_into_the_folder_beside_what_is_there(cli: Cli, script: Script, tmp_path: Path) -> None:
    a, b = script("a.py", "compile"), script("b.py", "compile")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "other.py").write_text("mine")
    done = cli("build", a, b, "-t", "sm_89", "-t", "x86-64-v3", "--module", "photo_kernels", "-o", "site")
    assert done.code == 0, done.err
    assert done.out == "site/photo_kernels: 2 kernels, 4 blobs, 154 B\n"
    assert sorted(os.listdir("site")) == ["other.py", "photo_kernels"]
    assert KernelSet.open("site/photo_kernels").kernels == ("a_kernel", "b_kernel")
    assert cli("inspect", "site/photo_kernels").out.startswith("site/photo_kernels: 2 kernels, 2 roots, 4 blobs, ")
    done = cli("build", a, "-t", "sm_89", "--module", "photo_kernels", "-o", "site", "--json")
    assert json.loads(done.out)["directory"] == "site/photo_kernels"
    assert sorted(os.listdir("site/photo_kernels")) == ["__init__.py", "a.sm_89.ptx", "index.json", "py.typed"]


def test_a_wheel_is_called_gompute_kernels_unless_it_is_named(cli: Cli, script: Script, tmp_path: Path) -> None:
    a = script("a.py", "compile")
    done = cli("build", a, "-t", "sm_89", "--wheel", "-o", "dist")
    assert done.code == 0, done.err
    (name,) = os.listdir("dist")
    assert done.out == f"dist/{name}: 1 kernel, 1 blob, 57 B\n"
    assert name.startswith("gompute_kernels-0.1.0+set")
    done = cli("build", a, "-t", "sm_89", "--wheel", "--module", "photo_kernels", "-o", "dist", "--json")
    result = json.loads(done.out)
    assert (result["directory"], result["complete"]) == (None, True)
    assert Path(result["wheel"]).is_file()
    with zipfile.ZipFile(result["wheel"]) as archive:
        assert archive.namelist()[:2] == ["photo_kernels/__init__.py", "photo_kernels/a.sm_89.ptx"]
        assert archive.testzip() is None


@pytest.mark.parametrize("form", [["--module", "k"], ["--wheel"]])
def test_two_builds_give_the_same_bytes_as_a_merge_of_the_parts(cli: Cli, script: Script, tmp_path: Path, form: list[str]) -> None:
    a, b = script("a.py", "compile"), script("b.py", "compile")
    for out, jobs in (("one", 1), ("two", 4)):
        assert cli("build", a, b, "-t", "sm_89", "-t", "gfx942", *form, "-o", out, "-j", jobs).code == 0
    for source, target in ((a, "sm_89"), (a, "gfx942"), (b, "gfx942"), (b, "sm_89")):
        assert cli("build", source, "-t", target, "-o", f"part-{source.stem}-{target}").code == 0
    done = cli("merge", *sorted(map(str, Path().glob("part-*")), reverse=True), *form, "-o", "merged", "--json")
    assert done.code == 0, done.err
    place = json.loads(done.out)["wheel" if form == ["--wheel"] else "directory"]
    assert Path(place).parent == Path("merged")
    assert contents(Path("one")) == contents(Path("two")) == contents(Path("merged"))


def test_merge_packages_one_set_as_it_is(cli: Cli, script: Script, tmp_path: Path) -> None:
    assert cli("build", script("a.py", "compile"), "-t", "sm_89", "-o", "set").code == 0
    done = cli("merge", "set", "--module", "gompute_kernels", "-o", "site")
    assert (done.code, done.out) == (0, "site/gompute_kernels: 1 blob, 57 B\n")
    packed = contents(Path("site/gompute_kernels"))
    assert {name: packed[name] for name in packed if name not in ("__init__.py", "py.typed")} == contents(Path("set"))
    done = cli("merge", "site/gompute_kernels", "-o", "again", "--json")
    assert json.loads(done.out) == {"blobs": ["a.sm_89.ptx"], "directory": "again", "wheel": None}
    assert contents(Path("again")) == contents(Path("set"))


@pytest.mark.parametrize(("form", "label"), [(["--module", "k"], "out/k"), (["--wheel"], "the wheel of gompute_kernels in out")])
def test_a_package_from_which_something_would_be_missing_is_not_written(
    cli: Cli, script: Script, tmp_path: Path, form: list[str], label: str
) -> None:
    good, bad = script("good.py", "compile"), script("bad.py", "refuse")
    assert cli("build", good, "-t", "sm_89", *form, "-o", "out").code == 0
    before = contents(Path("out"))
    done = cli("build", good, bad, "-t", "sm_89", "-t", "sm_90", *form, "-o", "out")
    assert done.code == 1
    assert (
        f"{label} was not written: it would be incomplete.\n  Compiled: good for sm_89, sm_90.\n  Missing: bad for sm_89, sm_90."
        in done.err
    )
    assert done.out == ""
    done = cli("build", good, bad, "-t", "sm_89", *form, "-o", "out", "--json")
    result = json.loads(done.out)
    assert (done.code, result["complete"], result["blobs"], result["kernels"]) == (1, False, [], [])
    assert (result["directory"], result["wheel"]) == (None, None)
    done = cli("build", bad, "-t", "sm_89", *form, "-o", "out")
    assert f"nothing compiled; {label} was left as it was." in done.err
    assert contents(Path("out")) == before


def test_what_is_in_the_way_is_said_before_anything_compiles(cli: Cli, script: Script, tmp_path: Path) -> None:
    (tmp_path / "site" / "k").mkdir(parents=True)
    (tmp_path / "site" / "k" / "__init__.py").write_text("mine")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "index.json").write_text("{}")
    for form, out, words in (
        (["--module", "k"], "site", "site/k: not replaced"),
        (["--module", "k"], "set", "set: is a kernel set; a package or a wheel goes into a folder of its kind"),
        (["--wheel"], "set", "set: is a kernel set"),
    ):
        done = cli("build", script("a.py", "compile"), "-t", "sm_89", *form, "-o", out)
        assert done.code == 1
        assert words in done.err
        assert "a for sm_89" not in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--module", "my-kernels"], "'my-kernels' cannot name the module: it must be a Python identifier of ASCII letters"),
        (["--module", ""], "'' cannot name the module"),
        (["--module", "../k"], "'../k' cannot name the module"),
        (["--module", "json"], "'json' cannot name the module: it would hide another module of that name."),
        (["--module", "_k", "--wheel"], "'_k' cannot name a wheel: a wheel's name must start and end with a letter or a digit."),
        (["--module"], "Option '--module' requires an argument"),
    ],
)
def test_wrong_names_exit_with_2_and_write_nothing(cli: Cli, script: Script, tmp_path: Path, arguments: list[str], words: str) -> None:
    script("a.py", "compile")
    assert cli("build", "a.py", "-t", "sm_89", "-o", "set").code == 0
    for command in (["build", "a.py", "-t", "sm_89", "-o", "out"], ["merge", "set", "-o", "out"]):
        done = cli(*command, *arguments)
        assert done.code == 2
        assert words in " ".join(done.err.split())
    assert not (tmp_path / "out").exists()


# ---- heavy roots ----


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], int, int]]:
    """For every build: the heavy ones of its units, -j and the lanes, as the engine is given them."""
    seen: list[tuple[list[str], int, int]] = []
    real = kernel_set.run_jobs

    def spy(jobs: Sequence[Job], *arguments: Any, limit: int, heavy_lanes: int, **more: Any) -> Any:
        seen.append(([f"{job.root_name} {job.target.name}" for job in jobs if job.heavy], limit, heavy_lanes))
        return real(jobs, *arguments, limit=limit, heavy_lanes=heavy_lanes, **more)

    monkeypatch.setattr(kernel_set, "run_jobs", spy)
    return seen


DECLARED = """
[tool.gompute]
targets = ["sm_89", "gfx942"]
heavy-lanes = 2

[tool.gompute.roots.big]
source = "a.py"
heavy = true

[tool.gompute.roots.small]
source = "b.py"
"""


def test_heavy_roots_and_lanes_are_declared_or_given(
    cli: Cli, script: Script, tmp_path: Path, planned: list[tuple[list[str], int, int]]
) -> None:
    script("a.py", "compile"), script("b.py", "compile")
    (tmp_path / "pyproject.toml").write_text(DECLARED)
    big, small = ["big sm_89", "big gfx942"], ["small sm_89", "small gfx942"]
    for arguments, wanted in (
        ([], (big, 3, 2)),
        (["--heavy-lanes", 1], (big, 3, 1)),
        (["--heavy", "small"], (big + small, 3, 2)),
        (["--heavy", "small", "--heavy", "big", "--heavy-lanes", 5], (big + small, 3, 5)),
        (["a.py", "b.py"], ([], 3, 2)),
        (["a.py", "b.py", "--heavy", "b"], (["b sm_89", "b gfx942"], 3, 2)),
        (["a.py", "-t", "sm_75", "--heavy", "a"], (["a sm_75"], 3, 1)),
    ):
        done = cli("build", *arguments, "-o", "out", "-j", 3)
        assert done.code == 0, done.err
        assert planned.pop() == wanted, arguments
    assert not planned


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--heavy", "c"], "Invalid value for '--heavy': there is no root 'c'; the roots are a."),
        (["--heavy-lanes", "0"], "'--heavy-lanes': 0 is not in the range x>=1"),
        (["--heavy-lanes", "two"], "'--heavy-lanes': 'two' is not a valid integer"),
    ],
)
def test_wrong_heaviness_exits_with_2(cli: Cli, script: Script, tmp_path: Path, arguments: list[str], words: str) -> None:
    done = cli("build", script("a.py", "compile"), "-t", "sm_89", "-o", "out", *arguments)
    assert done.code == 2
    assert words in " ".join(done.err.split())
    assert not (tmp_path / "out").exists()
