"""Functions of `gompute.math` on arrays: each through its own CPU kernel, compiled on first use and kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from gompute.errors import InvalidArgument
from gompute.handles.arrays import Array
from gompute.handles.kernel import Kernel
from gompute.handles.opening import open_compiled
from gompute.lang.math_function import MathFunction
from gompute.lang.spec import KernelSpec
from gompute.lang.types import F16, F32, F64, ScalarType

__all__ = ["apply", "kernel_spec"]

_KINDS = {"float16": F16, "float32": F32, "float64": F64}


def apply(function: MathFunction, arguments: Sequence[Any], out: Any) -> Any:
    """``function(*arguments)`` elementwise, as NumPy's own functions: shapes broadcast, types promote, Python numbers are weak.

    Raises InvalidArgument for a wrong count, for shapes that do not broadcast, for what is no float, and for an unfit `out`.
    """
    name = f"g.math.{function.__name__}"
    if len(arguments) != function.arity:
        raise InvalidArgument(f"{name} takes {function.arity} argument{'s' if function.arity > 1 else ''}, and {len(arguments)} are given")
    given = [argument if type(argument) in (int, float) else np.asarray(argument) for argument in arguments]
    for argument in given:
        if isinstance(argument, np.ndarray) and argument.dtype.name not in _KINDS:
            raise InvalidArgument(f"{name} takes arrays of float16, float32 or float64, and this is {argument.dtype}; write a.astype(...)")
    dtype = np.result_type(*given) if any(isinstance(argument, np.ndarray) for argument in given) else np.dtype(np.float64)
    kind = _KINDS[dtype.name]
    try:
        spread = np.broadcast_arrays(*(np.asarray(argument, dtype) for argument in given))
    except ValueError:
        shapes = " and ".join(str(np.shape(argument)) for argument in given)
        raise InvalidArgument(f"{name}: the shapes {shapes} do not broadcast") from None
    inputs = [np.ascontiguousarray(array).reshape(array.shape) for array in spread]
    shape = inputs[0].shape
    if out is not None and not (isinstance(out, np.ndarray) and out.dtype == dtype and out.shape == shape and out.flags.writeable):
        held = f"an array of {out.dtype}, {out.shape}" if isinstance(out, np.ndarray) else repr(out)
        raise InvalidArgument(f"{name}: out has to be a writable array of {dtype}, {shape}, and this is {held}")
    direct = out is not None and out.flags.c_contiguous and not any(_overlap(array, out) for array in inputs)
    result = out if direct else np.empty(shape, dtype)
    _kernel(function, kind).run(*inputs, result)
    if out is not None and result is not out:
        out[...] = result
    return result if out is None else out


def _overlap(array: Array, out: Array) -> bool:
    """Whether they share memory without being the same."""
    return array.ctypes.data != out.ctypes.data and np.may_share_memory(array, out)


@cache
def _kernel(function: MathFunction, kind: ScalarType) -> Kernel:
    return Kernel._of(open_compiled(kernel_spec(function, kind)))


def kernel_spec(function: MathFunction, kind: ScalarType) -> KernelSpec:
    """The kernel that applies `function` to arrays of `kind`: a `map_to` of one argument, a `zip` of more."""

    def one(x: kind) -> kind:  # type: ignore[valid-type]
        return function(x)

    def two(x: kind, y: kind) -> kind:  # type: ignore[valid-type]
        return function(x, y)

    def three(x: kind, y: kind, z: kind) -> kind:  # type: ignore[valid-type]
        return function(x, y, z)

    body = (one, two, three)[function.arity - 1]
    return KernelSpec("map_to" if function.arity == 1 else "zip", (body,), f"{function.__name__}_{kind}", 256)
