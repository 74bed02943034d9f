"""`g.select` and what it is for: both sides are computed, so that a loop over it has no branch and vectorises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gompute.backends.pipeline import compile_piece
from gompute.targets import parse_target
from tests.frontend.authoring import compiled, write

_BODY = """
@g.map
def either(x: f32) -> f32:
    return g.select(x > 0.0, g.math.exp(x), g.math.sin(x))


@g.map
def nested(x: f64) -> f64:
    return g.select(x > 0.0, g.select(x > 1.0, x / 3.0, g.math.sqrt(x)), g.select(x < -1.0, x % 2.0, round(x * x * x * x * x)))
"""
_WIDE = {"x86-64-v3": r"%ymm", "aarch64": r"\bv\d+\.2d"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path, _BODY)


@pytest.mark.parametrize("name", _WIDE)
def test_a_select_of_dear_sides_vectorises(name: str, source: Path) -> None:
    target = parse_target(name)
    for unit in compiled(source, name).units[:1]:
        listings = compile_piece(unit.ir, unit.kernels, target, emit=frozenset({"asm"})).listings
        assert len(re.findall(_WIDE[name], listings["asm"])) > 100


@pytest.mark.parametrize("name", ["sm_90", "gfx1100"])
def test_a_select_is_no_branch(name: str, source: Path) -> None:
    for unit in compiled(source, name).units:
        body = unit.ir[unit.ir.index(f" @{unit.kernels[0].name}_") :]
        assert " phi " not in body[: body.index("\n}")]
        assert " br " not in body[: body.index("\n}")]
