"""Kernels whose name is known only at run time."""

from __future__ import annotations

from gompute.handles.defaults import Kernels
from gompute.handles.kernel import Kernel
from gompute.handles.opening import open_kernel
from gompute.handles.raw_kernel import RawKernel

__all__ = ["kernel_by_name"]


def kernel_by_name(name: str, backend: str, ordinal: int = 0, kernels: Kernels = None) -> Kernel | RawKernel:
    """The kernel of that name: a `RawKernel` where it was declared with ``@g.kernel``, a `Kernel` for every operation.

    Args:
        backend: ``cuda``, ``hip`` or ``cpu``.
        ordinal: the device's number.
        kernels: a kernel set, its folder or its generated module; without it the default set.

    Raises:
        KernelNotFound: no such kernel; lists near names.
        ModuleLoadFailed, BackendUnavailable, InitFailed, NoDevice: as `Kernel`.
    """
    opened = open_kernel(name, backend, ordinal, kernels)
    return RawKernel._of(opened) if opened.entry.kind == "kernel" else Kernel._of(opened)
