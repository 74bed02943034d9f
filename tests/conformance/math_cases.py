"""Inputs for the functions of `gompute.math`, and their results: correctly rounded by MPFR for f32 and f16; for f64 by the evaluator, which
computes in Python what the compiled code computes."""

from __future__ import annotations

import random

import numpy as np

import gompute as g
from tests.conformance.cases import Case
from tests.math.f64.checks import FOLDER

import mpfr  # isort: skip

assert FOLDER.is_dir()

_EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -7.5, 88.7, -103.5, 1e-30, 1e30, -1e10, np.inf, -np.inf, np.nan]
_DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def _inputs(name: str, arity: int, kind: str) -> list[np.ndarray]:
    draw = random.Random(f"{name} {kind}")
    spread = [draw.uniform(-12, 12) for _ in range(25)] + [draw.choice((-1, 1)) * 2.0 ** draw.uniform(-40, 40) for _ in range(25)]
    columns = [[*_EDGES, *spread] for _ in range(arity)]
    for column in columns[1:]:
        draw.shuffle(column)
    with np.errstate(over="ignore"):
        return [np.array(column, _DTYPES[kind]) for column in columns]


def math_case(name: str, kind: str) -> Case:
    """One launch of the kernel of a function for a type."""
    function = getattr(g.math, name)
    columns = _inputs(name, function.arity, kind)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    results = [function(*row) if kind == "f64" else mpfr.correct(name, row, kind) for row in rows]
    return Case(f"{name}_{kind}", (*columns, np.zeros_like(columns[0])), {function.arity: np.array(results, _DTYPES[kind])})
