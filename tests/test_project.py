"""What the project's own files say of each other: names, dependencies and pins in pyproject.toml, and what poetry.lock locked."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from poetry.core.factory import Factory
from poetry.core.masonry.builders.wheel import WheelBuilder

import gompute

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT: dict[str, Any] = PYPROJECT["project"]
POETRY: dict[str, Any] = PYPROJECT["tool"]["poetry"]
LOCK: dict[str, Any] = tomllib.loads((ROOT / "poetry.lock").read_text(encoding="utf-8"))
LOCKED: dict[str, str] = {package["name"]: package["version"] for package in LOCK["package"]}

# What decides the bytes of an artifact: one version of each, the same for pip and for Nix.
TOOLCHAIN = ("llvmlite", "ziglang", "nvidia-cuda-nvcc")


def split(requirement: str) -> tuple[str, str, str]:
    """``"hip-python>=10,<11 ; marker"`` -> name, version, marker (empty where there is none)."""
    bare, _, marker = requirement.partition(";")
    match = re.fullmatch(r"([A-Za-z0-9_.-]+)(.*)", bare.strip())
    assert match is not None, requirement
    return match[1].lower(), match[2].strip(), marker.strip()


def requirements() -> list[tuple[str, str, str]]:
    texts: Iterable[str] = [*PROJECT["dependencies"], *(text for extra in PROJECT["optional-dependencies"].values() for text in extra)]
    return [split(text) for text in texts]


def test_the_two_tables_of_dependencies_agree() -> None:
    """`[project]` is what pip reads, `[tool.poetry]` what poetry2nix reads."""
    assert (POETRY["name"], POETRY["version"]) == (PROJECT["name"], PROJECT["version"])
    said = {"python": (PROJECT["requires-python"], "", False)}
    optional = {split(text)[0] for extra in PROJECT["optional-dependencies"].values() for text in extra}
    for name, version, marker in requirements():
        said[name] = (version.removeprefix("=="), marker, name in optional)
    again = {}
    for name, value in POETRY["dependencies"].items():
        table = {"version": value} if isinstance(value, str) else value
        again[name] = (table["version"], table.get("markers", ""), table.get("optional", False))
    assert again == said


def test_the_two_tables_of_extras_agree() -> None:
    named = {extra: [split(text)[0] for text in texts] for extra, texts in PROJECT["optional-dependencies"].items()}
    assert POETRY["extras"] == named == LOCK["extras"]
    assert {"compiler", "cubin", "cuda", "hip"} <= set(named)


def test_the_package_knows_its_version() -> None:
    assert gompute.__version__ == PROJECT["version"]


@pytest.mark.parametrize("name", TOOLCHAIN)
def test_the_toolchain_is_pinned_to_what_is_locked(name: str) -> None:
    pins = [version for found, version, _ in requirements() if found == name]
    assert pins == [f"=={LOCKED[name]}"]


def test_every_requirement_is_locked_within_its_bounds() -> None:
    def number(text: str) -> tuple[int, ...]:
        return tuple(int(part) for part in text.split("."))

    holds = {
        "==": lambda locked, wanted: locked == wanted,
        ">=": lambda locked, wanted: locked >= wanted,
        "<": lambda locked, wanted: locked < wanted,
    }
    for name, version, _ in requirements():
        for clause in version.split(","):
            match = re.fullmatch(r"(==|>=|<)\s*([0-9.]+)", clause.strip())
            assert match is not None, f"{name}: {clause!r}"
            assert holds[match[1]](number(LOCKED[name]), number(match[2])), f"{name} {LOCKED[name]} is locked, {clause} is wanted"


def test_the_lock_names_no_registry_and_hashes_every_file() -> None:
    text = (ROOT / "poetry.lock").read_text(encoding="utf-8")
    assert "://" not in text
    assert LOCK["metadata"]["python-versions"] == PROJECT["requires-python"]
    for package in LOCK["package"]:
        assert "source" not in package, package["name"]
        assert package["files"], package["name"]
        assert all(file["hash"].startswith("sha256:") for file in package["files"]), package["name"]


@pytest.mark.parametrize("name", TOOLCHAIN)
def test_the_toolchain_has_wheels_for_both_kinds_of_host(name: str) -> None:
    (package,) = (package for package in LOCK["package"] if package["name"] == name)
    files = [file["file"] for file in package["files"]]
    for machine in ("x86_64", "aarch64"):
        wheels = [file for file in files if "manylinux" in file and machine in file]
        for python in ("cp311", "cp312", "cp313"):
            assert any(f"-{python}-" in wheel or "-py3-none-" in wheel for wheel in wheels), f"{name}: no wheel for {python} on {machine}"


def test_the_lock_is_fresh() -> None:
    """Poetry's own measure: a hash of what pyproject.toml says of dependencies."""
    relevant = {
        "project": {key: PROJECT[key] for key in ("requires-python", "dependencies", "optional-dependencies")},
        "tool": {"poetry": {key: POETRY[key] for key in ("dependencies", "extras")}},
    }
    said = hashlib.sha256(json.dumps(relevant, sort_keys=True).encode()).hexdigest()
    assert LOCK["metadata"]["content-hash"] == said, "pyproject.toml was edited after poetry.lock was made: run poetry lock"


def test_the_wheel_holds_the_package_and_the_demo_and_nothing_else(tmp_path: Path) -> None:
    poetry = Factory().create_poetry(ROOT)
    wheel = WheelBuilder.make_in(poetry, directory=tmp_path)
    with zipfile.ZipFile(tmp_path / wheel) as archive:
        names = set(archive.namelist())
    inside = {name for name in names if not name.startswith("gompute-")}
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "gompute").rglob("*.py")}
    assert inside == modules | {"gompute/py.typed", "gompute/example/photo.py"}
