"""One shape over every backend."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gompute.errors import InvalidArgument, ModuleLoadFailed, NoDevice
from gompute.runtime import cuda, dynamic, hip
from gompute.runtime.context import AnyContext, DeviceKernel
from gompute.runtime.cpu import CpuKernel
from gompute.runtime.dynamic import Compute
from tests.driver.control import Driver
from tests.runtime.devices import image


def work(compute: Compute, code: bytes) -> None:
    """The same lines on every backend."""
    data, back = np.arange(100, dtype=np.int32), np.zeros(100, np.int32)
    with compute.alloc(400) as buffer, compute.create_stream(non_blocking=True) as stream, compute.alloc_pinned(400) as pinned:
        start, end = compute.create_event(), compute.create_event()
        kernel = compute.load_module(code).get_kernel("negate")
        source = pinned.array(np.int32)
        source[:] = data
        start.record(stream)
        buffer.upload_async(source, stream)
        kernel.launch(1, 128, 0, (buffer, np.uint64(100)), stream)
        end.record(stream)
        buffer.download_async(back, stream)
        stream.synchronize()
        assert np.array_equal(back, -data)
        assert start.elapsed_us(end) >= 0
        compute.synchronize()
        free, total = compute.memory_info()
        assert 0 < free <= total


def test_a_gpu_is_taken_where_there_is_one(gpu: Driver) -> None:
    backend = gpu.vendor.backend
    with Compute(backend) as compute:
        assert (compute.backend, compute.ordinal, repr(compute)) == (backend, 0, f"<Compute on {backend}>")
        work(compute, image(gpu))
    with Compute() as compute:
        assert compute.backend == backend
        assert compute.device is compute.context.device
    dynamic.shutdown()
    assert gpu.held["modules"] == 0


def test_the_cpu_is_taken_last(kernels_so: Path, gpu: Driver) -> None:
    gpu.devices(0)
    with Compute() as compute:
        assert compute.backend == "cpu"
        work(compute, kernels_so.read_bytes())
    with Compute("cpu") as compute:
        assert compute.backend == "cpu"
        with pytest.raises(ModuleLoadFailed, match="the system's loader refuses the shared object"):
            compute.load_module(b"no code")


def test_a_preference_that_cannot_be_met_is_told(gpu: Driver) -> None:
    gpu.devices(0)
    with pytest.warns(RuntimeWarning, match=f"{gpu.vendor.backend} is not used: {gpu.vendor.backend}: no device 0; the driver has 0"):
        assert Compute(gpu.vendor.backend).backend == "cpu"


def test_a_driver_that_fails_is_told(gpu: Driver) -> None:
    gpu.fail(gpu.vendor.count)
    with pytest.warns(RuntimeWarning, match=f"{gpu.vendor.backend} is not used: {gpu.vendor.backend}: cannot count devices"):
        assert Compute().backend == "cpu"


def test_no_backend_has_such_a_device(nvidia: Driver) -> None:
    with pytest.raises(NoDevice) as raised:
        Compute(ordinal=3)
    lines = str(raised.value).splitlines()
    assert lines[0] == "no backend has a device 3:"
    assert lines[1] == "cuda: cuda: no device 3; the driver has 1, numbered from 0"
    assert lines[-1] == "cpu: cpu: no device 3; there is one, number 0"
    with pytest.raises(InvalidArgument, match="preferred: 'opencl' is none of 'cuda', 'hip', 'cpu'"):
        Compute("opencl")


PUBLIC = {
    "alloc",
    "alloc_pinned",
    "close",
    "create_event",
    "create_stream",
    "device",
    "load_module",
    "memory_info",
    "ordinal",
    "synchronize",
    "wrap_stream",
}


def test_every_backend_has_one_shape() -> None:
    from gompute.runtime import cpu

    for kind in (cuda.Context, hip.Context, cpu.Context, Compute):
        assert {name for name in PUBLIC if not hasattr(kind, name)} == set()
    assert {name for name in vars(AnyContext) if not name.startswith("_")} <= PUBLIC | {"accelerator", "arch", "backend"}
    for name in ("launch", "check", "launch_packed", "symbol"):
        assert hasattr(DeviceKernel, name) or name == "symbol"
        assert hasattr(CpuKernel, name) or name == "symbol"


def test_arguments_say_their_size(gpu: Driver) -> None:
    with Compute(gpu.vendor.backend) as compute, compute.alloc(400) as buffer, Compute("cpu").alloc(400) as host:
        kernel = compute.load_module(image(gpu)).get_kernel("negate")
        buffer.fill(1)
        for count in (np.uint64(100), np.uint64(100).tobytes(), bytearray(np.uint64(100).tobytes())):
            for address in (buffer, buffer.arg):
                kernel.launch(1, 128, 0, [address, count])
        back = np.zeros(100, np.int32)
        buffer.download(back)
        assert (back == 0x01010101).all()
        for wrong in (100, 1.0, True, None, "8"):
            with pytest.raises(
                InvalidArgument, match=r"args\[1\]: expected a Buffer, a NumPy scalar .* got .*, which does not say its size"
            ):
                kernel.launch(1, 128, 0, [buffer, wrong])
        with pytest.raises(InvalidArgument, match=rf"args\[0\]: the buffer is on cpu 0, the kernel on {gpu.vendor.backend} 0"):
            kernel.launch(1, 128, 0, [host, np.uint64(100)])
        with pytest.raises(InvalidArgument, match="block: every size must be at least 1"):
            kernel.launch(1, 0, 0, [buffer, np.uint64(100)])
