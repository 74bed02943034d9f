"""Contexts, memory and modules, on both vendors through their real bindings."""

from __future__ import annotations

import gc
import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gompute.errors import (
    AllocFailed,
    BackendUnavailable,
    ContextFailed,
    CopyFailed,
    Error,
    InitFailed,
    InvalidArgument,
    KernelNotFound,
    LaunchFailed,
    ModuleLoadFailed,
    NoDevice,
    SyncFailed,
)
from gompute.runtime.dim3 import Dim3
from tests.driver.control import NOTHING, Driver
from tests.runtime.devices import RUNTIMES, image, launch, open_context


def test_a_context_says_what_its_device_is(gpu: Driver) -> None:
    with open_context(gpu) as context:
        assert context.backend == gpu.vendor.backend
        assert context.ordinal == 0
        assert context.arch == {"cuda": "sm_86", "hip": "gfx90a"}[context.backend]
        assert context.device.label == f"Test Device 0 ({'sm_86' if context.backend == 'cuda' else gpu.vendor.arch})"
        free, total = context.memory_info()
        with context.alloc(1 << 20):
            assert context.memory_info() == (free - (1 << 20), total)


def test_memory_there_and_back(gpu: Driver) -> None:
    data = np.arange(100, dtype=np.int32)
    back = np.zeros_like(data)
    with open_context(gpu) as context, context.alloc(400) as buffer:
        buffer.upload(data)
        buffer.upload_at(b"\xff\xff\xff\xff", 8)
        buffer.download(back)
        part = bytearray(8)
        buffer.download_at(part, 12)
    data[2] = -1
    assert np.array_equal(back, data)
    assert part == data[3:5].tobytes()


def test_nothing_runs_over_the_end_of_a_buffer(gpu: Driver) -> None:
    with open_context(gpu) as context, context.alloc(16) as buffer:
        for call in (lambda: buffer.upload(bytes(17)), lambda: buffer.upload_at(bytes(8), 9), lambda: buffer.upload_at(b"1", -1)):
            with pytest.raises(InvalidArgument, match=r"upload of \d+ bytes at offset -?\d+: the buffer has 16 bytes"):
                call()
        with pytest.raises(InvalidArgument, match="download of 17 bytes at offset 0: the buffer has 16 bytes"):
            buffer.download(bytearray(17))
        assert gpu.vendor.copy_in not in gpu.names and gpu.vendor.copy_out not in gpu.names
        buffer.upload_at(b"", 16)


@pytest.mark.parametrize(
    ("host", "message"),
    [
        (b"abc", "host: read-only memory cannot be filled"),
        ([1, 2], "host: expected a NumPy array or a bytes-like object, got list"),
        (np.zeros((4, 4), np.uint8)[:, ::2], r"host: expected contiguous memory, got strides \(4, 2\)"),
        (memoryview(bytearray(8))[::2], "host: its memory is not contiguous"),
    ],
)
def test_what_a_download_cannot_fill(gpu: Driver, host: Any, message: str) -> None:
    with open_context(gpu) as context, context.alloc(64) as buffer, pytest.raises(InvalidArgument, match=message):
        buffer.download(host)


def test_a_buffer_is_freed_once(gpu: Driver) -> None:
    context = open_context(gpu)
    buffer = context.alloc(8)
    assert repr(buffer) == f"<Buffer on {context.backend} 0: 8 bytes>"
    buffer.free()
    buffer.free()
    assert gpu.names.count(gpu.vendor.free) == 1
    assert repr(buffer) == f"<Buffer on {context.backend} 0: freed>"
    for use in (lambda: buffer.device_addr, lambda: buffer.upload(b"1"), lambda: buffer.download(bytearray(1))):
        with pytest.raises(InvalidArgument, match=f"this {context.backend} buffer of 8 bytes is freed"):
            use()


def test_a_forgotten_buffer_is_freed(gpu: Driver) -> None:
    context = open_context(gpu)
    context.alloc(8)
    gc.collect()
    assert gpu.names.count(gpu.vendor.free) == 1


