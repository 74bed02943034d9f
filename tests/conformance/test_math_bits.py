"""`g.math` gives the same bits as CPU code and as PTX; what bits those are is for the tests of the functions."""

from __future__ import annotations

from typing import Any

import pytest

from gompute.math import f32, f64
from tests.fuzz import running
from tests.fuzz.programs import Program
from tests.language import numbers

FUNCTIONS = [*(("f32", name) for name in sorted(f32.BODIES)), *(("f64", name) for name in sorted(f64.BODIES))]
_TWO = ("pow", "atan2", "hypot")


def _program(number: int, kind: str, name: str) -> Program:
    inputs = (kind, kind) if name in _TWO else (kind,)
    arguments = ", ".join(f"x{i}: {kind}" for i in range(len(inputs)))
    given = ", ".join(f"x{i}" for i in range(len(inputs)))
    operation = "zip" if name in _TWO else "map_to"
    text = f"@g.{operation}(block_size=64)\ndef k{number}({arguments}) -> {kind}:\n    return g.math.{name}({given})"
    return Program(f"k{number}", (text,), operation, inputs, kind, False)


PROGRAMS = [_program(number, kind, name) for number, (kind, name) in enumerate(FUNCTIONS)]


@pytest.fixture(scope="module")
def code() -> Any:
    return running.compiled(PROGRAMS, ("sm_75",))


@pytest.fixture(scope="module")
def machine(code: Any) -> Any:
    return running.machine_of(code.ptx["sm_75"])


@pytest.mark.parametrize("program", PROGRAMS, ids=[f"{name}-{kind}" for kind, name in FUNCTIONS])
def test_cpu_and_ptx_agree(program: Program, code: Any, machine: Any) -> None:
    for seed in range(2):
        arrays = [running.inputs(kind, seed + place) for place, kind in enumerate(program.inputs)]
        cpu, ptx = running.on_cpu(program, code.cpu, arrays), running.on_ptx(program, machine, arrays)
        different = running.differs(program.result, ptx, cpu)
        shown = [numbers.from_bits(array, kind)[different].tolist() for array, kind in zip(arrays, program.inputs, strict=True)]
        assert not different.any(), shown
