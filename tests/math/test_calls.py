"""Calls of `g.math` in kernels: which body is meant, and what comes out of the compiler."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gompute as g
from gompute import bf16, f16, f32, f64
from gompute.backends.pipeline import generate
from gompute.frontend import compile_root
from gompute.math.f32 import BODIES as f32_bodies
from gompute.math.f64 import BODIES as f64_bodies
from gompute.targets import parse_target
from tests.conformance import math_kernels


@g.map
def neighbour(x: f32) -> f32:
    return g.math.fmod(x, 0.3) + g.math.sqrt(2.0) * x


@g.map_to
def widened(x: f16) -> f64:
    return g.math.fma(x, f64(x), 1)


@g.map_to
def narrowed(x: f32) -> f32:
    return f32(g.math.exp(f16(x))) + f32(g.math.exp(bf16(x)))


def test_python_numbers_take_the_type_beside_them() -> None:
    x = np.array([0.7, -5.5], np.float32)
    wanted = np.fmod(x, np.float32(0.3)) + np.float32(np.sqrt(2.0)) * x
    got = x.copy()
    with g.Kernel(neighbour, "cpu") as kernel:
        kernel.run(got)
    np.testing.assert_array_equal(got, wanted)
    assert neighbour(x[0]) == wanted[0]


def test_types_promote() -> None:
    x = np.array([1.5, -3.25], np.float16)
    got = np.empty(2, np.float64)
    with g.Kernel(widened, "cpu") as kernel:
        kernel.run(x, got)
    np.testing.assert_array_equal(got, x.astype(np.float64) ** 2 + 1)


def test_narrow_types_round_once() -> None:
    x = np.array([0.5, 1.25, -2.0], np.float32)
    got = np.empty_like(x)
    with g.Kernel(narrowed, "cpu") as kernel:
        kernel.run(x, got)
    for value, result in zip(x, got, strict=True):
        exact = np.exp(float(value))
        assert result == np.float32(np.float16(exact)) + np.float32(float(bf16(exact)))
        assert narrowed(value) == result


ROOT = "import gompute as g\nfrom gompute import f32\n\n@g.map\ndef grow(x: f32) -> f32:\n    return g.math.exp(x)\n"


def test_the_same_bytes_wherever_the_root_and_gompute_lie(tmp_path: Path) -> None:
    found = set()
    for folder in ("a", "b/c/d"):
        (tmp_path / folder).mkdir(parents=True)
        file = tmp_path / folder / "root.py"
        file.write_text(ROOT)
        found.add(compile_root(file, name="root", imports=None, target=parse_target("sm_75")).ir)
    copy = tmp_path / "elsewhere"
    shutil.copytree(Path(g.__file__).parent, copy / "gompute", ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        "import sys, pathlib; from gompute.frontend import compile_root; from gompute.targets import parse_target\n"
        "root = compile_root(pathlib.Path(sys.argv[1]), name='root', imports=None, target=parse_target('sm_75'))\n"
        "print(root.ir, end='')"
    )
    argv = [sys.executable, "-c", code, str(tmp_path / "a" / "root.py")]
    done = subprocess.run(argv, env={"PYTHONPATH": str(copy)}, capture_output=True, text=True, check=True)
    assert found == {done.stdout}


@pytest.mark.parametrize("kind", [f32, f64], ids=str)
def test_loops_over_every_function_vectorise(kind: object) -> None:
    """Four doubles an instruction, and the work of two vectors in an iteration: no case of a body is a branch."""
    target = parse_target("x86-64-v3")
    root = compile_root(Path(math_kernels.__file__), name="every", imports=None, target=target)
    wanted = {f"{name}_{kind}" for name in (f32_bodies if kind is f32 else f64_bodies)}
    scalar = []
    for unit in root.units:
        names = [kernel.name for kernel in unit.kernels if kernel.name in wanted]
        if names:
            listing = generate(unit.ir, unit.kernels, target, emit=frozenset({"asm"})).listings["asm"]
            last = r"vcvtpd2ps\t%ymm" if kind is f32 else r"vmovupd\t%ymm\d+, [^(]*\("
            loops = [len(re.findall(last, block)) for block in re.split(r"^\.LBB\d+_\d+:", listing, flags=re.M)]
            scalar += names if max(loops) < 2 else []
            wanted -= set(names)
    assert not scalar
    assert not wanted
