"""A kernel set as the compiler builds it, run on every backend; the GPUs' launches run its CPU code."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from gompute.handles.auto_kernel import AutoKernel
from gompute.handles.kernel import Kernel
from gompute.handles.raw_kernel import RawKernel
from gompute.runtime import cpu
from gompute.targets.cpu import cpu_targets
from tests.driver.control import Driver

SOURCE = """
import gompute as g
from gompute import f32, f64, fixed, i32, u8, u64


@g.params
class Params:
    scale: f32


@g.params
class Mixed:
    flag: bool
    weights: fixed[f32, 3]
    bias: f64


@g.map(block_size=256)
def scale_relu(x: f32, p: Params) -> f32:
    y = x * p.scale
    return y if y > 0 else 0.0


@g.map
def biased(x: f64, p: Mixed) -> f64:
    return x * p.weights[1] + p.bias if p.flag else x


@g.kernel(block_size=(16, 16))
def transpose(source: g.ptr[i32], target: g.ptr[i32], rows: u64, columns: u64, step: u8):
    column = g.global_id(0)
    row = g.global_id(1)
    if row < rows and column < columns:
        target[column * rows + row] = source[row * columns + column] + i32(step)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[ModuleType, Path]:
    """The module on the host, and the set."""
    folder = tmp_path_factory.mktemp("built")
    source, out = folder / "authored.py", folder / "kernels"
    source.write_text(SOURCE)
    device = cpu.Context().device
    targets = ["sm_75", "gfx90a", cpu_targets(device.arch, device.flags)[0].name]
    command = [sys.executable, "-m", "gompute", "build", str(source), *(f"--target={target}" for target in targets), "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    spec = importlib.util.spec_from_file_location("authored", source)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["authored"] = module
    spec.loader.exec_module(module)
    return module, out


@pytest.fixture(params=["cpu", "cuda", "hip"])
def backend(request: pytest.FixtureRequest, built: tuple[ModuleType, Path]) -> str:
    if request.param != "cpu":
        driver: Driver = request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[request.param])
        driver.reset(next(built[1].glob("*.so")))
    return str(request.param)


def test_maps(backend: str, built: tuple[ModuleType, Path]) -> None:
    module, kernels = built
    data = np.random.default_rng(3).standard_normal((37, 41), dtype=np.float32)
    wanted = np.maximum(data * np.float32(-2.5), np.float32(0))
    with Kernel(module.scale_relu, backend, kernels=kernels) as kernel:
        kernel.run(data, module.Params(scale=-2.5))
    assert np.array_equal(data, wanted)
    wide = np.arange(1000, dtype=np.float64)
    with Kernel(module.biased, backend, kernels=kernels) as kernel:
        kernel.run(wide, module.Mixed(flag=False, weights=(1.0, 2.0, 3.0), bias=9.0))
        assert np.array_equal(wide, np.arange(1000))
        kernel.run(wide, module.Mixed(flag=True, weights=(1.0, 2.0, 3.0), bias=0.25))
    assert np.array_equal(wide, np.arange(1000) * 2.0 + 0.25)
    assert wide[7] == module.biased(7.0, module.Mixed(True, (1.0, 2.0, 3.0), 0.25))


@pytest.mark.parametrize("block", [(16, 16), (8, 4), 5])
def test_a_raw_kernel(backend: str, built: tuple[ModuleType, Path], block: int | tuple[int, int]) -> None:
    module, kernels = built
    rows, columns = 33, 70
    source = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    target = np.zeros((columns, rows), np.int32)
    x, y = block if isinstance(block, tuple) else (block, 1)
    with (
        RawKernel(module.transpose, backend, kernels=kernels) as kernel,
        kernel.alloc(source.nbytes) as device_source,
        kernel.alloc(target.nbytes) as device_target,
    ):
        device_source.upload(source)
        kernel.launch((-(-columns // x), -(-rows // y)), block, device_source, device_target, rows, columns, 3)
        kernel.synchronize()
        device_target.download(target)
    assert np.array_equal(target, source.T + 3)


def test_the_driver_is_told_the_declared_block(nvidia: Driver, built: tuple[ModuleType, Path]) -> None:
    module, kernels = built
    nvidia.reset(next(kernels.glob("*.so")))
    with AutoKernel(module.scale_relu, kernels) as kernel:
        assert kernel.selected == "cuda"
        kernel.run(np.ones(1000, np.float32), module.Params(1.0))
    assert "cuLaunchKernelEx scale_relu grid=4,1,1 block=256,1,1 shared=0" in nvidia.calls


def test_without_code_for_the_processor_it_is_compiled_here(built: tuple[ModuleType, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    module, _ = built
    monkeypatch.delenv("GOMPUTE_KERNELS", raising=False)
    data = np.array([-1.0, 2.0], np.float32)
    with Kernel(module.scale_relu, "cpu") as kernel:
        kernel.run(data, module.Params(3.0))
        assert "compiler" in repr(kernel)
    assert data.tolist() == [0.0, 6.0]
