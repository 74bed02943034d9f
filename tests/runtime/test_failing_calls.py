"""One program, once for each of its driver calls: that call fails, the error says so, and nothing is left behind.

The program makes every call that the runtime can make; which those are is read from the runtime's own source.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gompute.errors import Error
from gompute.handles.kernel import Kernel
from gompute.handles.kernel_set import KernelSet
from gompute.handles.raw_kernel import RawKernel
from gompute.runtime import vendor
from gompute.runtime.vendor import Calls
from tests.driver.control import NOTHING, Driver
from tests.driver.kernels import Params, negate, raw_add, scale_relu
from tests.runtime.devices import RUNTIMES

#: Asked about an error that there is: they describe it, or have the driver forget it, and what they answer is not looked at for failure.
DESCRIBE = {"cuda": {"cuGetErrorName", "cuGetErrorString"}, "hip": {"hipGetErrorString", "hipGetLastError"}}
#: Made once per process; a test in a process of its own has each of its failures: tests/runtime/test_libraries.py.
STARTS = {"cuda": {"cuInit"}, "hip": {"hipInit"}}
#: Made on a driver that lacks a newer call; a test of its own has it fail: tests/runtime/test_cuda.py.
OLD = {"cuda": {"cuLaunchKernel"}, "hip": set[str]()}
PREFIX = {"cuda": "cu", "hip": "hip"}


def calls_in(table: Calls) -> Iterator[str]:
    for value in dataclasses.asdict(table).values():
        yield from value.values() if isinstance(value, dict) else [value]


def calls_of_the_runtime(backend: str) -> set[str]:
    """The vendor's table, and every name in the source that is a function of the binding: as text, or looked up on it."""
    runtime = RUNTIMES[backend]
    runtime.driver.start()
    binding = runtime.driver._api
    found = set(calls_in(runtime.driver.calls))
    for module in (runtime, vendor):
        assert module.__file__ is not None
        for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
            name: Any = node.value if isinstance(node, ast.Constant) else node.attr if isinstance(node, ast.Attribute) else None
            if isinstance(name, str) and name.startswith(PREFIX[backend]):
                call = getattr(binding, name, None)
                if callable(call) and not isinstance(call, type):
                    found.add(name)
    return found


def program(backend: str, kernel_set: KernelSet) -> None:
    """Uses the second device, so that it has to be chosen, and gives everything back."""
    runtime = RUNTIMES[backend]
    data, out = np.ones(1000, np.float32), np.zeros(1000, np.float32)
    with runtime.Context(1) as context, runtime.Context(0) as other:
        free, total = context.memory_info()
        assert free <= total
        handles(backend, kernel_set, data)
        with (
            context.alloc(4000) as buffer,
            context.alloc(4000) as copy,
            other.alloc(4000) as away,
            context.alloc_pinned(4000) as pinned,
            context.create_stream() as stream,
            context.create_event() as start,
            context.create_event() as end,
        ):
            source = pinned.array(np.float32)
            source[:] = 2
            start.record(stream)
            buffer.upload_async(source, stream)
            end.record(stream)
            stream.wait_event(end)
            end.synchronize()
            assert end.query()
            assert start.elapsed_us(end) >= 0
            copy.fill(0)
            copy.fill(b"12")
            copy.fill(b"1234")
            stream.begin_capture()
            copy.copy_from(buffer, stream=stream)
            with stream.end_capture() as graph:
                stream.begin_capture()
                copy.copy_from(buffer, stream=stream)
                with stream.end_capture() as again:
                    graph.instantiate().update(again)
                graph.launch(stream)
            copy.download_async(out, stream)
            stream.synchronize()
            assert stream.query()  # here and no earlier, so that every run makes the same calls
            away.copy_from(copy)
            other.synchronize()
            del source
        assert (out == 2).all()
    runtime.shutdown()


def handles(backend: str, kernel_set: KernelSet, data: np.ndarray) -> None:
    with Kernel(scale_relu, backend, 1, kernel_set) as kernel, RawKernel(raw_add, backend, 1, kernel_set) as raw:
        kernel.run(data, Params(2.0))
        kernel.run(np.ones(2000, np.float32), Params(2.0))
        with kernel.alloc(1000) as buffer:
            buffer.upload(data)
            kernel.launch(buffer, Params(3.0))
            raw.launch(4, 256, buffer, 1000, shared=50000 if backend == "cuda" else 0)
            raw.synchronize()
            buffer.download(data)
    with Kernel(negate, backend, 1, kernel_set) as kernel:
        kernel.run(np.zeros(3, np.int32))
    assert (data == 7).all()


def start(gpu: Driver) -> None:
    """Nothing open, no context current (HIP: the first device), nothing recorded."""
    runtime = RUNTIMES[gpu.vendor.backend]
    runtime.shutdown()
    assert gpu.held == NOTHING
    runtime.driver.set_current(0)
    gpu.forget()


def test_the_program_makes_every_call_that_the_runtime_can_make(gpu: Driver, kernel_set: KernelSet) -> None:
    gpu.device(1, gpu.vendor.arch)
    backend = gpu.vendor.backend
    RUNTIMES[backend].Context(1).close()
    start(gpu)
    program(backend, kernel_set)
    made = {call.split()[0] for call in gpu.calls}
    assert calls_of_the_runtime(backend) - made - DESCRIBE[backend] - STARTS[backend] - OLD[backend] == set()


def test_any_call_of_the_program_may_fail(gpu: Driver, kernel_set: KernelSet) -> None:
    gpu.device(1, gpu.vendor.arch)
    backend, runtime = gpu.vendor.backend, RUNTIMES[gpu.vendor.backend]
    runtime.Context(1).close()
    start(gpu)
    program(backend, kernel_set)
    count = len(gpu.calls)
    assert gpu.held == NOTHING
    table = runtime.driver.calls
    giving_back = {table.get_current, table.set_current, table.free, table.free_host}
    giving_back |= {table.destroy_stream, table.destroy_event, table.destroy_graph, table.destroy_executable}
    for number in range(count):
        start(gpu)
        gpu.fail("*", skip=number)
        with pytest.raises(Error) as raised:
            program(backend, kernel_set)
        call = gpu.calls[number].split()[0]
        told = "\n".join([str(raised.value), *getattr(raised.value, "__notes__", ())])
        context = raised.value.__context__
        while context is not None:  # a failure on the way out has the first one in its chain
            told, context = f"{told}\n{context}", context.__context__
        assert f"{call} gave {gpu.vendor.code_name} (700)" in told, f"call {number}, {call}: {told}"
        assert (raised.value.code, raised.value.code_name) == (700, gpu.vendor.code_name)
        gpu.forget_faults()
        del raised, context
        for ordinal in (0, 1):
            runtime.Context(ordinal).synchronize()  # what copies still used
        held = gpu.held
        leftover = {kind: held[kind] for kind in ("bytes", "pinned", "streams", "events", "graphs", "executables") if held[kind]}
        # What the driver did not take back, because that call or the way to it failed, is held for the next teardown; nothing else is.
        assert not leftover or (call in giving_back and len(leftover) == 1), f"call {number}, {call}: {leftover}"
        runtime.shutdown()
        assert gpu.held == NOTHING, f"call {number}, {call}"
    program(backend, kernel_set)
    start(gpu)  # the thread's device may be what a failed call left
    assert gpu.problems == []
