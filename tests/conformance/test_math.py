"""The functions of `gompute.math` on the CPU backend, with the bits that they have to have everywhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gompute as g
from gompute.artifacts.kernel_set import KernelSet
from tests.conformance import math_kernels
from tests.conformance.comparison import same_bits
from tests.conformance.math_cases import math_case

SPECS = {spec.name: spec for spec in math_kernels.KERNELS}
NAMES = [name for name in SPECS if not getattr(g.math, name.rpartition("_")[0]).exact]


@pytest.fixture(scope="module")
def math_set(tmp_path_factory: pytest.TempPathFactory) -> KernelSet:
    out = tmp_path_factory.mktemp("conformance") / "set"
    command = [sys.executable, "-m", "gompute", "build", str(Path(math_kernels.__file__)), "-o", str(out), "--target", "x86-64-v3"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return KernelSet.open(out)


@pytest.mark.parametrize("name", NAMES)
def test_the_cpu_gives_these_bits(name: str, math_set: KernelSet) -> None:
    case = math_case(*name.rpartition("_")[::2])
    arguments = tuple(value.copy() for value in case.arguments)
    with g.Kernel(SPECS[name], "cpu", kernels=math_set, threads=1) as kernel:
        kernel.run(*arguments)
    for position, wanted in case.expected.items():
        same_bits(arguments[position], wanted)
    for position, value in enumerate(case.arguments):
        if position not in case.expected:
            np.testing.assert_array_equal(arguments[position], value)
