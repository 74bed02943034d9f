"""Typed arrays on every backend, and their memory in the hands of other libraries."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gompute as g
from gompute.runtime import cuda, dlpack
from tests.driver.control import Driver
from tests.runtime.devices import RUNTIMES, open_context


@pytest.fixture(params=["cpu", "cuda", "hip"])
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Every backend, the GPUs on their test drivers."""
    if request.param != "cpu":
        request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[request.param])
    yield request.param
    gc.collect()


def test_what_goes_in_comes_out(backend: str) -> None:
    data = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    with g.asarray(data, backend) as array:
        assert (array.shape, array.dtype, array.element, array.size, array.ndim, array.nbytes, len(array)) == (
            (2, 3, 4),
            np.int16,
            g.i16,
            24,
            3,
            48,
            2,
        )
        assert (array.backend, array.ordinal) == (backend, 0)
        np.testing.assert_array_equal(array.numpy(), data)
        np.testing.assert_array_equal(np.asarray(array), data)
        array.upload(np.ones_like(data))
        np.testing.assert_array_equal(array.numpy(), np.ones_like(data))
        assert (data[0, 0, 0] == 1) == (backend == "cpu")  # where NumPy's own memory is shared
        assert repr(array) == f"<DeviceArray (2, 3, 4) i16 on {backend} 0>"
    assert repr(array) == f"<DeviceArray (2, 3, 4) i16 on {backend} 0, freed>"
    with pytest.raises(g.InvalidArgument, match="is freed"):
        array.numpy()


def test_rows_share_the_memory(backend: str) -> None:
    data = np.arange(24, dtype=np.float32).reshape(6, 4)
    with g.asarray(data, backend) as array:
        np.testing.assert_array_equal(array[1:4].numpy(), data[1:4])
        np.testing.assert_array_equal(array[-2].numpy(), data[-2])
        np.testing.assert_array_equal(array[2:][1].numpy(), data[3])
        assert array[9:].shape == (0, 4)
        assert array[4:2].numpy().shape == (0, 4)
        array[2].upload(np.zeros(4, np.float32))
        array[0][3:].upload(np.full(1, 7, np.float32))
        data[2], data[0, 3] = 0, 7
        np.testing.assert_array_equal(array.numpy(), data)
        np.testing.assert_array_equal(array.reshape(3, 8)[1].numpy(), data.reshape(3, 8)[1])


def test_empty_and_zeros(backend: str) -> None:
    with g.zeros((3, 2), g.f64, backend) as array:
        np.testing.assert_array_equal(array.numpy(), np.zeros((3, 2)))
    for dtype, element in (("bf16", g.bf16), (np.uint8, g.u8), (bool, "bool"), ("float16", g.f16)):
        with g.empty(5, dtype, backend) as array:
            assert (array.shape, str(array.element)) == ((5,), str(element))
    with g.empty((2, 0), g.f32, backend) as nothing:
        assert nothing.numpy().shape == (2, 0)
    with g.zeros((), g.i32, backend) as scalar:
        assert scalar.numpy() == 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda array: array[0:4:2], "rows with a step of 2 do not lie one after the other; copy them on the host with numpy()"),
        (lambda array: array["x"], "an array on a device is indexed by a row or a slice of rows, not by 'x'; for more use numpy()"),
        (lambda array: array[0, 1], "an array on a device is indexed by a row or a slice of rows, not by (0, 1); for more use numpy()"),
        (lambda array: array[0][0][0], "an array without dimensions has no rows"),
        (lambda array: array.reshape(5, 5), "shape: (5, 5) has not the 24 elements of (6, 4)"),
        (lambda array: array.reshape(-6, -4), "shape: (-6, -4) has not the 24 elements of (6, 4)"),
        (lambda array: array.upload(np.zeros((4, 6), np.float32)), "host: expected (6, 4) float32, got (4, 6) float32"),
        (lambda array: array.upload(np.zeros((6, 4))), "host: expected (6, 4) float32, got (6, 4) float64"),
        (lambda array: g.empty(-1, g.f32, "cpu"), "shape: (-1,) has a negative extent"),
        (lambda array: g.empty(2.5, g.f32, "cpu"), "shape: expected an int or a sequence of ints, got 2.5"),
        (lambda array: g.empty((2, "3"), g.f32, "cpu"), "shape: expected an int or a sequence of ints, got (2, '3')"),
        (lambda array: g.empty(2, "text", "cpu"), "dtype: 'text' is no type of elements; write f32, or NumPy's float32"),
        (lambda array: g.empty(2, np.complex64, "cpu"), "dtype: kernels have no elements of <c8 (complex64); they have bool, "),
        (lambda array: g.empty(2, ">f4", "cpu"), "dtype: kernels have no elements of >f4 (>f4); they have bool, "),
        (lambda array: g.empty(2, g.f32, "metal"), "backend: 'metal' is none of 'cuda', 'hip', 'cpu'"),
    ],
)
def test_what_cannot_be_is_refused_in_words(wrong: Any, words: str) -> None:
    with g.zeros((6, 4), g.f32, "cpu") as array, pytest.raises(g.InvalidArgument) as caught:
        wrong(array)
    assert str(caught.value).startswith(words)


