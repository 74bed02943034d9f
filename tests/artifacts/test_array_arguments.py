"""Arrays with a shape in the name table: what is written, read back, and refused."""

from __future__ import annotations

from typing import Any

import pytest

from gompute.artifacts.entry import ArgumentEntry, KernelEntry
from gompute.artifacts.name_table import kernel_from_json, kernel_to_json
from gompute.errors import ArtifactError

ENTRY = KernelEntry(
    "k",
    "k",
    "kernel",
    (
        ArgumentEntry("a", "array", "f32", 8, 8, 2),
        ArgumentEntry("a.shape[0]", "extent", "u64", 8, 8),
        ArgumentEntry("a.shape[1]", "extent", "u64", 8, 8),
        ArgumentEntry("n", "scalar", "u64", 8, 8),
    ),
    (64, 1, 1),
)


def test_an_array_is_its_pointer_and_its_extents() -> None:
    written = kernel_to_json(ENTRY)
    assert written["signature"] == "kernel(a: array[f32, 2], n: u64) block<=64,1,1"
    assert written["arguments"][:2] == [
        {"align": 8, "dtype": "f32", "kind": "array", "name": "a", "ndim": 2, "size": 8},
        {"align": 8, "dtype": "u64", "kind": "extent", "name": "a.shape[0]", "size": 8},
    ]
    assert kernel_from_json(written) == ENTRY


@pytest.mark.parametrize(
    ("position", "change", "message"),
    [
        (0, {"ndim": 3}, "must have as many extents after each array as it has dimensions, and are array, extent, extent, scalar"),
        (0, {"kind": "pointer"}, "an array, and nothing else, has ndim, and an extent is a u64"),
        (0, {"ndim": 9}, "ndim"),
        (0, {"ndim": 0}, "ndim"),
        (1, {"dtype": "u32", "size": 4, "align": 4}, "an array, and nothing else, has ndim, and an extent is a u64"),
        (1, {"ndim": 1}, "an array, and nothing else, has ndim, and an extent is a u64"),
        (2, {"kind": "scalar"}, "must have as many extents after each array as it has dimensions, and are array, extent, scalar, scalar"),
        (3, {"kind": "extent"}, "must have as many extents after each array as it has dimensions, and are array, extent, extent, extent"),
        (3, {"kind": "view"}, "must be pointer, array, extent, scalar, params or bytes, is 'view'"),
    ],
)
def test_what_is_no_array_is_refused(position: int, change: dict[str, Any], message: str) -> None:
    written = kernel_to_json(ENTRY)
    written["arguments"][position] |= change
    with pytest.raises(ArtifactError, match=".") as caught:
        kernel_from_json(written)
    assert message in str(caught.value)
