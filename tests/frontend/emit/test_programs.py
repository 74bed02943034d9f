"""Compiled functions against the evaluator: two readings of the same tree must agree."""

from __future__ import annotations

import numpy as np

from gompute.frontend import typed
from gompute.frontend.evaluate import run
from gompute.frontend.typed import Function
from gompute.lang.types import F32, I32, U8, ScalarType
from tests.frontend.emit import values
from tests.frontend.emit.compiled import Loaded
from tests.frontend.emit.programs import TYPES, Program
from tests.frontend.emit.trees import elementwise, module

PARAMETERS = (I32, F32, U8)


def test_random_programs() -> None:
    functions: list[Function] = []
    for seed in range(48):
        result = TYPES[seed % len(TYPES)]
        functions.append(Program(seed, PARAMETERS, result, functions[-6:]).function)
    results = [function.result for function in functions if function.result is not None]

    def call(function: Function, result: ScalarType) -> object:
        return lambda *operands: typed.Call(result, function, operands)

    makes = [call(function, result) for function, result in zip(functions, results, strict=True)]
    loaded = Loaded(module([elementwise("programs", PARAMETERS, makes)], *functions), level=2)  # type: ignore[arg-type]

    columns = [values.samples(scalar, 6, "programs") + values.edges(scalar)[:6] for scalar in PARAMETERS]
    length = len(columns[0])
    arrays = [values.array(scalar, column) for scalar, column in zip(PARAMETERS, columns, strict=True)]
    outs = [np.zeros(length, values.UNSIGNED[result.bits]) for result in results]
    loaded.run("programs", *arrays, *outs, np.uint64(length), block=(length, 1, 1))

    numbers = [values.decoded(scalar, column) for scalar, column in zip(PARAMETERS, columns, strict=True)]
    wrong = {}
    for function, result, out in zip(functions, results, outs, strict=True):
        expected = [run(function, row) for row in zip(*numbers, strict=True)]
        found = values.differences(result, out, [value for value in expected if value is not None], *numbers)
        if found:
            wrong[function.symbol] = found
    assert not wrong
