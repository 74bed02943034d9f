"""`RawKernel`: shapes and arguments of a launch by hand, on every backend."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gompute.artifacts.describe import entry_of
from gompute.artifacts.entry import Resources
from gompute.artifacts.write import write_set
from gompute.errors import InvalidArgument, KernelNotFound, LaunchFailed
from gompute.handles.kernel_set import KernelSet
from gompute.handles.raw_kernel import RawKernel
from gompute.lang import abi
from gompute.runtime.dim3 import Dim3
from tests.driver import sets
from tests.driver.control import Driver
from tests.driver.kernels import Inner, Mixed, Params, every_type, negate, params_to, raw_add, scale_relu, where


class Opened:
    """A way to run raw kernels on one backend and read what they wrote."""

    def __init__(self, backend: str, kernel_set: KernelSet) -> None:
        self.backend = backend
        self._set = kernel_set

    def kernel(self, what: Any) -> RawKernel:
        return RawKernel(what, self.backend, kernels=self._set)

    def launch(self, kernel: RawKernel, grid: Any, block: Any, out: np.ndarray, *rest: Any, **keywords: Any) -> np.ndarray:
        """Launches with `out` as first argument and gives what is in it then."""
        with kernel.alloc(out.nbytes) as buffer:
            buffer.upload(out)
            kernel.launch(grid, block, buffer, *rest, **keywords)
            kernel.synchronize()
            back = np.empty_like(out)
            buffer.download(back)
        return back


@pytest.fixture(params=["cpu", "cuda", "hip"])
def opened(request: pytest.FixtureRequest, kernel_set: KernelSet) -> Opened:
    if request.param != "cpu":
        request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[request.param])
    return Opened(request.param, kernel_set)


def test_a_launch_changes_the_buffer(opened: Opened) -> None:
    with opened.kernel(raw_add) as kernel:
        assert kernel.name == "raw_add" and kernel.backend == opened.backend
        out = opened.launch(kernel, 4, 256, np.arange(1000, dtype=np.float32), 997)
    assert np.array_equal(out[:997], np.arange(1, 998)) and out[997:].tolist() == [997, 998, 999]


def test_a_kernel_by_its_name_alone(opened: Opened) -> None:
    with opened.kernel("raw_add") as kernel:
        assert opened.launch(kernel, 1, 4, np.zeros(4, np.float32), 4).tolist() == [1] * 4
    with pytest.raises(KernelNotFound, match="no kernel 'raw_ad' in .*; did you mean 'raw_add'"):
        opened.kernel("raw_ad")


def test_the_cpu_takes_arrays_themselves(kernel_set: KernelSet) -> None:
    data = np.zeros((2, 3), np.float32)
    with RawKernel(raw_add, "cpu", kernels=kernel_set) as kernel:
        kernel.launch(1, 6, data, 6)
    assert data.tolist() == [[1] * 3] * 2


@pytest.mark.parametrize(
    ("grid", "block", "shared"),
    [
        (3, 4, 0),
        ((2, 3), (8, 8), 16),
        ((2, 1, 5), (8, 8, 2), 0),
        (Dim3(4), Dim3(2, 2, 2), 100),
        ([2, 2], [1], 0),
        (np.int64(2), np.int32(1), 0),
    ],
)
def test_the_shape_reaches_the_kernel(opened: Opened, grid: Any, block: Any, shared: int) -> None:
    blocks, items = Dim3.of(grid, "grid"), Dim3.of(block, "block")
    with opened.kernel(where) as kernel:
        for _ in range(2):  # the second time the checked shape is reused
            out = opened.launch(kernel, grid, block, np.zeros((blocks.product, 8), np.uint64), shared=shared)
            assert out[:, 0].tolist() == list(range(blocks.product))
            assert (out[:, 1:] == [*blocks, *items, shared]).all()
        again = opened.launch(kernel, 1, 1, np.zeros((1, 8), np.uint64))
        assert again.tolist() == [[0, 1, 1, 1, 1, 1, 1, 0]]


SCALARS = {
    "a": (True, 1),
    "b": (-3, 0xFD),
    "c": (-300, 0xFED4),
    "d": (-70000, 0xFFFEEE90),
    "e": (-(2**40), 2**64 - 2**40),
    "f": (200, 200),
    "g": (60000, 60000),
    "h": (4_000_000_000, 4_000_000_000),
    "i": (2**64 - 1, 2**64 - 1),
    "j": (1.5, 0x3E00),
    "k": (-2.0, 0xC000),
    "m": (0.1, 0x3DCCCCCD),
    "n": (-0.5, 0xBFE0000000000000),
}


def test_every_scalar_arrives_in_its_place(opened: Opened) -> None:
    with opened.kernel(every_type) as kernel:
        out = opened.launch(kernel, 1, 1, np.zeros(13, np.uint64), *(value for value, _ in SCALARS.values()))
    assert [hex(value) for value in out.tolist()] == [hex(bits) for _, bits in SCALARS.values()]


def one_scalar(opened: Opened, name: str, value: Any) -> int:
    values = [value if key == name else given for key, (given, _) in SCALARS.items()]
    with opened.kernel(every_type) as kernel:
        return int(opened.launch(kernel, 1, 1, np.zeros(13, np.uint64), *values)[list(SCALARS).index(name)])


@pytest.mark.parametrize(
    ("name", "value", "bits"),
    [
        ("a", np.bool_(True), 1),
        ("a", 0, 0),
        ("b", np.int64(-128), 0x80),
        ("h", np.uint8(7), 7),
        ("i", True, 1),
        ("m", 3, 0x40400000),
        ("m", np.float64(0.1), 0x3DCCCCCD),
        ("m", 1e300, 0x7F800000),  # floats round, to infinity where they must
        ("m", -float("inf"), 0xFF800000),
        ("j", 65520.0, 0x7C00),
        ("k", 1 + 2**-8, 0x3F80),  # a tie: to even
        ("k", 1 + 3 * 2**-8, 0x3F82),
        ("n", 2**53 + 1, 0x4340000000000000),
        ("m", 2**60 + 2**36 + 1, 0x5D800001),  # by way of f64 it would be a tie
    ],
)
def test_scalars_are_coerced_by_the_signature(kernel_set: KernelSet, name: str, value: Any, bits: int) -> None:
    assert one_scalar(Opened("cpu", kernel_set), name, value) == bits


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("b", 128, "b (i8): 128 does not fit i8 (-128 to 127)"),
        ("f", -1, "f (u8): -1 does not fit u8 (0 to 255)"),
        ("i", 2**64, "i (u64): 18446744073709551616 does not fit u64"),
        ("i", np.int8(-1), "does not fit u64"),
        ("d", 2.0, "d (i32): 2.0 (float) is no i32"),
        ("d", "2", "d (i32): '2' (str) is no i32"),
        ("d", None, "d (i32): None (NoneType) is no i32"),
        ("m", "2", "m (f32): '2' (str) is no f32"),
        ("m", b"2", "m (f32): b'2' (bytes) is no f32"),
        ("m", 1j, "m (f32): 1j (complex) is no f32"),
        ("a", 2, "a (bool): 2 does not fit bool (0 to 1)"),
    ],
)
def test_scalars_that_do_not_fit_are_named(opened: Opened, name: str, value: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=re.escape(message)):
        one_scalar(opened, name, value)


def test_params_by_value(opened: Opened) -> None:
    value = Mixed(2**40 + 5, Inner((1.0, -2.0, 0.5), True), 0.25)
    wanted = abi.pack(value)
    assert len(wanted) == 32
    with opened.kernel(params_to) as kernel:
        assert opened.launch(kernel, 1, 1, np.zeros(32, np.uint8), value).tobytes() == wanted
        assert opened.launch(kernel, 1, 1, np.zeros(32, np.uint8), memoryview(wanted)).tobytes() == wanted
        # A list in a fixed array can change between two calls with the same instance.
        weights = [1.0, 2.0, 3.0]
        changing = Mixed(1, Inner(weights, False), 1.0)
        opened.launch(kernel, 1, 1, np.zeros(32, np.uint8), changing)
        weights[0] = 9.0
        assert opened.launch(kernel, 1, 1, np.zeros(32, np.uint8), changing).tobytes() == abi.pack(changing)


SHAPES: dict[str, tuple[Callable[[], tuple[Any, Any]], str]] = {
    "block of a declared number": (
        lambda: (1, 257),
        "block: kernel 'raw_add' was compiled for blocks of at most 256 work-items (block_size), got (257, 1, 1), which is 257",
    ),
    "block of more dimensions": (lambda: (1, (16, 17)), "at most 256 work-items (block_size), got (16, 17, 1), which is 272"),
    "no block": (lambda: (1, 0), "block: every size must be at least 1, got (0, 1, 1)"),
    "no grid": (lambda: ((1, 0), 1), "grid: every size must be at least 1, got (1, 0, 1)"),
    "grid that is no number": (lambda: ("1", 1), "grid: expected an int or a tuple of one to three ints, got '1'"),
    "grid past its limit": (lambda: (2**31, 1), "grid: 2147483648 blocks in x; "),
    "grid past 64 bits": (lambda: (2**70, 1), "grid: 1180591620717411303424 blocks in x; "),
}


@pytest.mark.parametrize("case", SHAPES)
def test_shapes_that_are_refused(opened: Opened, case: str) -> None:
    make, message = SHAPES[case]
    with opened.kernel(raw_add) as kernel, pytest.raises(InvalidArgument, match=re.escape(message)):
        opened.launch(kernel, *make(), np.zeros(4, np.float32), 4)


def test_a_block_within_a_declared_number_may_have_any_dimensions(opened: Opened) -> None:
    with opened.kernel(raw_add) as kernel:
        opened.launch(kernel, 1, (2, 8, 16), np.zeros(2, np.float32), 2)


def test_a_block_declared_by_dimension(opened: Opened) -> None:
    with opened.kernel(where) as kernel:
        for block in ((9, 1, 1), (1, 1, 3), 64):
            with pytest.raises(InvalidArgument, match=re.escape("was compiled for blocks of at most (8, 8, 2) (block_size), got (")):
                opened.launch(kernel, 1, block, np.zeros((1, 8), np.uint64))


def test_shared_memory_is_a_number(opened: Opened) -> None:
    with opened.kernel(where) as kernel:
        for shared, message in ((-1, "shared: expected a number that is not negative, got -1"), (1.5, "shared: expected an int, got 1.5")):
            with pytest.raises(InvalidArgument, match=re.escape(message)):
                opened.launch(kernel, 1, 1, np.zeros((1, 8), np.uint64), shared=shared)
        named = "cpu" if opened.backend == "cpu" else r"Test Device 0 \(.*\)"
        for size in (1_000_000, 10**9):
            with pytest.raises(InvalidArgument, match=rf"shared: {size} bytes; {named} gives a block at most \d+"):
                opened.launch(kernel, 1, 1, np.zeros((1, 8), np.uint64), shared=size)


@pytest.mark.parametrize("backend", ["cuda", "hip"])
def test_shared_memory_of_a_launch_comes_on_top_of_the_kernels_own(
    backend: str, request: pytest.FixtureRequest, tmp_path: Path, kernels_so: Path
) -> None:
    request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[backend])
    entries = (replace(entry_of(where), resources=Resources(shared=40000)),)
    units = [sets.unit(target, entries, kernels_so) for target in (sets.CUDA_TARGET, sets.HIP_TARGET)]
    write_set(tmp_path / "set", units, generator={"gompute": "0.1.0"})
    with RawKernel(where, backend, kernels=tmp_path / "set") as kernel, kernel.alloc(64) as buffer:
        limit = kernel._opened.kernel._accelerator.facts.max_shared  # type: ignore[union-attr]
        kernel.launch(1, 1, buffer, shared=limit - 40000)
        with pytest.raises(
            InvalidArgument, match=rf"shared: {limit - 39999} bytes and 40000 of the kernel's own arrays; .* at most {limit}"
        ):
            kernel.launch(1, 1, buffer, shared=limit - 39999)
        kernel.synchronize()


def test_the_number_of_arguments(opened: Opened) -> None:
    head = "launch of kernel 'raw_add' takes (data: ptr[f32], n: u64)"
    with opened.kernel(raw_add) as kernel, kernel.alloc(16) as buffer:
        for arguments, keywords, message in (
            ((), {}, f"{head} after grid and block: data, n missing"),
            ((buffer,), {}, f"{head} after grid and block: n missing"),
            ((buffer, 1, 2), {}, f"{head} after grid and block: got 3, 1 too many"),
            ((buffer,), {"data": 3}, f"{head} after grid and block: data is given by position and by name"),
        ):
            with pytest.raises(InvalidArgument, match=re.escape(message)):
                kernel.launch(1, 1, *arguments, **keywords)
    with opened.kernel(params_to) as kernel, pytest.raises(InvalidArgument, match=r"takes \(out: ptr\[u8\], p: Mixed\) after"):
        kernel.launch(1, 1)


def test_pointers_that_are_none(opened: Opened, kernel_set: KernelSet) -> None:
    on_cpu = opened.backend == "cpu"
    expected = (
        "data: expected a contiguous, writable NumPy array of f32 (float32) or a Buffer on cpu" if on_cpu else "data: expected a Buffer on"
    )
    with opened.kernel(raw_add) as kernel:
        for value in (3, None, [1.0], np.zeros(4, np.float64), np.float32(1), b"1234"):
            with pytest.raises(InvalidArgument, match=re.escape(expected)):
                kernel.launch(1, 1, value, 1)
        freed = kernel.alloc(8)
        freed.free()
        with pytest.raises(InvalidArgument, match="buffer of 8 bytes is freed"):
            kernel.launch(1, 1, freed, 1)


def test_a_generated_kernel_takes_its_block_exactly(opened: Opened) -> None:
    with opened.kernel(negate) as kernel:
        for block in (1, 127, 129, (64, 2)):
            with pytest.raises(InvalidArgument, match=r"block: kernel 'negate' was compiled for blocks of exactly \(128, 1, 1\), got \("):
                opened.launch(kernel, 1, block, np.zeros(4, np.int32), 4)
        with pytest.raises(InvalidArgument, match=r"grid: kernel 'negate' takes a grid in one dimension, got \(1, 2, 1\)"):
            opened.launch(kernel, (1, 2), 128, np.zeros(4, np.int32), 4)
        assert opened.launch(kernel, 2, 128, np.arange(200, dtype=np.int32), 200).tolist() == [-i for i in range(200)]
    with opened.kernel(scale_relu) as kernel:
        assert opened.launch(kernel, 1, 256, np.ones(3, np.float32), 3, Params(7.0)).tolist() == [7] * 3


def test_a_small_grid_of_a_generated_kernel_covers_its_elements_alone(kernel_set: KernelSet) -> None:
    data = np.ones(1000, np.int32)
    with RawKernel(negate, "cpu", kernels=kernel_set) as kernel:
        kernel.launch(2, 128, data, 1000)
    assert (data[:256] == -1).all() and (data[256:] == 1).all()


def test_a_launch_does_not_wait(gpu: Driver, kernel_set: KernelSet) -> None:
    with RawKernel(raw_add, gpu.vendor.backend, kernels=kernel_set) as kernel, kernel.alloc(64) as buffer:
        gpu.forget()
        kernel.launch(1, 16, buffer, 16)
        kernel.launch(1, 16, buffer, 16)
        assert gpu.names == [gpu.vendor.launch] * 2


def test_a_failing_launch_says_what_was_launched(gpu: Driver, kernel_set: KernelSet) -> None:
    with RawKernel(raw_add, gpu.vendor.backend, kernels=kernel_set) as kernel, kernel.alloc(64) as buffer:
        gpu.fail(gpu.vendor.launch, 719)
        with pytest.raises(
            LaunchFailed, match=r"cannot launch raw_add with grid \(3, 1, 1\), block \(16, 1, 1\), 0 bytes of shared"
        ) as raised:
            kernel.launch(3, 16, buffer, 16)
        assert raised.value.code == 719
        kernel.launch(1, 16, buffer, 16)


def test_a_closed_handle_is_closed(opened: Opened) -> None:
    kernel = opened.kernel(raw_add)
    assert repr(kernel).startswith(f"<RawKernel 'raw_add' on {opened.backend}, from ")
    kernel.close()
    kernel.close()
    assert repr(kernel) == f"<RawKernel 'raw_add' on {opened.backend}, closed>"
    for what, use in {"launch": lambda: kernel.launch(1, 1), "alloc": lambda: kernel.alloc(1), "synchronize": kernel.synchronize}.items():
        with pytest.raises(InvalidArgument, match=f"{what}: the handle of kernel 'raw_add' is closed"):
            use()


def test_alloc_counts_bytes(opened: Opened) -> None:
    with opened.kernel(raw_add) as kernel, kernel.alloc(10) as buffer:
        assert buffer.nbytes == 10