def test_an_empty_buffer_asks_the_driver_for_nothing(gpu: Driver) -> None:
    context = open_context(gpu)
    with context.alloc(0) as buffer:
        buffer.upload(b"")
        buffer.download(bytearray())
    assert not {gpu.vendor.allocate, gpu.vendor.free, gpu.vendor.copy_in, gpu.vendor.copy_out} & set(gpu.names)
    with pytest.raises(InvalidArgument, match="not negative, got -1"):
        context.alloc(-1)


def test_a_closed_context_is_closed(gpu: Driver) -> None:
    context = open_context(gpu)
    buffer = context.alloc(4)
    context.close()
    context.close()
    for use in (lambda: context.alloc(1), context.synchronize, context.memory_info, lambda: context.load_module(b""), lambda: context.arch):
        with pytest.raises(InvalidArgument, match=f"this {gpu.vendor.backend} context is closed"):
            use()
    buffer.upload(b"1234")  # memory lasts longer than the view it came through


def test_a_device_that_is_not_there(gpu: Driver) -> None:
    for ordinal in (1, -1):
        with pytest.raises(NoDevice, match=f"{gpu.vendor.backend}: no device {ordinal}; the driver has 1, numbered from 0"):
            open_context(gpu, ordinal)


def test_the_same_image_is_loaded_once_per_device(gpu: Driver) -> None:
    gpu.device(1, gpu.vendor.arch)
    first, second, other = open_context(gpu), open_context(gpu), open_context(gpu, 1)
    module = first.load_module(image(gpu))
    assert second.load_module(bytes(bytearray(image(gpu)))) is module
    assert module.get_kernel("negate") is module.get_kernel("negate")
    assert gpu.names.count(gpu.vendor.load) == 1
    assert other.load_module(image(gpu)) is not module
    assert gpu.names.count(gpu.vendor.load) == 2
    with pytest.raises(KernelNotFound, match="the module has no kernel other: .*NotFound|NOT_FOUND"):
        module.get_kernel("other")


def test_each_device_runs_its_own_launches(gpu: Driver) -> None:
    """The library refuses a launch of a module that was loaded on another device than the current one."""
    gpu.device(1, gpu.vendor.arch)
    contexts = [open_context(gpu, ordinal) for ordinal in (0, 1, 0, 1)]
    buffers = [context.alloc(400) for context in contexts]
    data = np.arange(100, dtype=np.int32)
    for context, buffer in zip(contexts, buffers, strict=True):
        buffer.upload(data)
        launch(context, image(gpu), buffer.device_addr, 100)
    back = np.zeros_like(data)
    for buffer in buffers:
        buffer.download(back)
        assert np.array_equal(back, -data)


def test_another_librarys_choice_of_device_is_restored(gpu: Driver) -> None:
    gpu.device(1, gpu.vendor.arch)
    ours, theirs = open_context(gpu, 0), open_context(gpu, 1)
    driver = ours.accelerator.driver
    token = theirs.accelerator.context
    driver.set_current(token)  # as another library of the process may have done
    with ours.alloc(64) as buffer:
        buffer.upload(bytes(64))
        ours.synchronize()
        with pytest.raises(AllocFailed):
            gpu.fail(gpu.vendor.allocate, 2)
            ours.alloc(64)
    assert driver.current() == token
    driver.set_current(ours.accelerator.context)


def test_a_new_thread_gets_the_context(gpu: Driver) -> None:
    context = open_context(gpu)
    data = np.arange(1000, dtype=np.int32)
    results: list[np.ndarray] = []

    def work() -> None:
        back = np.zeros_like(data)
        with context.alloc(4000) as buffer:
            buffer.upload(data)
            launch(context, image(gpu), buffer.device_addr, 1000)
            buffer.download(back)
        results.append(back)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all(np.array_equal(result, -data) for result in results)