def test_a_row_that_is_not_there_ends_an_iteration() -> None:
    with g.asarray(np.arange(3, dtype=np.int32), "cpu") as array:
        assert [int(row.numpy()) for row in array] == [0, 1, 2]
        with pytest.raises(IndexError, match="row 3 of 3"):
            array[3]
        with pytest.raises(TypeError):
            len(array[0])


def test_numpy_shares_an_array_in_host_memory() -> None:
    with g.zeros(4, g.f32, "cpu") as array:
        np.asarray(array)[2] = 5
        np.from_dlpack(array)[1] = 3
        assert array.numpy().tolist() == [0, 3, 5, 0]


def test_what_another_library_holds_outlives_free(backend: str, request: pytest.FixtureRequest) -> None:
    array, later = g.zeros(3, g.f32, backend), g.empty(2, g.f32, backend)
    taken, capsule = g.asarray(Other(array), backend), array.__dlpack__()
    array.free()
    array.free()
    with pytest.raises(g.InvalidArgument, match="is freed"):
        array.__dlpack__()
    del capsule
    assert taken.numpy().tolist() == [0, 0, 0]
    taken.upload(np.ones(3, np.float32))
    if backend == "cpu":
        shared = np.asarray(later)
        later.free()
        shared[:] = 5
        assert np.asarray(g.empty((2, 0), g.f32, backend)).shape == (2, 0)
        assert later.buffer.memory.driver._blocks.keys() >= {taken.address, shared.ctypes.data}
        del shared
    else:
        gpu: Driver = request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[backend])
        assert gpu.held["bytes"] == 12 + later.nbytes
    taken.free()
    later.free()
    if backend != "cpu":
        assert gpu.held["bytes"] == 0


def test_what_another_library_holds_may_go_after_shutdown(nvidia: Driver) -> None:
    array = g.zeros(3, g.f32, "cuda")
    capsule = array.__dlpack__()
    array.free()
    cuda.shutdown()
    assert nvidia.held["bytes"] == 0
    del capsule


class Other:
    """An array of another library: it lies in a `DeviceArray`, and shows only what such libraries show."""

    def __init__(self, array: g.DeviceArray, *, newest: bool = True) -> None:
        self.array = array
        self.newest = newest
        self.streams: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **asked: Any) -> Any:
        if not self.newest and "max_version" in asked:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.streams.append(asked["stream"])
        return self.array.__dlpack__(**asked)


