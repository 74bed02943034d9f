"""f16 and bf16: every value through MPFR; of two arguments, pairs by chance."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from library import call
from mpfr import correct

from gompute.lang import numeric
from gompute.lang.math_function import MathFunction
from gompute.lang.types import SCALARS

__all__ = ["run_narrow"]

PAIRS = 1 << 16


def run_narrow(function: MathFunction, kind: str) -> dict[str, Any]:
    """The entry of one function."""
    scalar = SCALARS[kind]
    if function.arity == 1:
        columns = [np.arange(1 << 16, dtype=np.uint16)]
    else:
        draw = np.random.default_rng(16)
        columns = [draw.integers(0, 1 << 16, PAIRS, dtype=np.uint16) for _ in range(function.arity)]
    wrong = 0
    for *bits, got in zip(*(column.tolist() for column in columns), call(function, scalar, columns).tolist(), strict=True):
        arguments = [float(numeric.from_bits(b, scalar)) for b in bits]
        right = correct(function.__name__, arguments, kind)
        have = float(numeric.from_bits(got, scalar))
        if not (right != right and have != have) and numeric.to_bits(right, scalar) != got:
            wrong += 1
            if wrong <= 20:
                print(f"{function.__name__}{tuple(map(float.hex, arguments))} gave {have.hex()}, and is {right.hex()}", file=sys.stderr)
    return {"inputs": len(columns[0]), "by_mpfr": len(columns[0]), "wrong": wrong}
