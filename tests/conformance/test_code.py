"""The conformance suite's device code: ptxas assembles it, lld links it, and the metadata names every kernel and argument."""

from __future__ import annotations

from typing import Any

import pytest

from gompute.targets import parse_target
from tests.conformance.conftest import TARGETS


@pytest.mark.parametrize("target", [t for t in TARGETS if t.startswith("sm_")])
def test_ptxas_takes_every_kernel(target: str, conformance_set: Any) -> None:
    cubin = conformance_set.blob("kernels", parse_target(target), "cubin")
    assert cubin[:4] == b"\x7fELF"
    for name in conformance_set.kernels:
        assert f".text.{name}\0".encode() in cubin
        assert conformance_set.entry(name, parse_target(target)).resources.registers > 0


@pytest.mark.parametrize("target", [t for t in TARGETS if t.startswith("gfx")])
def test_a_code_object_describes_every_kernel(target: str, conformance_set: Any) -> None:
    from gompute.backends import codeobject

    found = codeobject.read(conformance_set.blob("kernels", parse_target(target), "hsaco"))
    assert found.kernels.keys() == set(conformance_set.kernels)
    for name, kernel in found.kernels.items():
        entry = conformance_set.entry(name, parse_target(target))
        assert [argument.size for argument in kernel.arguments] == [argument.size for argument in entry.arguments]
        x, y, z = entry.block_size
        assert kernel.max_block == x * y * z


def test_a_product_and_a_sum_are_not_contracted(conformance_set: Any) -> None:
    ptx = conformance_set.blob("kernels", parse_target("sm_90"), "ptx").decode()
    body = ptx[ptx.index(".entry taps(") :]
    body = body[: body.index("\n}")]
    assert "mul.rn.f32" in body
    assert "add.rn.f32" in body
    assert "fma" not in body
