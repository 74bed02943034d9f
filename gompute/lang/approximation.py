"""The approximations of the hardware that a kernel declared with ``fast=True`` uses for functions of `gompute.math` in f32.

Each is an instruction of a GPU, or one with a multiplication by a constant before or after it. Every other function, f64, f16 and bf16, and
CPUs, which have no such instructions, keep the bodies of `gompute.math`. The errors are those that the vendors state: for NVIDIA in chapter
9.7.3 of the PTX ISA 9.0, for AMD in the notes on each instruction of the RDNA3 and CDNA3 ISA documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, pi
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["APPROXIMATIONS", "Approximation"]


class Approximation(NamedTuple):
    """How one function is approximated on one backend, and what is promised: for a finite result f(x) of an argument of at most `within`
    in magnitude the error is at most ``absolute + |f(x)| * (relative + per_argument * |x|)``.

    Attributes:
        instruction: that of the vendor's documents.
        relative: part of the result.
        per_argument: the same, for each unit of the argument: of a function that multiplies its argument first.
        absolute: None where the vendor states no error.
        within: nothing is promised of larger arguments.
        normal: subnormal arguments may count as 0.
        since: NVIDIA: the first architecture that has it; older ones keep the body of `gompute.math`.
    """

    instruction: str
    relative: float = 0.0
    per_argument: float = 0.0
    absolute: float | None = 0.0
    within: float = inf
    normal: bool = False
    since: tuple[int, int] = (0, 0)


# x * log2(e) is rounded once, and so is the constant: 2^-24 and 2^-26 of the exponent, times ln 2 for the result.
_SCALED = 2.0**-23.6
# Results below the normal numbers: two last places of the least ones on NVIDIA, all of them on AMD, which gives 0.
_TINY, _FLUSHED = 2.0**-148, 2.0**-126

_OF_NVIDIA = {
    "exp": Approximation("ex2.approx.f32", 2.0**-22, _SCALED, _TINY),
    "exp2": Approximation("ex2.approx.f32", 2.0**-22, absolute=_TINY),
    "log": Approximation("lg2.approx.f32", 2.0**-21, absolute=2.0**-22),
    "log2": Approximation("lg2.approx.f32", 2.0**-22, absolute=2.0**-22),
    "log10": Approximation("lg2.approx.f32", 2.0**-21, absolute=2.0**-22),
    "sqrt": Approximation("sqrt.approx.f32", 2.0**-23),
    "rsqrt": Approximation("rsqrt.approx.f32", 2.0**-22.9),
    "sin": Approximation("sin.approx.f32", absolute=2.0**-20.5, within=2 * pi),
    "cos": Approximation("cos.approx.f32", absolute=2.0**-20.5, within=2 * pi),
    # Its PTX version is newer than that of sm_75, which also has the instruction.
    "tanh": Approximation("tanh.approx.f32", 2.0**-11, since=(8, 0)),
}
_OF_AMD = {
    "exp": Approximation("v_exp_f32", 2.0**-23, _SCALED, _FLUSHED),
    "exp2": Approximation("v_exp_f32", 2.0**-23, absolute=_FLUSHED),
    "log": Approximation("v_log_f32", 2.0**-22, normal=True),
    "log2": Approximation("v_log_f32", 2.0**-23, normal=True),
    "log10": Approximation("v_log_f32", 2.0**-22, normal=True),
    "sqrt": Approximation("v_sqrt_f32", 2.0**-23, normal=True),
    "rsqrt": Approximation("v_rsq_f32", 2.0**-23, normal=True),
    "sin": Approximation("v_sin_f32", absolute=None),
    "cos": Approximation("v_cos_f32", absolute=None),
}

#: By backend and function: ``g.math.fast["cuda"]["exp"]``. What is not there is not approximated.
APPROXIMATIONS: Mapping[str, Mapping[str, Approximation]] = MappingProxyType(
    {"cuda": MappingProxyType(_OF_NVIDIA), "hip": MappingProxyType(_OF_AMD)}
)
