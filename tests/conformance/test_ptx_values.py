"""The conformance suite compiled to PTX and interpreted: every case gives the bits that it gives on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gompute as g
from tests.conformance import block_cases, traps
from tests.conformance.cases import Case, cases
from tests.conformance.comparison import same_bits
from tests.conformance.loading import spec
from tests.conformance.running import launched as launched_blocks
from tests.conformance.sets import block_ptx_set, ptx_set
from tests.driver.control import Driver
from tests.ptx.device import interpreted

__all__ = ["block_ptx_set", "ptx_set"]

CASES = cases() + traps.cases()
ARCHES = {"sm_75": "7.5", "sm_90": "9.0", "sm_120": "12.0"}


def run(case: Case, kernels: Any) -> tuple[Any, ...]:
    """The case's arguments after a launch, each array in an allocation of its own."""
    given = case.launched[0]
    arrays = [value for value in given if isinstance(value, np.ndarray)]
    handle: Any = (
        g.Kernel(spec(case.kernel), "cuda", kernels=kernels) if case.grid is None else g.RawKernel(case.kernel, "cuda", kernels=kernels)
    )
    with handle:
        context = handle._opened.context
        buffers = [context.alloc(array.nbytes) for array in arrays]
        for buffer, array in zip(buffers, arrays, strict=True):
            buffer.upload(np.ascontiguousarray(array if array.flags.c_contiguous else array.T))
        waiting = iter(buffers)
        arguments = [next(waiting) if isinstance(value, np.ndarray) else value for value in given]
        if case.grid is None:
            handle.launch(*arguments)
        else:
            handle.launch(case.grid, case.block, *arguments)
        handle.synchronize()
        after = []
        waiting = iter(buffers)
        for value in given:
            if isinstance(value, np.ndarray):
                value = np.empty_like(value)
                next(waiting).download(value if value.flags.c_contiguous else value.T)
            after.append(value)
        for buffer in buffers:
            buffer.free()
    return tuple(after)


@pytest.mark.parametrize("target", ARCHES)
@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{case.kernel}" for i, case in enumerate(CASES)])
def test_ptx_gives_the_expected_bits(case: Case, target: str, ptx_set: Any, nvidia: Driver) -> None:
    with interpreted(nvidia, ARCHES[target]) as device:
        after = run(case, ptx_set)
    assert device.kernels
    for position, wanted in case.launched[1].items():
        same_bits(after[position], wanted)


@pytest.mark.parametrize("target", ARCHES)
@pytest.mark.parametrize("case", block_cases.cases(), ids=[case.kernel for case in block_cases.cases()])
def test_work_items_that_meet_give_the_expected_bits(case: Case, target: str, block_ptx_set: Any, nvidia: Driver) -> None:
    with interpreted(nvidia, ARCHES[target]):
        after = launched_blocks(case, "cuda", block_ptx_set)
    for position, wanted in case.expected.items():
        same_bits(after[position], wanted)
