"""What lies on a device already, arrays of other libraries, arguments by name, and outputs made on request: on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gompute as g
from gompute.handles import generated
from gompute.handles.kernel import Kernel
from gompute.handles.kernel_set import KernelSet
from tests.driver.control import Driver
from tests.driver.kernels import Params, negate, raw_add, scale_relu
from tests.handles.test_device_array import Cuda, Other

P = Params(scale=1.5)


@pytest.fixture(params=["cpu", "cuda", "hip"])
def backend(request: pytest.FixtureRequest) -> str:
    """Every backend, the GPUs on their test drivers."""
    if request.param != "cpu":
        request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[request.param])
    return str(request.param)


def data() -> np.ndarray:
    return np.linspace(-2, 3, 700, dtype=np.float32)


def wanted() -> np.ndarray:
    return np.maximum(data() * np.float32(1.5), np.float32(0))


@pytest.mark.parametrize("how", ["run", "launch"])
@pytest.mark.parametrize("wrap", [lambda array: array, Other], ids=["ours", "of another library"])
def test_a_generated_kernel_works_where_an_array_lies(backend: str, kernel_set: KernelSet, how: str, wrap: Any) -> None:
    with g.asarray(data(), backend) as array, g.Kernel(scale_relu, backend, kernels=kernel_set) as kernel:
        getattr(kernel, how)(wrap(array), P)
        kernel.synchronize()
        np.testing.assert_array_equal(array.numpy(), wanted())


@pytest.mark.parametrize("wrap", [lambda array: array, Other], ids=["ours", "of another library"])
def test_a_raw_kernel_takes_it_by_position_and_by_name(backend: str, kernel_set: KernelSet, wrap: Any) -> None:
    with g.asarray(data(), backend) as array, g.RawKernel(raw_add, backend, kernels=kernel_set) as kernel:
        kernel.launch(6, 128, wrap(array), array.size)
        kernel.launch(6, 128, wrap(array), n=array.size)
        kernel.launch(6, 128, n=array.size, data=wrap(array))
        kernel.synchronize()
        np.testing.assert_array_equal(array.numpy(), data() + np.float32(1) + np.float32(1) + np.float32(1))


def test_rows_of_an_array_are_worked_on_alone(backend: str, kernel_set: KernelSet) -> None:
    with g.asarray(data().reshape(7, 100), backend) as array, g.Kernel(scale_relu, backend, kernels=kernel_set) as kernel:
        kernel.launch(array[2:4], P)
        kernel.run(array[5], P)
        after = data().reshape(7, 100)
        for rows in (slice(2, 4), 5):
            after[rows] = wanted().reshape(7, 100)[rows]
        np.testing.assert_array_equal(array.numpy(), after)


def test_a_stream_of_our_own_waits_for_what_another_library_has_queued(nvidia: Driver, kernel_set: KernelSet) -> None:
    context = g.runtime.cuda.Context()
    with (
        context.create_stream(non_blocking=True) as ours,
        context.create_stream(non_blocking=True) as theirs,
        g.asarray(data(), "cuda") as array,
        g.Kernel(scale_relu, "cuda", kernels=kernel_set) as kernel,
        g.RawKernel(raw_add, "cuda", kernels=kernel_set) as raw,
    ):
        other = Other(array)
        kernel.launch(other, P, stream=ours)
        raw.launch(6, 128, other, array.size, stream=ours)
        assert other.streams == [ours.pointer, ours.pointer]
        waits = nvidia.calls.count("cuStreamWaitEvent")
        kernel.launch(Cuda(array, stream=theirs.pointer), P, stream=ours)
        assert nvidia.calls.count("cuStreamWaitEvent") == waits + 1
        ours.synchronize()


def test_an_array_of_another_library_in_host_memory_is_taken_like_numpys(kernel_set: KernelSet) -> None:
    array = g.asarray(data(), "cpu")
    with g.Kernel(scale_relu, "cpu", kernels=kernel_set) as kernel:
        kernel.run(Other(array), P)
    np.testing.assert_array_equal(array.numpy(), wanted())


def test_host_arrays_of_another_library_are_copied_to_a_gpu_and_back(gpu: Driver, kernel_set: KernelSet) -> None:
    array = g.asarray(data(), "cpu")
    with g.Kernel(scale_relu, gpu.vendor.backend, kernels=kernel_set) as kernel:
        kernel.run(Other(array), P)
    np.testing.assert_array_equal(array.numpy(), wanted())


@g.map_to
def widen(x: g.f32) -> g.f64:
    return g.f64(x) * 2.0


@g.zip
def add(a: g.f32, b: g.f32) -> g.f32:
    return a + b


def test_an_output_is_made_on_request() -> None:
    x = np.asfortranarray(data().reshape(70, 10))
    with g.Kernel(widen, "cpu") as kernel:
        made = kernel.run(x, None)
        assert (made.dtype, made.shape, made.flags.f_contiguous) == (np.float64, (70, 10), True)
        np.testing.assert_array_equal(made, x.astype(np.float64) * 2)
        assert kernel.run(x, np.empty_like(x, np.float64)) is None
        with g.asarray(data(), "cpu") as array:
            on_device = kernel.run(array, out=None)
            np.testing.assert_array_equal(on_device.numpy(), data().astype(np.float64) * 2)
        with kernel.alloc(4, "in") as buffer, pytest.raises(g.InvalidArgument) as caught:
            kernel.run(buffer, None)
        assert str(caught.value) == "out: None makes a new array in the shape of in, and a Buffer has no shape: pass an array"
    with g.Kernel(add, "cpu") as kernel:
        np.testing.assert_array_equal(kernel.run(a=x, b=x, out=None), x + x)
    with g.Kernel(negate, "cpu") as kernel, pytest.raises(g.InvalidArgument):
        kernel.run(None)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda k, a: k.launch(1, 1, a, date=3), ": it has no argument 'date' (did you mean 'data'?)"),
        (lambda k, a: k.launch(1, 1, a, data=a, n=3), ": data is given by position and by name"),
        (lambda k, a: k.launch(1, 1, n=3), ": data missing"),
        (lambda k, a: k.launch(1, 1, a), ": n missing"),
        (lambda k, a: k.launch(1, 1, a, 3, 4), ": got 3, 1 too many"),
        (lambda k, a: k.launch(1, 1, a.reshape(700), np.float32(3)), "n (u64): np.float32(3.0) (float32) is no u64"),
        (lambda k, a: k.launch(1, 1, g.zeros(3, g.f64, k.backend), 3), "data: expected "),
    ],
)
@pytest.mark.parametrize("again", [False, True], ids=["first", "after a launch"])
def test_a_wrong_launch_names_the_argument(backend: str, kernel_set: KernelSet, call: Any, words: str, again: bool) -> None:
    with g.RawKernel(raw_add, backend, kernels=kernel_set) as kernel, g.asarray(data(), backend) as array:
        for _ in range(2 * again):  # from the second on it goes the quick way
            kernel.launch(1, 1, array.buffer, 3)
        with pytest.raises(TypeError) as caught:
            call(kernel, array)
    assert isinstance(caught.value, g.InvalidArgument)
    assert words in str(caught.value)


def test_wrong_elements_and_memory_that_is_freed_are_refused_by_name(gpu: Driver, kernel_set: KernelSet) -> None:
    backend = gpu.vendor.backend
    with (
        g.zeros(3, g.f64, backend) as doubles,
        g.zeros(3, g.f32, backend) as array,
        g.Kernel(scale_relu, backend, kernels=kernel_set) as kernel,
    ):
        for given, name in ((doubles, "DeviceArray"), (Other(doubles), "Other")):
            with pytest.raises(g.InvalidArgument) as caught:
                kernel.launch(given, P)
            assert str(caught.value) == f"data: expected elements of f32, got a {name} of f64"
        if backend == "cuda":
            with pytest.raises(g.InvalidArgument) as caught:
                kernel.launch(Cuda(array, data=(array.address, True)), P)
            assert str(caught.value) == (
                "data: the Cuda is read-only, and the kernel may write to it; pass a copy: gompute.asarray(data, 'cuda')"
            )
        array.free()
        with pytest.raises(g.InvalidArgument, match="is freed"):
            kernel.launch(array, P)


def test_an_array_that_refuses_its_buffer_is_taken_as_it_can(kernel_set: KernelSet, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise BufferError("buffers of type BF16 are not supported")

    monkeypatch.setattr(generated, "_first_byte", refuse)
    data = np.arange(3, dtype=np.int32)
    with Kernel(negate, "cpu", kernels=kernel_set) as kernel:
        kernel.run(data)
    assert data.tolist() == [0, -1, -2]
