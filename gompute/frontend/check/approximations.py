"""Functions of `gompute.math` as the hardware approximates them, in kernels that ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast as assume

from gompute.frontend import typed
from gompute.frontend.check.operands import Value
from gompute.lang import numeric
from gompute.lang.approximation import APPROXIMATIONS
from gompute.lang.types import F32, ScalarType
from gompute.targets import Target

__all__ = ["approximated"]

# Functions that an instruction does with one multiplication: by log2(e) before it, by log(2) in their base behind it.
_BEFORE = {"exp": ("exp2", 1.4426950408889634)}
_BEHIND = {"log": ("log2", 0.6931471805599453), "log10": ("log2", 0.3010299956639812)}


def approximated(name: str, kind: ScalarType, values: Sequence[Value], target: Target) -> typed.Expression | None:
    """What a kernel with ``fast=True`` computes for a function of `gompute.math`; None where the target has nothing for it. A constant
    argument is left to the function's body, which every compiler computes alike."""
    how = APPROXIMATIONS.get(target.backend, {}).get(name)
    if how is None or kind != F32 or (target.backend == "cuda" and target.number < how.since):
        return None
    (value,) = values
    if isinstance(value.node, typed.Constant):
        return None
    if name in _BEFORE:
        inner, factor = _BEFORE[name]
        return _instruction(inner, _scaled(value.node, factor))
    if name in _BEHIND:
        inner, factor = _BEHIND[name]
        return _scaled(_instruction(inner, value.node), factor)
    return _instruction(name, value.node)


def _instruction(name: str, operand: typed.Expression) -> typed.Expression:
    return typed.Approximate(F32, assume(typed.ApproximateName, name), operand)


def _scaled(node: typed.Expression, factor: float) -> typed.Expression:
    return typed.Binary(F32, "mul", node, typed.Constant(F32, numeric.convert(factor, F32)))
