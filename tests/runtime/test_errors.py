"""What a failure says, and what it leaves for the next call."""

from __future__ import annotations

import numpy as np
import pytest

from gompute.errors import AllocFailed, CopyFailed, KernelNotFound, LaunchFailed, SyncFailed
from gompute.runtime import cpu
from gompute.runtime.status import last_driver_error
from tests.driver.control import NOTHING, Driver
from tests.runtime.devices import RUNTIMES, image, launch, open_context


def test_a_failed_lookup_does_not_poison_the_next_call(gpu: Driver) -> None:
    with open_context(gpu) as context, context.alloc(400) as buffer:
        module = context.load_module(image(gpu))
        with pytest.raises(KernelNotFound, match=f"{gpu.vendor.backend}: the module has no kernel other: {gpu.vendor.function} gave"):
            module.get_kernel("other")
        error = last_driver_error()
        assert error is not None and (error.call, error.code) == (gpu.vendor.function, 500)
        launch(context, image(gpu), buffer.device_addr, 100)
        context.synchronize()
        assert last_driver_error() is None


def test_hip_forgets_a_failure_that_was_told(amd: Driver) -> None:
    """Its runtime keeps a thread's last error until somebody asks: the next library to do so would take it for its own."""
    with open_context(amd) as context:
        module = context.load_module(image(amd))
        with pytest.raises(KernelNotFound):
            module.get_kernel("other")
        assert amd.last_error == 0
        amd.fail("hipMalloc", 2)
        with pytest.raises(AllocFailed):
            context.alloc(8)
        assert amd.last_error == 0
        with context.create_stream() as stream, context.alloc(8) as buffer:
            with amd.holding(stream):
                buffer.fill(0, stream=stream)
                assert not stream.query()
            assert amd.last_error == 0
            stream.synchronize()


def test_which_launches_break_a_device(gpu: Driver) -> None:
    """Those given while the kernel is broken, however late the device comes to them."""
    with open_context(gpu) as context, context.create_stream() as stream, context.alloc(400) as buffer:
        buffer.upload(bytes(400))
        with gpu.holding(stream):
            launch(context, image(gpu), buffer.device_addr, 100, stream=stream)
            gpu.break_by("negate")
        context.synchronize()
        with gpu.holding(stream):
            launch(context, image(gpu), buffer.device_addr, 100, stream=stream)
            gpu.mend()
        context.synchronize()


def test_a_broken_device_names_the_suspect_and_can_be_torn_down(gpu: Driver) -> None:
    """After an illegal access every call fails; what was held goes with the context."""
    context = open_context(gpu)
    buffer, stream = context.alloc(400), context.create_stream()
    buffer.upload(bytes(400))
    gpu.break_by("negate")
    launch(context, image(gpu), buffer.device_addr, 100)
    suspect = "an earlier launch is the suspect; since the last wait: negate"
    with pytest.raises(SyncFailed, match=rf"waiting failed: .* \(700\): an illegal memory access was encountered\n{suspect}$"):
        context.synchronize()
    for use in (lambda: context.alloc(8), buffer.free, stream.close):
        with pytest.raises((AllocFailed, Exception), match=r"gave \w+ \(700\)"):
            use()
    with pytest.raises(SyncFailed, match=r"waiting failed: .* \(700\)"):
        RUNTIMES[gpu.vendor.backend].shutdown()
    gpu.mend()  # HIP: what a new process does
    if gpu.vendor.backend == "cuda":
        assert gpu.held == NOTHING
    else:
        gpu.wipe()
    with open_context(gpu) as again, again.alloc(400) as fresh:
        fresh.upload(bytes(400))
        launch(again, image(gpu), fresh.device_addr, 100)
        again.synchronize()


def test_a_download_that_meets_the_error_names_the_launches_too(gpu: Driver) -> None:
    context = open_context(gpu)
    buffer, back = context.alloc(400), bytearray(400)
    buffer.upload(back)
    launch(context, image(gpu), buffer.device_addr, 100)
    gpu.fail(gpu.vendor.copy_out)
    with pytest.raises(CopyFailed, match="cannot copy 400 bytes to the host: .*\nan earlier launch is the suspect; .*: negate$"):
        buffer.download(back)
    context.synchronize()
    gpu.fail(gpu.vendor.copy_out)
    with pytest.raises(CopyFailed, match=r"\(700\): an illegal memory access was encountered$"):
        buffer.download(back)
    buffer.free()


def test_a_checked_device_names_the_kernel_that_failed(gpu: Driver) -> None:
    context = RUNTIMES[gpu.vendor.backend].Context(0, checked=True)
    data, calls = np.arange(100, dtype=np.int32), RUNTIMES[gpu.vendor.backend].driver.calls
    with context.alloc(400) as buffer, context.create_stream() as stream:
        buffer.upload(data)
        launch(context, image(gpu), buffer.device_addr, 100)
        gpu.forget()
        launch(open_context(gpu), image(gpu), buffer.device_addr, 100, stream)  # another context: the device is checked
        assert gpu.names == [gpu.vendor.launch, calls.synchronize_stream]
        gpu.fail(calls.synchronize_stream)
        message = (
            r"checked launch: kernel negate with grid \(1, 1, 1\), block \(128, 1, 1\), 0 bytes of shared memory failed: "
            rf"{gpu.vendor.backend}: waiting for a stream failed: \w+ gave {gpu.vendor.code_name} \(700\)"
        )
        with pytest.raises(LaunchFailed, match=message):
            launch(context, image(gpu), buffer.device_addr, 100, stream)
        stream.begin_capture()
        launch(context, image(gpu), buffer.device_addr, 100, stream)  # nothing runs yet, so there is nothing to wait for
        stream.end_capture().close()
        RUNTIMES[gpu.vendor.backend].Context(0, checked=False)
        gpu.forget()
        launch(context, image(gpu), buffer.device_addr, 100)
        assert gpu.names == [gpu.vendor.launch]
        context.synchronize()
    assert cpu.Context(0, checked=True).device.backend == "cpu"
