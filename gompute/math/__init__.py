"""``g.math``: elementary functions with the same bits on every target and bounds that are proved.

    y = g.math.exp(x)           # in a kernel: x is f16, bf16, f32 or f64, and so is y
    g.math.exp(array)           # on the host: runs the CPU kernel, with the same bits

Functions are picked by the type of their arguments. Integers are refused: write ``f32(n)`` or ``f64(n)``. A Python number takes the type
of the arguments beside it, and is f64 where there is none. For f32, f16 and bf16 every result is correctly rounded; what f64 promises is in
`max_ulp`. Special values are those of C23, Annex F.

A kernel that is declared with ``fast=True`` uses the hardware's approximations on GPUs instead, in f32, of the errors in `fast`.

Each is an ordinary device function in the kernel language, compiled into the kernels that use it; no library and no approximation of the
hardware is behind any of them. How they are laid out:

- ``gompute/math/f32/FAMILY.py`` holds the bodies for f32, f16 and bf16: ``def exp(x: f64) -> f64``, listed in `BODIES` of
  ``f32/__init__.py`` as ``"exp": "gompute.math.f32.exponential:exp"``; `gompute.lang.math_function.MathFunction` says what they return.
- ``gompute/math/f64/FAMILY.py`` holds the bodies for f64 in the same form, listed in `BODIES` of ``f64/__init__.py``.
- Every function of these modules is compiled inline, so a body is written with selects rather than branches, and loops over it vectorise.
- Tables and coefficients are written by ``checks/math`` into modules next to the bodies (``coefficients``, ``rows``), as tuples of floats.
- A body imports the exact functions (`fma`, `sqrt`, `floor`) from `gompute.math.exact`.
"""

from __future__ import annotations

from gompute.lang.approximation import APPROXIMATIONS as fast
from gompute.lang.math_function import MathFunction
from gompute.math import f32, f64
from gompute.math.bounds import Bound, max_ulp
from gompute.math.exact import ceil, copysign, floor, fma, fmod, round, sqrt, trunc

__all__ = [
    "Bound",
    "acos",
    "asin",
    "atan",
    "atan2",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "fast",
    "floor",
    "fma",
    "fmod",
    "hypot",
    "log",
    "log1p",
    "log2",
    "log10",
    "max_ulp",
    "pow",
    "round",
    "rsqrt",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]


def _function(name: str, arity: int, summary: str) -> MathFunction:
    return MathFunction(name, arity, summary, narrow=f32.BODIES.get(name), wide=f64.BODIES.get(name))


exp = _function("exp", 1, "e to the power x.")
exp2 = _function("exp2", 1, "2 to the power x.")
expm1 = _function("expm1", 1, "e to the power x, minus 1; precise near 0.")
log = _function("log", 1, "Natural logarithm.")
log2 = _function("log2", 1, "Logarithm to base 2.")
log10 = _function("log10", 1, "Logarithm to base 10.")
log1p = _function("log1p", 1, "Natural logarithm of 1 + x; precise near 0.")
pow = _function("pow", 2, "x to the power y.")
rsqrt = _function("rsqrt", 1, "1 / sqrt(x).")
cbrt = _function("cbrt", 1, "Cube root.")
sin = _function("sin", 1, "Sine of an angle in radians.")
cos = _function("cos", 1, "Cosine of an angle in radians.")
tan = _function("tan", 1, "Tangent of an angle in radians.")
asin = _function("asin", 1, "Arc sine, in radians.")
acos = _function("acos", 1, "Arc cosine, in radians.")
atan = _function("atan", 1, "Arc tangent, in radians.")
atan2 = _function("atan2", 2, "Angle of the point (x, y) in radians: atan2(y, x).")
sinh = _function("sinh", 1, "Hyperbolic sine.")
cosh = _function("cosh", 1, "Hyperbolic cosine.")
tanh = _function("tanh", 1, "Hyperbolic tangent.")
hypot = _function("hypot", 2, "sqrt(x * x + y * y), without overflow on the way.")
erf = _function("erf", 1, "Error function.")
erfc = _function("erfc", 1, "1 - erf(x); precise where erf is near 1.")
