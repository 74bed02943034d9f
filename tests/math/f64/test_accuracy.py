"""The f64 functions keep their bounds."""

from __future__ import annotations

import numpy as np
import pytest

import gompute as g
from tests.math.f64.checks import inputs, reference

NAMES = reference.NAMES


def worst(name: str, arguments: tuple[np.ndarray, ...]) -> float:
    got = getattr(g.math, name)(*arguments)
    return max(reference.error(name, float(result), *map(float, at)) for result, *at in zip(got, *arguments, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_random_inputs(name: str) -> None:
    assert worst(name, inputs.batch(name, 0, 4000)) <= inputs.BOUNDS[name]


@pytest.mark.parametrize("name", NAMES)
def test_published_hard_cases(name: str) -> None:
    assert worst(name, tuple(np.array(values) for values in zip(*inputs.PUBLISHED[name], strict=True))) <= inputs.BOUNDS[name]


def test_subnormal_results_are_rounded_once() -> None:
    random = np.random.default_rng(7)
    cases = {
        "exp": (random.uniform(-745.2, -708.3, 2000),),
        "exp2": (random.uniform(-1075.0, -1021.9, 2000),),
        "erf": (random.uniform(0, 2.0**-1019, 2000),),
        "erfc": (random.uniform(26.5, 27.3, 2000),),
        "pow": (random.uniform(0.1, 0.9, 2000), np.empty(2000)),
        "hypot": (random.uniform(0, 2.0**-1022, 2000), random.uniform(0, 2.0**-1023, 2000)),
        "atan2": (random.uniform(0, 2.0**-1020, 2000), random.uniform(0.5, 8.0, 2000)),
    }
    # Where the results leave the normal numbers, the table's value may lie above and the result below.
    for name, edge in (("exp", -708.3964185322641), ("exp2", -1022.0)):
        assert worst(name, (random.uniform(edge - 0.004, edge + 0.001, 2000),)) <= 0.51, name
    cases["pow"][1][:] = random.uniform(-744.0, -708.0, 2000) / np.log(cases["pow"][0])
    for name, arguments in cases.items():
        assert worst(name, arguments) <= 0.51, name


@pytest.mark.parametrize("name", inputs.SEAMS)
def test_no_fall_where_the_function_rises(name: str) -> None:
    for place in inputs.SEAMS[name][::3]:
        values = inputs.consecutive(place, 40)
        got = getattr(g.math, name)(values)
        first, last = (reference.exact(name, float(values[index])) for index in (0, -1))
        with np.errstate(invalid="ignore"):
            steps = np.diff(got) if first <= last else -np.diff(got)
        assert not (steps < 0).any(), (name, place, values[:-1][steps < 0])
