"""What only NVIDIA's driver does."""

from __future__ import annotations

import threading

import pytest

from gompute.artifacts.describe import entry_of
from gompute.errors import InvalidArgument, LaunchFailed, ModuleLoadFailed
from gompute.handles.packing import Frame, Packing
from gompute.runtime import cuda
from gompute.runtime.dim3 import Dim3
from tests.driver import sets
from tests.driver.control import Driver
from tests.driver.kernels import negate, where

ENTRIES = [entry_of(negate), entry_of(where)]


def test_ptx_newer_than_the_driver_is_refused_with_both_numbers(nvidia: Driver) -> None:
    nvidia.version(12080)
    with pytest.raises(ModuleLoadFailed, match=r"the code is PTX 8\.8; the driver \(CUDA 12\.8\) takes PTX up to 8\.7: update the driver"):
        cuda.Context().load_module(sets.ptx(ENTRIES, "8.8"))
    assert "cuModuleLoadDataEx" not in nvidia.names
    cuda.Context().load_module(sets.ptx(ENTRIES, "8.7"))


def test_the_drivers_log_is_in_the_message(nvidia: Driver) -> None:
    with pytest.raises(ModuleLoadFailed) as raised:
        cuda.Context().load_module(sets.ptx(ENTRIES, "8.6", "sm_100"))
    assert str(raised.value) == (
        "cuda: cannot load a module on Test Device 0 (sm_86); the driver's log:\n"
        "ptxas fatal   : SM version specified by .target is higher than default SM version assumed\n"
        ": cuModuleLoadDataEx gave CUDA_ERROR_INVALID_PTX (218): a PTX JIT compilation failed"
    )
    assert raised.value.code_name == "CUDA_ERROR_INVALID_PTX"


def test_a_failing_compilation_without_a_word(nvidia: Driver) -> None:
    with pytest.raises(ModuleLoadFailed, match=r"on Test Device 0 \(sm_86\): cuModuleLoadDataEx gave CUDA_ERROR_INVALID_IMAGE"):
        cuda.Context().load_module(b"neither PTX nor a cubin")


def test_a_cubin_is_loaded_as_it_is(nvidia: Driver) -> None:
    module = cuda.Context().load_module(sets.elf(sets.EM_CUDA, ENTRIES))
    assert module.get_kernel("negate").symbol == "negate"


def test_a_thread_without_a_context_is_given_one(nvidia: Driver) -> None:
    context = cuda.Context()
    context.alloc(8).free()
    nvidia.forget()

    def work() -> None:
        context.alloc(8).free()
        context.alloc(8).free()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert nvidia.names == ["cuCtxSetCurrent", "cuMemAlloc", "cuMemFree", "cuMemAlloc", "cuMemFree"]


def test_much_shared_memory_is_asked_for_once(nvidia: Driver) -> None:
    context = cuda.Context()
    packing = Packing(ENTRIES[1].arguments)
    frame = Frame(packing)
    with context.alloc(64) as buffer:
        packing.pack(frame.storage, 0, buffer.device_addr)
        kernel = context.load_module(sets.ptx(ENTRIES)).get_kernel("where")
        for shared in (0, 49152, 65536, 65536, 60000):
            kernel.check(Dim3(1), Dim3(1), shared)
            kernel.launch_packed(Dim3(1), Dim3(1), shared, frame.address)
        assert [call for call in nvidia.calls if "Attribute 8" in call] == ["cuFuncSetAttribute 8 65536"]
        with pytest.raises(InvalidArgument, match=r"shared: 101377 bytes; Test Device 0 \(sm_86\) gives a block at most 101376"):
            kernel.check(Dim3(1), Dim3(1), 101377)
        nvidia.fail("cuFuncSetAttribute")
        with pytest.raises(LaunchFailed, match="cannot allow 70000 bytes of shared memory: cuFuncSetAttribute gave"):
            kernel.launch_packed(Dim3(1), Dim3(1), 70000, frame.address)
        kernel.launch_packed(Dim3(1), Dim3(1), 70000, frame.address)
    context.synchronize()
