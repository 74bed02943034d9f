"""The conformance suite on the CPU backend: every case gives NumPy's bits, on one thread and on several."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gompute as g
from tests.conformance.cases import Case, cases
from tests.conformance.loading import root

CASES = cases()
IDS = [f"{i}-{case.kernel}" for i, case in enumerate(CASES)]


def same_bits(got: np.ndarray, wanted: np.ndarray) -> None:
    """Equal bit for bit; a NaN equals any NaN, since payloads are free."""
    assert got.dtype == wanted.dtype
    if got.dtype.kind == "f":
        nan = np.isnan(wanted)
        np.testing.assert_array_equal(np.isnan(got), nan)
        got, wanted = got[~nan], wanted[~nan]
    different = np.flatnonzero(
        got.reshape(-1).view(np.uint8).reshape(got.size, -1) != wanted.reshape(-1).view(np.uint8).reshape(got.size, -1)
    )
    assert not different.size, f"got {got.ravel()[:20]}, wanted {wanted.ravel()[:20]}"


def run(case: Case, kernels: Any, threads: int) -> tuple[Any, ...]:
    arguments = tuple(value.copy() if isinstance(value, np.ndarray) else value for value in case.arguments)
    if case.grid is None:
        spec = next(spec for spec in vars(root()).values() if getattr(spec, "name", None) == case.kernel and hasattr(spec, "interface"))
        with g.Kernel(spec, "cpu", kernels=kernels, threads=threads) as kernel:
            kernel.run(*arguments)
    else:
        with g.RawKernel(case.kernel, "cpu", kernels=kernels, threads=threads) as kernel:
            kernel.launch(case.grid, case.block, *arguments)
            kernel.synchronize()
    return arguments


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_cpu_gives_the_expected_bits(case: Case, threads: int, conformance_set: Any) -> None:
    after = run(case, conformance_set, threads)
    for position, wanted in case.expected.items():
        same_bits(after[position], wanted)


def test_every_kernel_of_the_root_has_a_case(conformance_set: Any) -> None:
    assert {case.kernel for case in CASES} == set(conformance_set.kernels)


MAPS = [case for case in CASES if case.grid is None and case.arguments[0].dtype != np.uint16]


@pytest.mark.parametrize("case", MAPS, ids=[case.kernel for case in MAPS])
def test_a_host_call_gives_the_same_numbers(case: Case) -> None:
    spec = next(spec for spec in vars(root()).values() if getattr(spec, "name", None) == case.kernel and hasattr(spec, "interface"))
    data, *params = case.arguments
    got = np.array([spec(value.item(), *params) for value in data.ravel()], data.dtype)
    same_bits(got, case.expected[0].ravel())
