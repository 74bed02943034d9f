"""Kernels of every operation, and their use on the host, pass ``mypy --strict``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

MODULE = """
    import numpy as np

    import gompute as g
    from gompute import f32, f64, i8, u32, u64


    @g.params
    class Params:
        scale: f32


    @g.map
    def scale(x: f32, p: Params) -> f32:
        return x * p.scale


    @g.map_to(name="wide", block_size=64)
    def widen(x: f32, p: Params) -> f64:
        return f64(x) * p.scale


    @g.zip
    def blend(a: f32, b: i8, keep: bool, p: Params) -> f32:
        return a + b * p.scale if keep else a


    @g.map_indexed
    def ramp(x: f32, i: u64) -> f32:
        return x + f32(i)


    def square(x: f32) -> f32:
        return x * x


    squared = g.unary("squared", square)
    named = g.map(name="named")(square)
    both = g.fused("both", scale, square, block_size=128)
    pick = g.gather("pick", f32, u32)
    put = g.scatter("put", bool, i8, block_size=32)


    def main() -> None:
        data = np.ones(8, np.float32)
        out = np.zeros(8)
        with g.Kernel(widen, "cpu") as kernel, kernel.alloc(8, "out") as buffer:
            kernel.run(data, out, Params(2.0))
            buffer.download(out)
        with g.AutoKernel(pick) as kernel:
            kernel.run(data, np.zeros(4, np.uint32), np.zeros(4, np.float32))
        once: float = blend(1.0, 2, True, Params(2.0)) + named(2.0) + ramp(1.0, 3)
        print(once, both(1.0, Params(2.0)), squared(3.0), put.name)
"""


def test_every_operation_is_clean_under_mypy_strict(tmp_path: Path) -> None:
    file = tmp_path / "kernels.py"
    file.write_text(dedent(MODULE))
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(file)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.stdout == "Success: no issues found in 1 source file\n", done.stdout + done.stderr
