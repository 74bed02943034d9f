from __future__ import annotations

import threading

import pytest

from gompute.errors import AllocFailed
from gompute.runtime import cuda, hip
from gompute.runtime.status import DriverError, last_driver_error
from tests.driver.control import Driver

CONTEXTS = {"cuda": cuda.Context, "hip": hip.Context}


def test_the_last_error_is_kept_and_cleared_by_success(gpu: Driver) -> None:
    context = CONTEXTS[gpu.vendor.backend]()
    assert last_driver_error() is None
    gpu.fail(gpu.vendor.allocate, 2)
    with pytest.raises(AllocFailed, match="cannot allocate 64 bytes") as raised:
        context.alloc(64)
    error = last_driver_error()
    assert isinstance(error, DriverError)
    assert (error.call, error.code) == (gpu.vendor.allocate, 2)
    assert error.name in ("CUDA_ERROR_OUT_OF_MEMORY", "hipErrorOutOfMemory") and error.text == "out of memory"
    assert (raised.value.code, raised.value.code_name) == (2, error.name)
    assert str(raised.value).endswith(f"{gpu.vendor.allocate} gave {error.name} (2): out of memory")
    context.alloc(64).free()
    assert last_driver_error() is None


def test_the_last_error_is_each_threads_own(gpu: Driver) -> None:
    context = CONTEXTS[gpu.vendor.backend]()
    gpu.fail(gpu.vendor.allocate, 2)
    with pytest.raises(AllocFailed):
        context.alloc(64)
    seen: list[object] = []
    thread = threading.Thread(target=lambda: seen.append(last_driver_error()))
    thread.start()
    thread.join()
    assert seen == [None]
    assert last_driver_error() is not None
    context.synchronize()
