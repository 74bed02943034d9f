"""Nix runs here where Nix and Debian's package tools are, which the stand-ins are made of."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.nix.standin import Nix, copy_of_the_repository

MISSING = [program for program in ("nix", "apt-get", "apt-cache", "dpkg-deb") if shutil.which(program) is None]


def _why_not() -> str | None:
    """Why these tests cannot run here."""
    if os.environ.get("IN_NIX_SHELL"):
        return "seeds a store with pip, which the development shell lacks: run it outside"
    return f"needs {', '.join(MISSING)}: apt install nix-bin, on Debian" if MISSING else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = _why_not()
    if reason is not None:
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Nix:
    """This repository, not to be edited."""
    return Nix(copy_of_the_repository(tmp_path_factory.mktemp("repository")))


@pytest.fixture
def edited(tmp_path: Path) -> Nix:
    """This repository, to be edited."""
    return Nix(copy_of_the_repository(tmp_path / "edited"))


@pytest.fixture
def consumer(repository: Nix, tmp_path: Path) -> Nix:
    """A project of its own, made from the template, with this repository as its input."""
    folder = tmp_path / "consumer"
    folder.mkdir()
    made = Nix(folder, {"GOMPUTE_STANDIN_FLAKE": f"path:{repository.flake}"})
    made.run("flake", "init", "-t", f"path:{repository.flake}")
    return made
