"""DLPack: arrays of other libraries without a copy, and ours for them. After the specification of DLPack 1.0 and its Python protocol.

A producer has ``__dlpack_device__()`` and ``__dlpack__(stream=...)``, which gives a capsule around a C struct; who takes it renames the
capsule and calls the struct's deleter when done.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

from gompute.errors import InvalidArgument

__all__ = ["DEVICE_TYPES", "Tensor", "borrow", "default_stream", "device_of", "export"]

#: Backends by DLPack's number of a device type: memory that kernels of the backend reach.
DEVICE_TYPES = {1: "cpu", 2: "cuda", 3: "cpu", 10: "hip", 11: "cpu", 13: "cuda"}
_TYPE_OF = {"cpu": 1, "cuda": 2, "hip": 10}
#: Kernel types by DLPack's type code and width.
_DTYPES = {
    **{(0, bits): f"i{bits}" for bits in (8, 16, 32, 64)},
    **{(1, bits): f"u{bits}" for bits in (8, 16, 32, 64)},
    **{(2, bits): f"f{bits}" for bits in (16, 32, 64)},
    (4, 16): "bf16",
    (6, 8): "bool",
}
_CODES = {dtype: code for code, dtype in _DTYPES.items()}
_VERSION = (1, 0)
_READ_ONLY = 1


class _Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    """Of versions before 1.0: capsule name ``dltensor``."""

    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _Versioned(ctypes.Structure):
    """Capsule name ``dltensor_versioned``."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


class Tensor(NamedTuple):
    """An array of another library while it is borrowed.

    Attributes:
        backend: whose kernels reach the memory; `ordinal` is the device's number.
        shape: in elements.
        strides: in elements; None where the elements lie in C order without gaps.
        dtype: the kernel type.
        read_only: None where the producer could not say: a tensor from before version 1.0 has no word for it.
        release: gives the array back; to be called once.
    """

    backend: str
    ordinal: int
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: str
    read_only: bool | None
    release: Callable[[], None]


_api = ctypes.pythonapi
_capsule_name = _api.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_capsule_pointer = _api.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_set_name = _api.PyCapsule_SetName
_set_name.restype, _set_name.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_new_capsule = _api.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

# The same for a capsule at its end, by address: a reference taken and given back there would end it again.
_dying_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_GetName", _api))
_dying_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))

# A capsule keeps the pointer to its name, so that the text has to stay.
_NAMES = {
    name: ctypes.create_string_buffer(name) for name in (b"dltensor", b"dltensor_versioned", b"used_dltensor", b"used_dltensor_versioned")
}


def device_of(backend: str, ordinal: int) -> tuple[int, int]:
    """DLPack's name for a device."""
    return _TYPE_OF[backend], 0 if backend == "cpu" else ordinal


def default_stream(backend: str) -> int:
    """DLPack's number of a backend's default stream, which CUDA's driver and AMD's know by other numbers."""
    return 1 if backend == "cuda" else 0


def borrow(name: str, value: Any, stream: int | None) -> Tensor:
    """Take an array of another library.

    Args:
        name: the argument's name, for errors.
        value: has ``__dlpack__`` and ``__dlpack_device__``.
        stream: where the memory will be used: the producer makes it safe there. None for host memory.

    Raises InvalidArgument for a device or a type that kernels do not have, and where the producer refuses.
    """
    kind, ordinal = (int(part) for part in value.__dlpack_device__())
    backend = DEVICE_TYPES.get(kind)
    if backend is None:
        raise InvalidArgument(f"{name}: is on a device of DLPack type {kind}, which no backend reaches; copy it to the host or to a GPU")
    try:
        try:
            capsule = value.__dlpack__(stream=stream, max_version=_VERSION)
        except TypeError:  # a producer from before version 1.0 does not know the second argument
            capsule = value.__dlpack__(stream=stream)
    except (BufferError, ValueError, RuntimeError) as error:
        raise InvalidArgument(f"{name}: {type(value).__name__} does not hand its memory out: {error}") from error
    return _taken(name, capsule, backend, ordinal)


