"""From a spec or a name to loaded code: choosing, refusing, and the words for it."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

import gompute.in_process
from gompute.artifacts import kernel_set as artifacts
from gompute.artifacts.describe import entry_of
from gompute.artifacts.entry import KernelEntry
from gompute.errors import ArtifactError, BackendUnavailable, KernelNotFound, ModuleLoadFailed, NoDevice
from gompute.handles.by_name import kernel_by_name
from gompute.handles.kernel import Kernel
from gompute.handles.kernel_set import KernelSet, load
from gompute.handles.raw_kernel import RawKernel
from gompute.lang.names import f32, f64, i32, ptr, u32, u64
from gompute.lang.operations import kernel, map
from gompute.lang.params import params
from gompute.lang.spec import KernelSpec
from tests.driver import sets
from tests.driver.control import Driver
from tests.driver.kernels import SPECS, negate, raw_add, scale_relu


def test_load_checks_the_index_alone(set_path: Path) -> None:
    opened = load(set_path)
    assert isinstance(opened, KernelSet) and isinstance(opened, artifacts.KernelSet)
    assert opened.kernels == tuple(sorted(spec.name for spec in SPECS))
    with pytest.raises(ArtifactError, match="no kernel set here"):
        load(set_path / "nothing")


def test_a_name_gives_the_handle_of_its_kind(gpu: Driver, kernel_set: KernelSet) -> None:
    backend = gpu.vendor.backend
    with kernel_by_name("negate", backend, kernels=kernel_set) as generated, kernel_set.kernel_by_name("raw_add", backend) as raw:
        assert type(generated) is Kernel and type(raw) is RawKernel
    with pytest.raises(KernelNotFound, match=r"no kernel 'negat' in .*; did you mean 'negate'\?"):
        kernel_set.kernel_by_name("negat", "cpu")
    with pytest.raises(NoDevice, match=f"{backend}: no device 3"):
        kernel_set.kernel_by_name("negate", backend, 3)


def test_a_wrong_name_is_told_before_a_missing_driver(monkeypatch: pytest.MonkeyPatch, kernel_set: KernelSet, tmp_path: Path) -> None:
    monkeypatch.setenv("GOMPUTE_LIBCUDA", str(tmp_path / "nothing"))
    monkeypatch.setenv("GOMPUTE_LIBHIP", str(tmp_path / "nothing"))
    for backend in ("cuda", "hip"):
        with pytest.raises(KernelNotFound, match="no kernel 'nothing'"):
            kernel_set.kernel_by_name("nothing", backend)


def test_no_code_for_the_device(gpu: Driver, kernel_set: KernelSet) -> None:
    gpu.device(0, gpu.vendor.other_arch)
    wanted = {
        "cuda": [
            r"kernel 'negate' of .*: no code for cuda device Test Device 0 \(sm_70\), driver of CUDA 13.0 \(PTX up to 9.0\); there is:",
            "  sm_75 ptx: needs 7.5 or newer, the device is 7.0",
            "add the target to the build: --target sm_70",
        ],
        "hip": [
            r"kernel 'negate' of .*: no code for hip device Test Device 0 \(gfx1030\), driver of HIP 7.2; there is:",
            "  gfx90a hsaco: runs on gfx90a alone; the device is gfx1030",
            "add the target to the build: --target gfx1030",
        ],
    }[gpu.vendor.backend]
    with pytest.raises(ModuleLoadFailed) as raised:
        Kernel(negate, gpu.vendor.backend, kernels=kernel_set)
    text = str(raised.value)
    assert re.search(wanted[0], text) and wanted[1] in text and wanted[2] in text
    assert gpu.vendor.load not in gpu.names


def test_a_driver_too_old_for_the_code(gpu: Driver, kernel_set: KernelSet, tmp_path: Path, kernels_so: Path) -> None:
    path = sets.write(tmp_path / "new", kernels_so, ["sm_86", "gfx9-generic"])
    gpu.version({"cuda": 11000, "hip": 60241134}[gpu.vendor.backend])
    message = {
        "cuda": r"sm_86 ptx: is PTX 7\.1; the driver \(CUDA 11\.0\) takes PTX up to 7\.0: update the driver",
        "hip": r"gfx9-generic hsaco: is a code object of version 6; the driver .*takes up to 5: update ROCm",
    }[gpu.vendor.backend]
    if gpu.vendor.backend == "hip":
        gpu.device(0, "gfx906:sramecc-:xnack-")
    with pytest.raises(ModuleLoadFailed, match=message):
        Kernel(negate, gpu.vendor.backend, kernels=path)


def test_the_best_code_is_taken(nvidia: Driver, tmp_path: Path, kernels_so: Path) -> None:
    path = sets.write(tmp_path / "many", kernels_so, ["sm_75", "sm_80", "sm_86", "sm_89"])
    with Kernel(negate, "cuda", kernels=path) as kernel:
        assert kernel._opened.source.endswith("tests.sm_86.ptx (sm_86 ptx)")


def test_a_refusal_by_the_driver_names_kernel_file_and_target(gpu: Driver, kernel_set: KernelSet) -> None:
    gpu.fail(gpu.vendor.load)
    with pytest.raises(ModuleLoadFailed) as raised:
        Kernel(negate, gpu.vendor.backend, kernels=kernel_set)
    text = str(raised.value)
    kind = {"cuda": "tests.sm_75.ptx (sm_75 ptx)", "hip": "tests.gfx90a.hsaco (gfx90a hsaco)"}[gpu.vendor.backend]
    assert text.startswith(f"kernel 'negate' of {kernel_set.path}/{kind}: {gpu.vendor.backend}: cannot load a module on Test Device 0")
    assert (raised.value.code, raised.value.code_name) == (700, gpu.vendor.code_name)
    if gpu.vendor.backend == "cuda":
        assert "the driver's log:\nptxas application ptx input, line 1; error   : made to fail by the test\n" in text


def test_a_symbol_that_the_blob_lacks(gpu: Driver, tmp_path: Path, kernels_so: Path) -> None:
    """The index is right by its hashes and wrong about the code."""
    path = sets.write(tmp_path / "set", kernels_so, [sets.CUDA_TARGET, sets.HIP_TARGET], (raw_add,))
    index = json.loads((path / "index.json").read_text())
    text = json.dumps(index, sort_keys=True, indent=1).replace('"symbol": "raw_add"', '"symbol": "raw_add_2"')
    (path / "index.json").write_text(text + "\n")
    with pytest.raises(ModuleLoadFailed, match=r"kernel 'raw_add' of .*the module has no kernel raw_add_2"):
        RawKernel(raw_add, gpu.vendor.backend, kernels=path)


@pytest.mark.parametrize("backend", ["cpu", "cuda", "hip"])
def test_a_damaged_blob_never_reaches_the_driver(backend: str, request: pytest.FixtureRequest, tmp_path: Path, kernels_so: Path) -> None:
    driver: Driver | None = None
    if backend != "cpu":
        driver = request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[backend])
    path = sets.write(tmp_path / "set", kernels_so, [sets.CUDA_TARGET, sets.HIP_TARGET, sets.host_target()])
    for blob in path.glob("tests.*"):
        data = blob.read_bytes()
        blob.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(ArtifactError, match="its sha256 is not the one in the index"):
        Kernel(negate, backend, kernels=path)
    if driver is not None:
        assert driver.vendor.load not in driver.names


# ---- stale builds: what was built, and what the source says now ----


@params
class Tone:
    scale: f32


Built = Tone


@params
class Tone:  # type: ignore[no-redef]
    scale: f64


Retyped = Tone


@params
class Tone:  # type: ignore[no-redef]
    scale: f32
    offset: f32


@map(name="k")
def of_f32(x: f32) -> f32:
    return x


@map(name="k")
def of_f64(x: f64) -> f64:
    return x


@map(name="k", block_size=128)
def of_f32_in_small_blocks(x: f32) -> f32:
    return x


@map(name="k")
def with_params(x: f32, p: Built) -> f32:
    return x


@map(name="k")
def with_other_params(x: f32, p: Retyped) -> f32:
    return x


@map(name="k")
def with_more_params(x: f32, p: Tone) -> f32:
    return x


@kernel(name="k")
def raw(x: ptr[i32], n: u64, m: u32):
    x[0] = 0


@kernel(name="k")
def raw_swapped(x: ptr[i32], m: u64, n: u32):
    x[0] = 0


@kernel(name="k")
def two_structs(x: ptr[f32], p: Built, q: Tone):
    x[0] = p.scale


@kernel(name="k")
def two_structs_retyped(x: ptr[f32], p: Retyped, q: Tone):
    x[0] = q.scale


STALE: dict[str, tuple[KernelSpec, KernelSpec, str]] = {
    "type": (of_f32, of_f64, "argument 0 is data: ptr[f64] in the source, and data: ptr[f32] in the artifact"),
    "block": (of_f32_in_small_blocks, of_f32, "block_size is 256,1,1 in the source, and 128,1,1 in the artifact"),
    "params": (
        with_params,
        with_other_params,
        "params field scale is f64 at byte 0 in the source, and f32 at byte 0 in the artifact",
    ),
    "field": (with_params, with_more_params, "params field offset is f32 at byte 4 in the source, and none in the artifact"),
    "no params": (with_params, of_f32, "argument 2 is none in the source, and params: Tone in the artifact"),
    "two": (two_structs_retyped, two_structs, "params field p.scale is f32 at byte 0 in the source, and f64 at byte 0 in the artifact"),
    "operation": (of_f32, raw, "the operation is kernel in the source, and map in the artifact"),
    "names": (raw, raw_swapped, "argument 1 is m: u64 in the source, and n: u64 in the artifact"),
}


@pytest.mark.parametrize("kind", STALE)
@pytest.mark.parametrize("backend", ["cpu", "cuda", "hip"])
def test_an_artifact_of_another_version_of_the_source(
    backend: str, kind: str, request: pytest.FixtureRequest, tmp_path: Path, kernels_so: Path
) -> None:
    driver: Driver | None = None
    if backend != "cpu":
        driver = request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[backend])
    built, now, difference = STALE[kind]
    path = sets.write(tmp_path / "set", kernels_so, [sets.CUDA_TARGET, sets.HIP_TARGET, sets.host_target()], (built,))
    handle: Any = RawKernel if now.kind == "kernel" else Kernel
    with pytest.raises(ModuleLoadFailed) as raised:
        handle(now, backend, kernels=path)
    text = str(raised.value)
    mine, theirs = entry_of(now), entry_of(built)
    assert text.startswith(f"kernel 'k': {path}/tests.")
    assert (
        f"was built from another version of it (ABI fingerprint {theirs.fingerprint}, the source here has {mine.fingerprint}); "
        "build the set again"
    ) in text
    assert f"\n  differs:  {difference}\n" in text
    assert f"\n  source:   {mine.signature}\n  artifact: {theirs.signature}" in text
    if driver is not None:
        assert driver.vendor.load not in driver.names


# ---- the CPU without an artifact ----


class Compiler:
    """Stands for the compiler: gives the tests' own shared object, and remembers what it was asked for."""

    def __init__(self, kernels_so: Path) -> None:
        self.asked: list[str] = []
        self._code = kernels_so.read_bytes()

    def __call__(self, spec: KernelSpec) -> tuple[bytes, KernelEntry]:
        self.asked.append(spec.name)
        return self._code, entry_of(spec)


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch, kernels_so: Path) -> Compiler:
    stand_in = Compiler(kernels_so)
    monkeypatch.setattr(gompute.in_process, "compile_for_cpu", stand_in)
    monkeypatch.delenv("GOMPUTE_KERNELS", raising=False)
    return stand_in


