"""``cvt``: between any two types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.ptx import exact
from tests.ptx.decode import Modifiers, opcode
from tests.ptx.faults import Unknown
from tests.ptx.floats import clamped, format_of, narrow, packed, widened
from tests.ptx.syntax import KINDS, Kind
from tests.ptx.threads import Operands, Step, Threads, dtype_of

Array = np.ndarray[Any, Any]

_INTEGERS = tuple(f"{letter}{bits}" for letter in "su" for bits in (8, 16, 32, 64))
_FLOATS = ("f16", "bf16", "f32", "f64")
_TO_INTEGRAL = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}


@opcode("cvt")
def _convert(modifiers: Modifiers, operands: Operands) -> Step:
    integral = modifiers.given(*_TO_INTEGRAL)
    mode = modifiers.given(*exact.ROUNDERS)
    saturate = bool(modifiers.given("sat"))
    target = modifiers.kind(*_INTEGERS, *_FLOATS, "f16x2", "bf16x2")
    source = modifiers.kind(*_INTEGERS, *_FLOATS)
    modifiers.done()
    if target.lanes == 2:
        return _pack_two(modifiers, operands, mode, target, source)
    operands.expect(2)
    read = operands.read(1, source, wider=True)
    write = operands.write(0, target, extend=True)
    function = _function(modifiers, _TO_INTEGRAL.get(integral, ""), mode, target, source)
    if saturate:
        function = _saturating(modifiers, function, target, source)
    return lambda threads: write(threads, function(read(threads)))


def _function(modifiers: Modifiers, integral: str, mode: str, target: Kind, source: Kind) -> Callable[[Array], Array]:
    to_float, from_float = target.letter in ("f", "bf"), source.letter in ("f", "bf")
    if not to_float and not from_float:
        _need(modifiers, not integral and not mode)
        return lambda a: a.astype(dtype_of(target))
    if not to_float:
        _need(modifiers, bool(integral) and not mode)
        return lambda a: _to_integer(a, target, source, integral)
    if not from_float:
        _need(modifiers, bool(mode) and not integral)
        return lambda a: _from_integer(a, target, mode)
    if format_of(target) == format_of(source):
        _need(modifiers, bool(integral) and not mode)
        return lambda a: _to_integral(a, source, integral)
    keeps = target.bits > source.bits  # f16 and bf16 hold numbers that the other does not
    _need(modifiers, not integral and bool(mode) != keeps)
    return lambda a: narrow(widened(a, source), target, mode or "rn")


def _need(modifiers: Modifiers, right: bool) -> None:
    """A conversion that may be inexact says how it rounds; another says nothing."""
    if not right:
        raise Unknown(f"{modifiers.instruction}: no such rounding for these types")


def _to_integer(a: Array, target: Kind, source: Kind, mode: str) -> Array:
    """Clamped to the target's range. NaN gives 0, but from f64 or to 64 bits the smallest signed pattern."""
    numbers = widened(a, source)
    made = exact.truncated(numbers, mode, target.bits, target.letter == "s").astype(dtype_of(target))
    if source.bits == 64 or target.bits == 64:
        pattern = np.array([1 << (target.bits - 1)], f"u{target.size}").view(dtype_of(target))
        made = np.where(np.isnan(numbers), pattern, made)
    return made


def _to_integral(a: Array, kind: Kind, mode: str) -> Array:
    numbers = widened(a, kind)
    return packed(np.copysign(exact.ROUNDERS[mode](numbers), numbers), kind)


def _from_integer(a: Array, target: Kind, mode: str) -> Array:
    if mode != "rn":
        exactly = [exact.rounded(exact.Fraction(value), format_of(target), mode) if value else 0.0 for value in a.reshape(-1).tolist()]
        return packed(np.array(exactly, np.float64).reshape(a.shape), target)
    if target.letter == "f" and target.bits >= 32:
        return a.astype(dtype_of(target))
    return narrow(exact.integer_to_odd(a.astype(np.int64) if a.dtype.kind == "i" else a.astype(np.uint64)), target)


def _saturating(modifiers: Modifiers, function: Callable[[Array], Array], target: Kind, source: Kind) -> Callable[[Array], Array]:
    if target.letter in ("f", "bf"):
        return lambda a: clamped(function(a), target)
    if source.letter in ("f", "bf"):
        return function  # clamps as it is
    info, own = np.iinfo(dtype_of(target)), np.iinfo(dtype_of(source))
    low, high = max(int(info.min), int(own.min)), min(int(info.max), int(own.max))
    return lambda a: np.clip(a, low, high).astype(dtype_of(target))


def _pack_two(modifiers: Modifiers, operands: Operands, mode: str, target: Kind, source: Kind) -> Step:
    """``cvt.rn.f16x2.f32 d, a, b``: the first operand becomes the upper half."""
    _need(modifiers, mode == "rn" and source == KINDS["f32"])
    operands.expect(3)
    upper, lower, write = operands.read(1, source), operands.read(2, source), operands.write(0, target)

    def step(threads: Threads) -> None:
        halves = np.broadcast_arrays(lower(threads), upper(threads), threads.places)[:2]
        write(threads, np.stack([narrow(widened(half, source), target, mode) for half in halves], 1))

    return step
