"""Arrays of other libraries that must not be written to: who says so, and how, and what is made of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gompute as g
from gompute.handles.kernel_set import KernelSet
from tests.driver.control import Driver
from tests.driver.kernels import Params, add, raw_add, scale_relu, view_ends
from tests.handles.test_device_array import Other

P = Params(scale=2.0)


def data() -> np.ndarray:
    return np.arange(6, dtype=np.float32)


class Flagged:
    """In host memory, with DLPack's flag for it."""

    def __init__(self, values: np.ndarray) -> None:
        self.writable = values
        self.memory = values.view()
        self.memory.setflags(write=False)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.memory.__dlpack_device__()

    def __dlpack__(self, **asked: Any) -> Any:
        return self.memory.__dlpack__(**asked)


class Unflagged(Flagged):
    """From before DLPack 1.0, as JAX's: only NumPy is told."""

    def __dlpack__(self, **asked: Any) -> Any:
        return self.writable.__dlpack__()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.memory


class Silent(Unflagged):
    """One that nobody is told of."""

    __array__: Any = None


@pytest.mark.parametrize("kind", [Flagged, Unflagged])
def test_what_is_read_only_in_host_memory_is_read_and_never_written(kernel_set: KernelSet, kind: type[Flagged]) -> None:
    given, twelve = kind(data()), kind(np.zeros((2, 6), np.uint8))
    with (
        g.Kernel(scale_relu, "cpu", kernels=kernel_set) as scale,
        g.Kernel(add, "cpu", kernels=kernel_set) as both,
        g.RawKernel(raw_add, "cpu", kernels=kernel_set) as raw,
        g.RawKernel(view_ends, "cpu", kernels=kernel_set) as view,
    ):
        for name, call in {
            "data": lambda: scale.run(given, P),
            "data ": lambda: raw.launch(1, 256, given, 6),
            "out": lambda: both.run(data(), data(), given),
        }.items():
            with pytest.raises(g.InvalidArgument) as caught:
                call()
            name = name.strip()
            assert str(caught.value).startswith(f"{name}: expected a contiguous, writable NumPy array of f32 (float32)")
            assert str(caught.value).endswith(f", got a read-only one: pass numpy.array({name}), a copy")
        with pytest.raises(g.InvalidArgument, match="a: expected a contiguous, writable NumPy array of u8 .*got a read-only one"):
            view.launch(1, 1, twelve)
        np.testing.assert_array_equal(both.run(given, given, None), data() * 2)
    with g.asarray(given, "cpu") as copied:
        copied.upload(np.zeros(6, np.float32))
    np.testing.assert_array_equal(given.memory, data())


def test_what_nobody_is_told_of_is_written(kernel_set: KernelSet) -> None:
    """The limit of it: a library without a word for read-only arrays is not known to have any."""
    given = Silent(data())
    with g.Kernel(scale_relu, "cpu", kernels=kernel_set) as scale:
        scale.run(given, P)
    np.testing.assert_array_equal(given.memory, data() * 2)


class OnDevice(Other):
    """On a device, from before DLPack 1.0; `said` is what its other interface says of writing, None where it has none."""

    said: bool | None = True

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.said is None:
            raise AttributeError("this interface has no such elements")
        return {"shape": self.array.shape, "typestr": self.array.dtype.str, "data": (self.array.address, self.said), "version": 2}


@pytest.mark.parametrize("vendor", ["nvidia", "amd"])
def test_what_is_read_only_on_a_device_is_read_and_never_written(
    vendor: str, request: pytest.FixtureRequest, kernel_set: KernelSet
) -> None:
    gpu: Driver = request.getfixturevalue(vendor)
    backend = gpu.vendor.backend
    with (
        g.asarray(data(), backend) as array,
        g.Kernel(scale_relu, backend, kernels=kernel_set) as scale,
        g.Kernel(add, backend, kernels=kernel_set) as both,
        g.RawKernel(raw_add, backend, kernels=kernel_set) as raw,
    ):
        given = OnDevice(array, newest=False)
        for name, call in {
            "data": lambda: scale.launch(given, P),
            "data ": lambda: scale.run(given, P),
            "data  ": lambda: raw.launch(1, 256, given, 6),
            "out": lambda: both.launch(array, array, given),
        }.items():
            name = name.strip()
            with pytest.raises(g.InvalidArgument) as caught:
                call()
            assert str(caught.value) == (
                f"{name}: the OnDevice is read-only, and the kernel may write to it; pass a copy: gompute.asarray({name}, '{backend}')"
            )
        made = both.run(given, given, None)
        np.testing.assert_array_equal(made.numpy(), data() * 2)
        with g.asarray(given, backend) as copied:
            assert copied.address != array.address
            scale.launch(copied, P)
            np.testing.assert_array_equal(copied.numpy(), data() * 2)
        np.testing.assert_array_equal(array.numpy(), data())
        for said in (False, None):  # None is JAX's bf16: it cannot be known
            given.said = said
            assert g.asarray(given, backend).address == array.address
        newest = OnDevice(array)  # its own word, of DLPack 1.0, goes before others
        assert g.asarray(newest, backend).address == array.address
