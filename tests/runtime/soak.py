"""Long and many-threaded use of the runtime: short in the tests, long by command (checks/soak)."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from gompute.errors import Error
from gompute.handles.kernel import Kernel
from gompute.handles.kernel_set import KernelSet
from gompute.handles.raw_kernel import RawKernel
from gompute.runtime.context import DeviceContext
from tests.driver.control import Driver
from tests.driver.kernels import Params, raw_add, scale_relu
from tests.runtime.devices import image, launch, open_context

_DATA = np.arange(1, 257, dtype=np.float32)


class _Worker:
    """One thread's random use of one device; each step checks its own results."""

    def __init__(self, gpu: Driver, kernels: KernelSet, ordinal: int, seed: int) -> None:
        self.gpu = gpu
        self.kernels = kernels
        self.ordinal = ordinal
        self.random = random.Random(seed)
        self.steps: list[Callable[[DeviceContext], None]] = [self.run, self.streams, self.graph, self.pinned, self.module]
        self.steps += [self.forgotten, self.misuse]

    def step(self) -> None:
        with open_context(self.gpu, self.ordinal) as context:
            self.random.choice(self.steps)(context)

    def run(self, context: DeviceContext) -> None:
        with Kernel(scale_relu, context.backend, self.ordinal, self.kernels) as kernel:
            for scale in (2.0, 3.0):
                data = _DATA.copy()
                kernel.run(data, Params(scale))
                assert np.array_equal(data, _DATA * scale), "run"

    def streams(self, context: DeviceContext) -> None:
        out = np.zeros_like(_DATA)
        with (
            RawKernel(raw_add, context.backend, self.ordinal, self.kernels) as raw,
            context.alloc(_DATA.nbytes) as one,
            context.alloc(_DATA.nbytes) as other,
            context.create_stream(non_blocking=True) as first,
            context.create_stream() as second,
            context.create_event() as event,
        ):
            one.upload_async(_DATA, first)
            raw.launch(1, 256, one, 256, stream=first)
            event.record(first)
            second.wait_event(event)
            other.copy_from(one, stream=second)
            other.download_async(out, second)
            if self.random.random() < 0.5:
                second.synchronize()
            else:
                with context.create_event() as end:
                    end.record(second)
                    end.synchronize()
            assert np.array_equal(out, _DATA + 1), "streams"

    def graph(self, context: DeviceContext) -> None:
        out = np.zeros_like(_DATA)
        with (
            RawKernel(raw_add, context.backend, self.ordinal, self.kernels) as raw,
            context.alloc(_DATA.nbytes) as buffer,
            context.create_stream(non_blocking=True) as stream,
        ):
            buffer.upload(_DATA)
            stream.begin_capture()
            raw.launch(1, 256, buffer, 256, stream=stream)
            with stream.end_capture() as graph:
                graph.instantiate()
                for _ in range(3):
                    graph.launch(stream)
                buffer.download_async(out, stream)
                stream.synchronize()
        assert np.array_equal(out, _DATA + 3), "graph"

    def pinned(self, context: DeviceContext) -> None:
        with context.alloc_pinned(1024) as pinned, context.alloc(1024) as buffer, context.create_stream() as stream:
            array = pinned.array(np.uint32)
            buffer.fill(self.random.randrange(256), stream=stream)
            buffer.download_async(array, stream)
            stream.synchronize()
            assert (array == array[0]).all(), "pinned"

    def module(self, context: DeviceContext) -> None:
        with context.alloc(400) as buffer:
            buffer.upload(np.arange(100, dtype=np.int32))
            launch(context, image(self.gpu), buffer.device_addr, 100)
            back = np.zeros(100, np.int32)
            buffer.download(back)
            assert np.array_equal(back, -np.arange(100)), "module"

    def forgotten(self, context: DeviceContext) -> None:
        """What nobody closes is given back when nothing refers to it."""
        stream = context.create_stream()
        context.alloc(64).upload_async(bytes(64), stream)
        context.create_event().record(stream)
        stream.wait_event(context.create_event())

    def misuse(self, context: DeviceContext) -> None:
        buffer = context.alloc(16)
        buffer.free()
        for wrong in (lambda: buffer.upload(b"1"), lambda: context.alloc(8).upload(bytes(9)), lambda: context.alloc(-1)):
            try:
                wrong()
            except Error:
                continue
            raise AssertionError("misuse was not refused")


def stress(gpu: Driver, kernels: KernelSet, seconds: float, threads: int = 8) -> int:
    """Has threads use two devices at random for so long; gives the number of steps.

    Raises:
        AssertionError, Error: the first that a thread met.
    """
    gpu.device(1, gpu.vendor.arch)
    gpu.delay(100)
    gpu.quiet(True)
    until = time.monotonic() + seconds
    failures: list[BaseException] = []
    counts = [0] * threads

    def work(number: int) -> None:
        worker = _Worker(gpu, kernels, number % 2, number)
        try:
            while time.monotonic() < until and not failures:
                worker.step()
                counts[number] += 1
        except BaseException as error:
            failures.append(error)

    everyone = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for thread in everyone:
        thread.start()
    for thread in everyone:
        thread.join()
    gpu.quiet(False)
    if failures:
        raise failures[0]
    return sum(counts)


def resident() -> int:
    """Bytes of this process's memory that are in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def rounds(gpu: Driver, kernels: KernelSet, count: int, first: int) -> int:
    """Opens, launches and closes `count` times; gives the bytes that the process grew by after the `first` of them."""
    gpu.quiet(True)
    before = 0
    for number in range(count):
        if number == first:
            before = resident()
        with (
            Kernel(scale_relu, gpu.vendor.backend, kernels=kernels) as kernel,
            open_context(gpu) as context,
            context.create_stream() as stream,
            context.create_event() as event,
            context.alloc_pinned(1024) as pinned,
            kernel.alloc(256) as buffer,
        ):
            buffer.upload_async(_DATA, stream)
            kernel.launch(buffer, Params(2.0), stream=stream)
            event.record(stream)
            buffer.download_async(pinned.array(), stream)
            stream.begin_capture()
            buffer.fill(0, stream=stream)
            with stream.end_capture() as graph:
                graph.instantiate().launch(stream)
            stream.synchronize()
            kernel.run(_DATA.copy(), Params(1.0))
    gpu.quiet(False)
    return resident() - before
