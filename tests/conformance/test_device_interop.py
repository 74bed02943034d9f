"""checks/device's checks of what goes between others and us: with a library of the tests' own on both test drivers, and with NumPy.

The library's arrays lie in the test driver's memory, and its work is launches of our kernels on streams of its own; what it shows is what
CuPy shows. `python checks/device/check.py --backend cpu` runs the same with PyTorch and JAX where they are installed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gompute as g
from gompute.artifacts.kernel_set import KernelSet
from gompute.handles import foreign
from gompute.runtime import dynamic
from tests.conformance.loading import root, spec
from tests.driver.control import Driver

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "checks" / "device"))

import interop
from libraries import Library, NumPy


class Array:
    """An array of the tests' library.

    Attributes:
        queue: the stream that was current when it was last used.
    """

    def __init__(self, library: OurLibrary, inner: g.DeviceArray, **changed: Any) -> None:
        self.library, self.inner, self.changed = library, inner, changed

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.inner.__dlpack_device__()

    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None, **asked: Any) -> Any:
        library = self.library
        if library.orders and stream != -1:
            with library.compute.create_event(timing=False) as event, library.compute.wrap_stream(stream or 0) as taker:
                event.record(library.current)
                taker.wait_event(event)
        return self.inner.__dlpack__(stream=-1, max_version=None if self.changed else max_version)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        shape, dtype, data = self.inner.shape, self.inner.dtype.str, (self.inner.address, False)
        return {"shape": shape, "typestr": dtype, "data": data, "version": 3, "stream": self.library.current.pointer, **self.changed}


class OnlyInterface:
    def __init__(self, array: Array) -> None:
        self.array = array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.array.__cuda_array_interface__


class Given:
    """A capsule on its way from ours to the library's."""

    def __init__(self, ours: Any, stream: int) -> None:
        self.device, self.capsule = ours.__dlpack_device__(), ours.__dlpack__(stream=stream, max_version=(1, 0))

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule


class OurLibrary(Library):
    """Attributes:
    orders: whether its arrays wait for its work, as the protocols ask of it; a library without would be found out.
    """

    name, backends, streams, orders = "numpy", frozenset({"cuda", "hip"}), True, True
    kernels: KernelSet

    def __init__(self, backend: str) -> None:
        super().__init__(backend)
        self.interface = backend == "cuda"
        self.compute = dynamic.Compute(backend)
        self.own = self.current = self.stream().queue
        self.plus = g.Kernel(spec("axpy"), backend, kernels=self.kernels)
        self.ones = g.asarray(np.ones(interop.SHAPE, np.float32), backend)  # kept, since to free it would wait
        kernels = root()
        self.one = kernels.Params(True, 1.0, kernels.Mode.HALVE, kernels.Inner(0, 0.0), (0.0, 0.0, 0.0), 0)

    def array(self, values: np.ndarray) -> Any:
        return Array(self, g.asarray(values.copy(), self.backend))

    def numpy(self, array: Any) -> np.ndarray:
        self.compute.synchronize()
        return np.array(array.inner.numpy())

    def take(self, array: Any) -> Any:
        return Array(self, g.asarray(Given(array, self.current.pointer), self.backend))

    def take_interface(self, array: Any) -> Any:
        return Array(self, g.asarray(array, self.backend))

    def transposed(self, array: Any) -> Any:
        rows, columns = array.inner.shape
        return OnlyInterface(Array(self, array.inner, shape=(columns, rows), strides=(4, 4 * columns))) if self.interface else None

    def read_only(self, array: Any) -> Any:
        return Array(self, array.inner, data=(array.inner.address, True))

    def add(self, array: Any, times: int) -> None:
        for _ in range(times):
            self.plus.launch(self.ones, array.inner, array.inner, self.one, stream=self.current)

    def stream(self) -> Any:
        queue = self.compute.create_stream(non_blocking=True)
        return SimpleNamespace(queue=queue, ptr=queue.pointer, synchronize=queue.synchronize)

    def stream_of(self, pointer: int) -> Any:
        queue = self.compute.wrap_stream(pointer)
        return SimpleNamespace(queue=queue, ptr=pointer, synchronize=queue.synchronize)

    @contextmanager
    def on(self, stream: Any) -> Iterator[None]:
        self.current = stream.queue
        try:
            yield
        finally:
            self.current = self.own


@pytest.fixture(params=["nvidia", "amd"])
def device(request: pytest.FixtureRequest, conformance_set: KernelSet, monkeypatch: pytest.MonkeyPatch) -> Driver:
    driver: Driver = request.getfixturevalue(request.param)
    driver.reset(next(conformance_set.path.glob("kernels.x86-64-v3*.so")))
    driver.delay(300)
    monkeypatch.setattr(OurLibrary, "kernels", conformance_set, raising=False)
    return driver


def checked(device: Driver, kernels: KernelSet, times: int = 3) -> dict[str, Any]:
    found = interop.check(OurLibrary, device.vendor.backend, kernels, lambda _: None, times=times)
    assert isinstance(found, dict)
    return found


def test_every_check_passes_with_a_library_that_keeps_the_rules(device: Driver, conformance_set: KernelSet) -> None:
    found = checked(device, conformance_set)
    wanted = dict.fromkeys(("taken", "given", "every_type", "interface", "ordered", "shared_streams", "refused"), "ok")
    if device.vendor.backend == "hip":
        wanted["interface"] = "no __cuda_array_interface__"
    assert {name: said for name, said in found.items() if name != "version"} == wanted


def test_a_library_that_lets_nobody_wait_is_found_out(device: Driver, conformance_set: KernelSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OurLibrary, "orders", False)
    device.delay(3000)
    found = checked(device, conformance_set, times=100)  # 0.3 s of work, for a machine that has other things to do
    assert found["status"] == "failed" and found["ordered"].startswith("AssertionError"), found


def test_we_are_found_out_where_we_do_not_wait(nvidia: Driver, conformance_set: KernelSet, monkeypatch: pytest.MonkeyPatch) -> None:
    nvidia.reset(next(conformance_set.path.glob("kernels.x86-64-v3*.so")))
    nvidia.delay(3000)
    monkeypatch.setattr(OurLibrary, "kernels", conformance_set, raising=False)
    forgotten: Callable[..., None] = lambda *_: None  # noqa: E731
    monkeypatch.setattr(foreign, "order", forgotten)
    found = checked(nvidia, conformance_set, times=100)
    assert found["status"] == "failed" and found["ordered"].startswith("AssertionError"), found


def test_every_check_passes_with_numpy_on_the_cpu(conformance_set: KernelSet) -> None:
    found = interop.check(NumPy, "cpu", conformance_set, lambda _: None, times=3)
    assert found == {
        "version": np.__version__,
        **dict.fromkeys(("taken", "given", "every_type", "refused"), "ok"),
        "interface": "no __cuda_array_interface__",
        **dict.fromkeys(("ordered", "shared_streams"), "no streams"),
    }


def test_a_library_that_is_not_there_is_left_out(conformance_set: KernelSet) -> None:
    class Missing(NumPy):
        name = "a_library_that_nobody_has"

    assert interop.check(Missing, "cpu", conformance_set, lambda _: None) == "No module named 'a_library_that_nobody_has'"
    assert interop.check(NumPy, "cuda", conformance_set, lambda _: None) == "numpy has no arrays on cuda"
