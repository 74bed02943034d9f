"""The conformance suite's kernels whose work-items meet: values on every backend, and the device code that the toolchains take."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gompute.artifacts.kernel_set import KernelSet
from gompute.backends import codeobject
from gompute.targets import parse_target
from tests.conformance.block_cases import cases
from tests.conformance.case import Case
from tests.conformance.comparison import same_bits
from tests.conformance.conftest import TARGETS
from tests.conformance.running import launched
from tests.driver.control import Driver

CASES = cases()
IDS = [case.kernel for case in CASES]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_cpu_gives_the_expected_bits(case: Case, threads: int, block_set: KernelSet) -> None:
    for _ in range(2):  # again with the memory of the first launch
        after = launched(case, "cpu", block_set, threads=threads)
        for position, wanted in case.expected.items():
            same_bits(after[position], wanted)


def test_every_kernel_of_the_root_has_a_case(block_set: KernelSet) -> None:
    assert set(IDS) == set(block_set.kernels)


@pytest.fixture(params=["cuda", "hip"])
def device(request: pytest.FixtureRequest, block_set_path: Path) -> str:
    driver: Driver = request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[request.param])
    driver.reset(next(block_set_path.glob("*x86-64-v3.so")))
    return str(request.param)


def test_launches_through_the_drivers(device: str, block_set: KernelSet) -> None:
    for case in CASES:
        after = launched(case, device, block_set)
        for position, wanted in case.expected.items():
            same_bits(after[position], wanted)


def assembled(kernels: KernelSet, name: str, target: str) -> str:
    """A kernel's PTX."""
    text = kernels.blob("blocks", parse_target(target), "ptx").decode()
    body = text[text.index(f".entry {name}(") :]
    return body[: body.index("\n}")]


@pytest.mark.parametrize("target", [t for t in TARGETS if t.startswith("sm_")])
def test_ptxas_takes_every_kernel(target: str, block_set: KernelSet) -> None:
    cubin = block_set.blob("blocks", parse_target(target), "cubin")
    for name in block_set.kernels:
        assert f".text.{name}\0".encode() in cubin
    shared = {name: block_set.entry(name, parse_target(target)).resources.shared for name in block_set.kernels}
    # Some architectures keep a kilobyte for themselves.
    assert shared["matmul"] - shared["votes"] == 16 * 16 * 4 + 16 * 17 * 4 and shared["moments"] - shared["votes"] == 2048
    assert "bar.sync" in assembled(block_set, "matmul", target) and "bar.sync" not in assembled(block_set, "without_barriers", target)
    assert "atom.shared.add.u32" in assembled(block_set, "histogram_by_block", target)
    assert re.search(r"(red|atom)\.global\.add\.u32", assembled(block_set, "histogram", target))
    assert re.search(r"shfl\.sync\.down\.b32\s.*, 16, 31, -1;", assembled(block_set, "sum_by_warps", target))


@pytest.mark.parametrize("target", [t for t in TARGETS if t.startswith("gfx")])
def test_a_code_object_describes_every_kernel(target: str, block_set: KernelSet) -> None:
    found = codeobject.read(block_set.blob("blocks", parse_target(target), "hsaco"))
    assert found.kernels.keys() == set(block_set.kernels)
    for name, kernel in found.kernels.items():
        entry = block_set.entry(name, parse_target(target))
        assert [argument.size for argument in kernel.arguments] == [argument.size for argument in entry.arguments]
    assert found.kernels["matmul"].shared == 16 * 16 * 4 + 16 * 17 * 4
    assert found.kernels["moments"].shared == 2048
    assert found.kernels["reverse"].shared == 0


def test_a_blob_holds_what_a_view_passes(block_set: KernelSet) -> None:
    entry = block_set.entry("matmul", parse_target("sm_90"))
    assert [(argument.name, argument.kind, argument.ndim) for argument in entry.arguments[:4]] == [
        ("a", "array", 2),
        ("a.shape[0]", "extent", 0),
        ("a.shape[1]", "extent", 0),
        ("b", "array", 2),
    ]
    assert entry.signature == "kernel(a: array[f32, 2], b: array[f32, 2], c: array[f32, 2]) block<=16,16,1"
