"""Cases on a device; what checks/device runs too, so without what tests alone need."""

from __future__ import annotations

from typing import Any

import numpy as np

import gompute as g
from gompute.artifacts.kernel_set import KernelSet
from gompute.lang.types import TypedFloat
from tests.conformance.case import Case


def stored(given: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """A number that a reduction gave, as an array holds it."""
    if isinstance(given, TypedFloat) and given.dtype == g.bf16:
        return np.array([np.float32(given).view(np.uint32) >> 16], np.uint16)
    assert isinstance(given, {"b": bool, "f": float}.get(dtype.kind, int))
    return np.array([given]).astype(dtype)


def launched(case: Case, backend: str, kernels: KernelSet, **options: Any) -> list[Any]:
    """The arguments after the launch, through buffers of the device."""
    arguments = [value.copy() if isinstance(value, np.ndarray) else value for value in case.arguments]
    declared = [argument for argument in kernels.entry(case.kernel).arguments if argument.kind != "extent"]
    with g.RawKernel(case.kernel, backend, kernels=kernels, **options) as kernel:
        buffers = {place: kernel.alloc(value.nbytes) for place, value in enumerate(arguments) if isinstance(value, np.ndarray)}
        for place, buffer in buffers.items():
            buffer.upload(arguments[place])
        passed = [
            (buffers[place], arguments[place].shape) if argument.kind == "array" else buffers.get(place, arguments[place])
            for place, argument in enumerate(declared)
        ]
        kernel.launch(case.grid, case.block, *passed, shared=case.shared)
        kernel.synchronize()
        for place, buffer in buffers.items():
            buffer.download(arguments[place])
            buffer.free()
    return arguments
