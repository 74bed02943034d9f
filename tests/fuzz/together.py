"""Random kernels whose work-items meet: through shared memory, barriers and atomic operations, in reductions and in scans.

Their functions of one element are random; how the items meet is chosen from a few ways, so that no two of them race.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import numpy as np

from tests.conformance import tiled_model
from tests.language import numbers
from tests.language.interpreter import Function
from tests.language.numbers import FLOATS, INTEGERS
from tests.language.values import Value

Array = np.ndarray[Any, Any]

BLOCK = 48
_COUNTED = ("i32", "u32", "i64", "u64")
_UPDATES: dict[str, Callable[[Array], Any]] = {
    "add": lambda x: x.sum(dtype=x.dtype),
    "min": np.min,
    "max": np.max,
    "and": np.bitwise_and.reduce,
    "or": np.bitwise_or.reduce,
    "xor": np.bitwise_xor.reduce,
}
_BEFORE = {"add": 0, "min": 0, "max": 0, "and": 90, "or": 5, "xor": 33}


class Meeting(NamedTuple):
    """How the work-items of a kernel meet.

    Attributes:
        way: ``block``, ``sum``, ``min``, ``max`` or ``sum_scan``.
        held: the type of what each puts into shared memory, or of what is combined.
        counted, update: the type of the shared counters, and the atomic operation on them.
        turn: how far away the item is whose value each takes.
        view: the input is a view, else a pointer.
        memory: the declaration of the shared array.
    """

    way: str
    held: str
    counted: str = "u32"
    update: str = "add"
    turn: int = 0
    view: bool = False
    memory: str = ""

    @property
    def dynamic(self) -> int:
        """Bytes of shared memory that the launch gives."""
        return BLOCK * numbers.bits_of(self.held) // 8 if "dynamic" in self.memory else 0


def meeting(random: Random) -> Meeting:
    """A way to meet, with its types."""
    way = random.choice(["block", "block", "block", "sum", "min", "max", "sum_scan"])
    held = random.choice((*INTEGERS, *FLOATS))
    if way != "block":
        return Meeting(way, held)
    memory = random.choice([f"g.shared({held}, {BLOCK})", f"g.shared({held}, (2, {BLOCK // 2}))", f"g.dynamic_shared({held})"])
    counted, update = random.choice(_COUNTED), random.choice(list(_UPDATES))
    return Meeting(way, held, counted, update, random.randrange(BLOCK), random.random() < 0.5, memory)


def kernel(number: int, how: Meeting, given: str, result: str) -> str:
    """The kernel's own text, after ``f{number}_pre`` and, of blocks, ``f{number}_post(held, held, counted)``.

    Args:
        given: the type of the input's elements.
    """
    if how.way != "block":
        return f'k{number} = g.{how.way}("k{number}", {given}, pre=f{number}_pre, block_size=64)'
    return f"""def f{number}_put(place: ptr[{how.held}], at: u64, x: {how.held}) -> None:
    place[at] = x


def f{number}_count(counts: array[{how.counted}, 1], x: {how.held}) -> None:
    g.atomic_{how.update}(counts, g.local_id(0) % len(counts), {how.counted}(x))


def f{number}_at(place: ptr[{how.held}], at: u64) -> {how.held}:
    return place[at]


@g.kernel(block_size=64)
def k{number}(a0: {f"array[{given}, 1]" if how.view else f"ptr[{given}]"}, out: ptr[{result}], n: u64):
    tile = {how.memory}
    counts = g.shared({how.counted}, 4)
    i, t = g.global_id(0), g.local_id(0)
    if t < 4:
        counts[t] = {_BEFORE[how.update]}
    g.barrier()
    x = f{number}_pre(a0[i])
    f{number}_put(tile, t, x)
    f{number}_count(counts, x)
    g.barrier()
    if i < n:
        out[i] = f{number}_post(f{number}_at(tile, (t + {how.turn}) % {BLOCK}), x, counts[(t + 1) % 4])"""


def expected(number: int, how: Meeting, functions: dict[str, ast.FunctionDef], names: dict[str, Any], data: Array, result: str) -> Array:
    """The result's bits.

    Args:
        data: a value for each work-item, of the type of the input.
    """

    def run(name: str, *values: Value) -> Array:
        arguments = {f"x{place}": value for place, value in enumerate(values)}
        ended = Function.run(functions[name], names, data.size, np.ones(data.size, bool), arguments, {})
        assert ended.result is not None
        return ended.result

    given = functions[f"f{number}_pre"].args.args[0].annotation
    assert isinstance(given, ast.Name)
    mine = run(f"f{number}_pre", Value(given.id, data))
    if how.way == "block":
        places = np.arange(data.size)
        others = mine[places // BLOCK * BLOCK + (places % BLOCK + how.turn) % BLOCK]
        counts = _counts(how, numbers.cast(mine, how.held, how.counted))
        return numbers.to_bits(run(f"f{number}_post", Value(how.held, others), Value(how.held, mine), Value(how.counted, counts)), result)
    if how.way in ("min", "max"):
        combined = tiled_model.reduced(mine, lambda a, b: numbers.extreme(how.way, a, b), None)
    else:
        model = tiled_model.reduced if how.way == "sum" else tiled_model.scanned
        combined = model(mine, lambda a, b: numbers.binary("+", a, b, how.held), None)
    return numbers.to_bits(np.ascontiguousarray(combined), result)


def _counts(how: Meeting, values: Array) -> Array:
    """What each work-item reads from its block's counters."""
    found = np.zeros_like(values)
    before = np.array([_BEFORE[how.update]], values.dtype)
    for first in range(0, values.size, BLOCK):
        counters = [_UPDATES[how.update](np.concatenate([before, values[first + each : first + BLOCK : 4]])) for each in range(4)]
        for item in range(BLOCK):
            found[first + item] = counters[(item + 1) % 4]
    return found


def arguments(how: Meeting, source: Array, out: Array, items: int) -> tuple[list[bytes], list[Array]]:
    """The bytes of a launch's arguments, and the arrays that they point to."""
    partials = np.zeros(1, out.dtype)
    held = [source, out] if how.way == "block" else [source, partials, out]
    values = [source, *([items] if how.view else []), out, items] if how.way == "block" else [source, partials, out, items, 0]
    return [(value if isinstance(value, int) else value.ctypes.data).to_bytes(8, "little") for value in values], held
