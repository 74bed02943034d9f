"""The CPU backend's context, modules and memory."""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path

import numpy as np
import pytest

from gompute.artifacts.describe import entry_of
from gompute.errors import AllocFailed, InvalidArgument, KernelNotFound, ModuleLoadFailed, NoDevice
from gompute.handles.packing import Frame, Packing
from gompute.runtime import cpu
from gompute.runtime.dim3 import Dim3
from tests.driver.build import compile_shared
from tests.driver.kernels import negate, where


def test_memory_there_and_back() -> None:
    with cpu.Context() as context, context.alloc(100) as buffer:
        assert buffer.device_addr % 64 == 0
        data = np.arange(25, dtype=np.int32)
        back = np.zeros_like(data)
        buffer.upload(data)
        buffer.download(back)
        assert np.array_equal(back, data)
        with pytest.raises(InvalidArgument, match="upload of 101 bytes at offset 0: the buffer has 100 bytes"):
            buffer.upload(bytes(101))
    with pytest.raises(InvalidArgument, match="this cpu buffer of 100 bytes is freed"):
        buffer.upload(data)


def test_more_memory_than_there_is() -> None:
    with pytest.raises(AllocFailed, match=r"cpu: cannot allocate 4611686018427387904 bytes"):
        cpu.Context().alloc(2**62)
    with pytest.raises(InvalidArgument, match="not negative, got -1"):
        cpu.Context().alloc(-1)


def test_there_is_one_processor() -> None:
    with pytest.raises(NoDevice, match="cpu: no device 1; there is one, number 0"):
        cpu.Context(1)
    free, total = cpu.Context().memory_info()
    assert 0 < free <= total


def test_a_closed_context_is_closed() -> None:
    context = cpu.Context()
    context.close()
    context.close()
    for use in (lambda: context.alloc(1), context.synchronize, lambda: context.load_module(b"")):
        with pytest.raises(InvalidArgument, match="this cpu context is closed"):
            use()


def test_the_same_bytes_are_loaded_once(kernels_so: Path) -> None:
    context = cpu.Context()
    code = kernels_so.read_bytes()
    module = context.load_module(code)
    assert cpu.Context().load_module(bytes(bytearray(code))) is module
    assert module.get_kernel("negate") is module.get_kernel("negate")
    with pytest.raises(KernelNotFound, match="cpu: the shared object has no kernel nothing"):
        module.get_kernel("nothing")


def test_each_module_keeps_its_own_code(tmp_path: Path, zig_cache: Path) -> None:
    """The loader knows libraries by path, and file numbers come back: without care the second would be the first."""
    answers = []
    for number in range(3):
        source = tmp_path / f"number{number}.c"
        source.write_text(f"void number(int **arguments) {{ **arguments = {number}; }}\n")
        code = compile_shared([source], tmp_path / "number.so", zig_cache, "-nostdlib").read_bytes()
        cell = ctypes.c_int(-1)
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(cell))
        kernel = cpu.Context().load_module(code).get_kernel("number")
        kernel.everything(ctypes.addressof(arguments))()
        answers.append(cell.value)
    assert answers == [0, 1, 2]


@pytest.mark.parametrize("code", [b"", b"no library", b"\x7fELF" + bytes(100)])
def test_what_the_loader_refuses(code: bytes) -> None:
    with pytest.raises(ModuleLoadFailed, match="cpu: the system's loader refuses the shared object: "):
        cpu.Context().load_module(code)


def test_no_file_is_left_open(kernels_so: Path) -> None:
    before = sorted(Path("/proc/self/fd").iterdir())
    cpu.Context().load_module(kernels_so.read_bytes() + b"another")
    with pytest.raises(ModuleLoadFailed):
        cpu.Context().load_module(b"no library")
    assert sorted(Path("/proc/self/fd").iterdir()) == before


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [1, 1000, 3 * (1 << 16) + 7])
def test_elements_are_worked_on_once_by_any_number_of_threads(kernels_so: Path, threads: int, count: int) -> None:
    kernel = cpu.Context().load_module(kernels_so.read_bytes()).get_kernel("negate")
    data = np.arange(1, count + 1, dtype=np.int32)
    packing = Packing(entry_of(negate).arguments)
    frame = Frame(packing)
    packing.pack(frame.storage, 0, data.ctypes.data, count)
    kernel.run_elements(frame.address, count, threads)
    assert np.array_equal(data, -np.arange(1, count + 1, dtype=np.int32))


@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_are_run_once_by_any_number_of_threads(kernels_so: Path, threads: int) -> None:
    kernel = cpu.Context().load_module(kernels_so.read_bytes()).get_kernel("where")
    grid, block = Dim3(7, 11, 13), Dim3(8, 8, 1)
    out = np.full((grid.product, 8), 99, np.uint64)
    packing = Packing(entry_of(where).arguments)
    frame = Frame(packing)
    packing.pack(frame.storage, 0, out.ctypes.data)
    kernel.launch_packed(grid, block, 40, frame.address, threads)
    assert np.array_equal(out[:, 0], np.arange(grid.product))
    assert np.array_equal(out[:, 1:], np.tile([7, 11, 13, 8, 8, 1, 40], (grid.product, 1)))


def test_limits_of_a_launch(kernels_so: Path) -> None:
    kernel = cpu.Context().load_module(kernels_so.read_bytes()).get_kernel("where")
    with pytest.raises(InvalidArgument, match="grid: 2147483648 blocks in y; cpu takes at most 2147483647"):
        kernel.check(Dim3(1, 2**31), Dim3(1))
    with pytest.raises(InvalidArgument, match="shared: -1 bytes; cpu gives a block at most 327680"):
        kernel.check(Dim3(1), Dim3(1), -1)


def test_threads_may_load_at_once(kernels_so: Path) -> None:
    code = kernels_so.read_bytes() + b"for this test"
    modules: list[object] = []
    threads = [threading.Thread(target=lambda: modules.append(cpu.Context().load_module(code))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(modules) == 8 and len(set(map(id, modules))) == 1