def test_without_a_set_the_cpu_compiles(compiler: Compiler) -> None:
    with Kernel(negate, "cpu") as opened:
        assert repr(opened) == "<Kernel 'negate' on cpu, from the compiler in this process>"
    with RawKernel(raw_add, "cpu"):
        pass
    assert compiler.asked == ["negate", "raw_add"]


@pytest.mark.parametrize("targets", [["sm_75"], ["sm_75", "aarch64"], ["x86-64-v3"]])
def test_without_code_for_this_processor_the_cpu_compiles(
    compiler: Compiler, targets: list[str], tmp_path: Path, kernels_so: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gompute.runtime import cpu
    from gompute.runtime.processor import parse_cpuinfo

    path = sets.write(tmp_path / "set", kernels_so, targets)
    # A processor that has none of the features of any of these.
    monkeypatch.setattr(cpu, "host_device", lambda: parse_cpuinfo("x86_64", "flags : fpu"))
    Kernel(negate, "cpu", kernels=path).close()
    assert compiler.asked == ["negate"]


def test_a_kernel_that_the_set_lacks_is_compiled_on_the_cpu(compiler: Compiler, tmp_path: Path, kernels_so: Path) -> None:
    path = sets.write(tmp_path / "set", kernels_so, [sets.host_target()], (negate,))
    Kernel(scale_relu, "cpu", kernels=path).close()
    assert compiler.asked == ["scale_relu"]
    with pytest.raises(KernelNotFound):
        kernel_by_name("scale_relu", "cpu", kernels=path)


def test_code_that_is_there_is_not_compiled(compiler: Compiler, kernel_set: KernelSet) -> None:
    Kernel(negate, "cpu", kernels=kernel_set).close()
    assert compiler.asked == []


def test_damaged_code_is_not_compiled_around(compiler: Compiler, tmp_path: Path, kernels_so: Path) -> None:
    path = sets.write(tmp_path / "set", kernels_so, [sets.host_target()])
    next(path.glob("*.so")).write_bytes(b"short")
    with pytest.raises(ArtifactError):
        Kernel(negate, "cpu", kernels=path)
    path = sets.write(tmp_path / "stale", kernels_so, [sets.host_target()], (of_f32,))
    with pytest.raises(ModuleLoadFailed, match="was built from another version"):
        Kernel(of_f64, "cpu", kernels=path)
    assert compiler.asked == []


def test_without_a_compiler_the_error_says_why_and_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kernels_so: Path
) -> None:
    def missing(spec: KernelSpec) -> tuple[bytes, KernelEntry]:
        raise BackendUnavailable('llvmlite is not installed: pip install "gompute[compiler]"')

    monkeypatch.setattr(gompute.in_process, "compile_for_cpu", missing)
    monkeypatch.delenv("GOMPUTE_KERNELS", raising=False)
    with pytest.raises(BackendUnavailable) as raised:
        Kernel(negate, "cpu")
    assert str(raised.value) == (
        "kernel 'negate' on cpu: there is no kernel set\n"
        'and it cannot be compiled here: llvmlite is not installed: pip install "gompute[compiler]"'
    )
    path = sets.write(tmp_path / "set", kernels_so, ["sm_75"])
    with pytest.raises(BackendUnavailable, match="no code for cpu device .*: the set has sm_75"):
        Kernel(negate, "cpu", kernels=path)


@pytest.mark.parametrize("kind", ["telepathy", "map_to", "gather"])
def test_an_artifact_of_an_operation_that_is_not_known(kernel_set: KernelSet, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    entry = dataclasses.replace(entry_of(negate), kind=kind)
    monkeypatch.setattr(gompute.in_process, "compile_for_cpu", lambda spec: (next(kernel_set.path.glob("*.so")).read_bytes(), entry))
    monkeypatch.delenv("GOMPUTE_KERNELS", raising=False)
    message = f"kernel 'negate': this version of gompute has no operation {kind!r} with the arguments (data, len)"
    with pytest.raises(ModuleLoadFailed, match=re.escape(message)):
        Kernel(negate, "cpu")
