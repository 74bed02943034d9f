"""`Kernel` on every backend: what it computes, what it keeps, and when it is closed."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gompute.errors import AllocFailed, CopyFailed, Error, InvalidArgument, LaunchFailed, SyncFailed
from gompute.handles.kernel import Kernel
from gompute.handles.kernel_set import KernelSet
from gompute.lang import abi
from tests.driver.control import Driver
from tests.driver.kernels import Inner, Params, flip_bf16, negate, raw_add, scale_relu, weigh

P = Params(scale=1.5)


def expected(data: np.ndarray) -> np.ndarray:
    return np.maximum(data * np.float32(1.5), np.float32(0))


def some(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).standard_normal(shape, dtype=np.float32)


@pytest.fixture(params=["cpu", "cuda", "hip"])
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Every backend, the GPUs on their test drivers."""
    if request.param == "cpu":
        yield "cpu"
    else:
        request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[request.param])
        yield request.param


@pytest.mark.parametrize("shape", [(), (1,), (1000,), (0,), (3, 0, 2), (17, 5), (2, 3, 4, 5)])
def test_run_replaces_every_element(backend: str, kernel_set: KernelSet, shape: tuple[int, ...]) -> None:
    data = np.asarray(some(*shape))
    wanted = expected(data)
    with Kernel(scale_relu, backend, kernels=kernel_set) as kernel:
        kernel.run(data, P)
    assert data.shape == shape
    assert np.array_equal(data, wanted)


def test_run_takes_fortran_order_and_parts_that_are_contiguous(backend: str, kernel_set: KernelSet) -> None:
    fortran, whole = np.asfortranarray(some(7, 5)), some(20)
    wanted, wanted_part = expected(fortran), expected(whole[5:9])
    before = whole.copy()
    with Kernel(scale_relu, backend, kernels=kernel_set) as kernel:
        kernel.run(fortran, P)
        kernel.run(whole[5:9], P)
    assert np.array_equal(fortran, wanted)
    assert np.array_equal(whole[5:9], wanted_part)
    assert np.array_equal(np.delete(whole, slice(5, 9)), np.delete(before, slice(5, 9)))


def test_run_without_params_and_with_another_block_size(backend: str, kernel_set: KernelSet) -> None:
    data = np.arange(1000, dtype=np.int32)
    with Kernel(negate, backend, kernels=kernel_set) as kernel:
        kernel.run(data)
    assert np.array_equal(data, -np.arange(1000))


def test_bf16_travels_as_uint16(backend: str, kernel_set: KernelSet) -> None:
    data = np.array([0x3F80, 0xC000, 0x0000], np.uint16)
    with Kernel(flip_bf16, backend, kernels=kernel_set) as kernel:
        kernel.run(data)
    assert data.tolist() == [0xBF80, 0x4000, 0x8000]


def test_params_are_those_of_each_call(backend: str, kernel_set: KernelSet) -> None:
    with Kernel(scale_relu, backend, kernels=kernel_set) as kernel:
        for params, factor in ((Params(2.0), 2), (Params(2.0), 2), (Params(3.0), 3), (abi.pack(Params(4.0)), 4), (Params(3.0), 3)):
            data = np.ones(8, np.float32)
            kernel.run(data, params)
            assert data.tolist() == [factor] * 8
        same = Params(5.0)
        for _ in range(3):
            data = np.ones(8, np.float32)
            kernel.run(data, same)
            kernel.run(data, bytearray(abi.pack(same)))
            assert data.tolist() == [25] * 8


def test_params_with_an_array_are_read_at_each_call(backend: str, kernel_set: KernelSet) -> None:
    """An instance is frozen, but a list in it is not."""
    weights = [1.0, 2.0, 3.0]
    params = Inner(weights, True)
    data = np.ones(3, np.float32)
    with Kernel(weigh, backend, kernels=kernel_set) as kernel:
        kernel.run(data, params)
        weights[1] = 10.0
        kernel.run(data, params)
    assert data.tolist() == [1, 20, 9]


def test_launch_works_on_device_memory_and_does_not_wait(gpu: Driver, kernel_set: KernelSet) -> None:
    data, back = some(1000), np.empty(1000, np.float32)
    with Kernel(scale_relu, gpu.vendor.backend, kernels=kernel_set) as kernel, kernel.alloc(1000) as buffer:
        assert buffer.nbytes == 4000
        buffer.upload(data)
        gpu.forget()
        kernel.launch(buffer, P)
        kernel.launch(buffer, P)
        assert gpu.names == [gpu.vendor.launch] * 2
        kernel.synchronize()
        assert gpu.names[2:] == [gpu.vendor.synchronize]
        buffer.download(back)
    assert np.array_equal(back, expected(expected(data)))


