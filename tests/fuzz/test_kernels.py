"""A sample of what `checks/fuzz/kernels.py` runs: every way gives the same bits; and the parts that find and show a difference do."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import comparing, running
from tests.fuzz.programs import Program, module, program
from tests.language import numbers

SEED = 20260
BATCH = 30


@pytest.mark.parametrize("first", range(0, 240, BATCH))
def test_every_way_gives_the_same_bits(first: int) -> None:
    gpus = (running.GPUS[first // BATCH % len(running.GPUS)],)
    found = comparing.compare(comparing.programs(SEED, first, BATCH), SEED, gpus)
    assert not found, comparing.smallest(found[0], SEED, gpus, tries=60)


@given(st.lists(st.randoms(use_true_random=False), min_size=4, max_size=4))
@settings(max_examples=8, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
def test_what_hypothesis_draws_gives_the_same_bits(randoms: list[Random]) -> None:
    found = comparing.compare([program(random, number) for number, random in enumerate(randoms)], SEED, ("sm_90",))
    assert not found, found[0]


def test_a_kernel_is_made_by_its_seed_and_number_alone() -> None:
    assert comparing.programs(3, 5, 2) == comparing.programs(3, 0, 10)[5:7]
    assert comparing.programs(3, 5, 1) != comparing.programs(4, 5, 1)


def test_the_kernels_use_the_language() -> None:
    """Every type, operator, statement and function comes up in a few hundred."""
    text = module(comparing.programs(SEED, 0, 240))
    words = ["while ", "for ", "break", "continue", "elif", "else:", " and ", " or ", "not ", "p.taps[", "WAVE["]
    words += [f"{name}(" for name in ("g.local", "g.select", "g.bitcast", "g.cast", "min", "max", "abs", "round")]
    words += [f"@g.{name}(" for name in ("map", "zip", "map_to", "map_indexed", "kernel")]
    words += [f" {word} " for word in ("+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "//=")]
    words += [" ** ", "g.random.bits(", "g.random.bits64(", "g.shared(", "g.dynamic_shared(", "g.barrier()", "array["]
    words += [f"g.atomic_{name}(" for name in ("add", "min", "max", "and", "or", "xor")]
    words += [f" = g.{name}(" for name in ("sum", "min", "max", "sum_scan")]
    words += [f"-> {kind}:" for kind in numbers.TYPES]
    assert not [word for word in words if word not in text]


_WRONG = Program(
    "k0",
    (
        "def f0_0(x0: i32) -> i32:\n    v1 = x0 + 1\n    if v1 > 3:\n        v1 = v1 * 2\n    return v1 // 3",
        "@g.map(block_size=64)\ndef k0(x0: i32) -> i32:\n    v1 = f0_0(x0)\n    return v1 + 1",
    ),
    "map",
    ("i32",),
    "i32",
    False,
)


def test_a_wrong_operator_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter that divides towards zero, as C does, differs from the compiler."""

    def cut(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.trunc(a.astype(np.float64) / np.where(b == 0, 1, b)).astype(a.dtype)

    monkeypatch.setitem(numbers._BINARY, "//", cut)
    (found,) = comparing.compare([_WRONG], 0, ("sm_75",))
    assert "by the source it is" in found.what
    small = comparing.smallest(found, 0, ("sm_75",), tries=40)
    assert len(small.program.text) < len(_WRONG.text) - 40
    assert "//" in small.program.text
    assert "v1 * 2" not in small.program.text


def test_a_refusal_and_a_fault_are_differences() -> None:
    refused = Program("k0", ("@g.map(block_size=64)\ndef k0(x0: i32) -> i32:\n    return [x0]",), "map", ("i32",), "i32", False)
    (found,) = comparing.compare([refused], 0, ())
    assert found.what.startswith("the compiler refuses it")
    assert "def k0(" in str(found)


def test_bits_are_compared_and_any_nan_is_a_nan() -> None:
    a, b = np.array([0x7FC00000, 0x00000000, 0x3F800000], np.uint32), np.array([0xFFC00001, 0x80000000, 0x3F800000], np.uint32)
    assert running.differs("f32", a, b).tolist() == [False, True, False]
    assert running.differs("u32", a, b).tolist() == [True, True, False]
