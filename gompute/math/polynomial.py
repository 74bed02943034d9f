"""Polynomials as device functions."""

from __future__ import annotations

from collections.abc import Callable

from gompute.lang.names import f64
from gompute.math.exact import fma

__all__ = ["polynomial"]


def polynomial(coefficients: tuple[float, ...]) -> Callable[[float], float]:
    """The device function x -> coefficients[0] + coefficients[1] * x + ..., by Horner's rule with one rounding a step."""
    falling = coefficients[::-1]

    def value(x: f64) -> f64:
        y = f64(falling[0])
        for i in range(1, len(falling)):
            y = fma(y, x, falling[i])
        return y

    return value