def test_launch_on_the_cpu_takes_buffers_and_arrays(kernel_set: KernelSet) -> None:
    data, back = some(1000), np.empty(1000, np.float32)
    wanted = expected(data)
    with Kernel(scale_relu, "cpu", kernels=kernel_set) as kernel, kernel.alloc(1000) as buffer:
        buffer.upload(data)
        kernel.launch(buffer, P)
        kernel.launch(data, P)
        kernel.launch(np.empty(0, np.float32), P)
        kernel.synchronize()
        buffer.download(back)
    assert np.array_equal(back, wanted) and np.array_equal(data, wanted)


def test_empty_data_is_not_launched(gpu: Driver, kernel_set: KernelSet) -> None:
    with Kernel(scale_relu, gpu.vendor.backend, kernels=kernel_set) as kernel:
        gpu.forget()
        kernel.run(np.empty((3, 0), np.float32), P)
        with kernel.alloc(0) as buffer:
            kernel.launch(buffer, P)
        assert gpu.calls == []


def test_the_grid_covers_the_data(gpu: Driver, kernel_set: KernelSet) -> None:
    with Kernel(negate, gpu.vendor.backend, kernels=kernel_set) as kernel:
        for count, blocks in ((1, 1), (128, 1), (129, 2), (1000, 8), (1000, 8), (128, 1)):
            gpu.forget()
            kernel.run(np.zeros(count, np.int32))
            assert f"{gpu.vendor.launch} negate grid={blocks},1,1 block=128,1,1 shared=0" in gpu.calls


def test_device_memory_is_kept_and_grows(gpu: Driver, kernel_set: KernelSet) -> None:
    with Kernel(negate, gpu.vendor.backend, kernels=kernel_set) as kernel:
        for count in (100, 100, 50, 200, 150):
            kernel.run(np.zeros(count, np.int32))
        memory = [call for call in gpu.calls if call.split()[0] in (gpu.vendor.allocate, gpu.vendor.free)]
        assert memory == [f"{gpu.vendor.allocate} 400", gpu.vendor.free, f"{gpu.vendor.allocate} 800"]
        assert gpu.held["bytes"] == 800
    assert gpu.held["bytes"] == 0


def test_run_copies_in_launches_waits_and_copies_out(gpu: Driver, kernel_set: KernelSet) -> None:
    vendor = gpu.vendor
    with Kernel(negate, vendor.backend, kernels=kernel_set) as kernel:
        kernel.run(np.zeros(10, np.int32))
        gpu.forget()
        kernel.run(np.zeros(10, np.int32))
        assert gpu.names == [vendor.copy_in, vendor.launch, vendor.synchronize, vendor.copy_out]


STEPS: dict[str, type[Error]] = {
    "allocate": AllocFailed,
    "copy_in": CopyFailed,
    "launch": LaunchFailed,
    "synchronize": SyncFailed,
    "copy_out": CopyFailed,
}


@pytest.mark.parametrize("step", STEPS)
def test_each_step_of_run_may_fail_once(gpu: Driver, kernel_set: KernelSet, step: str) -> None:
    with Kernel(negate, gpu.vendor.backend, kernels=kernel_set) as kernel:
        data = np.arange(100, dtype=np.int32)
        gpu.fail(getattr(gpu.vendor, step))
        with pytest.raises(STEPS[step], match=f"{getattr(gpu.vendor, step)} gave {gpu.vendor.code_name}"):
            kernel.run(data)
        assert np.array_equal(data, np.arange(100)), "a failed run must not change the array"
        kernel.run(data)
        assert np.array_equal(data, -np.arange(100))


def test_a_failing_free_while_growing(gpu: Driver, kernel_set: KernelSet) -> None:
    with Kernel(negate, gpu.vendor.backend, kernels=kernel_set) as kernel:
        kernel.run(np.zeros(100, np.int32))
        gpu.fail(gpu.vendor.free)
        with pytest.raises(AllocFailed, match="cannot free memory"):
            kernel.run(np.zeros(200, np.int32))
        data = np.arange(200, dtype=np.int32)
        kernel.run(data)
        assert np.array_equal(data, -np.arange(200))


def test_a_closed_handle_is_closed(backend: str, kernel_set: KernelSet) -> None:
    kernel = Kernel(negate, backend, kernels=kernel_set)
    assert repr(kernel).startswith(f"<Kernel 'negate' on {backend}, from ")
    data = np.zeros(3, np.int32)
    kernel.run(data)
    kernel.close()
    kernel.close()
    assert repr(kernel) == f"<Kernel 'negate' on {backend}, closed>"
    for what, use in {
        "run": lambda: kernel.run(data),
        "launch": lambda: kernel.launch(data),
        "alloc": lambda: kernel.alloc(1),
        "synchronize": kernel.synchronize,
    }.items():
        with pytest.raises(InvalidArgument, match=f"{what}: the handle of kernel 'negate' is closed"):
            use()
    # A handle that is closed takes nothing from the others.
    with Kernel(negate, backend, kernels=kernel_set) as other:
        other.run(data)