def test_a_failed_wait_names_the_launches_since_the_last(gpu: Driver) -> None:
    context = open_context(gpu)
    with context.alloc(400) as buffer:
        buffer.upload(bytes(400))
        launch(context, image(gpu), buffer.device_addr, 100)
        launch(context, image(gpu), buffer.device_addr, 100)
        gpu.fail(gpu.vendor.synchronize)
        with pytest.raises(SyncFailed) as raised:
            context.synchronize()
        assert f"{gpu.vendor.synchronize} gave {gpu.vendor.code_name} (700): an illegal memory access was encountered" in str(raised.value)
        assert str(raised.value).endswith("an earlier launch is the suspect; since the last wait: negate, negate")
        assert (raised.value.code, raised.value.code_name) == (700, gpu.vendor.code_name)
        context.synchronize()
        gpu.fail(gpu.vendor.synchronize)
        with pytest.raises(SyncFailed, match="no kernel was launched since the last wait"):
            context.synchronize()
        for _ in range(20):
            launch(context, image(gpu), buffer.device_addr, 100)
        gpu.fail(gpu.vendor.synchronize)
        with pytest.raises(SyncFailed, match="of the 20 since the last wait the latest are: negate, negate"):
            context.synchronize()


def test_limits_of_a_launch_are_told_before_the_driver_is_asked(gpu: Driver) -> None:
    kernel = open_context(gpu).load_module(image(gpu)).get_kernel("negate")
    with pytest.raises(InvalidArgument, match=r"grid: 70000 blocks in y; Test Device 0 \(.*\) takes at most 6553[56]"):
        kernel.check(Dim3(1, 70000), Dim3(1))
    with pytest.raises(InvalidArgument, match=r"grid: 2147483648 blocks in x; .* takes at most 2147483647"):
        kernel.check(Dim3(2**31), Dim3(1))
    with pytest.raises(InvalidArgument, match=r"shared: 200000 bytes; .* gives a block at most \d+"):
        kernel.check(Dim3(1), Dim3(1), 200000)
    if gpu.vendor.backend == "hip":
        with pytest.raises(InvalidArgument, match="16777216 blocks of 256 are 4294967296 work-items in x; hip takes at most 4294967295"):
            kernel.check(Dim3(2**24), Dim3(256))
    else:
        kernel.check(Dim3(2**24), Dim3(256))


def test_shutdown_gives_everything_back_and_a_new_context_starts_afresh(gpu: Driver) -> None:
    context = open_context(gpu)
    buffer = context.alloc(400)
    context.load_module(image(gpu))
    module = RUNTIMES[gpu.vendor.backend]
    module.shutdown()
    assert gpu.held == NOTHING
    module.shutdown()
    for use in (lambda: context.alloc(1), lambda: buffer.upload(b"1"), lambda: buffer.device_addr, context.synchronize):
        with pytest.raises(BackendUnavailable, match="the device was shut down with shutdown"):
            use()
    gpu.forget()
    buffer.free()  # the memory is gone already
    assert gpu.calls == []
    with open_context(gpu) as again, again.alloc(8) as fresh:
        fresh.upload(b"12345678")


def test_ten_thousand_rounds_keep_nothing(gpu: Driver) -> None:
    code = image(gpu)
    with open_context(gpu) as context:
        kernel = context.load_module(code).get_kernel("negate")
    objects = len(gc.get_objects())
    gpu.quiet(True)
    for _ in range(10_000):
        with open_context(gpu) as context:
            assert context.load_module(code).get_kernel("negate") is kernel
    gpu.quiet(False)
    assert gpu.held["modules"] == 1
    assert gpu.held["contexts"] <= 1
    assert len(gc.get_objects()) - objects < 100


STEPS: dict[str, tuple[type[Error], str]] = {
    "set_current": (ContextFailed, "cannot make the device current"),
    "allocate": (AllocFailed, "cannot allocate 400 bytes"),
    "copy_in": (CopyFailed, "cannot copy 400 bytes to the device"),
    "load": (ModuleLoadFailed, r"cannot load a module on Test Device \d"),
    "function": (ModuleLoadFailed, "cannot look up the kernel negate"),
    "launch": (LaunchFailed, r"cannot launch negate with grid \(1, 1, 1\), block \(128, 1, 1\), 0 bytes of shared memory"),
    "synchronize": (SyncFailed, "waiting failed"),
    "copy_out": (CopyFailed, "cannot copy 400 bytes to the host"),
    "free": (AllocFailed, "cannot free memory"),
}


