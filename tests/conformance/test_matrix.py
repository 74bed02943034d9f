"""The root that is made by a rule, and the values that others got wrong: on the CPU, and as PTX in the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gompute as g
from gompute.backends import ptxas
from gompute.targets import parse_target
from tests.conformance import matrix, traps
from tests.conformance.cases import Case
from tests.conformance.comparison import same_bits
from tests.conformance.conftest import TARGETS
from tests.conformance.sets import matrix_set
from tests.conformance.test_ptx_values import ARCHES
from tests.conformance.test_ptx_values import run as run_ptx
from tests.driver.control import Driver
from tests.ptx.device import interpreted

__all__ = ["matrix_set"]

CASES = matrix.cases()


def run_cpu(case: Case, kernels: Any) -> list[Any]:
    """A raw kernel's arguments after a launch."""
    arguments = [value.copy() if isinstance(value, np.ndarray) else value for value in case.arguments]
    assert case.grid is not None
    with g.RawKernel(case.kernel, "cpu", kernels=kernels, threads=2) as kernel:
        kernel.launch(case.grid, case.block, *arguments)
        kernel.synchronize()
    return arguments


@pytest.mark.parametrize("case", CASES, ids=[case.kernel for case in CASES])
def test_the_cpu_gives_the_expected_bits(case: matrix.MatrixCase, matrix_set: Any) -> None:
    after = run_cpu(case, matrix_set)
    for position, wanted in case.expected.items():
        same_bits(after[position], wanted, position in case.bfloat)


@pytest.mark.parametrize("target", ["sm_75", "sm_120"])
@pytest.mark.parametrize("case", CASES, ids=[case.kernel for case in CASES])
def test_ptx_gives_the_expected_bits(case: matrix.MatrixCase, target: str, matrix_set: Any, nvidia: Driver) -> None:
    with interpreted(nvidia, ARCHES[target]):
        after = run_ptx(case, matrix_set)
    for position, wanted in case.expected.items():
        same_bits(after[position], wanted, position in case.bfloat)


@pytest.mark.parametrize("case", traps.cases(), ids=[case.kernel for case in traps.cases()])
def test_the_cpu_falls_into_no_trap(case: Case, conformance_set: Any) -> None:
    after = run_cpu(case, conformance_set)
    for position, wanted in case.expected.items():
        same_bits(after[position], wanted)


def test_every_kernel_has_a_case_and_every_target_the_kernels(matrix_set: Any) -> None:
    assert {case.kernel for case in CASES} == set(matrix_set.kernels)
    for target in TARGETS:
        assert set(matrix_set.unit("matrix", parse_target(target)).kernels) == set(matrix_set.kernels)


@pytest.mark.parametrize("target", [target for target in TARGETS if target.startswith("sm_")])
def test_ptxas_takes_it(target: str, matrix_set: Any) -> None:
    parsed = parse_target(target)
    made = ptxas.assemble(matrix_set.blob("matrix", parsed, "ptx"), parsed.arch, "matrix")
    assert set(made.resources) >= {case.kernel for case in CASES}
