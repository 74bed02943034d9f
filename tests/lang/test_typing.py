"""A kernel module and the host program that uses it pass ``mypy --strict``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

LANGUAGE = """
    import enum
    from typing import Literal

    import numpy as np

    import gompute as g
    from gompute import f32, fixed, i32, u8, u64

    WEIGHTS = g.table(f32, [0.25, 0.5, 0.25])
    HALF = f32(0.5)


    class Mode(enum.IntEnum):
        KEEP = 0
        NEGATE = 1


    @g.params
    class Params:
        scale: f32
        mode: Mode
        taps: fixed[f32, Literal[3]]
        on: bool = True


    def clamp(x: f32, low: f32 = 0.0, high: f32 = 1.0) -> f32:
        return min(max(x, low), high)


    @g.map(block_size=256)
    def scale_relu(x: f32, p: Params) -> f32:
        y = x * p.scale + p.taps[1] * HALF
        if p.mode == Mode.NEGATE or not p.on:
            return -y
        return clamp(y, high=2.0) if y > 0 else 0.0


    @g.map
    def plain(x: i32) -> i32:
        return g.cast(g.select(x > 0, x, -x), i32) + g.bitcast(HALF, i32)


    @g.kernel(block_size=(16, 16))
    def smooth(data: g.ptr[f32], out: g.ptr[f32], n: u64, threshold: u8) -> None:
        i = g.global_id(0)
        window = g.local(f32, 3)
        if i < n and g.static(g.target.backend != "cpu" or g.target.warp_size == 1):
            for k in range(3):
                window[k] = data[i] * WEIGHTS[k]
            out[i] += window[0] + window[1] + window[2]


    def total(rows: g.array[f32, Literal[2]], row: u64) -> f32:
        found = 0.0
        for column in range(rows.shape[1]):
            found += rows[row, column]
        return found


    @g.kernel(block_size=(16, 16))
    def meet(rows: g.array[f32, Literal[2]], bins: g.array[u64, Literal[1]], out: g.ptr[f32]) -> None:
        tile = g.shared(f32, (16, 17))
        rest = g.dynamic_shared(f32)
        x, y = g.local_id(0), g.local_id(1)
        height, width = rows.shape
        tile[y, x] = rows[y, x] if y < height and x < width else 0.0
        g.barrier()
        rest[x] = tile[x, y] + total(rows, y)
        if g.atomic_add(bins, 0, u64(1), scope="block") == 0 and len(bins) > rows.ndim:
            g.atomic_cas(rows, (0, 0), 1.0, 2.0)
        value = g.shuffle_down(rest[x], g.warp_size // 2)
        if g.warp_any(value > 0) and g.ballot(value < 0, mask=1) == 0:
            out[g.lane_id()] = value


    def main() -> None:
        data = np.ones(8, np.float32)
        with g.AutoKernel(scale_relu) as kernel:
            kernel.run(data, Params(2.0, Mode.KEEP, (1.0, 2.0, 3.0)))
            print(kernel.selected)
        with g.RawKernel(smooth, "cpu", kernels=g.load("set")) as raw:
            raw.launch(1, 16, data, data, data.size, 3)
        once: float = scale_relu(1.0, Params(2.0, Mode.KEEP, (1.0, 2.0, 3.0)))
        print(once, g.abi.pack(Params(2.0, Mode.KEEP, (1.0, 2.0, 3.0))))
"""

OPERATIONS = """
    from typing import TypeVar

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


    T = TypeVar("T", f32, i8)


    def twice(x: T) -> T:
        return x + x


    @g.map
    def doubled(x: T) -> T:
        return twice(x)


    @g.kernel(block_size=64)
    def axpy(a: T, x: g.ptr[T], n: u64) -> None:
        i = g.global_id(0)
        if i < n:
            x[i] = a * x[i]


    def main() -> None:
        data = np.ones(8, np.float32)
        out = np.zeros(8)
        with g.Kernel(doubled[f32], "cpu") as kernel:
            kernel.run(data)
        with g.RawKernel(axpy[i8], "cpu") as raw:
            raw.launch(1, 8, 3, np.ones(8, np.int8), 8)
        print(scale.name, scale(1.0, Params(2.0)) + 1.0)
        with g.Kernel(widen, "cpu") as kernel, kernel.alloc(8, "out") as buffer:
            kernel.run(data, out, Params(2.0))
            buffer.download(out)
        with g.AutoKernel(pick) as kernel:
            kernel.run(data, np.zeros(4, np.uint32), np.zeros(4, np.float32))
        once: float = blend(1.0, 2, True, Params(2.0)) + named(2.0) + ramp(1.0, 3)
        print(once, both(1.0, Params(2.0)), squared(3.0), put.name)
"""


@pytest.mark.parametrize("text", [LANGUAGE, OPERATIONS], ids=["language", "operations"])
def test_a_users_module_is_clean_under_mypy_strict(tmp_path: Path, text: str) -> None:
    file = tmp_path / "kernels.py"
    file.write_text(dedent(text))
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(file)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.stdout == "Success: no issues found in 1 source file\n", done.stdout + done.stderr
