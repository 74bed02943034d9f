"""`AutoKernel`: a kernel on the best backend that works here."""

from __future__ import annotations

import warnings
from typing import Any

from gompute.errors import BackendUnavailable, ContextFailed, Error, InitFailed, InvalidArgument, KernelNotFound, ModuleLoadFailed, NoDevice
from gompute.handles.defaults import Kernels, default_set
from gompute.handles.kernel import Kernel
from gompute.handles.opening import BACKENDS, open_kernel, spec_of
from gompute.runtime.libraries import DriverMissing

__all__ = ["AutoKernel"]


class AutoKernel(Kernel):
    """A kernel on CUDA, else on HIP, else on the CPU: the first for which the set has code that loads.

    A backend without a driver or a device, or without any code in the set, is passed over in silence. Code that is there and does not load
    (damaged, stale, for other devices only; a driver that fails) is a warning, with `strict` an error.

    Args:
        spec: the decorated function.
        kernels: a kernel set, its folder or its generated module; without it the default set.
        strict: raise where a warning would be given.
        threads: the most threads of one call where the CPU is chosen.

    Raises:
        InvalidArgument, ArtifactError: a wrong argument, a set that is not to be trusted.
        Error: not even the CPU can run it; that backend's error.
    """

    def __init__(self, spec: Any, kernels: Kernels = None, strict: bool = False, *, threads: int | None = None) -> None:
        spec = spec_of(spec, "AutoKernel")
        if spec.kind == "kernel":
            raise InvalidArgument(f"spec: {spec.name!r} is a raw kernel (@g.kernel): use g.RawKernel")
        kernel_set = default_set(kernels)
        try:
            offered = {candidate.target.backend for candidate in kernel_set.candidates(spec.name)} if kernel_set is not None else set()
        except KernelNotFound:
            offered = set()  # the CPU's message says so, unless it can compile the spec
        for backend in BACKENDS:
            if backend == "cpu":
                break
            if backend not in offered:
                continue
            try:
                opened = open_kernel(spec, backend, 0, kernel_set)
            except (DriverMissing, NoDevice):
                continue
            except (ModuleLoadFailed, BackendUnavailable, InitFailed, ContextFailed) as error:
                if strict:
                    raise
                _warn(spec.name, backend, error)
                continue
            self._take(opened, None)
            return
        self._take(open_kernel(spec, "cpu", 0, kernel_set), threads)

    @property
    def selected(self) -> str:
        """The backend in use: ``cuda``, ``hip`` or ``cpu``."""
        return self.backend


def _warn(name: str, backend: str, error: Error) -> None:
    warnings.warn(f"kernel {name!r} is not run on {backend}: {error}", RuntimeWarning, stacklevel=3)
