"""Arrays with a shape as launch arguments."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from gompute.artifacts.entry import ArgumentEntry
from gompute.errors import InvalidArgument
from gompute.handles.views import view_reader
from gompute.runtime.buffer import Buffer
from gompute.runtime.cpu import HOST_MEMORY

GRID = ArgumentEntry("grid", "array", "f32", 8, 8, 2)


def read(value: Any, *, on_host: bool = True, argument: ArgumentEntry = GRID) -> tuple[int, ...]:
    def address_of(buffer: Any) -> int:
        assert isinstance(buffer, Buffer)
        return buffer.device_addr

    return view_reader(argument, address_of, on_host=on_host)(value)


def test_an_array_gives_its_address_and_its_shape() -> None:
    data = np.zeros((3, 5), np.float32)
    assert read(data) == (data.ctypes.data, 3, 5)
    line = ArgumentEntry("line", "array", "bool", 8, 8, 1)
    flags = np.zeros(4, bool)
    assert read(flags, argument=line) == (flags.ctypes.data, 4)
    assert read(np.zeros((0, 5), np.float32))[1:] == (0, 5)


def test_a_buffer_comes_with_a_shape() -> None:
    with HOST_MEMORY.allocate(80) as buffer:
        for on_host in (True, False):
            assert read((buffer, (4, 5)), on_host=on_host) == (buffer.device_addr, 4, 5)
            assert read((buffer, [np.int64(2), 5]), on_host=on_host) == (buffer.device_addr, 2, 5)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros(3, np.float32), "grid: expected an array of f32 with a shape of 2 dimensions, got the shape (3,)"),
        (np.zeros((2, 3, 4), np.float32), "grid: expected an array of f32 with a shape of 2 dimensions, got the shape (2, 3, 4)"),
        (
            np.zeros((2, 3)),
            "grid: expected a contiguous, writable NumPy array of f32 (float32) or (buffer, shape) on cpu, got float64",
        ),
        (np.zeros((4, 6), np.float32)[:, ::2], "got shape (4, 3) with strides (24, 8): pass numpy.ascontiguousarray(grid)"),
        (
            np.asfortranarray(np.zeros((4, 6), np.float32)),
            "grid: is in Fortran order, and indices count in C order: pass numpy.ascontiguousarray(grid)",
        ),
        (
            [[1.0]],
            "grid: expected a NumPy array or (buffer, shape) with elements of f32 and a shape of 2 dimensions, got list",
        ),
    ],
)
def test_what_is_no_such_array_is_named(value: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=re.escape(message)):
        read(value)


def test_a_device_takes_no_array_of_the_host() -> None:
    message = "grid: expected (buffer, shape) with elements of f32 and a shape of 2 dimensions, got a NumPy array of float32"
    with pytest.raises(InvalidArgument, match=re.escape(message)):
        read(np.zeros((2, 3), np.float32), on_host=False)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((20,), "grid: expected a shape of 2 dimensions, got (20,)"),
        (20, "grid: expected a shape of 2 dimensions, got (20,)"),
        ((4, 6), "grid: (4, 6) elements of f32 take 96 bytes, and the buffer has 80"),
        ((2**40, 2**40), "and the buffer has 80"),
        ((2.0, 5), "grid: expected a shape of whole numbers, got (2.0, 5)"),
        ((-1, 5), "grid: a dimension of -1 elements; expected 0 or more, below 2**63"),
        ((0, 2**63), "grid: a dimension of 9223372036854775808 elements; expected 0 or more, below 2**63"),
    ],
)
def test_shapes_that_are_refused(shape: Any, message: str) -> None:
    with HOST_MEMORY.allocate(80) as buffer, pytest.raises(InvalidArgument, match=re.escape(message)):
        read((buffer, shape))
