"""Special values of the f64 functions: those of C23, Annex F, bit for bit, signs of zeros too."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gompute as g

INF, NAN = math.inf, math.nan
LARGEST, SMALLEST = 1.7976931348623157e308, 5e-324
PI = math.pi

UNARY: dict[str, list[tuple[float, float]]] = {
    "exp": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (710.0, INF), (-746.0, 0.0), (SMALLEST, 1.0), (LARGEST, INF)],
    "exp2": [
        *[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (1024.0, INF), (-1075.0, 0.0), (-1074.0, SMALLEST), (1023.0, 2.0**1023)],
        *[(float(n), 2.0**n) for n in range(-1074, 1024, 7)],
    ],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1.0), (710.0, INF), (-100.0, -1.0), (SMALLEST, SMALLEST), (-LARGEST, -1.0)],
    "log": [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (-INF, NAN), (INF, INF), (-SMALLEST, NAN)],
    "log2": [
        *[(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (-INF, NAN), (INF, INF)],
        *[(2.0**n, float(n)) for n in range(-1074, 1024)],
    ],
    "log10": [
        *[(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (-INF, NAN), (INF, INF)],
        *[(float(10**n), float(n)) for n in range(23)],
    ],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (-2.0, NAN), (INF, INF), (SMALLEST, SMALLEST), (LARGEST, 709.782712893384)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (SMALLEST, SMALLEST), (-SMALLEST, -SMALLEST), (1e-300, 1e-300)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN), (SMALLEST, 1.0)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (SMALLEST, SMALLEST), (-SMALLEST, -SMALLEST)],
    "asin": [(0.0, 0.0), (-0.0, -0.0), (1.0, PI / 2), (-1.0, -PI / 2), (1.0000000000000002, NAN), (-2.0, NAN), (INF, NAN)],
    "acos": [(1.0, 0.0), (-1.0, PI), (0.0, PI / 2), (-0.0, PI / 2), (1.0000000000000002, NAN), (-2.0, NAN), (-INF, NAN)],
    "atan": [(0.0, 0.0), (-0.0, -0.0), (INF, PI / 2), (-INF, -PI / 2), (1.0, PI / 4), (LARGEST, PI / 2), (SMALLEST, SMALLEST)],
    "sinh": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (INF, INF),
        (-INF, -INF),
        (SMALLEST, SMALLEST),
        (-SMALLEST, -SMALLEST),
        (711.0, INF),
        (-LARGEST, -INF),
    ],
    "cosh": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (711.0, INF), (SMALLEST, 1.0)],
    "tanh": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (INF, 1.0),
        (-INF, -1.0),
        (SMALLEST, SMALLEST),
        (-SMALLEST, -SMALLEST),
        (30.0, 1.0),
        (-LARGEST, -1.0),
    ],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (6.0, 1.0), (-LARGEST, -1.0)],
    "erfc": [(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, 2.0), (28.0, 0.0), (-6.0, 2.0), (LARGEST, 0.0), (SMALLEST, 1.0)],
    "cbrt": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), *[(float(n**3), float(n)) for n in range(-200, 200) if n]],
    "rsqrt": [
        (0.0, INF),
        (-0.0, -INF),
        (INF, 0.0),
        (-1.0, NAN),
        (-INF, NAN),
        (-SMALLEST, NAN),
        *[(4.0**n, 2.0**-n) for n in range(-537, 512)],
    ],
}

PAIRS: dict[str, list[tuple[float, float, float]]] = {
    "atan2": [
        *[(0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (0.0, -0.0, PI), (-0.0, -0.0, -PI), (0.0, -1.0, PI), (-0.0, -1.0, -PI), (0.0, 1.0, 0.0)],
        *[(-0.0, 1.0, -0.0), (-1.0, 0.0, -PI / 2), (-1.0, -0.0, -PI / 2), (1.0, 0.0, PI / 2), (1.0, -0.0, PI / 2), (1.0, -INF, PI)],
        *[(-1.0, -INF, -PI), (1.0, INF, 0.0), (-1.0, INF, -0.0), (INF, 1.0, PI / 2), (-INF, 1.0, -PI / 2), (INF, -INF, 3 * PI / 4)],
        *[(-INF, -INF, -3 * PI / 4), (INF, INF, PI / 4), (-INF, INF, -PI / 4), (SMALLEST, LARGEST, 0.0), (-SMALLEST, LARGEST, -0.0)],
        *[
            (SMALLEST, 1.0, SMALLEST),
            (LARGEST, LARGEST, PI / 4),
            (SMALLEST, SMALLEST, PI / 4),
            (LARGEST, SMALLEST, PI / 2),
            (NAN, 1.0, NAN),
        ],
        *[(1.0, NAN, NAN), (NAN, INF, NAN), (INF, NAN, NAN)],
    ],
    "hypot": [
        *[(0.0, 0.0, 0.0), (-0.0, -0.0, 0.0), (3.0, -4.0, 5.0), (INF, NAN, INF), (NAN, -INF, INF), (NAN, 1.0, NAN), (1.0, NAN, NAN)],
        *[(INF, 0.0, INF), (-INF, INF, INF), (LARGEST, 0.0, LARGEST), (LARGEST, LARGEST, INF), (SMALLEST, 0.0, SMALLEST)],
        *[(-0.0, -SMALLEST, SMALLEST), (3e-320, 4e-320, 5e-320), (LARGEST, SMALLEST, LARGEST)],
    ],
    "pow": [
        # Zeros.
        *[(0.0, -3.0, INF), (-0.0, -3.0, -INF), (0.0, -2.0, INF), (-0.0, -2.0, INF), (0.0, -2.5, INF), (-0.0, -2.5, INF), (0.0, -INF, INF)],
        *[(-0.0, -INF, INF), (0.0, 3.0, 0.0), (-0.0, 3.0, -0.0), (-0.0, 2.0, 0.0), (-0.0, 2.5, 0.0), (0.0, INF, 0.0), (-0.0, INF, 0.0)],
        # Ones.
        *[(-1.0, INF, 1.0), (-1.0, -INF, 1.0), *[(1.0, y, 1.0) for y in (0.0, NAN, INF, -INF, 0.5, -1e300)]],
        *[(x, y, 1.0) for x in (0.0, -0.0, NAN, INF, -INF, -3.5, 1e-300) for y in (0.0, -0.0)],
        # Negative bases.
        *[
            (-2.0, 3.0, -8.0),
            (-2.0, 2.0, 4.0),
            (-2.0, -3.0, -0.125),
            (-2.0, 0.5, NAN),
            (-2.0, 1e300, INF),
            (-0.5, 9007199254740991.0, -0.0),
        ],
        *[(-1.0, 9007199254740991.0, -1.0), (-1.0, 9007199254740992.0, 1.0), (-1.0, 1.5, NAN), (-LARGEST, 3.0, -INF)],
        # Infinities.
        *[(0.5, -INF, INF), (-0.5, -INF, INF), (2.0, -INF, 0.0), (-2.0, -INF, 0.0), (0.5, INF, 0.0), (-0.5, INF, 0.0), (2.0, INF, INF)],
        *[
            (-2.0, INF, INF),
            (-INF, -3.0, -0.0),
            (-INF, -2.0, 0.0),
            (-INF, -2.5, 0.0),
            (-INF, 3.0, -INF),
            (-INF, 2.0, INF),
            (-INF, 2.5, INF),
        ],
        *[(INF, -1.0, 0.0), (INF, 1.0, INF), (-INF, INF, INF), (-INF, -INF, 0.0), (INF, 0.5, INF), (INF, -0.5, 0.0)],
        # NaN, and exact and extreme results.
        *[(NAN, 1.0, NAN), (2.0, NAN, NAN), (NAN, NAN, NAN), (10.0, 22.0, 1e22), (3.0, 33.0, float(3**33)), (2.0, -1074.0, SMALLEST)],
        *[(2.0, -1076.0, 0.0), (2.0, 1023.0, 2.0**1023), (2.0, 1024.0, INF), (-2.0, 1025.0, -INF), (4.0, 0.5, 2.0), (0.25, -0.5, 2.0)],
        *[(LARGEST, 1.0, LARGEST), (SMALLEST, 1.0, SMALLEST), (SMALLEST, -1.0, INF), (LARGEST, -1.0, 2.0**-1024 * (1 + 2.0**-53))],
    ],
}


def check(name: str, arguments: list[np.ndarray], wanted: np.ndarray) -> None:
    function = getattr(g.math, name)
    nan = np.isnan(wanted)
    few = [values[:30] for values in arguments]
    for got in (function(*arguments), np.array([function(*map(float, at)) for at in zip(*few, strict=True)])):
        count = got.size
        np.testing.assert_array_equal(np.isnan(got), nan[:count])
        different = np.flatnonzero((got.view(np.uint64) != wanted[:count].view(np.uint64)) & ~nan[:count])
        cases = [(*(values[i] for values in arguments), got[i], wanted[i]) for i in different]
        assert not cases, f"{name}: arguments, got, wanted: {cases}"


@pytest.mark.parametrize("name", UNARY)
def test_of_one_argument(name: str) -> None:
    """In the CPU kernel and, some of them, in a host call; every function takes NaN to NaN."""
    x, wanted = np.array([(NAN, NAN), *UNARY[name]]).T.copy()
    check(name, [x], wanted)


@pytest.mark.parametrize("name", PAIRS)
def test_of_two_arguments(name: str) -> None:
    x, y, wanted = np.array(PAIRS[name]).T.copy()
    check(name, [x, y], wanted)
