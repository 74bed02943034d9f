"""Minimax polynomials by Remez's exchange, in 240 bits, rounded to doubles.

E. Remez, "Sur la determination des polynomes d'approximation de degre donne" (1934). Coefficients are rounded to nearest after the fit, so
those whose own rounding would count are given beforehand, exact or in two parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gmpy2
from gmpy2 import mpfr

__all__ = ["Function", "fit", "worst"]

Function = Callable[[mpfr], mpfr]

gmpy2.get_context().precision = 240

_ROUNDS = 30
_POINTS_PER_LOBE = 24


def fit(
    f: Function, low: float, high: float, powers: Sequence[int], *, weight: Function | None = None, fixed: dict[int, mpfr] | None = None
) -> list[float]:
    """Coefficients c of doubles, in the order of `powers`, so that sum(c[k] * x**powers[k]) is near f on [low, high].

    Args:
        weight: the error is multiplied by it; 1 / |f|, for a relative error, where it is left out.
        fixed: coefficients that are given, by power; all other powers are above them.
    """
    known = {power: mpfr(value) for power, value in (fixed or {}).items()}
    weight = weight or (lambda x: 1 / abs(f(x)))
    free = [power for power in sorted(powers) if power not in known]
    first = free[0]
    # The lowest free power is divided out: then errors alternate in sign as the exchange expects, on both sides of 0.
    found = _remez(
        lambda x: (f(x) - _value(known, x)) / x**first,
        mpfr(low),
        mpfr(high),
        [power - first for power in free],
        lambda x: weight(x) * abs(x) ** first,
    )
    known.update(zip(free, found, strict=True))
    return [float(known[power]) for power in powers]


def worst(
    f: Function, low: float, high: float, powers: Sequence[int], coefficients: Sequence[float], weight: Function | None = None
) -> mpfr:
    """The largest weighted error of a polynomial, from a dense grid."""
    weight = weight or (lambda x: 1 / abs(f(x)))
    known = {power: mpfr(value) for power, value in zip(powers, coefficients, strict=True)}
    return max(abs((f(x) - _value(known, x)) * weight(x)) for x in _grid(mpfr(low), mpfr(high), 2000))


def _value(coefficients: dict[int, mpfr], x: mpfr) -> mpfr:
    return sum((c * x**power for power, c in coefficients.items()), mpfr(0))


def _grid(low: mpfr, high: mpfr, count: int) -> list[mpfr]:
    """Chebyshev's extrema on the interval, which crowd at its ends."""
    pi = gmpy2.const_pi()
    return [(low + high) / 2 - (high - low) / 2 * gmpy2.cos(pi * i / (count - 1)) for i in range(count)]


def _remez(f: Function, low: mpfr, high: mpfr, powers: Sequence[int], weight: Function) -> list[mpfr]:
    terms = len(powers)
    grid = _grid(low, high, (terms + 1) * _POINTS_PER_LOBE)
    values = [(x, f(x), weight(x), [x**p for p in powers]) for x in grid]
    step = (len(grid) - 1) / terms
    chosen = [round(i * step) for i in range(terms + 1)]
    for _ in range(_ROUNDS):
        rows = [[*values[i][3], (-1) ** n / values[i][2], values[i][1]] for n, i in enumerate(chosen)]
        solution = _solve(rows)
        errors = [(v - sum(c * b for c, b in zip(solution[:-1], basis, strict=True))) * w for _, v, w, basis in values]
        lobes: list[int] = []
        for i, error in enumerate(errors):
            if lobes and (error > 0) == (errors[lobes[-1]] > 0):
                if abs(error) > abs(errors[lobes[-1]]):
                    lobes[-1] = i
            else:
                lobes.append(i)
        while len(lobes) > terms + 1:  # the weaker end goes
            lobes.pop(0 if abs(errors[lobes[0]]) < abs(errors[lobes[-1]]) else -1)
        if len(lobes) < terms + 1 or lobes == chosen:
            break
        chosen = lobes
    return solution[:-1]


def _solve(rows: list[list[mpfr]]) -> list[mpfr]:
    """Gauss's elimination with partial pivoting."""
    size = len(rows)
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(column + 1, size):
            factor = rows[row][column] / rows[column][column]
            rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column], strict=True)]
    solution = [mpfr(0)] * size
    for row in reversed(range(size)):
        rest = sum((rows[row][k] * solution[k] for k in range(row + 1, size)), mpfr(0))
        solution[row] = (rows[row][size] - rest) / rows[row][row]
    return solution
