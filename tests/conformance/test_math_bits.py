"""`g.math` gives the same bits as CPU code and as PTX; what bits those are is for the tests of the functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gompute.math
from gompute.lang.math_function import NAMES
from tests.fuzz import running
from tests.fuzz.programs import Program
from tests.language import numbers

FUNCTIONS = [(kind, name) for kind in ("f32", "f64", "f16", "bf16") for name in NAMES]


def _program(number: int, kind: str, name: str) -> Program:
    inputs = (kind,) * getattr(gompute.math, name).arity
    arguments = ", ".join(f"x{i}: {kind}" for i in range(len(inputs)))
    given = ", ".join(f"x{i}" for i in range(len(inputs)))
    operation = "zip" if len(inputs) > 1 else "map_to"
    text = f"@g.{operation}(block_size=64)\ndef k{number}({arguments}) -> {kind}:\n    return g.math.{name}({given})"
    return Program(f"k{number}", (text,), operation, inputs, kind, False)


PROGRAMS = [_program(number, kind, name) for number, (kind, name) in enumerate(FUNCTIONS)]


def _near_one(kind: str, seed: int) -> running.Array:
    """Half of them edges and numbers from everywhere, half from the domain of arcs."""
    mixed = running.inputs(kind, seed + 5)
    small = np.random.default_rng(seed).uniform(-1.1, 1.1, mixed.size)
    return np.where(np.arange(mixed.size) % 2 == 0, mixed, numbers.to_bits(numbers.cast(small, "f64", kind), kind).astype(mixed.dtype))


@pytest.fixture(scope="module")
def code() -> Any:
    return running.compiled(PROGRAMS, ("sm_75",))


@pytest.fixture(scope="module")
def machine(code: Any) -> Any:
    return running.machine_of(code.ptx["sm_75"])


@pytest.mark.parametrize("program", PROGRAMS, ids=[f"{name}-{kind}" for kind, name in FUNCTIONS])
def test_cpu_and_ptx_agree(program: Program, code: Any, machine: Any) -> None:
    for inputs in (running.inputs, _near_one) if program.result in ("f32", "f64") else (_near_one,):
        arrays = [inputs(kind, place) for place, kind in enumerate(program.inputs)]
        cpu, ptx = running.on_cpu(program, code.cpu, arrays), running.on_ptx(program, machine, arrays)
        different = running.differs(program.result, ptx, cpu)
        shown = [numbers.from_bits(array, kind)[different].tolist() for array, kind in zip(arrays, program.inputs, strict=True)]
        assert not different.any(), shown
