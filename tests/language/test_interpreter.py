"""The second meaning of the language, on examples worked out by hand."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from tests.language import numbers, samples
from tests.language.interpreter import Function
from tests.language.values import Misunderstood, Value

NAMES: dict[str, Any] = {kind: kind for kind in numbers.TYPES} | {word: word for word in ("min", "max", "abs", "round", "len")}
NAMES["g"] = {word: word for word in ("cast", "bitcast", "select", "local")}


def called(text: str, *arguments: tuple[str, list[float]]) -> tuple[str, list[Any]]:
    """The type and the results of the last function of a text."""
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    own = functions[-1]
    count = len(arguments[0][1])
    given = {
        argument.arg: Value(kind, np.array(values, numbers.dtype_of(kind)))
        for argument, (kind, values) in zip(own.args.args, arguments, strict=True)
    }
    names = NAMES | {node.name: node for node in functions}
    with np.errstate(all="ignore"):
        ended = Function.run(own, names, count, np.ones(count, bool), given, {})
    assert ended.result is not None and ended.result_type is not None
    return ended.result_type, ended.result.tolist()


def test_integers_floor_and_wrap() -> None:
    assert called("def f(x: i32, y: i32) -> i32:\n return x // y", ("i32", [-7, -1, 5, -(2**31)]), ("i32", [2, 2, 0, -1]))[1] == [
        -4,
        -1,
        0,
        -(2**31),
    ]
    assert called("def f(x: i32, y: i32) -> i32:\n return x % y", ("i32", [-6, 6, -7, 5]), ("i32", [5, -5, 3, 0]))[1] == [4, -4, 2, 0]
    assert called("def f(x: u8) -> u8:\n return x * 2 + 1", ("u8", [200]))[1] == [145]
    assert called("def f(x: i8, y: i8) -> i8:\n return x >> y", ("i8", [-5, -5, 5]), ("i8", [1, 100, -1]))[1] == [-3, -1, 0]


def test_types_meet_as_in_numpy() -> None:
    assert called("def f(x: i8, y: u8) -> i16:\n return x + y", ("i8", [-128]), ("u8", [255]))[1] == [127]
    assert called("def f(x: i32, y: i32) -> f64:\n return x / y", ("i32", [1]), ("i32", [3]))[1] == [1 / 3]
    assert called("def f(x: f32) -> f32:\n return x * 0.1", ("f32", [3.0]))[1] == [float(np.float32(3) * np.float32(0.1))]
    with pytest.raises(Misunderstood):
        called("def f(x: u64, y: i8) -> f64:\n return x + y", ("u64", [1]), ("i8", [1]))


def test_a_number_in_a_variable_takes_the_type_that_it_meets() -> None:
    text = "def f(x: f32) -> f32:\n total = 0\n for k in range(3):\n  total += x * k\n return total"
    assert called(text, ("f32", [0.1]))[1] == [float(np.float32(0.1) * np.float32(0) + np.float32(0.1) + np.float32(0.1) * np.float32(2))]


def test_each_work_item_takes_its_own_way() -> None:
    text = """
def f(x: i32) -> i32:
    steps = 0
    while x > 0:
        x = x - 1
        if x == 5:
            continue
        if x < 2:
            break
        steps += 1
    if steps > 6:
        return -steps
    return steps
"""

    def wanted(x: int) -> int:
        steps = 0
        while x > 0:
            x -= 1
            if x == 5:
                continue
            if x < 2:
                break
            steps += 1
        return -steps if steps > 6 else steps

    values = list(range(-2, 14))
    assert called(text, ("i32", values))[1] == [wanted(value) for value in values]


def test_a_range_that_would_wrap_past_its_end() -> None:
    text = "def f(x: u8) -> u8:\n last = x\n for k in range(x, 255, 10):\n  last = k\n return last"
    assert called(text, ("u8", [250, 3]))[1] == [250, 253]


def test_calls_local_arrays_and_defaults() -> None:
    text = """
def twice(x: i16, more: i16 = 3) -> i16:
    if x < 0:
        return -x
    return x * 2 + more

def f(x: i16) -> i16:
    v = g.local(i16, 3)
    v[x % 3] = twice(x)
    v[-1] += twice(x, more=i16(0))
    return v[0] + v[1] * 10 + v[2] * 100
"""
    assert called(text, ("i16", [0, 1, 2, -1]))[1] == [3, 50 + 200, 1100, 200]


def test_only_the_chosen_side_runs() -> None:
    text = "def f(x: i32) -> i32:\n v = g.local(i32, 2)\n return v[x] if 0 <= x < 2 else (7 if x != 5 and v[x - 3] == 0 else -1)"
    assert called(text, ("i32", [0, 5, 4, 3]))[1] == [0, -1, 7, 7]


def test_comparisons_with_what_does_not_fit() -> None:
    assert called("def f(x: u8) -> bool:\n return x < 300", ("u8", [255]))[1] == [True]
    assert called("def f(x: u64, y: i64) -> bool:\n return x > y", ("u64", [0, 2**63]), ("i64", [-1, 2**63 - 1]))[1] == [True, True]


def test_least_and_greatest() -> None:
    a, b = np.array([np.nan, -0.0, 0.0, 2.0]), np.array([1.0, 0.0, -0.0, np.nan])
    least, most = numbers.extreme("min", a, b), numbers.extreme("max", a, b)
    assert np.isnan(least[[0, 3]]).all() and np.isnan(most[[0, 3]]).all()
    assert np.signbit(least[1:3]).all() and not np.signbit(most[1:3]).any()


@pytest.mark.parametrize("kind", [kind for kind in numbers.TYPES if kind not in ("bool", "bf16")])
def test_conversions_are_numpys_where_numpy_defines_them(kind: str) -> None:
    for source in numbers.TYPES:
        if source == "bf16" or (source in numbers.FLOATS and kind not in numbers.FLOATS):
            continue
        values = samples.edges(source)
        with np.errstate(all="ignore"):
            # NumPy goes from 64-bit integers to float16 in two roundings; a long double holds them.
            wide = values.astype(np.longdouble) if kind == "f16" and source in numbers.INTEGERS else values
            np.testing.assert_array_equal(numbers.cast(values, source, kind), wide.astype(numbers.dtype_of(kind)))


def test_bfloat16_rounds_to_even() -> None:
    wide = np.array([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-30, 3.4e38, -1e-45])
    assert numbers.cast(wide, "f64", "bf16").tolist() == [1.0, 1 + 2**-6, 1 + 2**-7, np.inf, -0.0]
