"""From host code to what is compiled for it: scan, merge and build with the real compiler, counted in kernels."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gompute as g
from gompute.cli.app import run

ROOT = """
import gompute as g
from gompute import f32


@g.map
def {0}_half(x: f32) -> f32:
    return x * 0.5


@g.map
def {0}_twice(x: f32) -> f32:
    return x * 2.0
"""

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def gompute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Two declared roots of two kernels each. Runs a command there; a build gives what `--json` says."""
    monkeypatch.chdir(tmp_path)
    declared = '[tool.gompute]\ntargets = ["x86-64-v3"]\nmanifest = "manifest.json"\n'
    for name in ("image", "film"):
        (tmp_path / f"{name}.py").write_text(ROOT.format(name))
        declared += f'[tool.gompute.roots.{name}]\nsource = "{name}.py"\n'
    (tmp_path / "pyproject.toml").write_text(declared)

    def call(*words: str) -> dict[str, Any]:
        code = run([*words, "--json", "--cache", "cache"] if words[0] == "build" else list(words))
        out, err = capfd.readouterr()
        assert code == 0, err
        made: dict[str, Any] = json.loads(out) if words[0] == "build" else {}
        return made

    return call


def _compiled(built: dict[str, Any]) -> dict[str, list[str]]:
    """By root: the kernels that were compiled."""
    return {unit["root"]: unit["compiled"] for unit in built["units"] if unit["compiled"]}


def test_an_edit_that_launches_nothing_new_compiles_nothing_and_a_new_launch_compiles_one_root(gompute: Run, tmp_path: Path) -> None:
    host, manifest = tmp_path / "host.py", tmp_path / "manifest.json"

    def scan(text: str) -> bytes:
        host.write_text(f"import gompute as g\nimport film, image\n{text}")
        gompute("manifest", "scan", "host.py", "-o", "manifest.json")
        return manifest.read_bytes()

    first = scan("g.AutoKernel(image.image_half)\ng.AutoKernel(film.film_half)\n")
    assert _compiled(gompute("build", "-o", "out")) == {"film": ["film_half"], "image": ["image_half"]}
    edited = scan(
        "\n# moved\ng.AutoKernel(film.film_half)\nfor n in range(3):\n    g.AutoKernel(image.image_half)\nprint(image.image_twice)\n"
    )
    assert edited == first
    built = gompute("build", "-o", "out")
    assert _compiled(built) == {}
    assert {unit["root"]: (unit["reused"], unit["why"]) for unit in built["units"]} == {
        "film": (["film_half"], []),
        "image": (["image_half"], []),
    }
    assert scan("g.AutoKernel(image.image_half)\ng.AutoKernel(film.film_half)\ng.AutoKernel(film.film_twice)\n") != first
    built = gompute("build", "-o", "out")
    assert _compiled(built) == {"film": ["film_twice"]}
    assert built["kernels"] == ["film_half", "film_twice", "image_half"]


def test_two_packages_that_launch_different_kernels_of_one_root_run_both(gompute: Run, tmp_path: Path) -> None:
    for package, kernel in (("first", "image_half"), ("second", "image_twice")):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("")
        (tmp_path / package / "work.py").write_text(
            f"import gompute as g\nfrom image import {kernel} as k\n\ndef go():\n    g.AutoKernel(k)\n"
        )
        gompute("manifest", "scan", package, "-o", f"{package}.json")
    gompute("manifest", "merge", "second.json", "first.json", "-o", "manifest.json")
    assert _compiled(gompute("build", "-o", "out")) == {"image": ["image_half", "image_twice"]}
    kernels = g.load(tmp_path / "out")
    assert kernels.kernels == ("image_half", "image_twice")
    for kernel, expected in (("image_half", [0.5, -2.0]), ("image_twice", [2.0, -8.0])):
        data = np.array([1.0, -4.0], np.float32)
        with kernels.kernel_by_name(kernel, "cpu") as made:
            made.run(data)
        assert data.tolist() == expected


def _host(text: str) -> None:
    """A host program, declared as such."""
    Path("host.py").write_text(f"import gompute as g\nimport film, image\n{text}")
    Path("pyproject.toml").write_text(
        Path("pyproject.toml").read_text().replace("[tool.gompute]\n", '[tool.gompute]\nhost = ["host.py"]\n')
    )


