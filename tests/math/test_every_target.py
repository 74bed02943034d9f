"""A root with every function compiles for the targets, and asks nothing of a library there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gompute.backends.pipeline import generate
from gompute.frontend import compile_root
from gompute.lang.math_function import NAMES
from gompute.targets import parse_target
from tests.conformance import math_kernels

#: One of each family; ``checks/math/compile_all.py`` has all of the table.
SAMPLE = ("sm_50", "gfx1100", "aarch64")
EXACT = {"fma", "sqrt", "fabs", "floor", "ceil", "trunc", "rint", "roundeven", "nearbyint", "copysign"}
LIBRARY = {*NAMES, "powi", "exp10", "sincos", "sincospi", "modf", "ldexp", "frexp", "round", "lround", "fmuladd"} - EXACT


@pytest.mark.parametrize("name", SAMPLE)
def test_every_function_compiles(name: str) -> None:
    target = parse_target(name)
    root = compile_root(Path(math_kernels.__file__), name="every", imports=None, target=target)
    assert {kernel.name for kernel in root.kernels} >= {f"{function}_{kind}" for function in NAMES for kind in math_kernels.KINDS}
    called: set[str] = set()
    for unit in root.units:
        listings = generate(unit.ir, unit.kernels, target, emit=frozenset({"ir", "asm"})).listings
        called |= {intrinsic.split(".")[1] for intrinsic in re.findall(r"@(llvm\.[a-z0-9.]+)", listings["ir"])}
        assert ".approx" not in listings["asm"]
    assert not called & LIBRARY
    assert "fma" in called
