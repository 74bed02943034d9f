from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gompute.build.roots import KernelRoot
from gompute.build.zygote import Zygote, ZygoteCommand

WORKERS = Path(__file__).parent / "workers"


@pytest.fixture
def scripted() -> Iterator[Zygote]:
    """A zygote whose units do what their source's first line says."""
    with Zygote.start(ZygoteCommand("scripted_worker", (WORKERS,))) as zygote:
        yield zygote


@pytest.fixture
def root(tmp_path: Path) -> Callable[..., KernelRoot]:
    """Makes a root with a script as its first line."""

    def make(name: str, script: str) -> KernelRoot:
        source = tmp_path / f"{name}.py"
        source.write_text(f"# {script}\n")
        return KernelRoot(name, source)

    return make
