"""Local and shared arrays as arguments of device functions: an instance for each kind of memory, and the same numbers on the host."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gompute as g
from gompute import array, f32, ptr, u64
from gompute.errors import InvalidArgument
from tests.frontend.authoring import compiled, faults, write


def fill(values: ptr[f32], count: u64, x: f32) -> None:
    for i in range(count):
        values[i] = x + f32(i)


def total(values: array[f32, 2]) -> f32:
    made = f32(0)
    for i in range(len(values)):
        for j in range(values.shape[1]):
            made = made * 2 + values[i, j]
    return made


@g.map
def by_functions(x: f32) -> f32:
    own = g.local(f32, (2, 3))
    fill(own, 6, x)
    first = total(own)
    own = g.local(f32, (2, 3))  # cleared again, though a function has seen it
    fill(own, 2, x)
    return first - total(own)


@g.map
def too_far(x: f32) -> f32:
    own = g.local(f32, 4)
    fill(own, 5, x)
    return own[0]


def test_a_host_call_passes_local_arrays() -> None:
    def folded(values: list[float]) -> float:
        made = 0.0
        for value in values:
            made = made * 2 + value
        return made

    assert by_functions(3.0) == folded([3, 4, 5, 6, 7, 8]) - folded([3, 4, 0, 0, 0, 0])
    with pytest.raises(InvalidArgument, match="index 4 is outside local array 'values', which has 4 elements"):
        too_far(1.0)


MODULE = """
def put(values: ptr[f32], i: u64) -> None:
    values[i] += 1.0

@g.kernel
def k(data: ptr[f32]):
    i = g.local_id(0)
    tile = g.shared(f32, 256)
    own = g.local(f32, 4)
    put(data, i)
    put(tile, i)
    put(own, i % 4)
    put(data, i + 1)
    data[i] = tile[i] + own[i % 4]
"""


@pytest.mark.parametrize(
    ("target", "pointers"),
    [
        ("sm_90", {"ptr addrspace(1)", "ptr addrspace(3)", "ptr"}),
        ("gfx1100", {"ptr addrspace(1)", "ptr addrspace(3)", "ptr addrspace(5)"}),
    ],
)
def test_a_function_is_there_once_for_each_kind_of_memory(target: str, pointers: set[str], tmp_path: Path) -> None:
    ir = compiled(write(tmp_path, MODULE), target).ir
    made = re.findall(r"define internal void @(put_\w+)\((ptr[^%]*) %", ir)
    assert len(made) == 3 == len({name for name, _ in made})
    assert {pointer for _, pointer in made} == pointers
    assert len(re.findall(r"call void @put_", ir)) == 4


def test_a_mistake_in_a_call_hides_none_in_the_function(tmp_path: Path) -> None:
    found = faults(
        tmp_path,
        """
        def put(values: ptr[f32], i: u64) -> None:
            values[i] = missing

        @g.kernel
        def k(data: ptr[f32]):
            put(data, unknown)
        """,
    )
    assert "'missing'" in found
    assert "'unknown'" in found
    assert found.endswith("2 faults in root.py")
