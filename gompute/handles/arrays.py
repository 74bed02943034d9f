"""Checks of the arrays that a caller hands over, and the words for what is wrong with them."""

from __future__ import annotations

from typing import Any

import numpy

from gompute.errors import InvalidArgument
from gompute.lang.types import SCALARS, ScalarType
from gompute.runtime.buffer import Buffer, Memory

__all__ = ["Array", "address_of", "check_array", "check_buffer", "kernel_type", "not_whole", "numpy_dtype"]

Array = numpy.ndarray[Any, Any]

#: NumPy has no bf16: its bits travel as uint16, or as the `bfloat16` that ml_dtypes adds to NumPy.
_BF16 = "bfloat16"
_KINDS = {"int": "i", "uint": "u", "float": "f", "bool": "b"}


def numpy_dtype(dtype: str) -> numpy.dtype[Any]:
    """NumPy's dtype of a kernel type, in this machine's byte order."""
    if dtype == "bf16":
        return numpy.dtype("uint16")
    kind = SCALARS[dtype]
    return numpy.dtype(f"{_KINDS[kind.kind]}{kind.size}")


def kernel_type(name: str, dtype: Any) -> ScalarType:
    """The kernel type of a kernel type, of its name, or of what `numpy.dtype` takes.

    Raises:
        InvalidArgument: it is none, or NumPy's type is none that kernels have, in this machine's byte order.
    """
    if isinstance(dtype, ScalarType):
        return dtype
    if isinstance(dtype, str) and dtype in SCALARS:
        return SCALARS[dtype]
    try:
        wanted = numpy.dtype(dtype)
    except TypeError:
        raise InvalidArgument(f"{name}: {dtype!r} is no type of elements; write f32, or NumPy's float32") from None
    if wanted.name == _BF16:
        return SCALARS["bf16"]
    for kind in SCALARS.values():
        if kind.name != "bf16" and numpy_dtype(kind.name) == wanted:
            return kind
    raise InvalidArgument(f"{name}: kernels have no elements of {wanted.str} ({wanted}); they have {', '.join(SCALARS)}")


def check_array(name: str, dtype: str, value: Any, place: str = "", *, writable: bool = True) -> Array:
    """`value`, when it is a contiguous NumPy array of a kernel type.

    Args:
        name: the argument's name.
        dtype: the kernel type of its elements (``f32``).
        place: what to pass besides an array, for the message.
        writable: whether it must not be read-only.

    Raises:
        InvalidArgument: naming the argument, what is expected and what was given.
    """
    wanted = numpy_dtype(dtype)
    kind = "contiguous, writable" if writable else "contiguous"
    expected = f"{name}: expected a {kind} NumPy array of {dtype} ({wanted}{' holding the bits' if dtype == 'bf16' else ''}){place}"
    if not isinstance(value, numpy.ndarray):
        fix = f": pass numpy.array({name}, {wanted.name!r})" if isinstance(value, list | tuple) and not writable else ""
        raise InvalidArgument(f"{expected}, got {_described(value)}{fix}")
    if value.dtype != wanted and not (dtype == "bf16" and value.dtype.name == _BF16):
        if value.dtype == wanted.newbyteorder():
            raise InvalidArgument(f"{expected}, got the other byte order ({value.dtype.str}): pass {name}.astype({wanted.name!r})")
        raise InvalidArgument(f"{expected}, got {value.dtype}: pass {name}.astype({wanted.name!r}), or use a kernel of that type")
    if writable and not value.flags.writeable:
        raise InvalidArgument(f"{expected}, got a read-only one: pass numpy.array({name}), a copy")
    if not (value.flags.c_contiguous or value.flags.f_contiguous):
        raise InvalidArgument(f"{expected}, got shape {value.shape} with strides {value.strides}: pass numpy.ascontiguousarray({name})")
    if not value.flags.aligned:
        raise InvalidArgument(f"{expected}, got one whose memory is not aligned to {wanted.itemsize} bytes: pass {name}.copy()")
    return value


def address_of(name: str, buffer: Buffer) -> int:
    """Where a buffer lies.

    Raises:
        InvalidArgument: it is freed; the message has the argument's name.
        BackendUnavailable: its device was shut down.
    """
    if buffer.address is None:
        raise InvalidArgument(f"{name}: this {buffer.memory.backend} buffer of {buffer.nbytes} bytes is freed")
    return buffer.device_addr


def check_buffer(name: str, dtype: str, value: Any, memory: Memory) -> Buffer:
    """`value`, when it is a buffer on the kernel's device.

    Raises:
        InvalidArgument: naming the argument, what is expected and what was given.
    """
    if isinstance(value, Buffer) and value.memory is memory:
        return value
    expected = f"{name}: expected a Buffer on {memory.backend} {memory.ordinal} (from alloc) with elements of {dtype}"
    if isinstance(value, Buffer):
        raise InvalidArgument(f"{expected}, got {value!r}")
    fix = ": upload it to a buffer first; Kernel.run does so by itself" if isinstance(value, numpy.ndarray) else ""
    raise InvalidArgument(f"{expected}, got {_described(value)}{fix}")


def not_whole(name: str, dtype: str, nbytes: int, itemsize: int) -> InvalidArgument:
    """The error for a buffer that does not end where an element ends."""
    return InvalidArgument(f"{name}: a buffer of {nbytes} bytes is no whole number of {dtype} ({itemsize} bytes each)")


def _described(value: Any) -> str:
    if isinstance(value, numpy.ndarray):
        return f"a NumPy array of {value.dtype}"
    if isinstance(value, numpy.generic):
        return f"the NumPy scalar {value!r}"
    if value is None or type(value).__module__.startswith("gompute."):
        return repr(value)
    return f"{type(value).__module__}.{type(value).__qualname__}" if type(value).__module__ != "builtins" else type(value).__qualname__