@pytest.mark.parametrize("step", STEPS)
def test_every_call_may_fail_once(gpu: Driver, step: str) -> None:
    """The error says which call, with the vendor's code and name; the next try works; nothing is left behind."""
    gpu.device(1, gpu.vendor.arch)
    context = open_context(gpu, 1)  # not the device that HIP starts with, so that it has to be set
    data = np.arange(100, dtype=np.int32)

    def whole() -> np.ndarray:
        back = np.zeros_like(data)
        with context.alloc(400) as buffer:
            buffer.upload(data)
            launch(context, image(gpu), buffer.device_addr, 100)
            context.synchronize()
            buffer.download(back)
        return back

    kind, message = STEPS[step]
    call = getattr(gpu.vendor, step)
    gpu.fail(call)
    with pytest.raises(kind, match=message) as raised:
        whole()
    assert f"{call} gave {gpu.vendor.code_name} (700): an illegal memory access was encountered" in str(raised.value)
    assert (raised.value.code, raised.value.code_name) == (700, gpu.vendor.code_name)
    assert np.array_equal(whole(), -data)


@pytest.mark.parametrize("step", ["launch", "allocate", "synchronize", "function"])
def test_an_error_that_the_binding_does_not_know(gpu: Driver, step: str) -> None:
    """A driver newer than the binding may give one; the bindings raise ValueError then."""
    context = open_context(gpu)
    call = getattr(gpu.vendor, step)
    gpu.fail(call, 9876)
    with pytest.raises(STEPS[step][0], match=rf"{call} gave unknown \(9876\): an error that is newer than the Python binding") as raised:
        with context.alloc(400) as buffer:
            launch(context, image(gpu), buffer.device_addr, 100)
        context.synchronize()
    assert raised.value.code == 9876


def test_a_failing_teardown_goes_through_and_is_told(gpu: Driver) -> None:
    context = open_context(gpu)
    buffers = [context.alloc(16) for _ in range(3)]
    context.load_module(image(gpu))
    gpu.fail(gpu.vendor.unload)
    with pytest.raises(ModuleLoadFailed, match=re.escape(f"cannot unload a module: {gpu.vendor.unload} gave")):
        RUNTIMES[gpu.vendor.backend].shutdown()
    assert gpu.held["bytes"] == 0 and gpu.held["modules"] == 1
    with open_context(gpu) as fresh, fresh.alloc(8):  # what is left is no part of a new start
        pass
    del buffers
    RUNTIMES[gpu.vendor.backend].shutdown()  # tries again
    assert gpu.held == NOTHING


def test_every_failure_of_a_teardown_is_told(gpu: Driver) -> None:
    context = open_context(gpu)
    kept = [context.create_stream(), context.create_event(), context.alloc(8)]
    calls = RUNTIMES[gpu.vendor.backend].driver.calls
    for call in (calls.free, calls.destroy_event, calls.destroy_stream):
        gpu.fail(call)
    with pytest.raises(AllocFailed, match="cannot free memory") as raised:
        RUNTIMES[gpu.vendor.backend].shutdown()
    notes = "\n".join(raised.value.__notes__)
    assert "and: " in notes and "cannot destroy an event" in notes and "cannot destroy a stream" in notes
    gpu.forget_faults()
    RUNTIMES[gpu.vendor.backend].shutdown()
    assert gpu.held == NOTHING
    del kept


STARTS: dict[str, Callable[[Driver], tuple[str, type[Error], str]]] = {
    "count": lambda gpu: (gpu.vendor.count, InitFailed, "cannot count devices"),
    "properties": lambda gpu: (
        {"cuda": "cuDeviceGetName", "hip": "hipGetDeviceProperties"}[gpu.vendor.backend],
        InitFailed,
        "cannot read the properties of device 0",
    ),
    "context": lambda gpu: (
        {"cuda": "cuDevicePrimaryCtxRetain", "hip": gpu.vendor.count}[gpu.vendor.backend],
        {"cuda": ContextFailed, "hip": InitFailed}[gpu.vendor.backend],
        "cannot",
    ),
}


@pytest.mark.parametrize("step", STARTS)
def test_opening_may_fail_once(gpu: Driver, step: str) -> None:
    call, kind, message = STARTS[step](gpu)
    gpu.fail(call)
    with pytest.raises(kind, match=message):
        open_context(gpu)
    with open_context(gpu) as context, context.alloc(4) as buffer:
        buffer.upload(b"abcd")
