"""One program, once for each of its driver calls: that call fails, the error says so, and nothing is left behind."""

from __future__ import annotations

import numpy as np
import pytest

from gompute.errors import Error
from gompute.handles.kernel import Kernel
from gompute.handles.kernel_set import KernelSet
from gompute.handles.raw_kernel import RawKernel
from gompute.runtime import cuda, hip
from tests.driver.control import NOTHING, Driver
from tests.driver.kernels import Params, negate, raw_add, scale_relu

RUNTIMES = {"cuda": cuda, "hip": hip}


def program(backend: str, kernel_set: KernelSet) -> None:
    """Uses the second device, so that it has to be chosen, and every kind of call but the teardown."""
    data = np.ones(1000, np.float32)
    with RUNTIMES[backend].Context(1) as context:
        free, total = context.memory_info()
        assert free <= total
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


NAMES = {
    "cuda": """
        DeviceGetCount DeviceGetName DriverGetVersion DeviceGetAttribute DevicePrimaryCtxRetain CtxGetCurrent CtxSetCurrent MemGetInfo
        ModuleLoadDataEx ModuleGetFunction MemAlloc MemFree MemcpyHtoD MemcpyDtoH FuncSetAttribute LaunchKernel CtxSynchronize
        """,
    "hip": """
        GetDeviceCount GetDeviceProperties DriverGetVersion GetDevice SetDevice MemGetInfo ModuleLoadData ModuleGetFunction Malloc Free
        MemcpyHtoD MemcpyDtoH ModuleLaunchKernel DeviceSynchronize
        """,
}


def test_any_call_of_a_program_may_fail(gpu: Driver, kernel_set: KernelSet) -> None:
    gpu.device(1, gpu.vendor.arch)
    backend, runtime = gpu.vendor.backend, RUNTIMES[gpu.vendor.backend]
    runtime.Context(1).close()

    def start() -> None:
        """Nothing open, no context current (HIP: the first device), nothing recorded."""
        runtime.shutdown()
        assert gpu.held == NOTHING
        runtime.driver.set_current(0)
        gpu.forget()

    start()
    program(backend, kernel_set)
    calls = [call.split()[0] for call in gpu.calls]
    prefix = {"cuda": "cu", "hip": "hip"}[backend]
    assert set(calls) == {prefix + name for name in NAMES[backend].split()}
    for number, call in enumerate(calls):
        start()
        gpu.fail("*", skip=number)
        with pytest.raises(Error) as raised:
            program(backend, kernel_set)
        assert f"{call} gave {gpu.vendor.code_name} (700)" in str(raised.value), f"call {number}, {call}"
        assert (raised.value.code, raised.value.code_name) == (700, gpu.vendor.code_name)
        gpu.forget_faults()
        del raised
        program(backend, kernel_set)
    start()
    assert gpu.problems == []
