"""Every wrong argument is InvalidArgument, before anything runs, with the argument's name, what was expected and what was given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gompute.errors import InvalidArgument
from gompute.handles.kernel import Kernel
from gompute.handles.kernel_set import KernelSet
from gompute.handles.parameters import bytes_reader
from gompute.lang.names import f32, f64
from gompute.lang.params import params
from gompute.runtime import cpu
from tests.driver.control import Driver
from tests.driver.kernels import Params, negate, scale_relu

P = Params(scale=1.5)
ARRAY = "data: expected a contiguous, writable NumPy array of f32 (float32)"


@pytest.fixture(params=["cpu", "cuda", "hip"])
def kernel(request: pytest.FixtureRequest, kernel_set: KernelSet) -> Iterator[Kernel]:
    if request.param != "cpu":
        request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[request.param])
    with Kernel(scale_relu, request.param, kernels=kernel_set) as opened:
        yield opened


def read_only() -> np.ndarray:
    array = np.ones(4, np.float32)
    array.flags.writeable = False
    return array


def unaligned() -> np.ndarray:
    return np.frombuffer(bytearray(17), np.float32, 4, 1)


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "dtype": (lambda: np.ones(4), f"{ARRAY}, got float64: pass data.astype('float32'), or use a kernel of that type"),
    "integers": (lambda: np.ones(4, np.int32), f"{ARRAY}, got int32: pass data.astype('float32')"),
    "structured": (lambda: np.zeros(4, [("a", "f4")]), f"{ARRAY}, got [('a', '<f4')]: pass"),
    "byte order": (lambda: np.ones(4, ">f4"), f"{ARRAY}, got the other byte order (>f4): pass data.astype('float32')"),
    "strides": (
        lambda: np.ones((4, 4), np.float32)[:, ::2],
        f"{ARRAY}, got shape (4, 2) with strides (16, 8): pass numpy.ascontiguousarray(data)",
    ),
    "backwards": (lambda: np.ones(4, np.float32)[::-1], f"{ARRAY}, got shape (4,) with strides (-4,): pass"),
    "broadcast": (lambda: np.broadcast_to(np.float32(1), 4), f"{ARRAY}, got a read-only one: pass numpy.array(data), a copy"),
    "read-only": (read_only, f"{ARRAY}, got a read-only one: pass numpy.array(data), a copy"),
    "unaligned": (unaligned, f"{ARRAY}, got one whose memory is not aligned to 4 bytes: pass data.copy()"),
    "list": (lambda: [1.0, 2.0], f"{ARRAY}, got list"),
    "scalar": (lambda: np.float32(1), f"{ARRAY}, got the NumPy scalar np.float32(1.0)"),
    "bytes": (lambda: bytearray(16), f"{ARRAY}, got bytearray"),
    "none": (lambda: None, f"{ARRAY}, got None"),
    "object": (lambda: re.compile("x"), f"{ARRAY}, got re.Pattern"),
    "empty of another type": (lambda: np.empty(0), f"{ARRAY}, got float64"),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_array_that_run_does_not_take(kernel: Kernel, case: str) -> None:
    make, message = WRONG[case]
    value = make()
    before = value.copy() if isinstance(value, np.ndarray) else None
    with pytest.raises(InvalidArgument, match=re.escape(message)) as raised:
        kernel.run(value, P)
    assert isinstance(raised.value, TypeError) and isinstance(raised.value, ValueError)
    if before is not None:
        assert np.array_equal(value, before)


def test_the_number_of_arguments(kernel: Kernel) -> None:
    data = np.ones(4, np.float32)
    for arguments, message in (
        ((), "run of kernel 'scale_relu' takes (data, params): data is missing"),
        ((data,), "run of kernel 'scale_relu' takes (data, params): params is missing"),
        ((data, P, 3), "run of kernel 'scale_relu' takes (data, params): got 3 arguments, 1 too many"),
    ):
        with pytest.raises(InvalidArgument, match=re.escape(message)):
            kernel.run(*arguments)
        with pytest.raises(InvalidArgument, match=re.escape(message.replace("run", "launch", 1))):
            kernel.launch(*arguments)
    for call, what in ((kernel.run, "run"), (kernel.launch, "launch")):
        with pytest.raises(InvalidArgument, match=rf"{what} of kernel 'scale_relu' takes \(data, params\): it has no argument 'scale'"):
            call(data, scale=2.0)
        with pytest.raises(
            InvalidArgument, match=rf"{what} of kernel 'scale_relu' takes \(data, params\): data is given by position and by"
        ):
            call(data, data=data)


def test_no_params_where_none_are_taken(kernel_set: KernelSet) -> None:
    with Kernel(negate, "cpu", kernels=kernel_set) as kernel, pytest.raises(InvalidArgument) as raised:
        kernel.run(np.zeros(3, np.int32), P)
    assert str(raised.value) == "run of kernel 'negate' takes (data): got 2 arguments, 1 too many"


@params
class Wider:
    scale: f64


@params
class Same:
    scale: f32


def test_params_of_another_layout(kernel: Kernel) -> None:
    data = np.ones(4, np.float32)
    head = "params: expected an instance of Params or 4 bytes from g.abi.pack"
    for value, message in (
        (2.0, f"{head}, got float"),
        ({"scale": 2.0}, f"{head}, got dict"),
        (None, f"{head}, got None"),
        (Params, f"{head}, got type"),
        (Wider(2.0), f"{head}, got Wider with the fields scale: f64; wanted are scale: f32"),
        (b"12345", "params: expected 4 bytes of Params, got 5"),
    ):
        with pytest.raises(InvalidArgument, match=re.escape(message)):
            kernel.run(data, value)
    assert data.tolist() == [1] * 4
    # What counts is the layout: a class of another name and the same fields has the same bytes.
    kernel.run(data, Same(2.0))
    assert data.tolist() == [2] * 4


def test_wrong_params_of_empty_data(kernel: Kernel) -> None:
    with kernel.alloc(0) as buffer:
        for call in (lambda: kernel.run(np.empty(0, np.float32), 2.0), lambda: kernel.launch(buffer, 2.0)):
            with pytest.raises(InvalidArgument, match="params: expected an instance of Params"):
                call()


def test_a_field_that_does_not_fit_is_named(kernel: Kernel) -> None:
    with pytest.raises(InvalidArgument, match=r"Params\.scale: 'much' \(str\) is no f32"):
        kernel.run(np.ones(4, np.float32), Params("much"))  # type: ignore[arg-type]


def test_a_launch_on_a_device_takes_its_own_buffers(gpu: Driver, kernel_set: KernelSet) -> None:
    backend = gpu.vendor.backend
    expected = f"data: expected a Buffer on {backend} 0 (from alloc) with elements of f32"
    with Kernel(scale_relu, backend, kernels=kernel_set) as kernel:
        freed = kernel.alloc(4)
        freed.free()
        with cpu.Context().alloc(16) as elsewhere:
            for value, message in (
                (
                    np.ones(4, np.float32),
                    f"{expected}, got a NumPy array of float32: upload it to a buffer first; Kernel.run does so by itself",
                ),
                (elsewhere, f"{expected}, got <Buffer on cpu 0: 16 bytes>"),
                (1234, f"{expected}, got int"),
                (freed, f"this {backend} buffer of 16 bytes is freed"),
            ):
                with pytest.raises(InvalidArgument, match=re.escape(message)):
                    kernel.launch(value, P)
        with kernel._opened.context.alloc(18) as odd:
            with pytest.raises(InvalidArgument, match=re.escape("data: a buffer of 18 bytes is no whole number of f32 (4 bytes each)")):
                kernel.launch(odd, P)
        assert gpu.vendor.launch not in gpu.names


def test_a_launch_on_the_cpu_takes_no_devices_buffer(nvidia: Driver, kernel_set: KernelSet) -> None:
    with Kernel(scale_relu, "cuda", kernels=kernel_set) as device, Kernel(scale_relu, "cpu", kernels=kernel_set) as host:
        with device.alloc(4) as buffer:
            message = f"{ARRAY} or a Buffer on cpu, got <Buffer on cuda 0: 16 bytes>"
            with pytest.raises(InvalidArgument, match=re.escape(message)):
                host.launch(buffer, P)
        with host._opened.context.alloc(18) as odd, pytest.raises(InvalidArgument, match="a buffer of 18 bytes is no whole number of f32"):
            host.launch(odd, P)


def test_a_buffer_of_another_device_of_the_same_kind(gpu: Driver, kernel_set: KernelSet) -> None:
    gpu.device(1, gpu.vendor.arch)
    backend = gpu.vendor.backend
    with Kernel(scale_relu, backend, 0, kernel_set) as first, Kernel(scale_relu, backend, 1, kernel_set) as second:
        with second.alloc(4) as buffer, pytest.raises(InvalidArgument, match=f"on {backend} 0 .* got <Buffer on {backend} 1: 16 bytes>"):
            first.launch(buffer, P)


@params
class Pair:
    a: f32
    b: f32


def test_bytes_of_a_struct_that_only_its_kernel_knows() -> None:
    read = bytes_reader("pair", 8)
    assert read(Pair(a=0.0, b=2.0)) == read(bytearray(b"\0\0\0\0\0\0\0@")) == b"\0\0\0\0\0\0\0@"
    for wrong, got in ((b"\0", "got 1 bytes"), (3, "got int"), ([0] * 8, "got list"), (P, "got 4 bytes")):
        with pytest.raises(InvalidArgument, match=f"pair: expected 8 bytes, or an instance of a params class of that size, {got}"):
            read(wrong)
