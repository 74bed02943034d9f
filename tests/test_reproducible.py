"""Two builds of one source give the same bytes, whatever the folder, user, place and Python; and a build asks nothing of the machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = sysconfig.get_path("purelib")
TARGETS = ("sm_75", "sm_90a", "gfx90a:xnack+", "gfx11-generic", "x86-64-v3", "aarch64")

SOURCES = {
    "first.py": """
        import gompute as g
        from gompute import bf16, f32, i32, u32
        from shared import blend

        @g.params
        class Params:
            scale: f32
            shift: i32

        @g.map
        def scale_relu(x: f32, p: Params) -> f32:
            y = blend(x, p.scale)
            return y if y > 0 else 0.0

        @g.map(block_size=128)
        def floor_divide(x: i32, p: Params) -> i32:
            return x // p.shift + x % 7

        @g.map(name="rounded")
        def to_bf16(x: bf16) -> bf16:
            return x * x + 1
        """,
    "second.py": """
        import gompute as g
        from gompute import f32, u64
        from shared import blend

        @g.kernel(block_size=256)
        def add_from(data: g.ptr[f32], n: u64):
            i = g.global_id(0)
            if i < n:
                data[i] = blend(data[i], 1.5) + 1.0
        """,
    "shared.py": """
        from gompute import f32

        WEIGHT = 0.25

        def blend(a: f32, b: f32) -> f32:
            return a * b + WEIGHT
        """,
}


def write_sources(folder: Path, above: str = "") -> Path:
    folder.mkdir(parents=True)
    for name, text in SOURCES.items():
        (folder / name).write_text(above + dedent(text).lstrip())
    return folder


def build(sources: Path, out: Path, python: str | Path = sys.executable, jobs: int = 2, reverse: bool = False, **environment: str) -> Path:
    """Run ``gompute build`` on both roots for all targets, with `environment` and nothing else of this process."""
    targets, roots = list(TARGETS), ["first.py", "second.py"]
    if reverse:
        targets.reverse()
        roots.reverse()
    command = [str(python), "-m", "gompute", "build", *roots, "-o", str(out), "-j", str(jobs), "--no-cache"]
    for target in targets:
        command += ["--target", target]
    environment = {"PYTHONPATH": os.pathsep.join((str(ROOT), PACKAGES)), "PYTHONDONTWRITEBYTECODE": "1"} | environment
    done = subprocess.run(command, cwd=sources, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def wheel(kernels: Path, out: Path, python: str) -> dict[str, bytes]:
    """The wheel of a kernel set, by name."""
    environment = {"PYTHONPATH": os.pathsep.join((str(ROOT), PACKAGES)), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [python, "-m", "gompute", "merge", str(kernels), "--wheel", "-o", str(out)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return contents(out)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def differences(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    """The names of files that are in one of two sets only, or that differ."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("reference")
    found = contents(build(write_sources(folder / "src"), folder / "out", PYTHONHASHSEED="1", TZ="UTC", HOME=str(folder), LANG="C"))
    assert len(found) == 1 + 2 * len(TARGETS), sorted(found)
    return found


def test_another_folder_user_place_and_hash_seed(reference: dict[str, bytes], tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "quite another" / "föl der")
    os.utime(sources / "first.py", (1, 1))
    out = build(
        sources,
        tmp_path / "out",
        jobs=1,
        PYTHONHASHSEED="4242",
        TZ="Pacific/Chatham",
        HOME="/nonexistent",
        USER="nobody",
        LANG="tr_TR.UTF-8",
        LC_ALL="C.UTF-8",
        SOURCE_DATE_EPOCH="1234567890",
    )
    assert differences(contents(out), reference) == []


def test_another_order_of_roots_and_targets(reference: dict[str, bytes], tmp_path: Path) -> None:
    out = build(write_sources(tmp_path / "src"), tmp_path / "out", jobs=5, reverse=True, PYTHONHASHSEED="random")
    assert differences(contents(out), reference) == []


