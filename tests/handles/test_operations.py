"""`Kernel` for every operation but `map`, on every backend: what it computes, what it copies, and the arrays that it refuses."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gompute.errors import InvalidArgument
from gompute.handles.kernel import Kernel
from gompute.handles.kernel_set import KernelSet
from gompute.handles.raw_kernel import RawKernel
from gompute.lang import abi
from tests.driver.control import Driver
from tests.driver.kernels import Params, add, add_three, count_up, negate, pick, put, relu_twice, widen

P = Params(scale=1.5)


@pytest.fixture(params=["cpu", "cuda", "hip"])
def backend(request: pytest.FixtureRequest) -> str:
    """Every backend, the GPUs on their test drivers."""
    if request.param != "cpu":
        request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[request.param])
    return str(request.param)


def some(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).standard_normal(shape, dtype=np.float32)


X, Y = some(2, 500), some(3, 1000)[1].reshape(2, 500)
WHOLE = np.arange(-500, 500, dtype=np.int32)
SOURCE = np.linspace(0, 1, 100)
IDX = np.array([0, 99, -1, 100, 50, -(2**31), 2**31 - 1, 7], np.int32)
FAR = np.array([3, 200, 0, 99, 100, 255], np.uint8)


def gathered() -> np.ndarray:
    out = np.full(IDX.size, -7.0)
    valid = (IDX >= 0) & (IDX < 100)
    out[valid] = SOURCE[IDX[valid]]
    return out


def scattered() -> np.ndarray:
    out = np.full(100, -7.0)
    out[FAR[FAR < 100]] = SOURCE[:6][FAR < 100]
    return out


#: A kernel, its arrays (the last is the output), its params and what the output holds afterwards.
RUNS: dict[str, tuple[Any, tuple[np.ndarray, ...], tuple[Any, ...], np.ndarray]] = {
    "map_to": (widen, (X, np.zeros(X.shape)), (P,), X.astype(np.float64) * 1.5),
    "zip": (add, (X, Y, np.zeros_like(X)), (), X + Y),
    "zip of three": (
        add_three,
        (WHOLE, WHOLE.astype(np.int16), WHOLE.astype(np.int8), np.zeros(1000, np.int32)),
        (),
        WHOLE + WHOLE + WHOLE.astype(np.int8),
    ),
    "map_indexed": (count_up, (np.arange(1000, dtype=np.uint64),), (), 2 * np.arange(1000, dtype=np.uint64)),
    "fused": (relu_twice, (X,), (P,), np.maximum(X * np.float32(1.5) * np.float32(1.5), 0)),
    "gather": (pick, (SOURCE, IDX, np.full(IDX.size, -7.0)), (), gathered()),
    "scatter": (put, (SOURCE[:6], FAR, np.full(100, -7.0)), (), scattered()),
}


@pytest.mark.parametrize("case", RUNS)
def test_run(backend: str, kernel_set: KernelSet, case: str) -> None:
    spec, arrays, params, wanted = RUNS[case]
    *inputs, output = (array.copy() for array in arrays)
    for array in inputs:
        array.flags.writeable = False
    with Kernel(spec, backend, kernels=kernel_set) as kernel:
        for _ in range(2):
            output[...] = arrays[-1]
            kernel.run(*inputs, output, *params)
            assert np.array_equal(output, wanted)
            assert all(np.array_equal(array, before) for array, before in zip(inputs, arrays, strict=False))
        kernel.run(*(array[:0].copy() for array in arrays), *params)


@pytest.mark.parametrize("case", RUNS)
def test_launch(backend: str, kernel_set: KernelSet, case: str) -> None:
    spec, arrays, params, wanted = RUNS[case]
    with Kernel(spec, backend, kernels=kernel_set) as kernel:
        names = [operand.name for operand in kernel._plan.operands]  # type: ignore[union-attr]
        buffers = [kernel.alloc(array.size, name) for name, array in zip(names, arrays, strict=True)]
        for buffer, array in zip(buffers, arrays, strict=True):
            buffer.upload(array)
        kernel.launch(*buffers, *params)
        kernel.synchronize()
        got = np.empty_like(arrays[-1])
        buffers[-1].download(got)
        assert np.array_equal(got, wanted)
        for buffer in buffers:
            buffer.free()


@pytest.mark.parametrize("case", RUNS)
def test_a_raw_launch_takes_the_arguments_of_the_operation(backend: str, kernel_set: KernelSet, case: str) -> None:
    spec, arrays, params, wanted = RUNS[case]
    counts: tuple[int, ...] = (arrays[-1].size,)
    if case in ("gather", "scatter"):
        counts = (arrays[1].size, 100)
    block = {"zip of three": 64}.get(case, 256)
    with RawKernel(spec, backend, kernels=kernel_set) as kernel:
        buffers = [kernel.alloc(array.nbytes) for array in arrays]
        for buffer, array in zip(buffers, arrays, strict=True):
            buffer.upload(array)
        kernel.launch(-(-counts[0] // block), block, *buffers, *counts, *(abi.pack(value) for value in params))
        kernel.synchronize()
        got = np.empty_like(arrays[-1])
        buffers[-1].download(got)
        assert np.array_equal(got, wanted)
        for buffer in buffers:
            buffer.free()


def test_what_run_copies(gpu: Driver, kernel_set: KernelSet) -> None:
    """An output that is written whole is not copied in; one whose elements may be skipped is."""
    vendor = gpu.vendor
    for case, copies in {"map_to": 1, "zip": 2, "zip of three": 3, "map_indexed": 1, "fused": 1, "gather": 3, "scatter": 3}.items():
        spec, arrays, params, _ = RUNS[case]
        with Kernel(spec, vendor.backend, kernels=kernel_set) as kernel:
            kernel.run(*(array.copy() for array in arrays), *params)
            gpu.forget()
            kernel.run(*(array.copy() for array in arrays), *params)
            assert gpu.names == [*[vendor.copy_in] * copies, vendor.launch, vendor.synchronize, vendor.copy_out]


def test_the_output_may_be_an_input(backend: str, kernel_set: KernelSet) -> None:
    total = X.copy()
    with Kernel(add, backend, kernels=kernel_set) as kernel:
        kernel.run(total, Y, total)
        assert np.array_equal(total, X + Y)
        kernel.run(Y, total, total)
        assert np.array_equal(total, Y + (X + Y))
        with kernel.alloc(10) as buffer:
            buffer.upload(np.arange(10, dtype=np.float32))
            kernel.launch(buffer, buffer, buffer)
            kernel.synchronize()
            back = np.empty(10, np.float32)
            buffer.download(back)
    assert back.tolist() == [2 * n for n in range(10)]


def test_gather_from_an_empty_array_and_scatter_to_one(backend: str, kernel_set: KernelSet) -> None:
    out = np.full(IDX.size, -7.0)
    with Kernel(pick, backend, kernels=kernel_set) as kernel:
        kernel.run(np.empty(0), IDX, out)
    with Kernel(put, backend, kernels=kernel_set) as kernel:
        kernel.run(SOURCE[:6], FAR, np.empty(0))
    assert (out == -7).all()


ROOM = np.zeros(64)
FLOATS = np.zeros(64, np.float32)
SIX = np.zeros(6)

#: A kernel, its arguments, and what is said of them.
WRONG: dict[str, tuple[Any, Callable[[], tuple[Any, ...]], str]] = {
    "shape": (add, lambda: (X, Y.ravel(), X.copy()), "b: expected the shape of a, (2, 500), got (1000,)"),
    "output's shape": (widen, lambda: (X, ROOM, P), "out: expected the shape of in, (2, 500), got (64,)"),
    "order": (
        add,
        lambda: (X, np.asfortranarray(X), X.copy()),
        "b: its elements lie in another order than those of a: pass both through numpy.ascontiguousarray",
    ),
    "read-only output": (
        add,
        lambda: (X, Y, np.broadcast_to(np.float32(0), X.shape)),
        "out: expected a contiguous, writable NumPy array of f32 (float32), got a read-only one: pass numpy.array(out), a copy",
    ),
    "type of an input": (
        widen,
        lambda: (ROOM, ROOM.copy(), P),
        "in: expected a contiguous NumPy array of f32 (float32), got float64: pass in.astype('float32'), or use a kernel of that type",
    ),
    "overlap": (
        add,
        lambda: (FLOATS[:32], FLOATS[32:], FLOATS[1:33]),
        "out: shares memory with a: pass another array, or a.copy()",
    ),
    "overlap of another type": (
        widen,
        lambda: (ROOM.view(np.float32)[:64], ROOM, P),
        "out: shares memory with in: pass another array, or in.copy()",
    ),
    "gather in place": (
        pick,
        lambda: (SIX, np.zeros(6, np.int32), SIX),
        "out: shares memory with src: pass another array, or src.copy()",
    ),
    "scatter in place": (
        put,
        lambda: (SIX, np.zeros(6, np.uint8), SIX),
        "out: shares memory with src: pass another array, or src.copy()",
    ),
    "Fortran order of what is indexed": (
        pick,
        lambda: (np.asfortranarray(np.zeros((2, 3))), np.zeros(6, np.int32), np.zeros(6)),
        "src: is in Fortran order, and indices count in C order: pass numpy.ascontiguousarray(src)",
    ),
    "indices": (
        put,
        lambda: (SIX, np.zeros(5, np.uint8), np.zeros(9)),
        "idx: expected the shape of src, (6,), got (5,)",
    ),
    "one missing": (add, lambda: (X, Y), "run of kernel 'add' takes (a, b, out): out is missing"),
    "params missing": (widen, lambda: (X, X.astype(float)), "run of kernel 'widen' takes (in, out, params): params is missing"),
    "one too many": (pick, lambda: (SIX, SIX, SIX, SIX), "run of kernel 'pick' takes (src, idx, out): got 4 arguments, 1 too many"),
    "params of no elements": (
        widen,
        lambda: (FLOATS[:0], ROOM[:0], 2.0),
        "params: expected an instance of Params or 4 bytes from g.abi.pack, got float",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_arrays_that_run_does_not_take(backend: str, kernel_set: KernelSet, case: str) -> None:
    spec, make, message = WRONG[case]
    with Kernel(spec, backend, kernels=kernel_set) as kernel, pytest.raises(InvalidArgument) as caught:
        kernel.run(*make())
    assert str(caught.value) == message


def test_buffers_of_different_lengths(backend: str, kernel_set: KernelSet) -> None:
    with Kernel(add, backend, kernels=kernel_set) as kernel, kernel.alloc(4) as four, kernel.alloc(5) as five:
        with pytest.raises(InvalidArgument, match=re.escape("out: expected as many elements as a has, 4, got 5")):
            kernel.launch(four, four, five)


def test_alloc_where_elements_differ_in_size(kernel_set: KernelSet) -> None:
    with Kernel(widen, "cpu", kernels=kernel_set) as kernel:
        for name, size in (("in", 12), ("out", 24)):
            with kernel.alloc(3, name) as buffer:
                assert buffer.nbytes == size
        message = "array: the elements of kernel 'widen' differ in size (in: f32, out: f64): say whose are meant, as in alloc(count, 'out')"
        with pytest.raises(InvalidArgument, match=re.escape(message)):
            kernel.alloc(3)
        with pytest.raises(InvalidArgument, match="array: kernel 'widen' has no 'data'; its arrays are in, out"):
            kernel.alloc(3, "data")
    with Kernel(negate, "cpu", kernels=kernel_set) as kernel, kernel.alloc(3, "data") as buffer:
        assert buffer.nbytes == 12
