"""Polynomials as device functions."""

from __future__ import annotations

from collections.abc import Callable

from gompute.lang.names import f64
from gompute.math.exact import fma

__all__ = ["polynomial"]


def polynomial(coefficients: tuple[float, ...]) -> Callable[[float], float]:
    """The device function x -> coefficients[0] + coefficients[1] * x + ..., one rounding a step.

    Even and odd powers are summed by Horner's rule in x * x side by side: half as many steps wait for each other (G. Estrin, "Organization
    of computer systems", 1960, with two parts).
    """
    even, odd = coefficients[::2][::-1], coefficients[1::2][::-1]

    def value(x: f64) -> f64:
        square = x * x
        y = f64(even[0])
        for i in range(1, len(even)):
            y = fma(y, square, even[i])
        z = f64(odd[0])
        for j in range(1, len(odd)):
            z = fma(z, square, odd[j])
        return fma(z, x, y)

    return value
