"""`AutoKernel`: what is chosen, what is passed over in silence, what is a warning."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import gompute.in_process
from gompute.artifacts.describe import entry_of
from gompute.errors import ArtifactError, BackendUnavailable, ContextFailed, InitFailed, InvalidArgument, ModuleLoadFailed
from gompute.handles.auto_kernel import AutoKernel
from gompute.handles.kernel import Kernel
from gompute.handles.kernel_set import KernelSet
from gompute.lang.spec import KernelSpec
from tests.driver import sets
from tests.driver.control import Driver
from tests.driver.fresh import fresh
from tests.driver.kernels import negate, raw_add

GPU_TARGETS = {"cuda": sets.CUDA_TARGET, "hip": sets.HIP_TARGET}


@pytest.fixture
def both(nvidia: Driver, amd: Driver) -> dict[str, Driver]:
    return {"cuda": nvidia, "hip": amd}


def selected(kernels: object, strict: bool = False) -> str:
    data = np.arange(1000, dtype=np.int32)
    with AutoKernel(negate, kernels, strict) as kernel:  # type: ignore[arg-type]
        assert isinstance(kernel, Kernel)
        kernel.run(data)
        assert np.array_equal(data, -np.arange(1000))
        return kernel.selected


def test_cuda_then_hip_then_cpu(both: dict[str, Driver], kernel_set: KernelSet) -> None:
    assert selected(kernel_set) == "cuda"
    both["cuda"].devices(0)
    assert selected(kernel_set) == "cuda", "a device that is open stays"


def test_without_devices_all_is_silent(both: dict[str, Driver], kernel_set: KernelSet) -> None:
    both["cuda"].devices(0)
    assert selected(kernel_set, strict=True) == "hip"
    # What is open stays; the next needs the device again.
    from gompute.runtime import hip

    hip.shutdown()
    both["hip"].devices(0)
    assert selected(kernel_set, strict=True) == "cpu"


def test_a_backend_without_code_is_not_even_started(both: dict[str, Driver], tmp_path: Path, kernels_so: Path) -> None:
    path = sets.write(tmp_path / "set", kernels_so, [sets.host_target()])
    assert selected(path, strict=True) == "cpu"
    assert both["cuda"].calls == [] and both["hip"].calls == []


@pytest.mark.parametrize("backend", ["cuda", "hip"])
def test_code_for_other_devices_is_a_warning(backend: str, both: dict[str, Driver], tmp_path: Path, kernels_so: Path) -> None:
    both[backend].device(0, both[backend].vendor.other_arch)
    path = sets.write(tmp_path / "set", kernels_so, [GPU_TARGETS[backend], sets.host_target()])
    with pytest.warns(
        RuntimeWarning, match=f"kernel 'negate' is not run on {backend}: kernel 'negate' of .*: no code for {backend} device"
    ):
        assert selected(path) == "cpu"
    with pytest.raises(ModuleLoadFailed, match=f"no code for {backend} device"):
        selected(path, strict=True)


@pytest.mark.parametrize("backend", ["cuda", "hip"])
def test_code_that_is_broken_is_a_warning(backend: str, both: dict[str, Driver], tmp_path: Path, kernels_so: Path) -> None:
    path = sets.write(tmp_path / "set", kernels_so, [GPU_TARGETS[backend], sets.host_target()])
    blob = next(path.glob(f"tests.{GPU_TARGETS[backend]}.*"))
    data = blob.read_bytes()
    blob.write_bytes(data[:-1])
    with pytest.warns(RuntimeWarning, match=f"kernel 'negate' is not run on {backend}: .*{blob.name}"):
        assert selected(path) == "cpu"
    with pytest.raises(ArtifactError, match=blob.name):
        selected(path, strict=True)
    blob.write_bytes(data)
    assert selected(path, strict=True) == backend, "what is mended is used"


@pytest.mark.parametrize(("step", "kind"), [("load", ModuleLoadFailed), ("function", ModuleLoadFailed), ("count", InitFailed)])
@pytest.mark.parametrize("backend", ["cuda", "hip"])
def test_a_driver_that_refuses_is_a_warning(
    backend: str, step: str, kind: type[Exception], both: dict[str, Driver], tmp_path: Path, kernels_so: Path
) -> None:
    path = sets.write(tmp_path / "set", kernels_so, [GPU_TARGETS[backend], sets.host_target()])
    call = getattr(both[backend].vendor, step)
    both[backend].fail(call)
    with pytest.warns(RuntimeWarning, match=f"(?s)kernel 'negate' is not run on {backend}: .*{call} gave"):
        assert selected(path) == "cpu"
    both[backend].fail(call)
    with pytest.raises(kind, match=f"{call} gave"):
        selected(path, strict=True)
    assert selected(path, strict=True) == backend


def test_a_context_that_cannot_be_made_is_a_warning(nvidia: Driver, tmp_path: Path, kernels_so: Path) -> None:
    path = sets.write(tmp_path / "set", kernels_so, [sets.CUDA_TARGET, sets.host_target()])
    nvidia.fail("cuDevicePrimaryCtxRetain")
    with pytest.warns(RuntimeWarning, match="cuDevicePrimaryCtxRetain gave"):
        assert selected(path) == "cpu"
    nvidia.fail("cuDevicePrimaryCtxRetain")
    with pytest.raises(ContextFailed):
        selected(path, strict=True)


def test_one_warning_and_the_next_backend(both: dict[str, Driver], kernel_set: KernelSet) -> None:
    both["cuda"].fail("cuModuleLoadDataEx")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert selected(kernel_set) == "hip"
    assert [warning.category for warning in caught] == [RuntimeWarning]
    assert caught[0].filename == __file__, "the warning is at the line that made the handle"


def test_without_any_set_the_cpu_compiles(monkeypatch: pytest.MonkeyPatch, kernels_so: Path, both: dict[str, Driver]) -> None:
    monkeypatch.delenv("GOMPUTE_KERNELS", raising=False)

    def compiled(spec: KernelSpec) -> tuple[bytes, object]:
        return kernels_so.read_bytes(), entry_of(spec)

    monkeypatch.setattr(gompute.in_process, "compile_for_cpu", compiled)
    assert selected(None, strict=True) == "cpu"
    assert both["cuda"].calls == []

    def missing(spec: KernelSpec) -> tuple[bytes, object]:
        raise BackendUnavailable("no compiler")

    monkeypatch.setattr(gompute.in_process, "compile_for_cpu", missing)
    with pytest.raises(BackendUnavailable, match="kernel 'negate' on cpu: there is no kernel set\nand it cannot be compiled here: no comp"):
        selected(None)


def test_a_raw_kernel_is_not_chosen_for(kernel_set: KernelSet) -> None:
    with pytest.raises(InvalidArgument, match=r"spec: 'raw_add' is a raw kernel \(@g.kernel\): use g.RawKernel"):
        AutoKernel(raw_add, kernel_set)


def test_threads_are_those_of_the_cpu(both: dict[str, Driver], kernel_set: KernelSet) -> None:
    with AutoKernel(negate, kernel_set, threads=3) as kernel:
        assert kernel.selected == "cuda"
    for driver in both.values():
        driver.devices(0)
    from gompute.runtime import cuda

    cuda.shutdown()
    with AutoKernel(negate, kernel_set, threads=3) as kernel:
        assert kernel.selected == "cpu" and kernel._plan._threads == 3  # type: ignore[union-attr]


AUTO = """
import warnings, sys
warnings.simplefilter("always")
from gompute.handles.auto_kernel import AutoKernel
from tests.driver.kernels import negate
{patch}
with warnings.catch_warnings(record=True) as caught:
    kernel = AutoKernel(negate, {path!r})
print(kernel.selected, *(str(warning.message) for warning in caught))
"""


def test_a_machine_without_drivers_is_silent_and_one_without_bindings_is_not(
    set_path: Path, driver_paths: dict[str, Path], tmp_path: Path
) -> None:
    nothing = "from gompute.runtime import cuda, hip; cuda._SONAME = 'libnone.so.1'; hip._NAMES = ('libnone.so.1',);"
    nothing += "hip._where_binding_looks = lambda paths: ()"
    assert fresh(AUTO.format(path=str(set_path), patch=nothing)) == "cpu"
    unbound = "sys.modules['cuda.bindings'] = sys.modules['rocm.bindings'] = None"
    text = fresh(AUTO.format(path=str(set_path), patch=unbound), GOMPUTE_LIBCUDA=driver_paths["cuda"], GOMPUTE_LIBHIP=driver_paths["hip"])
    assert text.startswith("cpu kernel 'negate' is not run on cuda: cuda: the CUDA driver is installed (")
    assert "kernel 'negate' is not run on hip: hip: the HIP runtime is installed (" in text
    assert text.count("pip install") == 2