def test_many_rounds_keep_nothing(backend: str, set_path: Path, request: pytest.FixtureRequest) -> None:
    if backend != "cpu":
        driver: Driver = request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[backend])
        driver.quiet(True)
    data = np.zeros(3, np.int32)

    def rounds(count: int) -> None:
        for _ in range(count):
            with Kernel(negate, backend, kernels=set_path) as kernel:
                kernel.run(data)

    rounds(20)
    gc.collect()
    before = len(gc.get_objects())
    rounds(300)
    gc.collect()
    after = len(gc.get_objects())
    if backend != "cpu":
        driver.quiet(False)
        assert driver.held["modules"] == 1 and driver.held["bytes"] == 0
    assert after - before < 50


def test_one_handle_in_many_threads(backend: str, kernel_set: KernelSet) -> None:
    """Each call has arguments and device memory of its own."""
    failures: list[Any] = []
    with Kernel(scale_relu, backend, kernels=kernel_set) as kernel:

        def work(factor: int) -> None:
            params = Params(float(factor))
            for count in (10, 1000, 300, 70_000):
                data = np.full(count, factor, np.float32)
                kernel.run(data, params)
                if not (data == factor * factor).all():
                    failures.append((factor, count))

        threads = [threading.Thread(target=work, args=(factor,)) for factor in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []


def test_a_call_has_its_own_arguments_whatever_the_last_one_had(backend: str, kernel_set: KernelSet) -> None:
    """What lies packed on the handle is used again only where all of it is the same, also after a call that was refused."""
    one, other, double, triple = np.ones(8, np.float32), np.ones(4, np.float32), Params(2.0), Params(3.0)
    calls = [(one, double), (one, double), (other, double), (one, triple), (one, double), (other, triple), (one[:4], triple), (one, triple)]
    wanted = {8: np.ones(8), 4: np.ones(4)}
    with Kernel(scale_relu, backend, kernels=kernel_set) as kernel:
        for data, params in calls:
            if data is one:
                with pytest.raises(InvalidArgument):
                    kernel.run(data, 3)
            kernel.run(data, params)
            part = wanted[4] if data is other else wanted[8][: data.size]
            part *= params.scale
    assert np.array_equal(one, wanted[8])
    assert np.array_equal(other, wanted[4])


@pytest.mark.parametrize("threads", [1, 2, 7, None])
def test_large_arrays_in_any_number_of_threads(kernel_set: KernelSet, threads: int | None) -> None:
    data = some((1 << 18) + 3)
    wanted = expected(data)
    with Kernel(scale_relu, "cpu", kernels=kernel_set, threads=threads) as kernel:
        kernel.run(data, P)
    assert np.array_equal(data, wanted)


def test_threads_are_a_number_and_for_the_cpu(nvidia: Driver, kernel_set: KernelSet) -> None:
    for wrong in (0, -1, 2.0, True, "2"):
        with pytest.raises(InvalidArgument, match=f"threads: expected an int from 1, got {wrong!r}"):
            Kernel(negate, "cpu", kernels=kernel_set, threads=wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="threads: is for the cpu backend; this handle is on cuda"):
        Kernel(negate, "cuda", kernels=kernel_set, threads=2)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "scale_relu",
            "spec: expected a kernel, got the name 'scale_relu': Kernel takes the decorated function; for a name use g.kernel_by",
        ),
        (expected, "spec: 'expected' is a plain function: decorate it with @g.map or @g.kernel"),
        (3, r"spec: expected a kernel \(a function decorated with @g.map or @g.kernel\), got int"),
        (raw_add, r"spec: 'raw_add' is a raw kernel \(@g.kernel\): use g.RawKernel"),
    ],
)
def test_what_is_no_spec(kernel_set: KernelSet, spec: object, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        Kernel(spec, "cpu", kernels=kernel_set)


def test_an_unknown_backend(kernel_set: KernelSet) -> None:
    with pytest.raises(InvalidArgument, match="backend: 'metal' is none of 'cuda', 'hip', 'cpu'"):
        Kernel(negate, "metal", kernels=kernel_set)


def test_alloc_counts_elements(backend: str, kernel_set: KernelSet) -> None:
    with Kernel(scale_relu, backend, kernels=kernel_set) as kernel:
        with kernel.alloc(np.int64(3)) as buffer:  # type: ignore[arg-type]
            assert buffer.nbytes == 12
        with pytest.raises(InvalidArgument, match=r"count: expected an int, got 3.0"):
            kernel.alloc(3.0)  # type: ignore[arg-type]
        with pytest.raises(InvalidArgument, match="count: expected a number that is not negative, got -3"):
            kernel.alloc(-3)