@pytest.mark.parametrize("newest", [True, False])
def test_an_array_of_another_library_is_taken_without_a_copy(backend: str, newest: bool) -> None:
    data = np.arange(6, dtype=np.float64).reshape(2, 3)
    before = len(dlpack._exported)
    with g.asarray(data, backend) as mine:
        other = Other(mine, newest=newest)
        taken = g.asarray(other, backend)
        assert (taken.shape, taken.element, taken.address) == ((2, 3), g.f64, mine.address)
        assert other.streams == [{"cpu": None, "cuda": 1, "hip": 0}[backend]]
        np.testing.assert_array_equal(taken.numpy(), data)
        assert len(dlpack._exported) == before + 1
        taken.free()
        taken.free()
        assert len(dlpack._exported) == before
        dropped = g.asarray(other, backend)
        del dropped
        gc.collect()
        assert len(dlpack._exported) == before
        assert g.asarray(mine, backend) is mine


def test_every_type_goes_through_dlpack(backend: str) -> None:
    for kind in (g.i8, g.i16, g.i32, g.i64, g.u8, g.u16, g.u32, g.u64, g.f16, g.bf16, g.f32, g.f64, bool):
        with g.zeros(3, kind, backend) as mine, g.asarray(Other(mine), backend) as taken:
            assert taken.element == mine.element


def test_a_capsule_that_nobody_takes_lets_go(backend: str) -> None:
    before = len(dlpack._exported)
    with g.zeros(3, g.f32, backend) as array:
        for version in (None, (1, 0)):
            capsule = array.__dlpack__(max_version=version)
            assert len(dlpack._exported) == before + 1
            del capsule
            assert len(dlpack._exported) == before
        with pytest.raises(BufferError):
            array.__dlpack__(copy=True)
        with pytest.raises(BufferError, match="was asked for"):
            array.__dlpack__(dl_device=(7, 0))


def test_a_takers_stream_waits_for_what_was_launched_here(gpu: Driver) -> None:
    backend = gpu.vendor.backend
    wait = RUNTIMES[backend].driver.calls.wait_event
    with open_context(gpu) as context, context.create_stream(non_blocking=True) as stream, g.zeros(3, g.f32, backend) as array:
        calls = gpu.calls.count(wait)
        array.__dlpack__(stream=stream.pointer)
        assert gpu.calls.count(wait) == calls + 1
        array.__dlpack__(stream={"cuda": 1, "hip": 0}[backend])  # DLPack's number of the default stream
        array.__dlpack__(stream=-1)
        assert gpu.calls.count(wait) == calls + 1


class Cuda:
    """An array with nothing but the interface of Numba and CuPy."""

    def __init__(self, array: g.DeviceArray, **changed: Any) -> None:
        self.array = array
        self.changed = changed

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.array.__cuda_array_interface__ | self.changed


def test_the_cuda_array_interface_both_ways(nvidia: Driver) -> None:
    data = np.arange(6, dtype=np.int32).reshape(2, 3)
    with g.asarray(data, "cuda") as mine, cuda.Context() as context, context.create_stream(non_blocking=True) as stream:
        assert mine.__cuda_array_interface__ == {
            "shape": (2, 3),
            "typestr": "<i4",
            "data": (mine.address, False),
            "strides": None,
            "stream": 1,
            "version": 3,
        }
        calls = nvidia.calls.count("cuStreamWaitEvent")
        for changed in ({}, {"strides": (12, 4)}, {"stream": None}):
            taken = g.asarray(Cuda(mine, **changed), "cuda")
            assert taken.address == mine.address
            np.testing.assert_array_equal(taken.numpy(), data)
        assert nvidia.calls.count("cuStreamWaitEvent") == calls
        g.asarray(Cuda(mine, stream=stream.pointer), "cuda")
        assert nvidia.calls.count("cuStreamWaitEvent") == calls + 1


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"strides": (4, 8)}, "value: the Cuda of shape (2, 3) has strides (4, 8), so its elements do not lie in C order without gaps; "),
        ({"mask": object()}, "value: is masked, and a kernel knows no masks; pass its data"),
        ({"stream": 0}, "value: its __cuda_array_interface__ names stream 0, which version 3 forbids as ambiguous"),
        ({"typestr": "<c8"}, "value: kernels have no elements of <c8 (complex64); they have "),
        ({"data": None}, "value: the __cuda_array_interface__ of Cuda is not of version 2 or 3: "),
        ({"shape": "ab"}, "value: the __cuda_array_interface__ of Cuda is not of version 2 or 3: "),
    ],
)
def test_a_cuda_array_that_a_kernel_cannot_take(nvidia: Driver, changed: dict[str, Any], words: str) -> None:
    with g.zeros((2, 3), g.f32, "cuda") as mine, pytest.raises(g.InvalidArgument) as caught:
        g.asarray(Cuda(mine, **changed), "cuda")
    assert str(caught.value).startswith(words)


