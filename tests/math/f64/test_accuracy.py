"""The f64 functions keep their bounds, and the file of what was measured belongs to their present source."""

from __future__ import annotations

import random

import gmpy2
import numpy as np
import pytest

import gompute as g
from gompute.math.f64 import BOUNDS
from tests.math.f64.checks import inputs, measure, reference

NAMES = reference.NAMES
#: So many inputs of the measured run are measured again, against MPFR alone; others for another source.
SLICE = 4000


def worst(name: str, arguments: tuple[np.ndarray, ...]) -> float:
    got = getattr(g.math, name)(*arguments)
    return max(reference.error(name, float(result), *map(float, at)) for result, *at in zip(got, *arguments, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_the_results_belong_to_this_source(name: str) -> None:
    """A function that was changed has to be measured again: python checks/math/measure_f64.py NAME."""
    entry = measure.read()[name]
    assert entry["source"] == measure.wanted_hash(name), f"stale: python checks/math/measure_f64.py {name}"
    assert entry["bound"] == BOUNDS[name]
    assert entry["published"]["count"] == len(inputs.PUBLISHED[name])
    for part in ("random", "mpfr", "published"):
        assert entry[part]["worst"] <= entry["bound"]
    assert entry["monotonic"]["broken"] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_slice_of_the_measured_inputs(name: str) -> None:
    """A part of the inputs that the file counts, chosen by the source, measures no worse than the file says."""
    entry = measure.read()[name]
    number = int(entry["source"], 16)
    batch = inputs.batch(name, number % (entry["random"]["count"] // inputs.BATCH))
    start = number // 997 % (inputs.BATCH - SLICE)
    found = worst(name, tuple(values[start : start + SLICE] for values in batch))
    assert found <= max(entry["random"]["worst"], 0.5), f"stale: python checks/math/measure_f64.py {name}"


@pytest.mark.parametrize("name", NAMES)
def test_the_worst_inputs_that_were_found(name: str) -> None:
    entry = measure.read()[name]
    for part in ("random", "mpfr", "published"):
        at = tuple(np.array([float.fromhex(word)]) for word in entry[part]["at"])
        assert worst(name, at) == pytest.approx(entry[part]["worst"], abs=1e-5), (part, at)


@pytest.mark.parametrize("name", NAMES)
def test_published_hard_cases(name: str) -> None:
    assert worst(name, tuple(np.array(values) for values in zip(*inputs.PUBLISHED[name], strict=True))) <= BOUNDS[name]


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


def test_rsqrt_next_to_the_middle_between_two_doubles() -> None:
    """1 / sqrt(4 - j * 2**-51) lies about j**2 * 2**-110 off a middle for j = 2, 6, 10, ...."""
    x = 4.0 - np.arange(2, 4000, 4) * 2.0**-51
    with gmpy2.context(precision=53):
        for scale in (1.0, 4.0**-300, 4.0**400):
            wanted = [float(gmpy2.rec_sqrt(gmpy2.mpfr(value))) for value in x * scale]
            np.testing.assert_array_equal(g.math.rsqrt(x * scale), wanted)


def _near_inverse_squares(roots: list[int], digits: int) -> np.ndarray:
    """Doubles in [1, 4) on both sides of 1 / (root * 2**-digits)**2."""
    found = []
    for root in roots:
        square = (1 << (2 * digits + 60)) // root**2
        unit = 8 if square < 2 << 60 else 9
        found += [((square >> unit) + step) * 2.0 ** (unit - 60) for step in (-1, 0, 1, 2)]
    return np.clip(np.array(found), 1.0, 4.0 - 2.0**-51)


@pytest.mark.parametrize("scale", [1.0, 4.0**-537, 4.0**-512, 4.0**-300, 4.0**510])
def test_rsqrt_next_to_what_decides(scale: float) -> None:
    """Beside the inverse squares of middles between two doubles, and of doubles; subnormal numbers too, with the digits that they keep."""
    draw = random.Random(f"rsqrt {scale}")
    middles = [draw.randrange(2**53 + 1, 2**54, 2) for _ in range(2000)]
    ends = [2**53 + odd for odd in range(1, 400, 2)] + [2**54 - odd for odd in range(1, 400, 2)]
    doubles = [draw.randrange(2**52, 2**53) for _ in range(1000)]
    x = np.concatenate([_near_inverse_squares([*middles, *ends], 54), _near_inverse_squares(doubles, 53)]) * scale
    with gmpy2.context(precision=53):
        wanted = [float(gmpy2.rec_sqrt(gmpy2.mpfr(value))) for value in x.tolist()]
    np.testing.assert_array_equal(g.math.rsqrt(x), wanted)


@pytest.mark.parametrize("name", inputs.SEAMS)
def test_no_fall_where_the_function_rises(name: str) -> None:
    for place in inputs.SEAMS[name][::3]:
        values = inputs.consecutive(place, 40)
        got = getattr(g.math, name)(values)
        first, last = (reference.exact(name, float(values[index])) for index in (0, -1))
        with np.errstate(invalid="ignore"):
            steps = np.diff(got) if first <= last else -np.diff(got)
        assert not (steps < 0).any(), (name, place, values[:-1][steps < 0])
