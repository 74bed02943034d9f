"""A build where the runtime half of the package is not there at all: how a Nix derivation compiles one root for one target."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from textwrap import dedent

import pytest

from gompute.artifacts.kernel_set import KernelSet

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ("gfx90a:xnack+", "x86-64-v3")

# The compiler half: what a build and a merge need of the package, and nothing more.
MODULES = ("__init__.py", "__main__.py", "errors.py", "in_process.py")
PACKAGES = ("artifacts", "backends", "build", "frontend", "ir", "lang", "math", "targets")
COMMANDS = (
    "__init__.py",
    "accounts.py",
    "ahead.py",
    "app.py",
    "build.py",
    "failures.py",
    "invocation.py",
    "merge.py",
    "options.py",
    "progress.py",
    "report.py",
)

SOURCES = {
    "first.py": """
        import gompute as g
        from gompute import f32
        from shared import blend

        @g.map
        def double(x: f32) -> f32:
            return x + x

        EIGHT = double(4.0)  # a host call while the module is imported

        @g.map(name="first_map")
        def scaled(x: f32) -> f32:
            return blend(x, EIGHT)
        """,
    "second.py": """
        import gompute as g
        from gompute import f32, u64

        @g.kernel(block_size=64)
        def second_kernel(data: g.ptr[f32], n: u64):
            i = g.global_id(0)
            if i < n:
                data[i] += 1.0
        """,
    "shared.py": """
        from gompute import f32

        def blend(a: f32, b: f32) -> f32:
            return a * b + 0.25
        """,
}
ROOTS = {
    "one": '[tool.gompute.roots.one]\nsource = "first.py"\nimports = ["shared.py"]\n',
    "two": '[tool.gompute.roots.two]\nsource = "second.py"\nheavy = true\n',
}


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the compiler half alone, to put on the path."""
    folder = tmp_path_factory.mktemp("half")
    (folder / "gompute" / "cli").mkdir(parents=True)
    for name in MODULES:
        shutil.copy(ROOT / "gompute" / name, folder / "gompute" / name)
    for name in COMMANDS:
        shutil.copy(ROOT / "gompute" / "cli" / name, folder / "gompute" / "cli" / name)
    for name in PACKAGES:
        shutil.copytree(ROOT / "gompute" / name, folder / "gompute" / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def write(folder: Path, roots: tuple[str, ...], files: tuple[str, ...]) -> Path:
    folder.mkdir()
    for name in files:
        (folder / name).write_text(dedent(SOURCES[name]).lstrip())
    (folder / "pyproject.toml").write_text("\n".join(ROOTS[root] for root in roots))
    return folder


def gompute(half: Path, folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "gompute", *arguments],
        cwd=folder,
        env={
            "PYTHONPATH": os.pathsep.join((str(half), sysconfig.get_path("purelib"))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "XDG_CACHE_HOME": os.environ["XDG_CACHE_HOME"],
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_one_root_for_one_target_at_a_time_makes_the_bytes_of_a_whole_build(half: Path, tmp_path: Path) -> None:
    everything = write(tmp_path / "all", ("one", "two"), ("first.py", "second.py", "shared.py"))
    gompute(ROOT, everything, "build", *(word for target in TARGETS for word in ("-t", target)), "-o", "out")
    parts = []
    for root, files in (("one", ("first.py", "shared.py")), ("two", ("second.py",))):
        folder = write(tmp_path / root, (root,), files)
        for target in TARGETS:
            gompute(half, folder, "build", "-t", target, "-o", f"for {target}")
            parts.append(str(folder / f"for {target}"))
            assert KernelSet.open(parts[-1]).roots == (root,)
    gompute(half, tmp_path, "merge", *parts, "-o", "merged")
    assert contents(tmp_path / "merged") == contents(everything / "out")
    gompute(half, tmp_path, "merge", "merged", "--module", "gompute_kernels", "-o", "site")
    gompute(half, tmp_path, "merge", "merged", "--wheel", "-o", "dist")
    assert KernelSet.open(tmp_path / "site" / "gompute_kernels").kernels == ("double", "first_map", "second_kernel")
    assert [name.endswith("-py3-none-any.whl") for name in os.listdir(tmp_path / "dist")] == [True]


def test_the_half_holds_nothing_of_the_other(half: Path) -> None:
    """And so this test can fail: what the halves are in the tree is what was copied here."""
    there = {path.name for path in (ROOT / "gompute").iterdir() if path.name not in ("__pycache__", "py.typed", "example")}
    left_out = there - {path.name for path in (half / "gompute").iterdir()}
    assert left_out == {"handles", "manifest", "runtime"}
