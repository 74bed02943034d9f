"""Which kernels of a root are compiled, when not all are asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from gompute.errors import CompileError
from gompute.frontend import RootIR, compile_root
from gompute.targets import parse_target
from tests.frontend.authoring import write

THREE = """
def only_of_a(x: f32) -> f32:
    return x + 1.0

@g.map
def alpha(x: f32) -> f32:
    return only_of_a(x)

@g.map
def beta(x: f32) -> f32:
    return x * 2.0

@g.map
def broken(x: f32) -> f32:
    return x.wrong
"""


def _compiled(folder: Path, *kernels: str) -> RootIR:
    file = write(folder, THREE)
    return compile_root(file, name="root", imports=None, target=parse_target("sm_89"), kernels=kernels)


def test_only_the_named_kernels_and_what_they_reach_are_lowered(tmp_path: Path) -> None:
    """`broken` is wrong, and nobody asks for it."""
    made = _compiled(tmp_path, "beta")
    assert [kernel.name for kernel in made.kernels] == ["beta"]
    assert "alpha" not in made.ir
    assert "only_of_a" not in made.ir
    assert "only_of_a" in _compiled(tmp_path, "alpha").ir


def test_names_that_the_root_does_not_make_are_all_told_with_near_ones(tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        _compiled(tmp_path, "alpha", "betta", "zz")
    assert str(caught.value).replace(f"{tmp_path}/", "") == (
        "root.py: root 'root' does not make these kernels; it makes alpha, beta, broken\n  betta; did you mean beta?\n  zz\n"
        "  `gompute manifest check PATH`, PATH being the host code, says which lines launch them."
    )
