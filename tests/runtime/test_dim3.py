from __future__ import annotations

import re

import numpy as np
import pytest

from gompute.errors import InvalidArgument
from gompute.runtime.dim3 import MAX_BLOCKS, Dim3


@pytest.mark.parametrize(("given", "expected"), [(7, (7, 1, 1)), ((2, 3), (2, 3, 1)), ([2, 3, 4], (2, 3, 4)), (np.int64(5), (5, 1, 1))])
def test_a_size_is_an_int_or_up_to_three(given: object, expected: tuple[int, int, int]) -> None:
    assert Dim3.of(given, "grid") == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (0, "grid: every size must be at least 1, got (0, 1, 1)"),
        ((1, -2), "grid: every size must be at least 1, got (1, -2, 1)"),
        ((1, 1, 1, 1), "grid: expected an int or one to three ints, got 4"),
        ((), "grid: expected an int or one to three ints, got 0"),
        (2.0, "grid: expected an int or a tuple of one to three ints, got 2.0"),
        ("8", "grid: expected an int or a tuple of one to three ints, got '8'"),
    ],
)
def test_other_sizes_are_refused(given: object, message: str) -> None:
    with pytest.raises(InvalidArgument, match=re.escape(message)):
        Dim3.of(given, "grid")  # type: ignore[arg-type]


@pytest.mark.parametrize(("count", "block", "blocks"), [(1, 256, 1), (256, 256, 1), (257, 256, 2), (2**33 + 1, 256, 2**25 + 1)])
def test_a_linear_grid_covers_every_element(count: int, block: int, blocks: int) -> None:
    assert Dim3.linear(count, block) == (blocks, 1, 1)


def test_a_linear_grid_is_never_clamped() -> None:
    assert Dim3.linear(MAX_BLOCKS * 64, 64) == (2**31 - 1, 1, 1)
    with pytest.raises(
        InvalidArgument, match=r"137438953409 elements in blocks of 64 need 2147483648 blocks; a grid has at most 2147483647"
    ):
        Dim3.linear(MAX_BLOCKS * 64 + 1, 64)


@pytest.mark.parametrize(("count", "block"), [(0, 256), (-1, 256), (1, 0)])
def test_a_linear_grid_needs_something_to_cover(count: int, block: int) -> None:
    with pytest.raises(InvalidArgument, match="at least one element and one work-item"):
        Dim3.linear(count, block)
