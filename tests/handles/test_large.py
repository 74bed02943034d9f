"""Arrays of more than 2^31 elements on every backend: what a kernel is told, how much is copied, and where.

Memory of this size costs nothing here: it is mapped and not touched, and the test driver copies and fills it at its ends alone. The CPU
builds of the kernels work on first and last elements.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import pytest

import gompute as g
from gompute.handles.kernel_set import KernelSet
from gompute.runtime import cpu
from gompute.runtime.context import AnyContext
from tests.driver.control import Driver
from tests.driver.kernels import count_tiles, far, mark_ends, raw_add, view_ends
from tests.handles.test_device_array import Other
from tests.runtime.devices import open_context

_NO_RESERVE = 0x4000  # Linux's MAP_NORESERVE, which `mmap` has from Python 3.13 on

#: A launch of HIP has at most 2^32 - 1 work-items in a dimension.
SIZES = {"cpu": 2**32 + 5, "cuda": 2**32 + 5, "hip": 2**31 + 5}


class Place:
    """A backend, and how many elements an array has there."""

    def __init__(self, backend: str, gpu: Driver | None) -> None:
        self.backend = backend
        self.gpu = gpu
        self.n = SIZES[backend]

    def context(self) -> AnyContext:
        return cpu.Context() if self.gpu is None else open_context(self.gpu)

    def told(self, *calls: str) -> None:
        """The driver's calls since the last time, waits and looks at the context left out, have these in this order."""
        if self.gpu is not None:
            made = iter(self.gpu.calls)
            assert all(any(call in one for one in made) for call in calls), self.gpu.calls
            self.gpu.forget()


@pytest.fixture(params=list(SIZES))
def place(request: pytest.FixtureRequest) -> Place:
    gpu = None if request.param == "cpu" else request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[request.param])
    return Place(request.param, gpu)