def test_a_blank_line_and_a_comment_on_top_change_nothing(reference: dict[str, bytes], tmp_path: Path) -> None:
    out = build(write_sources(tmp_path / "src", above="\n# moved down\n"), tmp_path / "out")
    assert differences(contents(out), reference) == []


def test_an_edit_that_means_something_is_seen(reference: dict[str, bytes], tmp_path: Path) -> None:
    """The comparison of this module can fail: an edit of a helper that both roots reach changes every blob and the index."""
    sources = write_sources(tmp_path / "src")
    helper = sources / "shared.py"
    helper.write_text(helper.read_text().replace("0.25", "0.75"))
    assert differences(contents(build(sources, tmp_path / "out")), reference) == sorted(reference)


def interpreters() -> dict[str, str]:
    """Other versions of Python that Gompute supports and that this machine has: from GOMPUTE_TEST_PYTHONS, from PATH, and pyenv's."""
    candidates = os.environ.get("GOMPUTE_TEST_PYTHONS", "").split(os.pathsep)
    candidates += [shutil.which(f"python3.{minor}") or "" for minor in (11, 12, 13)]
    if shutil.which("pyenv"):
        root = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=True).stdout.strip()
        candidates += map(str, sorted(Path(root, "versions").glob("3.*/bin/python3")))
    own = f"3.{sys.version_info.minor}"
    found: dict[str, str] = {}
    for candidate in filter(None, candidates):
        asked = subprocess.run(
            [candidate, "-c", "import sys, ctypes; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True, check=False
        )
        version = asked.stdout.strip()
        if asked.returncode == 0 and version in ("3.11", "3.12", "3.13") and version != own:
            found.setdefault(version, candidate)
    return found


def test_another_python(reference: dict[str, bytes], tmp_path: Path) -> None:
    """The toolchain's packages hold no code for one Python alone, so another interpreter can take them from here."""
    others = interpreters()
    if not others:
        pytest.skip("there is no other Python from 3.11 to 3.13 here; name one in GOMPUTE_TEST_PYTHONS")
    for version, python in others.items():
        out = build(write_sources(tmp_path / version / "src"), tmp_path / version / "out", python=python)
        assert differences(contents(out), reference) == [], f"Python {version}"
        wheels = [wheel(out, tmp_path / version / name, interpreter) for name, interpreter in (("own", sys.executable), ("other", python))]
        assert len(wheels[0]) == 1 and differences(*wheels) == [], f"Python {version}"


PROBES = (
    "nvidia-smi",
    "amdgpu-arch",
    "nvptx-arch",
    "rocminfo",
    "rocm_agent_enumerator",
    "clinfo",
    "nvcc",
    "ptxas",
    "cc",
    "gcc",
    "clang",
    "ld",
    "ld.lld",
)


def test_a_build_asks_nothing_of_the_machine(reference: dict[str, bytes], tmp_path: Path) -> None:
    """Every probe, driver binding and system compiler within reach leaves a mark when it is used; no mark is left."""
    traps, marks = tmp_path / "traps", tmp_path / "marks"
    traps.mkdir()
    marks.mkdir()
    for probe in PROBES:
        trap = traps / probe
        trap.write_text(f"#!/bin/sh\n: > '{marks / probe}'\nexit 1\n")
        trap.chmod(0o755)
    for binding in ("cuda", "hip", "pynvml", "numpy"):
        (traps / f"{binding}.py").write_text(f"open({str(marks / binding)!r}, 'w').close()\nraise ImportError('poisoned')\n")
    path = os.pathsep.join((str(traps), str(ROOT), PACKAGES))
    out = build(write_sources(tmp_path / "src"), tmp_path / "out", PATH=str(traps), PYTHONPATH=path, GOMPUTE_LIBCUDA="/nonexistent")
    assert differences(contents(out), reference) == []
    assert sorted(mark.name for mark in marks.iterdir()) == []