def _taken(name: str, capsule: Any, backend: str, ordinal: int) -> Tensor:
    held = _capsule_name(capsule)
    managed: _Managed | _Versioned
    address = _capsule_pointer(capsule, _NAMES[held]) if held in (b"dltensor", b"dltensor_versioned") else None
    if address is None:
        what = f"its __dlpack__ gave a capsule named {held!r}"
        raise InvalidArgument(f"{name}: {what}, which is no DLPack tensor, or one that was used already")
    if held == b"dltensor":
        managed = _Managed.from_address(address)
        read_only = None
    else:
        managed = _Versioned.from_address(address)
        read_only = bool(managed.flags & _READ_ONLY)
    _set_name(capsule, _NAMES[b"used_" + held])
    deleter = managed.deleter

    def release() -> None:
        if deleter:
            _Deleter(deleter)(address)

    try:
        if isinstance(managed, _Versioned) and managed.major > _VERSION[0]:
            raise InvalidArgument(f"{name}: is a DLPack tensor of version {managed.major}.{managed.minor}; this is for {_VERSION[0]}.x")
        tensor = managed.tensor
        dtype = _DTYPES.get((tensor.dtype.code, tensor.dtype.bits)) if tensor.dtype.lanes == 1 else None
        if dtype is None:
            kind = (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes)
            raise InvalidArgument(f"{name}: its elements are of DLPack type (code, bits, lanes) = {kind}, which kernels do not have")
        shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
        strides = tuple(tensor.strides[axis] for axis in range(tensor.ndim)) if tensor.strides else None
        start = (tensor.data or 0) + tensor.byte_offset
        return Tensor(backend, ordinal, start, shape, None if strides == _dense(shape) else strides, dtype, read_only, release)
    except BaseException:
        release()
        raise


def _dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, in elements, of an array in C order without gaps."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


#: What exported tensors keep alive, by the address of their struct, until their deleter is called.
_exported: dict[int, tuple[Any, ...]] = {}


def _forget(address: int) -> None:
    _exported.pop(address, None)


def _forget_untaken(capsule: int) -> None:
    """Of a capsule that goes without having been taken."""
    name = _dying_name(capsule)
    if name in (b"dltensor", b"dltensor_versioned"):
        _exported.pop(_dying_pointer(capsule, _NAMES[name]) or 0, None)


_delete, _capsule_ends = _Deleter(_forget), _Deleter(_forget_untaken)


def export(owner: Any, backend: str, ordinal: int, address: int, shape: tuple[int, ...], dtype: str, versioned: bool) -> Any:
    """A capsule for ``__dlpack__`` around an array in C order; `owner` stays alive as long as the taker needs it."""
    tensor = _Tensor()
    extents = (ctypes.c_int64 * max(1, len(shape)))(*shape)
    strides = (ctypes.c_int64 * max(1, len(shape)))(*_dense(shape))
    code, bits = _CODES[dtype]
    tensor.data, tensor.device, tensor.ndim = address, _Device(*device_of(backend, ordinal)), len(shape)
    tensor.dtype = _DataType(code, bits, 1)
    tensor.shape, tensor.strides, tensor.byte_offset = extents, strides, 0
    deleter = ctypes.cast(_delete, ctypes.c_void_p)
    managed: _Managed | _Versioned
    if versioned:
        managed, name = _Versioned(*_VERSION, None, deleter, 0, tensor), b"dltensor_versioned"
    else:
        managed, name = _Managed(tensor, None, deleter), b"dltensor"
    at = ctypes.addressof(managed)
    _exported[at] = (managed, extents, strides, owner)
    return _new_capsule(at, ctypes.cast(_NAMES[name], ctypes.c_char_p), ctypes.cast(_capsule_ends, ctypes.c_void_p))
