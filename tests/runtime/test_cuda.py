"""What only NVIDIA's driver does."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from gompute.artifacts.describe import entry_of
from gompute.errors import InvalidArgument, LaunchFailed, ModuleLoadFailed
from gompute.handles.packing import Frame, Packing
from gompute.runtime import cuda
from gompute.runtime.dim3 import Dim3
from tests.driver import sets
from tests.driver.control import Driver
from tests.driver.fresh import fresh
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
        kernel.has_shared(40000)
        with pytest.raises(
            InvalidArgument, match=r"shared: 61377 bytes and 40000 of the kernel's own arrays; Test Device 0 \(sm_86\) gives"
        ):
            kernel.check(Dim3(1), Dim3(1), 61377)
        for shared in (9152, 9153):  # with its own they are what needs no permission, and one byte more
            kernel.check(Dim3(1), Dim3(1), shared)
            kernel.launch_packed(Dim3(1), Dim3(1), shared, frame.address)
        assert [call for call in nvidia.calls if "Attribute 8" in call][1:] == ["cuFuncSetAttribute 8 9153"]
        nvidia.fail("cuFuncSetAttribute")
        with pytest.raises(LaunchFailed, match="cannot allow 70000 bytes of shared memory: cuFuncSetAttribute gave"):
            kernel.launch_packed(Dim3(1), Dim3(1), 70000, frame.address)
        kernel.launch_packed(Dim3(1), Dim3(1), 70000, frame.address)
    context.synchronize()


def test_a_driver_before_11_8_is_launched_on_as_it_can(nvidia: Driver) -> None:
    nvidia.version(11070)
    context = cuda.Context()
    packing = Packing(ENTRIES[0].arguments)
    frame = Frame(packing)
    with context.alloc(12) as buffer:
        buffer.upload(np.array([1, 2, 3], np.int32))
        packing.pack(frame.storage, 0, buffer.device_addr, 3)
        kernel = context.load_module(sets.ptx(ENTRIES)).get_kernel("negate")
        nvidia.forget()
        kernel.launch_packed(Dim3(1), Dim3(128), 0, frame.address)
        assert nvidia.calls == ["cuLaunchKernel negate grid=1,1,1 block=128,1,1 shared=0"]
        back = np.zeros(3, np.int32)
        buffer.download(back)
        assert back.tolist() == [-1, -2, -3]
        nvidia.fail("cuLaunchKernel")
        with pytest.raises(LaunchFailed, match="cannot launch negate .*: cuLaunchKernel gave CUDA_ERROR_ILLEGAL_ADDRESS"):
            kernel.launch_packed(Dim3(1), Dim3(128), 0, frame.address)


def test_the_bindings_setting_of_the_default_stream_is_launchs_too(driver_paths: dict[str, Path]) -> None:
    code = """
    from gompute.runtime import cuda
    from gompute.runtime.dim3 import Dim3
    from tests.driver import sets
    from tests.runtime.devices import NEGATE
    from gompute.handles.packing import Frame, Packing
    frame = Frame(Packing(NEGATE.arguments))
    kernel = cuda.Context().load_module(sets.ptx([NEGATE])).get_kernel("negate")
    try:
        kernel.launch_packed(Dim3(1), Dim3(128), 0, frame.address)
    except Exception as error:
        print(error)
    """
    setting = {"CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM": "1", "TEST_DRIVER_SETUP": "device 0 8.6"}
    pytest.importorskip("cuda.bindings.driver")
    said = fresh(code, GOMPUTE_LIBCUDA=driver_paths["cuda"], **setting)
    assert said.startswith("cuda: cannot launch negate") and "cuLaunchKernelEx" in said
