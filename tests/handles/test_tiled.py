"""`Kernel` for reductions and scans on every backend, with the set that the compiler builds; the GPUs' launches run its CPU code."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gompute.errors import CaptureFailed, InvalidArgument, LaunchFailed
from gompute.handles.kernel import Kernel
from gompute.handles.raw_kernel import RawKernel
from gompute.lang.tiled import scratch_elements, stage_tiles
from gompute.runtime import cpu
from gompute.targets.cpu import cpu_targets
from tests.conformance.tiled_cases import add
from tests.conformance.tiled_model import reduced, scanned
from tests.driver.control import Driver

SOURCE = """
import gompute as g
from gompute import f32, f64, i64, u8


@g.params
class Params:
    scale: f32


def scaled(x: f32, p: Params) -> f32:
    return x * p.scale


def wide(x: u8) -> i64:
    return i64(x)


total = g.sum("total", f32, Params, pre=scaled)
count = g.sum("count", u8, pre=wide, block_size=64)
running = g.sum_scan("running", f32)
before = g.sum_scan("before", u8, exclusive=True, block_size=1000)


@g.scan
def growth(a: f64, b: f64) -> f64:
    return a * b
"""
NAMES = ("total", "count", "running", "before", "growth")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[ModuleType, Path]:
    """The module on the host, and the set."""
    folder = tmp_path_factory.mktemp("built")
    source, out = folder / "tiled_kernels.py", folder / "kernels"
    source.write_text(SOURCE)
    device = cpu.Context().device
    targets = ["sm_75", "gfx90a", cpu_targets(device.arch, device.flags)[0].name]
    command = [sys.executable, "-m", "gompute", "build", str(source), *(f"--target={target}" for target in targets), "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    spec = importlib.util.spec_from_file_location("tiled_kernels", source)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["tiled_kernels"] = module
    spec.loader.exec_module(module)
    return module, out


@pytest.fixture(params=["cpu", "cuda", "hip"])
def backend(request: pytest.FixtureRequest, built: tuple[ModuleType, Path]) -> str:
    if request.param != "cpu":
        driver: Driver = request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[request.param])
        driver.reset(next(built[1].glob("*.so")))
    return str(request.param)


def floats(n: int) -> np.ndarray:
    return np.random.default_rng(n).standard_normal(n, dtype=np.float32)


def test_run_gives_the_value_of_a_reduction(backend: str, built: tuple[ModuleType, Path]) -> None:
    module, kernels = built
    with Kernel(module.total, backend, kernels=kernels) as kernel:
        for n in (0, 1, 4096, 4097, 140_003, 5):
            x = floats(n)
            x.flags.writeable = False
            got = kernel.run(x, module.Params(0.3))
            assert type(got).__name__ == "TypedFloat"
            assert np.float32(got) == reduced(x * np.float32(0.3), add, 0)[0]
    bytes_ = np.random.default_rng(1).integers(0, 256, (70, 900)).astype(np.uint8)
    with Kernel(module.count, backend, kernels=kernels) as kernel:
        assert kernel.run(bytes_) == bytes_.sum(dtype=np.int64)
        assert kernel.run(np.asfortranarray(bytes_)) == bytes_.sum(dtype=np.int64)


def test_run_of_a_scan(backend: str, built: tuple[ModuleType, Path]) -> None:
    module, kernels = built
    x = floats(20_000)
    with Kernel(module.running, backend, kernels=kernels) as kernel:
        out = np.zeros_like(x)
        assert kernel.run(x, out) is None
        assert np.array_equal(out, scanned(x, add))
        kernel.run(out, out)
        assert np.array_equal(out, scanned(scanned(x, add), add))
        kernel.run(x[:0], out[:0])
    bytes_ = np.random.default_rng(1).integers(0, 256, (70, 90)).astype(np.uint8)
    with Kernel(module.before, backend, kernels=kernels) as kernel:
        made = np.full_like(bytes_, 7)
        kernel.run(bytes_, made)
        kernel.run(bytes_[:0], made[:0].copy())
    assert np.array_equal(made.ravel(), np.concatenate([[0], np.cumsum(bytes_.ravel()[:-1])]).astype(np.uint8))


def test_two_levels_of_tiles(backend: str, built: tuple[ModuleType, Path]) -> None:
    module, kernels = built
    x = np.random.default_rng(1).integers(0, 256, 4096 * 4096 + 77).astype(np.uint8)
    assert len(stage_tiles(x.size, scan=False)) == 3
    with Kernel(module.count, backend, kernels=kernels) as kernel:
        assert kernel.run(x) == x.sum(dtype=np.int64)
    with Kernel(module.before, backend, kernels=kernels) as kernel:
        out = np.empty_like(x)
        kernel.run(x, out)
    assert out[0] == 0
    assert np.array_equal(out[1:], np.cumsum(x[:-1], dtype=np.uint8))


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_the_bits_do_not_depend_on_threads(built: tuple[ModuleType, Path], threads: int) -> None:
    module, kernels = built
    x = floats(300_001)
    with Kernel(module.total, "cpu", kernels=kernels, threads=threads) as kernel:
        assert np.float32(kernel.run(x, module.Params(1.0))) == reduced(x, add, 0)[0]
    with Kernel(module.running, "cpu", kernels=kernels, threads=threads) as kernel:
        out = np.empty_like(x)
        kernel.run(x, out)
    assert np.array_equal(out, scanned(x, add))


def test_launch_leaves_the_result_on_the_device(backend: str, built: tuple[ModuleType, Path]) -> None:
    module, kernels = built
    with Kernel(module.total, backend, kernels=kernels) as kernel:
        for n in (0, 9, 200_000, 20_000):
            x = floats(n)
            with kernel.alloc(n) as data, kernel.alloc(1) as out:
                data.upload(x)
                kernel.launch(data, out, module.Params(1.5))
                kernel.synchronize()
                got = np.zeros(1, np.float32)
                out.download(got)
            assert np.array_equal(got, reduced(x * np.float32(1.5), add, 0))
    with Kernel(module.growth, backend, kernels=kernels) as kernel:
        x = 1 + floats(5000).astype(np.float64) / 100
        with kernel.alloc(x.size) as data:
            data.upload(x)
            kernel.launch(data, data)
            kernel.synchronize()
            got = np.empty_like(x)
            data.download(got)
        assert np.array_equal(got, scanned(x, np.multiply))
        with kernel.alloc(0) as nothing:
            kernel.launch(nothing, nothing)


def test_a_launch_never_waits_and_keeps_its_scratch(gpu: Driver, built: tuple[ModuleType, Path]) -> None:
    module, kernels = built
    vendor = gpu.vendor
    gpu.reset(next(kernels.glob("*.so")))
    with Kernel(module.total, vendor.backend, kernels=kernels) as kernel, kernel.alloc(1) as out:
        buffers = [kernel.alloc(n) for n in (5000, 200_000, 6000)]
        gpu.forget()
        for _ in range(2):
            for buffer in buffers:
                kernel.launch(buffer, out, module.Params(1.0))
        # A second stage for each; room for two tiles at first, then for 49 and half as much again, and what was outgrown stays.
        assert gpu.names.count(vendor.launch) == 12
        assert gpu.names.count(vendor.allocate) == 2
        assert set(gpu.names) == {vendor.launch, vendor.allocate}
        kernel.run(floats(5000), module.Params(1.0))
        assert gpu.names.count(vendor.free) == 1
        for buffer in buffers:
            buffer.free()


def test_what_run_tells_the_driver(gpu: Driver, built: tuple[ModuleType, Path]) -> None:
    module, kernels = built
    vendor = gpu.vendor
    gpu.reset(next(kernels.glob("*.so")))
    with Kernel(module.total, vendor.backend, kernels=kernels) as kernel:
        kernel.run(floats(200_000), module.Params(1.0))
        gpu.forget()
        kernel.run(floats(200_000), module.Params(1.0))
        assert gpu.names == [vendor.copy_in, vendor.launch, vendor.launch, vendor.synchronize, vendor.copy_out]
        assert [line.split(" ", 2)[2] for line in gpu.calls if line.startswith(vendor.launch)] == [
            "grid=49,1,1 block=256,1,1 shared=0",
            "grid=1,1,1 block=256,1,1 shared=0",
        ]
    with Kernel(module.running, vendor.backend, kernels=kernels) as kernel:
        gpu.forget()
        kernel.run(floats(200_000), np.empty(200_000, np.float32))
        assert [line.split()[2] for line in gpu.calls if line.startswith(vendor.launch)] == ["grid=49,1,1", "grid=1,1,1", "grid=49,1,1"]


def test_a_failed_stage_gives_its_memory_back(gpu: Driver, built: tuple[ModuleType, Path]) -> None:
    module, kernels = built
    vendor = gpu.vendor
    gpu.reset(next(kernels.glob("*.so")))
    with Kernel(module.total, vendor.backend, kernels=kernels) as kernel:
        gpu.fail(vendor.launch, skip=1)
        with pytest.raises(LaunchFailed):
            kernel.run(floats(200_000), module.Params(1.0))
        assert np.float32(kernel.run(floats(5), module.Params(1.0))) == reduced(floats(5), add, 0)[0]


def test_the_stages_by_hand(backend: str, built: tuple[ModuleType, Path]) -> None:
    """What the documentation of the order says of launches is enough to make them."""
    module, kernels = built
    x = floats(20_000)
    for name, scan, arguments in (("total", False, (module.Params(2.0),)), ("running", True, ())):
        with RawKernel(name, backend, kernels=kernels) as kernel:
            sizes = (x.nbytes, 4 * scratch_elements(x.size), x.nbytes if scan else 4)
            data, partials, out = (kernel.alloc(size) for size in sizes)
            data.upload(x)
            for stage, tiles in enumerate(stage_tiles(x.size, scan)):
                kernel.launch(tiles, 256, data, partials, out, x.size, stage, *arguments)
            kernel.synchronize()
            got = np.empty(sizes[2] // 4, np.float32)
            out.download(got)
            for buffer in (data, partials, out):
                buffer.free()
        assert np.array_equal(got, scanned(x, add) if scan else reduced(x * np.float32(2), add, 0))


X = floats(600).reshape(20, 30)

#: A kernel, its arguments, and what is said of them.
WRONG: dict[str, tuple[str, Callable[[ModuleType], tuple[Any, ...]], str]] = {
    "params missing": ("total", lambda m: (X,), "run of kernel 'total' takes (data, params): params is missing"),
    "one too many": ("count", lambda m: (X, X), "run of kernel 'count' takes (data): got 2 arguments, 1 too many"),
    "output missing": ("running", lambda m: (X,), "run of kernel 'running' takes (in, out): out is missing"),
    "type": (
        "count",
        lambda m: (X,),
        "data: expected a contiguous NumPy array of u8 (uint8), got float32: pass data.astype('uint8'), or use a kernel of that type",
    ),
    "params of no elements": (
        "total",
        lambda m: (X[:0], 2.0),
        "params: expected an instance of Params or 4 bytes from g.abi.pack, got float",
    ),
    "shape": ("running", lambda m: (X, X.ravel().copy()), "out: expected the shape of in, (20, 30), got (600,)"),
    "order": (
        "running",
        lambda m: (np.asfortranarray(X), np.asfortranarray(X)),
        "in: is in Fortran order, and a scan goes in C order: pass numpy.ascontiguousarray(in)",
    ),
    "exclusive in place": (
        "before",
        lambda m: (m.data, m.data),
        "out: shares memory with in: pass another array, or in.copy()",
    ),
    "overlap": (
        "running",
        lambda m: (m.line[:32], m.line[1:33]),
        "out: shares memory with in: pass another array, or in.copy()",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_arrays_that_run_does_not_take(backend: str, built: tuple[ModuleType, Path], case: str) -> None:
    module, kernels = built
    module.__dict__.update(data=np.zeros(9, np.uint8), line=np.zeros(64, np.float32))
    name, make, message = WRONG[case]
    with Kernel(getattr(module, name), backend, kernels=kernels) as kernel, pytest.raises(InvalidArgument) as caught:
        kernel.run(*make(module))
    assert str(caught.value) == message


def test_buffers_that_launch_does_not_take(backend: str, built: tuple[ModuleType, Path]) -> None:
    module, kernels = built
    with Kernel(module.total, backend, kernels=kernels) as kernel, kernel.alloc(4) as four:
        with pytest.raises(InvalidArgument) as caught:
            kernel.launch(four, four, module.Params(1.0))
        assert str(caught.value) == "out: expected room for one f32, the result, got 4"
        with pytest.raises(InvalidArgument) as caught:
            kernel.launch(four, module.Params(1.0))
        assert str(caught.value) == "launch of kernel 'total' takes (data, out, params): params is missing"
    with Kernel(module.before, backend, kernels=kernels) as kernel, kernel.alloc(4) as four:
        with pytest.raises(InvalidArgument) as caught:
            kernel.launch(four, four)
        assert str(caught.value) == "out: shares memory with in: pass another array, or in.copy()"
    with Kernel(module.count, backend, kernels=kernels) as kernel:
        with kernel.alloc(1, "out") as out, kernel.alloc(3, "data") as data:
            assert (out.nbytes, data.nbytes) == (8, 3)
        with pytest.raises(InvalidArgument, match=r"differ in size \(data: u8, out: i64\)"):
            kernel.alloc(3)


def test_streams_and_what_a_capture_writes_down(backend: str, built: tuple[ModuleType, Path]) -> None:
    """Each stream and each graph has working memory of its own, which stays as long as it may be used."""
    module, kernels = built
    one, other = floats(60_000), floats(50_000)
    params = module.Params(1.0)
    with Kernel(module.total, backend, kernels=kernels) as kernel:
        context = kernel._opened.context
        with (
            context.create_stream() as stream,
            context.create_stream() as aside,
            kernel.alloc(one.size) as first,
            kernel.alloc(other.size) as second,
            kernel.alloc(1) as out,
            kernel.alloc(1) as out_aside,
        ):
            first.upload(one)
            second.upload(other)
            kernel.launch(first, out, params, stream=stream)
            kernel.launch(second, out_aside, params, stream=aside)
            stream.synchronize()
            aside.synchronize()
            assert result(out) == reduced(one, add, 0)[0]
            assert result(out_aside) == reduced(other, add, 0)[0]
            stream.begin_capture()
            kernel.launch(first, out, params, stream=stream)
            kernel.launch(second, out_aside, params, stream=stream)
            graph = stream.end_capture().instantiate()
            first.upload(one * np.float32(2))
            for _ in range(2):
                kernel.launch(second, out_aside, params, stream=stream)
                graph.launch(stream)
                kernel.launch(second, out_aside, params, stream=stream)
            stream.synchronize()
            assert result(out) == reduced(one * np.float32(2), add, 0)[0]
            assert result(out_aside) == reduced(other, add, 0)[0]
            graph.close()


def result(out: Any) -> np.float32:
    got = np.zeros(1, np.float32)
    out.download(got)
    return np.float32(got[0])


def test_working_memory_is_there_before_a_capture(gpu: Driver, built: tuple[ModuleType, Path]) -> None:
    module, kernels = built
    gpu.reset(next(kernels.glob("*.so")))
    with Kernel(module.total, gpu.vendor.backend, kernels=kernels) as kernel:
        with kernel._opened.context.create_stream() as stream, kernel.alloc(60_000) as data, kernel.alloc(1) as out:
            stream.begin_capture()
            with pytest.raises(CaptureFailed) as caught:
                kernel.launch(data, out, module.Params(1.0), stream=stream)
            stream.end_capture().close()
        assert str(caught.value) == (
            "launch of kernel 'total': 60000 elements need 60 bytes of working memory, which cannot be allocated during a capture: "
            "launch it once on this stream before begin_capture"
        )
