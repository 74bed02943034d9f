"""Special and boundary values, and what a function of two arguments gives for all pairs of them."""

from __future__ import annotations

import itertools
import math

import numpy as np

from gompute.lang.math_function import MathFunction

__all__ = ["boundary_pairs", "boundary_values"]


def boundary_values() -> list[float]:
    """f32 values at which something changes: zeros, subnormals, ones, powers of two, halves, integers about 2**24, the largest."""
    f = np.float32
    tiny, largest = np.finfo(f).smallest_subnormal, np.finfo(f).max
    whole = [f(n) for n in (1, 2, 3, 4, 5, 7, 10, 31, 32, 127, 128, 129, 149, 150, 1000, 2**23, 2**24 - 1, 2**24)]
    parts = [f(x) for x in (0.5, 0.25, 0.75, 1.5, 2.5, 1 / 3, 0.1, 1e-3, 1e-10, 1e-30, 1e10, 1e30, math.pi, math.e, math.sqrt(2))]
    powers = [f(2.0**e) for e in (-149, -127, -126, -125, -75, -24, -23, 23, 25, 63, 64, 126, 127)]
    values = [*whole, *parts, *powers, f(0), tiny, largest, np.finfo(f).tiny, f(np.inf)]
    with np.errstate(over="ignore"):  # beside the largest lies infinity
        beside = [np.nextafter(v, f(side)) for v in values for side in (0, np.inf)]
    positive = sorted({float(v) for v in (*values, *beside)})
    return [*positive, *(-v for v in positive), math.nan]


def boundary_pairs(function: MathFunction) -> list[tuple[list[float], float]]:
    """Arguments and results of a function of two arguments."""
    pairs = list(itertools.product(boundary_values(), repeat=2))
    x, y = (np.array(column, np.float32) for column in zip(*pairs, strict=True))
    results = function(x, y)
    return [(list(pair), float(result)) for pair, result in zip(pairs, results, strict=True)]
