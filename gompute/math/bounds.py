"""How far a result of `gompute.math` may be from the true value."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from gompute.lang.math_function import NAMES
from gompute.math.f64 import BOUNDS
from gompute.math.measured import INPUTS

__all__ = ["Bound", "max_ulp"]


class Bound(NamedTuple):
    """What is promised of one function and type.

    Attributes:
        ulp: the largest error, in units of the last place of the correctly rounded result: 0.5 is correct rounding, 0 is exact.
        inputs: how many inputs that has been checked on; 0 for an operation that every target defines so.
    """

    ulp: float
    inputs: int


_EXACT = ("floor", "ceil", "trunc", "round", "copysign", "fmod")
_ROUNDED = ("sqrt", "fma")
_KINDS = ("f16", "bf16", "f32", "f64")


def _bounds(name: str) -> Mapping[str, Bound]:
    if name in _EXACT or name in _ROUNDED:
        return MappingProxyType({kind: Bound(0.0 if name in _EXACT else 0.5, 0) for kind in _KINDS})
    measured = {kind: INPUTS.get(kind, {}).get(name) for kind in _KINDS}
    allowed = {kind: BOUNDS[name] if kind == "f64" else 0.5 for kind in _KINDS}
    return MappingProxyType({kind: Bound(allowed[kind], inputs) for kind, inputs in measured.items() if inputs is not None})


#: By function and type: ``max_ulp["exp"]["f32"].ulp``. A type is there if the function has been checked for it.
max_ulp: Mapping[str, Mapping[str, Bound]] = MappingProxyType({name: _bounds(name) for name in NAMES})