def _manifest(call_sites: dict[str, dict[str, list[str]]] | None = None, **kernels: dict[str, list[str]]) -> None:
    document: dict[str, Any] = {"version": 1, "kernels": kernels}
    Path("manifest.json").write_text(json.dumps(document | ({} if call_sites is None else {"call_sites": call_sites})))


def _fails(capfd: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command says that fails with exit code 1 and leaves no set."""
    assert run([*words, "--no-cache", "-o", "out"] if words[0] == "build" else list(words)) == 1
    assert not Path("out").exists()
    return capfd.readouterr().err


def test_a_launch_of_what_no_root_defines_fails_scan_check_and_build_at_its_line(gompute: Run, capfd: pytest.CaptureFixture[str]) -> None:
    _host("g.kernel_by_name('image_halve', 'cpu')\n")
    _manifest(image={"image_halve": []})
    for command in (("manifest", "scan", "host.py"), ("manifest", "check"), ("build",), ("check",)):
        assert _fails(capfd, *command) == (
            "error: host.py:3:1: no root makes a kernel 'image_halve' (did you mean 'image_half' or 'image_twice' or 'film_half'?), "
            "and this launches it\n"
            "    g.kernel_by_name('image_halve', 'cpu')\n"
            "    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
            "  launch a kernel that a root defines, or declare the root that makes it\n"
        )


def test_a_build_is_held_to_the_declared_host_code(gompute: Run, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _host("g.AutoKernel(image.image_half)\n")
    _manifest(film={"film_half": []})
    assert _fails(capfd, "build") == (
        f"error: {tmp_path}/manifest.json is stale:\n"
        "  image.image_half is launched and not in it: host.py:3\n"
        "  Write it again: gompute manifest scan host.py -o manifest.json\n"
    )
    assert run(["manifest", "scan", "-o", "manifest.json"]) == 0
    assert _compiled(gompute("build", "-o", "out")) == {"image": ["image_half"]}
    _manifest(film={"film_half": []}, image={"image_half": []})  # another program's launch among them
    assert _compiled(gompute("build", "-o", "out")) == {"film": ["film_half"]}
    assert run(["manifest", "check"]) == 1
    assert run(["manifest", "check", "--allow-more"]) == 0


def test_a_manifest_of_kernels_that_no_root_makes_names_the_launches_that_are_known(
    gompute: Run, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _manifest(image={"image_halve": []})
    hint = "  `gompute manifest check PATH`, PATH being the host code, says which lines launch them.\n"
    makes = "error: image.py: root 'image' does not make these kernels; it makes image_half, image_twice\n"
    makes += f"  image_halve; did you mean image_half or image_twice?\n{hint}"
    assert _fails(capfd, "build").startswith(f"image for x86-64-v3: failed\n{makes}  [root image, for x86-64-v3]\n")
    _manifest({"image": {"image_halve": ["host.py:3"]}}, image={"image_halve": []})
    assert f"{makes}  image_halve is launched at host.py:3\n  [root image" in _fails(capfd, "build")
    assert _fails(capfd, "check").endswith(
        "error: the manifest names kernels that no root makes:\n  image.image_halve, launched at host.py:3\n" + hint
    )
    # A root that shows a kernel to the scan and does not make it.
    (tmp_path / "image.py").write_text(
        f"if False:\n{ROOT.format('image')}".replace("\n", "\n    ") + "\n@g.map\ndef other(x: f32) -> f32:\n    return x\n"
    )
    (tmp_path / "image.py").write_text("import gompute as g\nfrom gompute import f32\n" + (tmp_path / "image.py").read_text())
    _host("g.AutoKernel(image.image_half)\n")
    _manifest(image={"image_half": []})
    assert "  image_half is launched at host.py:3\n" in _fails(capfd, "build")
    (tmp_path / "host.py").write_text("import gompute as g\n")
    _manifest({"book": {"cover": ["host.py:9"]}}, book={"cover": []})
    (tmp_path / "pyproject.toml").write_text((tmp_path / "pyproject.toml").read_text().replace('host = ["host.py"]\n', ""))
    assert "  root book: cover (launched at host.py:9)\n" in _fails(capfd, "build")


def test_without_host_code_there_is_nothing_to_scan(gompute: Run, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["manifest", "scan"]) == 2
    assert 'no host code: give PATH, or declare it in pyproject.toml: [tool.gompute] host = ["program"].' in capfd.readouterr().err
