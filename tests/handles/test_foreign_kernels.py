"""Kernels of another compiler, launched by name: pointers, numbers, and a struct by value that only the kernel knows."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gompute as g
from gompute import f32, u64
from gompute.errors import InvalidArgument, KernelNotFound
from gompute.handles.by_name import kernel_by_name
from gompute.handles.kernel_set import load
from gompute.handles.raw_kernel import RawKernel
from tests.driver.build import build_kernels
from tests.driver.control import Driver

GOLDEN = Path(__file__).resolve().parents[2] / "checks" / "golden" / "ir"
TARGETS = {"cuda": ("cuda-nvptx64.ll", "sm_75"), "hip": ("hip-amdgcn.ll", "gfx90a")}

#: What the test drivers run for the two kernels: something that shows every argument.
BUILDS = """\
struct params { float scale, offset; long long count; };
typedef unsigned long long u64;

void raw_scale(void **arguments, void *launch, u64 begin, u64 end) {
    float *data = *(float **)arguments[0], factor = *(float *)arguments[2];
    (void)launch, (void)begin, (void)end;
    for (u64 i = 0; i < *(u64 *)arguments[1]; i++) data[i] *= factor;
}

void _Z7raw_addPf6Params(void **arguments, void *launch, u64 begin, u64 end) {
    float *data = *(float **)arguments[0];
    struct params *p = arguments[1];
    (void)launch, (void)begin, (void)end;
    for (long long i = 0; i < p->count; i++) data[i] = data[i] * p->scale + p->offset;
}
"""


@g.params
class Mine:
    scale: f32
    offset: f32
    count: u64


@g.params
class Short:
    scale: f32


@pytest.fixture(scope="session")
def foreign(tmp_path_factory: pytest.TempPathFactory, zig_cache: Path) -> dict[str, Path]:
    """The kernel set of each vendor, and under "builds" what the test drivers run."""
    folder = tmp_path_factory.mktemp("foreign")
    source = folder / "builds.c"
    source.write_text(BUILDS)
    made = {"builds": build_kernels(source, folder, zig_cache)}
    for vendor, (file, target) in TARGETS.items():
        shutil.copy(GOLDEN / file, folder / f"{vendor}.ll")
        made[vendor] = folder / f"{vendor}.set"
        command = [sys.executable, "-m", "gompute", "build", f"{vendor}.ll", "--no-cache", "--target", target, "-o", str(made[vendor])]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return made


def test_pointers_numbers_and_a_struct_by_value(gpu: Driver, foreign: dict[str, Path]) -> None:
    gpu.reset(foreign["builds"])
    backend = gpu.vendor.backend
    kernels = load(foreign[backend])
    back = np.zeros(4, np.float32)
    with (
        RawKernel("raw_scale", backend, kernels=kernels) as scale,
        kernel_by_name("_Z7raw_addPf6Params", backend, kernels=kernels) as add,
        scale.alloc(16) as buffer,
    ):
        assert isinstance(add, RawKernel)
        for _ in range(2):  # the second launch goes the quick way
            buffer.upload(np.array([1, 2, 3, 4], np.float32))
            scale.launch(1, 64, buffer, 3, 2.0)
            add.launch(1, 64, buffer, struct.pack("<ffq", 10.0, 0.5, 2))
            add.launch(1, 64, buffer, Mine(scale=1.0, offset=1.0, count=4))
            buffer.download(back)
            assert back.tolist() == [21.5, 41.5, 7.0, 5.0]
        for wrong, words in ((b"short", "got 5 bytes"), (Short(scale=1.0), "got 4 bytes"), (3, "got int")):
            with pytest.raises(InvalidArgument, match=f"expected 16 bytes, or an instance of a params class of that size, {words}"):
                add.launch(1, 64, buffer, wrong)
        with pytest.raises(InvalidArgument, match="missing"):
            scale.launch(1, 64, buffer, 3)
    with pytest.raises(KernelNotFound, match="did you mean 'raw_scale'"):
        RawKernel("raw_scal", backend, kernels=kernels)
