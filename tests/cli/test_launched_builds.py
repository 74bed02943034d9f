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
    edited = scan("\n# moved\ng.AutoKernel(film.film_half)\nfor n in range(3):\n    g.AutoKernel(image.image_half)\nprint(image.image_twice)\n")
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
        (tmp_path / package / "work.py").write_text(f"import gompute as g\nfrom image import {kernel} as k\n\ndef go():\n    g.AutoKernel(k)\n")
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
