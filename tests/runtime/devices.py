"""What tests of the runtime open and launch, on either vendor."""

from __future__ import annotations

from gompute.artifacts.describe import entry_of
from gompute.handles.packing import Frame, Packing
from gompute.runtime import cuda, hip
from gompute.runtime.context import DeviceContext
from gompute.runtime.dim3 import Dim3
from gompute.runtime.stream import Stream
from tests.driver import sets
from tests.driver.control import Driver
from tests.driver.kernels import negate

RUNTIMES = {"cuda": cuda, "hip": hip}
NEGATE = entry_of(negate)


def open_context(gpu: Driver, ordinal: int = 0) -> DeviceContext:
    return RUNTIMES[gpu.vendor.backend].Context(ordinal)


def image(gpu: Driver) -> bytes:
    return sets.ptx([NEGATE]) if gpu.vendor.backend == "cuda" else sets.elf(sets.EM_AMDGPU, [NEGATE])


def launch(context: DeviceContext, module: bytes, address: int, count: int, stream: Stream | None = None) -> None:
    """Negates `count` i32 there."""
    packing = Packing(NEGATE.arguments)
    frame = Frame(packing)
    packing.pack(frame.storage, 0, address, count)
    kernel = context.load_module(module).get_kernel("negate")
    kernel.launch_packed(Dim3.linear(count, 128), Dim3(128), 0, frame.address, stream)
