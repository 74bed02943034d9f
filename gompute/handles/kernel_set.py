"""Kernel sets as a program uses them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gompute.artifacts import kernel_set

if TYPE_CHECKING:
    from gompute.handles.kernel import Kernel
    from gompute.handles.raw_kernel import RawKernel

__all__ = ["KernelSet", "load"]


class KernelSet(kernel_set.KernelSet):
    """A kernel set that can open its kernels."""

    def kernel_by_name(self, name: str, backend: str, ordinal: int = 0) -> Kernel | RawKernel:
        """A kernel whose name is known only at run time: a `RawKernel` for a raw kernel, a `Kernel` for every other.

        Raises:
            KernelNotFound: no such kernel; lists near names.
        """
        from gompute.handles.by_name import kernel_by_name

        return kernel_by_name(name, backend, ordinal, self)


def load(path: str | os.PathLike[str]) -> KernelSet:
    """Opens the kernel set in a folder. Its index is checked now, each blob when it is first used.

    Raises:
        ArtifactError: no kernel set there, or one that is not to be trusted.
    """
    opened = KernelSet.open(path)
    assert isinstance(opened, KernelSet)
    return opened
