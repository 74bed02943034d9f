"""Gompute: GPU kernels written in Python, compiled ahead of time for pinned targets, run without a compiler.

    import gompute as g
    from gompute import f32

Names are loaded on first use: importing the package pulls in neither a compiler nor a driver, and not NumPy.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # type checkers know the name; importing `typing` would delay every program by milliseconds

if TYPE_CHECKING:
    from typing import Any

    from gompute import math, runtime
    from gompute.errors import (
        AllocFailed,
        ArtifactError,
        BackendUnavailable,
        CaptureFailed,
        CheckFailed,
        CompileError,
        ContextFailed,
        CopyFailed,
        Error,
        EventFailed,
        GraphFailed,
        InitFailed,
        InternalError,
        InvalidArgument,
        KernelNotFound,
        LaunchFailed,
        ModuleLoadFailed,
        NoDevice,
        SyncFailed,
        UnknownTarget,
        Unsupported,
    )
    from gompute.handles.auto_kernel import AutoKernel
    from gompute.handles.by_name import kernel_by_name
    from gompute.handles.defaults import register_kernels
    from gompute.handles.device_array import DeviceArray, asarray, empty, zeros
    from gompute.handles.installed import installed_kernels
    from gompute.handles.kernel import Kernel
    from gompute.handles.kernel_set import KernelSet, load
    from gompute.handles.raw_kernel import RawKernel
    from gompute.lang import abi, random
    from gompute.lang.block import (
        atomic_add,
        atomic_and,
        atomic_cas,
        atomic_exchange,
        atomic_max,
        atomic_min,
        atomic_or,
        atomic_xor,
        ballot,
        barrier,
        dynamic_shared,
        lane_id,
        shared,
        shuffle,
        shuffle_down,
        shuffle_up,
        shuffle_xor,
        warp_all,
        warp_any,
        warp_size,
    )
    from gompute.lang.builtins import (
        bitcast,
        block_dim,
        block_id,
        cast,
        global_id,
        grid_dim,
        local,
        local_id,
        select,
        static,
        table,
        target,
    )
    from gompute.lang.names import array, bf16, f16, f32, f64, fixed, i8, i16, i32, i64, ptr, u8, u16, u32, u64, vec
    from gompute.lang.operations import fused, gather, kernel, map, map_indexed, map_to, scatter, scatter_add, unary, zip
    from gompute.lang.params import params
    from gompute.lang.reductions import all, any, max, min, reduce, scan, sum, sum_scan
    from gompute.runtime.buffer import Buffer
    from gompute.runtime.dim3 import Dim3
    from gompute.runtime.status import last_driver_error

__version__ = "0.1.0"

_HOMES = {
    "gompute.errors": (
        "AllocFailed ArtifactError BackendUnavailable CaptureFailed CheckFailed CompileError ContextFailed CopyFailed Error EventFailed "
        "GraphFailed InitFailed InternalError InvalidArgument KernelNotFound LaunchFailed ModuleLoadFailed NoDevice SyncFailed "
        "UnknownTarget Unsupported"
    ),
    "gompute.lang.block": (
        "atomic_add atomic_and atomic_cas atomic_exchange atomic_max atomic_min atomic_or atomic_xor ballot "
        "barrier dynamic_shared lane_id shared shuffle shuffle_down shuffle_up shuffle_xor warp_all warp_any warp_size"
    ),
    "gompute.lang.builtins": "bitcast block_dim block_id cast global_id grid_dim local local_id select static table target",
    "gompute.lang.names": "array bf16 f16 f32 f64 fixed i8 i16 i32 i64 ptr u8 u16 u32 u64 vec",
    "gompute.lang.operations": "fused gather kernel map map_indexed map_to scatter scatter_add unary zip",
    "gompute.lang.params": "params",
    "gompute.lang.reductions": "all any max min reduce scan sum sum_scan",
    "gompute.handles.kernel": "Kernel",
    "gompute.handles.raw_kernel": "RawKernel",
    "gompute.handles.auto_kernel": "AutoKernel",
    "gompute.handles.by_name": "kernel_by_name",
    "gompute.handles.defaults": "register_kernels",
    "gompute.handles.device_array": "DeviceArray asarray empty zeros",
    "gompute.handles.installed": "installed_kernels",
    "gompute.handles.kernel_set": "KernelSet load",
    "gompute.runtime.buffer": "Buffer",
    "gompute.runtime.dim3": "Dim3",
    "gompute.runtime.status": "last_driver_error",
}
_MODULES = {"abi": "gompute.lang.abi", "math": "gompute.math", "random": "gompute.lang.random", "runtime": "gompute.runtime"}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "AllocFailed",
    "ArtifactError",
    "AutoKernel",
    "BackendUnavailable",
    "Buffer",
    "CaptureFailed",
    "CheckFailed",
    "CompileError",
    "ContextFailed",
    "CopyFailed",
    "DeviceArray",
    "Dim3",
    "Error",
    "EventFailed",
    "GraphFailed",
    "InitFailed",
    "InternalError",
    "InvalidArgument",
    "Kernel",
    "KernelNotFound",
    "KernelSet",
    "LaunchFailed",
    "ModuleLoadFailed",
    "NoDevice",
    "RawKernel",
    "SyncFailed",
    "UnknownTarget",
    "Unsupported",
    "__version__",
    "abi",
    "all",
    "any",
    "array",
    "asarray",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_exchange",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_xor",
    "ballot",
    "barrier",
    "bf16",
    "bitcast",
    "block_dim",
    "block_id",
    "cast",
    "dynamic_shared",
    "empty",
    "f16",
    "f32",
    "f64",
    "fixed",
    "fused",
    "gather",
    "global_id",
    "grid_dim",
    "i8",
    "i16",
    "i32",
    "i64",
    "installed_kernels",
    "kernel",
    "kernel_by_name",
    "lane_id",
    "last_driver_error",
    "load",
    "local",
    "local_id",
    "map",
    "map_indexed",
    "map_to",
    "math",
    "max",
    "min",
    "params",
    "ptr",
    "random",
    "reduce",
    "register_kernels",
    "runtime",
    "scan",
    "scatter",
    "scatter_add",
    "select",
    "shared",
    "shuffle",
    "shuffle_down",
    "shuffle_up",
    "shuffle_xor",
    "static",
    "sum",
    "sum_scan",
    "table",
    "target",
    "u8",
    "u16",
    "u32",
    "u64",
    "unary",
    "vec",
    "warp_all",
    "warp_any",
    "warp_size",
    "zeros",
    "zip",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = importlib.import_module(_MODULES[name])
    elif name in _HOME_OF:
        value = getattr(importlib.import_module(_HOME_OF[name]), name)
    else:
        raise AttributeError(f"module 'gompute' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
