"""Functions of `gompute.math`: one name, and a body by the type of the argument.

The compiler knows them by identity. On the host they compute on numbers and on NumPy arrays.
"""

from __future__ import annotations

import importlib
from types import FunctionType
from typing import Any, overload

from gompute.errors import CompileError
from gompute.lang.types import F64, ScalarType

__all__ = ["NAMES", "MathFunction"]

#: Those of `gompute.math`.
NAMES = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "sqrt", "rsqrt", "cbrt", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("atan2", "sinh", "cosh", "tanh", "hypot", "erf", "erfc", "floor", "ceil", "trunc", "round", "fma", "copysign", "fmod"),
)


class MathFunction:
    """One function of `gompute.math`.

    Attributes:
        arity: how many arguments it takes.
        exact: it is one operation of the kernel language (`sqrt`, `fma`), which every target carries out by itself, for every float type.

    Any other function has device functions as its bodies, named as ``module:function`` and imported when one is first needed:

    - `narrow` serves f32, f16 and bf16. It takes and returns f64: its arguments are converted exactly, and its result is so close to the
      true value that rounding it once to the narrower type rounds correctly.
    - `wide` serves f64.
    """

    def __init__(
        self, name: str, arity: int, summary: str, *, exact: bool = False, narrow: str | None = None, wide: str | None = None
    ) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = summary
        self.arity = arity
        self.exact = exact
        self._homes = {"narrow": narrow, "wide": wide}

    def body(self, kind: ScalarType) -> FunctionType:
        """The device function, from f64 to f64, that computes it for a float type. Raises CompileError where there is none."""
        home = self._homes["wide" if kind == F64 else "narrow"]
        if home is None:
            raise CompileError(f"g.math.{self.__name__} does not exist for {kind}")
        module, _, function = home.partition(":")
        found = getattr(importlib.import_module(module), function)
        assert isinstance(found, FunctionType)
        return found

    @overload
    def __call__(self, *arguments: float) -> float: ...
    @overload
    def __call__(self, *arguments: Any, out: Any = None) -> Any: ...
    def __call__(self, *arguments: Any, out: Any = None) -> Any:
        """Compute on the host, with the bits that a kernel gives.

        Args:
            arguments: numbers or NumPy arrays of float16, float32 or float64, of shapes that broadcast.
            out: an array for the results, of the result's shape and type; a new one when left out. It may be one of the arguments.

        Returns:
            An array where an argument is one, else a number: a Python float where all arguments are plain Python numbers, which are
            computed as f64.

        Raises InvalidArgument for other arguments, and BackendUnavailable for arrays where the `compiler` extra is not installed: they run
        through the CPU kernel of the function, compiled on first use.
        """
        from gompute import in_process

        return in_process.call_math(self, arguments, out)

    def __repr__(self) -> str:
        return f"<function gompute.math.{self.__name__}>"
