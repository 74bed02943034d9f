"""`for` over `range`: how often it runs, what the variable holds afterwards, and that the counter never wraps."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gompute.frontend import typed
from gompute.frontend.typed import Slot
from gompute.lang import numeric
from gompute.lang.types import BOOL, I64, SCALARS, U32, PointerType, ScalarType
from tests.frontend.emit import values
from tests.frontend.emit.compiled import Loaded
from tests.frontend.emit.trees import binary, constant, element, function, index, module, read

INTEGERS = [scalar for scalar in SCALARS.values() if scalar.is_integer]
LONGEST = 300


def range_kernel(name: str, scalar: ScalarType, step: int | None) -> typed.RawKernel:
    """Arguments (start, stop, step, count, last): item i runs a range and stores how often it ran and the variable's last value, which
    the body has overwritten once. A `step` that is given is a constant instead."""
    start, stop, steps, last = (Slot(word, PointerType(scalar)) for word in ("start", "stop", "step", "last"))
    count = Slot("count", PointerType(U32))
    variable, seen, times = Slot("k", scalar), Slot("seen", scalar), Slot("times", U32)
    body = (
        typed.Assign(seen, read(variable)),
        typed.Assign(times, binary("add", read(times), constant(U32, 1))),
        typed.Assign(variable, constant(scalar, 77)),  # does not change the next iteration
    )
    by = element(steps, index()) if step is None else constant(scalar, step)
    loop = typed.ForRange(variable, element(start, index()), element(stop, index()), by, body)
    stores = typed.Store(count, index(), read(times)), typed.Store(last, index(), read(seen))
    parameters = (start, stop, steps, count, last)
    made = function(f"{name}_body", parameters, None, loop, *stores, variables=(variable, seen, times), uses_index=True)
    return typed.RawKernel(name, made, (1, 1, 1))


def count_of(start: int, stop: int, step: int) -> int:
    """len(range()), which Python gives up on beyond 2**63."""
    return max(0, -((start - stop) // step)) if step else 0


@pytest.mark.parametrize("scalar", INTEGERS, ids=str)
def test_ranges(scalar: ScalarType) -> None:
    low, high = numeric.limits(scalar)
    fixed = [1, 2, 100, high, 0] + ([-1, -7, low] if scalar.kind == "int" else [])
    draw = random.Random(scalar.name)
    ends = [low, low + 1, low + 5, -1, 0, 1, 2, 9, high // 2, high - 5, high - 1, high]
    ends = [end for end in ends if low <= end <= high]
    steps = [low, low + 1, -100, -7, -2, -1, 0, 1, 2, 3, 10, 100, high - 1, high]
    rows = [(start, stop, step) for start in ends for stop in ends for step in steps if low <= step <= high]
    rows += [(draw.randint(low, high), draw.randint(low, high), draw.randint(low, high)) for _ in range(200)]
    rows += [(start, numeric.wrap(start + 100, scalar), draw.choice((1, 3))) for start, _, _ in rows[-200:]]

    loaded = Loaded(module([range_kernel(f"range_{n}", scalar, step) for n, step in enumerate([None, *fixed])]))
    for number, step in enumerate([None, *fixed]):
        cases = [(a, b, c if step is None else step) for a, b, c in rows]
        cases = sorted({case for case in cases if count_of(*case) <= LONGEST})
        columns = [values.array(scalar, [numeric.to_bits(value, scalar) for value in column]) for column in zip(*cases, strict=True)]
        count, last = np.zeros(len(cases), np.uint32), np.zeros(len(cases), values.UNSIGNED[scalar.bits])
        loaded.run(f"range_{number}", *columns, count, last, block=(len(cases), 1, 1))
        expected = [count_of(*case) for case in cases]
        assert count.tolist() == expected
        ended = [start + (times - 1) * by if times else 0 for (start, _, by), times in zip(cases, expected, strict=True)]
        assert last.tolist() == [numeric.to_bits(value, scalar) for value in ended]


def test_break_continue_and_the_last_value() -> None:
    """A loop that skips odd numbers and leaves at 6 keeps 6; one that ends by itself keeps its last number."""
    limit, out = Slot("limit", I64), Slot("out", PointerType(I64))
    k, total = Slot("k", I64), Slot("total", I64)
    odd = typed.Compare("eq", binary("and", read(k), constant(I64, 1)), constant(I64, 1), BOOL)
    at_six = typed.Compare("eq", read(k), constant(I64, 6), BOOL)
    loop = typed.ForRange(
        k,
        constant(I64, 0),
        read(limit),
        constant(I64, 1),
        (
            typed.If(odd, (typed.Continue(),), ()),
            typed.If(at_six, (typed.Break(),), ()),
            typed.Assign(total, binary("add", read(total), read(k))),
        ),
    )
    stores = typed.Store(out, constant(I64, 0), read(k)), typed.Store(out, constant(I64, 1), read(total))
    made = function("leave_body", (limit, out), None, loop, *stores, variables=(k, total))
    loaded = Loaded(module([typed.RawKernel("leave", made, (1, 1, 1))]))
    for limit_value, expected in ((100, [6, 0 + 2 + 4]), (6, [5, 6]), (0, [0, 0])):
        result = np.full(2, -1, np.int64)
        loaded.run("leave", np.int64(limit_value), result)
        assert result.tolist() == expected