def test_memory_of_another_device_is_refused(gpu: Driver) -> None:
    backend = gpu.vendor.backend
    gpu.device(1, gpu.vendor.arch)
    with g.zeros(3, g.f32, backend, 1) as second:
        with pytest.raises(g.InvalidArgument) as caught:
            g.asarray(Other(second), backend)
        assert str(caught.value) == (
            f"value: the Other is on {backend} 1, and the kernel on {backend} 0; move it there, or open the kernel on that device"
        )
        with pytest.raises(g.InvalidArgument, match=rf"value: is on {backend} 1; copy it: asarray\(value.numpy\(\), '{backend}'\)"):
            g.asarray(second, backend)
        with pytest.raises(AttributeError):
            _ = second.__array_interface__
        assert not hasattr(g.zeros(1, g.f32, "cpu"), "__cuda_array_interface__")


def test_a_strided_tensor_is_refused_by_name_on_a_device_and_copied_from_the_host() -> None:
    data = np.arange(12, dtype=np.float32).reshape(3, 4)

    class Tensor:
        def __dlpack_device__(self) -> tuple[int, int]:
            return data.__dlpack_device__()

        def __dlpack__(self, **asked: Any) -> Any:
            return data.T.__dlpack__(**asked)

    with pytest.raises(g.InvalidArgument, match=r"value: the Tensor of shape \(4, 3\) has strides \(1, 4\), so its elements"):
        g.asarray(Tensor(), "cpu")
    with g.asarray(data.T, "cpu") as copied:
        np.testing.assert_array_equal(copied.numpy(), data.T)
        copied[0].upload(np.zeros(3, np.float32))
    data.setflags(write=False)
    with g.asarray(data, "cpu") as copied:
        copied[0].upload(np.ones(4, np.float32))
    assert data[0].tolist() == [0, 1, 2, 3]


class Refusing:
    def __init__(self, device: tuple[int, int], capsule: Any = None, error: Exception | None = None) -> None:
        self.device, self.capsule, self.error = device, capsule, error

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **_: Any) -> Any:
        if self.error is not None:
            raise self.error
        return self.capsule


def test_a_producer_that_does_not_hand_out_is_refused_in_words() -> None:
    with pytest.raises(g.InvalidArgument, match="value: Refusing does not hand its memory out: it needs a gradient"):
        g.asarray(Refusing((1, 0), error=BufferError("it needs a gradient")), "cpu")
    with pytest.raises(g.InvalidArgument, match="value: is on a device of DLPack type 99, which no backend reaches"):
        g.asarray(Refusing((99, 0)), "cpu")
    used = np.zeros(3).__dlpack__()
    tensor = np.from_dlpack(Refusing((1, 0), used))
    with pytest.raises(g.InvalidArgument, match="which is no DLPack tensor, or one that was used already"):
        g.asarray(Refusing((1, 0), used), "cpu")
    with pytest.raises(g.InvalidArgument, match=r"\(code, bits, lanes\) = \(5, 128, 1\), which kernels do not have"):
        g.asarray(Refusing((1, 0), np.zeros(3, complex).__dlpack__()), "cpu")
    assert tensor.shape == (3,)
