"""What only AMD's runtime does."""

from __future__ import annotations

import threading

import pytest

from gompute.artifacts.describe import entry_of
from gompute.errors import ModuleLoadFailed
from gompute.runtime import hip
from tests.driver import sets
from tests.driver.control import Driver
from tests.driver.kernels import negate

ENTRIES = [entry_of(negate)]


def test_the_architecture_with_its_features(amd: Driver) -> None:
    device = hip.Context().device
    assert (device.arch, device.sramecc, device.xnack) == ("gfx90a", True, False)
    assert device.driver == (7, 2) and device.max_code_object == 6


def test_an_old_runtime_takes_code_objects_of_version_5(amd: Driver) -> None:
    amd.version(60241134)
    assert hip.Context().device.max_code_object == 5


def test_code_of_another_machine_is_refused(amd: Driver) -> None:
    message = (
        r"hip: cannot load a module on Test Device 0 \(gfx90a:sramecc\+:xnack-\): hipModuleLoadData gave hipErrorNoBinaryForGpu \(209\)"
    )
    with pytest.raises(ModuleLoadFailed, match=message):
        hip.Context().load_module(sets.elf(sets.EM_CUDA, ENTRIES))


def test_a_thread_is_given_the_device_where_it_is_not_the_first(amd: Driver) -> None:
    amd.device(1, "gfx1100")
    contexts = [hip.Context(0), hip.Context(1)]
    amd.forget()

    def work() -> None:
        for context in contexts:
            context.alloc(8).free()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    # A thread starts on device 0, and is back there after each use of device 1.
    assert amd.calls == [
        *["hipGetDevice", "hipMalloc 8", "hipGetDevice", "hipFree"],
        *["hipGetDevice", "hipSetDevice 1", "hipMalloc 8", "hipSetDevice 0"],
        *["hipGetDevice", "hipSetDevice 1", "hipFree", "hipSetDevice 0"],
    ]