def zeros(n: int) -> np.ndarray:
    """Bytes that take no memory until they are written."""
    memory = mmap.mmap(-1, n, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
    return np.frombuffer(memory, np.uint8)


def ends(array: np.ndarray) -> list[int]:
    return [int(array[place]) for place in (0, 1, -2, -1)]


def grid(n: int, block: int = 256) -> str:
    return f"grid={-(-n // block)},1,1 block={block},1,1"


def test_run_copies_all_of_it_and_works_on_its_last_element(place: Place, kernel_set: KernelSet) -> None:
    data = zeros(place.n)
    with g.Kernel(mark_ends, place.backend, kernels=kernel_set) as kernel:
        kernel.run(data)
        place.told(f"HtoD {place.n}", f"mark_ends {grid(place.n)}", f"DtoH {place.n}")
        assert ends(data) == [1, 0, 0, 1]
        kernel.run(data.reshape(1, -1))
        assert ends(data) == [2, 0, 0, 2]


def test_threads_of_the_cpu_share_all_of_it(kernel_set: KernelSet) -> None:
    n = SIZES["cpu"]
    data = zeros(n)
    with g.Kernel(mark_ends, "cpu", kernels=kernel_set, threads=4) as kernel:
        kernel.run(data)
    parts = [2**30 + 1024 * part for part in (1, 2, 3)]  # where the threads' parts meet, at whole cache lines
    assert ends(data) == [1, 0, 0, 1]
    for number, part in enumerate(parts):
        start = (number + 1) * parts[0]
        assert [int(value) for value in data[start - 2 : start + 2]] == [0, 1, 1, 0], part


def test_launch_on_what_lies_there(place: Place, kernel_set: KernelSet) -> None:
    with (
        g.Kernel(mark_ends, place.backend, kernels=kernel_set) as kernel,
        g.RawKernel(mark_ends, place.backend, kernels=kernel_set) as raw,
        kernel.alloc(place.n) as buffer,
        place.context() as context,
        context.create_stream() as stream,
    ):
        assert buffer.nbytes == place.n
        if place.gpu is not None:
            buffer.fill(5, stream=stream)
        kernel.launch(buffer, stream=stream)
        raw.launch(-(-place.n // 256), 256, buffer, place.n, stream=stream)
        stream.synchronize()
        place.told(f"5 {place.n}", f"mark_ends {grid(place.n)}", f"mark_ends {grid(place.n)}")


def test_an_index_past_2_to_the_32_and_a_bound_that_has_it(place: Place, kernel_set: KernelSet) -> None:
    n = 2**32 + 5  # of the source, which no work-item stands for
    with g.Kernel(far, place.backend, kernels=kernel_set) as kernel, g.empty(n, g.u8, place.backend) as source:
        source[n - 1].upload(np.uint8(7))
        source[2**32].upload(np.uint8(8))
        idx = np.array([n - 1, 2**32, n, -1, 2**33], np.int64)
        out = np.zeros(5, np.uint8)
        with g.asarray(idx, place.backend) as there, g.asarray(out, place.backend) as found:
            kernel.launch(source, there, found)
            assert found.numpy().tolist() == [7, 8, 0, 0, 0]


def test_a_shape_whose_elements_are_more(place: Place, kernel_set: KernelSet) -> None:
    rows, columns = 2, 2**31 + 3
    with g.RawKernel(view_ends, place.backend, kernels=kernel_set) as kernel, g.empty((rows, columns), g.u8, place.backend) as array:
        array[0][:1].buffer.upload_at(b"\1", 0)
        array.reshape(rows * columns)[-1].upload(np.uint8(2))
        for given in (array, (array.buffer, (rows, columns)), Other(array)):
            kernel.launch(1, 1, given)
        kernel.synchronize()
        flat = array.reshape(rows * columns)
        assert [int(flat[at].numpy()) for at in (0, -1)] == [4, 5]
        assert array[1].address == array.address + columns


def test_offsets_and_sizes_of_copies(place: Place) -> None:
    n, far_on = 2**32 + 8, 2**32
    with place.context() as context, context.alloc(n) as one, context.alloc(n) as other, context.create_stream() as stream:
        back = bytearray(8)
        one.upload_at(b"12345678", far_on)
        one.download_at(back, far_on)
        assert back == b"12345678"
        one.fill(b"ab", offset=far_on + 4, n=4, stream=stream)
        one.upload_async(b"0", stream, offset=far_on + 1)
        one.download_async(back, stream, offset=far_on)
        stream.synchronize()
        assert back == b"1034abab"
        other.copy_from(one, far_on, far_on + 4, 4)
        other.download_at(back, far_on)
        assert back[4:] == b"1034"
        for use in (lambda: one.upload_at(b"12", n - 1), lambda: one.fill(0, offset=n - 4, n=8), lambda: other.copy_from(one, 1, 0, n)):
            with pytest.raises(g.InvalidArgument, match=f"the buffer has {n} bytes"):
                use()
        if place.gpu is not None:
            place.gpu.forget()
            other.copy_from(one, stream=stream)
            one.fill(b"wxyz", stream=stream)
            stream.synchronize()
            one.download_at(back, far_on)
            assert back == b"wxyzwxyz"
            other.download_at(back, far_on)
            assert back == b"1034abab"
            place.told(f"{n}", f"{int.from_bytes(b'wxyz', 'little')} {n // 4}")


def test_a_reduction_of_so_many(place: Place, kernel_set: KernelSet) -> None:
    """2^20 tiles and more in three stages."""
    n = 2**32 + 5
    tiles = [2**20 + 1, 257, 1]
    threads = 1 if place.backend == "cpu" else None  # the CPU build counts in one place
    with g.Kernel(count_tiles, place.backend, kernels=kernel_set, threads=threads) as kernel:
        assert kernel.run(zeros(n)) == sum(tiles)
        place.told(f"HtoD {n}", *(f"count_tiles grid={count},1,1" for count in tiles))


def test_an_array_of_so_many_goes_to_another_library_and_back(place: Place) -> None:
    shape = (2, 2**31 + 3)
    with g.empty(shape, g.u8, place.backend) as array, g.asarray(Other(array), place.backend) as taken:
        assert (taken.shape, taken.address, taken.nbytes, taken.size) == (shape, array.address, 2**32 + 6, 2**32 + 6)
        if place.backend == "cpu":
            shared: Any = np.from_dlpack(array)
            assert shared.shape == shape and shared.ctypes.data == array.address


def test_what_one_launch_cannot_cover_is_refused_in_words(place: Place, kernel_set: KernelSet) -> None:
    with g.Kernel(mark_ends, place.backend, kernels=kernel_set) as kernel, g.RawKernel(raw_add, place.backend, kernels=kernel_set) as raw:
        if place.backend == "hip":
            with pytest.raises(
                g.InvalidArgument, match=r"16777217 blocks of 256 are 4294967552 work-items in x; hip takes at most 4294967295"
            ):
                kernel.run(zeros(2**32 + 5))
        with g.empty(1, g.f32, place.backend) as array, pytest.raises(g.InvalidArgument, match="n .u64.: .*18446744073709551616"):
            raw.launch(1, 1, array, 2**64)
