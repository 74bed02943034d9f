"""The Python package around a set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gompute.artifacts import package
from gompute.artifacts.destination import Destination, PackageFolder, SetFolder
from gompute.artifacts.kernel_set import KernelSet
from gompute.artifacts.merge import merge_sets
from gompute.artifacts.write import NewUnit, set_content
from gompute.errors import ArtifactError
from tests.artifacts.samples import GENERATOR, contents, sample_units, unit, write_sample

ROOT = Path(__file__).resolve().parents[2]


def put(destination: Destination, units: list[NewUnit] | None = None) -> Path:
    destination.check()
    prepared = destination.prepare(set_content(sample_units() if units is None else units, generator=GENERATOR))
    prepared.write()
    return prepared.place


def fresh(code: str, *paths: Path) -> str:
    """Run code in a new interpreter with `paths` to import from."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=os.sep,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_package_is_the_set_and_a_module(tmp_path: Path) -> None:
    place = put(PackageFolder(tmp_path / "site", "some_kernels"))
    assert place == tmp_path / "site" / "some_kernels"
    files = contents(place)
    assert files.pop("py.typed") == b""
    assert b"some_kernels" not in files.pop("__init__.py"), "the files do not depend on the name"
    assert files == contents(write_sample(tmp_path / "set"))
    assert KernelSet.open(place).roots == ("image", "sort")
    assert os.listdir(tmp_path / "site") == ["some_kernels"]


def test_two_packages_of_one_set_are_the_same(tmp_path: Path) -> None:
    one = put(PackageFolder(tmp_path / "one", "first"))
    other = put(PackageFolder(tmp_path / "other", "second"), sample_units()[::-1])
    assert contents(one) == contents(other)


SHOWN = "print(k.emitted, k.has_cuda, k.has_hip, k.has_cpu, k.root_names, k.path)"


@pytest.mark.parametrize(
    ("units", "shown"),
    [
        (sample_units(), "True True True True ('image', 'sort')"),
        ([unit("only", "gfx942")], "True False True False ('only',)"),
        ([unit("only", "x86-64-v3")], "True False False True ('only',)"),
        ([], "True False False False ()"),
    ],
)
def test_what_the_module_shows_needs_no_gompute(tmp_path: Path, units: list[NewUnit], shown: str) -> None:
    place = put(PackageFolder(tmp_path, "k"), units)
    assert fresh(f"import k; {SHOWN}", tmp_path) == f"{shown} {place}\n"


def test_images_come_on_first_use_through_the_shared_half_alone(tmp_path: Path) -> None:
    put(PackageFolder(tmp_path, "k"))
    code = """if True:
        import sys, k
        from pathlib import Path
        assert not any(name.partition(".")[0] == "gompute" for name in sys.modules)
        assert {"cuda_images", "cuda_index", "hip_images", "hip_index", "path"} <= set(dir(k)), dir(k)
        assert k.cuda_images["sm_80"]["sort"] == (k.path / "sort.sm_80.ptx").read_bytes()
        assert k.cuda_images is k.cuda_images
        entry = k.hip_index["gfx11-generic"]["blur"]
        assert (entry.blob, entry.symbol) == (k.hip_images["gfx11-generic"]["image"], "blur")
        half = ("build", "frontend", "ir", "backends", "runtime", "handles")
        assert not [name for name in sys.modules if name.startswith("gompute.") and name.split(".")[1] in half]
        assert not {"numpy", "llvmlite"} & set(sys.modules)
        try:
            k.cpu_images
        except AttributeError as error:
            print(error)
        """
    assert fresh(code, tmp_path, ROOT) == "module 'k' has no attribute 'cpu_images'\n"


def test_the_module_is_typed_and_clean(tmp_path: Path) -> None:
    put(PackageFolder(tmp_path, "some_kernels"))
    user = tmp_path / "uses_some_kernels.py"
    user.write_text(
        "import some_kernels as k\n\n"
        "flags: tuple[bool, bool, bool, bool] = (k.emitted, k.has_cuda, k.has_hip, k.has_cpu)\n"
        'image: bytes = k.cuda_images["sm_80"]["image"]\n'
        'symbol: str = k.hip_index["gfx942"]["blur"].symbol\n'
        "wrong: int = k.root_names\n"
    )
    for command, said in (
        # From the project's folder, where mypy keeps what it knows of the package.
        (["mypy", str(user)], "uses_some_kernels.py:6: error: Incompatible types in assignment"),
        (["ruff", "check", "--no-cache", "--config", "pyproject.toml", str(tmp_path / "some_kernels")], "All checks passed!"),
        (["ruff", "format", "--no-cache", "--check", "--config", "pyproject.toml", str(tmp_path / "some_kernels")], "already formatted"),
    ):
        environment = {**os.environ, "MYPYPATH": str(tmp_path)}
        done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert said in done.stdout, done.stdout + done.stderr
        assert done.stdout.count(" error: ") == said.count(" error: "), done.stdout


def test_a_package_is_replaced_as_a_whole_with_what_python_has_put_there(tmp_path: Path) -> None:
    place = put(PackageFolder(tmp_path, "k"))
    (place / "__pycache__").mkdir()
    (place / "__pycache__" / "__init__.cpython-311.pyc").write_bytes(b"old")
    put(PackageFolder(tmp_path, "k"), [unit("only", "sm_75")])
    assert sorted(contents(place)) == ["__init__.py", "index.json", "only.sm_75.ptx", "py.typed"]
    assert os.listdir(tmp_path) == ["k"]


def test_a_set_becomes_a_package_and_a_package_no_set(tmp_path: Path) -> None:
    write_sample(tmp_path / "k")
    put(PackageFolder(tmp_path, "k"))
    with pytest.raises(ArtifactError, match=r"k: not replaced, since it holds '__init__.py', which is no part of a kernel set"):
        SetFolder(tmp_path / "k").check()
    merge_sets([tmp_path / "k"], SetFolder(tmp_path / "back"), generator=GENERATOR)
    assert contents(tmp_path / "back") == contents(write_sample(tmp_path / "set"))


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"site/k/__init__.py": "mine"}, "not empty and no kernel set"),
        ({"site/k/__init__.py": "mine", "site/k/index.json": '{"format": 1, "roots": {}}'}, "its __init__.py was not generated by a build"),
        ({"site/k/__init__.py/x": "mine", "site/k/index.json": '{"format": 1, "roots": {}}'}, "not a regular file"),
        ({"site/k/more.py": "mine", "site/k/index.json": '{"format": 1, "roots": {}}'}, "'more.py', which is no part of a kernel set"),
        ({"site/k": "mine"}, "k: is a file"),
        ({"site": "mine"}, "site: is a file; a folder is wanted"),
        ({"site/index.json": "{}"}, "site: is a kernel set; a package or a wheel goes into a folder of its kind"),
    ],
)
def test_what_no_build_has_made_is_not_replaced(tmp_path: Path, files: dict[str, str], says: str) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    before = {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    destination = PackageFolder(tmp_path / "site", "k")
    prepared = destination.prepare(set_content(sample_units(), generator=GENERATOR))
    for attempt in (destination.check, prepared.write):
        with pytest.raises(ArtifactError, match=says):
            attempt()
    assert {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_write_that_fails_names_the_package(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="/proc/k: could not write the package: "):
        put(PackageFolder(Path("/proc"), "k"))


def test_every_generated_module_starts_with_the_line_that_later_builds_look_for(tmp_path: Path) -> None:
    text = (put(PackageFolder(tmp_path, "k")) / "__init__.py").read_text()
    assert text.splitlines()[0] == package._FIRST_LINE
