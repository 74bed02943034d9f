"""The conformance suite on the CPU backend: every case gives NumPy's bits, on one thread and on several."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gompute as g
from gompute.lang.tiled import Tiled
from tests.conformance.cases import Case, cases
from tests.conformance.comparison import same_bits
from tests.conformance.loading import root, spec
from tests.conformance.running import stored

CASES = cases()
IDS = [f"{i}-{case.kernel}" for i, case in enumerate(CASES)]


def run(case: Case, kernels: Any, threads: int) -> tuple[tuple[Any, ...], Any]:
    """The arguments afterwards, and what the call gave."""
    given = None
    arguments = tuple(value.copy() if isinstance(value, np.ndarray) else value for value in case.arguments)
    if case.grid is None:
        with g.Kernel(spec(case.kernel), "cpu", kernels=kernels, threads=threads) as kernel:
            given = kernel.run(*arguments)
    else:
        with g.RawKernel(case.kernel, "cpu", kernels=kernels, threads=threads) as kernel:
            kernel.launch(case.grid, case.block, *arguments)
            kernel.synchronize()
    return arguments, given


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_cpu_gives_the_expected_bits(case: Case, threads: int, conformance_set: Any) -> None:
    after, given = run(case, conformance_set, threads)
    if case.result is not None:
        same_bits(stored(given, case.result.dtype), case.result)
    for position, wanted in case.expected.items():
        same_bits(after[position], wanted)


def test_every_kernel_of_the_root_has_a_case(conformance_set: Any) -> None:
    assert {case.kernel for case in CASES} == set(conformance_set.kernels)


def test_the_output_may_be_an_input(conformance_set: Any) -> None:
    x, y = np.random.default_rng(3).standard_normal((2, 140_003), dtype=np.float32)
    p = root().Params(True, 0.1, root().Mode.KEEP, root().Inner(0, 0), (0, 0, 0), 0)
    wanted = np.float32(0.1) * x + y
    for threads in (1, 4):
        total = y.copy()
        with g.Kernel(spec("axpy"), "cpu", kernels=conformance_set, threads=threads) as kernel:
            kernel.run(x, total, total, p)
        same_bits(total, wanted)
    bits = np.arange(1000, dtype=np.uint8)
    with g.Kernel(spec("same_type"), "cpu", kernels=conformance_set) as kernel:
        kernel.run(bits, bits)
    same_bits(bits, ~np.arange(1000, dtype=np.uint8))


#: The arguments that are no array come last, but for the place of a map_indexed.
CALLABLE = [
    case
    for case in CASES
    if case.grid is None
    and spec(case.kernel).body
    and not isinstance(spec(case.kernel).operation, Tiled)
    and case.arguments[0].dtype != np.uint16
]


@pytest.mark.parametrize("case", CALLABLE, ids=[case.kernel for case in CALLABLE])
def test_a_host_call_gives_the_same_numbers(case: Case) -> None:
    declared = spec(case.kernel)
    arrays = [argument for argument in case.arguments if isinstance(argument, np.ndarray)]
    params = case.arguments[len(arrays) :]
    ((position, wanted),) = case.expected.items()
    inputs = arrays[: position or 1]
    got = []
    for place, values in enumerate(zip(*(array.ravel()[:300] for array in inputs), strict=True)):
        index = (place,) if declared.kind == "map_indexed" else ()
        got.append(declared(*(value.item() for value in values), *index, *params))
    same_bits(np.array(got, wanted.dtype), wanted.ravel()[:300])
