"""Shared objects: they load, run, need nothing and export the kernels alone."""

from __future__ import annotations

import ctypes
import platform
from pathlib import Path

import numpy as np
import pytest

from gompute.backends import lld
from gompute.backends.elf import ElfFile
from gompute.backends.pipeline import generate
from gompute.errors import CompileError
from gompute.targets import Target, all_targets, parse_target
from gompute.targets.cpu import cpu_targets
from tests.backends.modules import head, kernel, raw_fill, scale_relu

CPUS = [target for target in all_targets() if target.backend == "cpu"]
X86 = parse_target("x86-64-v3")
EVERYTHING = 2**64 - 1

_DYNAMIC_ENTRY, _NEEDED, _SONAME, _INIT, _FINI = 16, 1, 14, 12, 13


def _flags() -> list[str]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.partition(":")[2].split() for line in lines if line.startswith(("flags", "Features")))


HOST = cpu_targets(platform.machine(), _flags())


class Library:
    """A shared object, loaded."""

    def __init__(self, data: bytes, path: Path) -> None:
        path.write_bytes(data)
        self._library = ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL)

    def run(self, symbol: str, *arguments: object, launch: object = None, begin: int = 0, end: int = EVERYTHING) -> None:
        """Call a kernel; each argument is a ctypes object that holds its bytes."""
        function = getattr(self._library, symbol)
        function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
        function.restype = None
        addresses = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(argument) for argument in arguments))  # type: ignore[arg-type]
        function(addresses, None if launch is None else ctypes.byref(launch), begin, end)  # type: ignore[arg-type]


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


@pytest.mark.parametrize("target", HOST, ids=str)
@pytest.mark.parametrize("count", [0, 1, 7, 31, 32, 1000])
def test_map_runs(target: Target, count: int, tmp_path: Path) -> None:
    library = Library(generate(*scale_relu(target), target).blobs[0].data, tmp_path / "kernels.so")
    data = np.linspace(-3, 5, count, dtype=np.float32)
    data[:1] = np.nan
    expected = np.where(data * np.float32(1.5) > 0, data * np.float32(1.5), np.float32(0))
    library.run("scale_relu", _pointer(data), ctypes.c_uint64(count), ctypes.c_float(1.5))
    assert np.array_equal(data, expected)


@pytest.mark.parametrize("target", HOST, ids=str)
def test_map_runs_over_a_part(target: Target, tmp_path: Path) -> None:
    library = Library(generate(*scale_relu(target), target).blobs[0].data, tmp_path / "kernels.so")
    data = np.ones(100, np.float32)
    for begin, end in ((10, 50), (90, 200), (60, 60), (120, EVERYTHING)):
        library.run("scale_relu", _pointer(data), ctypes.c_uint64(100), ctypes.c_float(2), begin=begin, end=end)
    assert data.tolist() == [2.0 if 10 <= index < 50 or index >= 90 else 1.0 for index in range(100)]


@pytest.mark.parametrize("target", HOST, ids=str)
def test_raw_kernel_runs_blocks(target: Target, tmp_path: Path) -> None:
    library = Library(generate(*raw_fill(target), target).blobs[0].data, tmp_path / "kernels.so")
    data = np.zeros(80, np.int32)
    launch = (ctypes.c_uint64 * 7)(10, 1, 1, 8, 1, 1, 0)
    library.run("fill", _pointer(data), ctypes.c_int32(7), launch=launch, begin=2, end=4)
    assert data.tolist() == [7 if 16 <= index < 32 else 0 for index in range(80)]
    library.run("fill", _pointer(data), ctypes.c_int32(-1), launch=launch)
    assert data.tolist() == [-1] * 80


@pytest.mark.parametrize("target", CPUS, ids=str)
def test_shared_object_needs_nothing_and_exports_the_kernels(target: Target) -> None:
    before = "define void @open_helper() {\n  ret void\n}\n@open_table = constant [2 x i32] [i32 1, i32 2]"
    ir, kernels = scale_relu(target)
    generated = generate(ir + before, kernels, target)
    elf = ElfFile.parse(generated.blobs[0].data)
    assert elf.machine == {"x86_64": 62, "aarch64": 183}[target.triple.partition("-")[0]]
    assert [symbol.name for symbol in elf.symbols(dynamic=True) if symbol.name] == ["scale_relu"]
    assert elf.symbols(dynamic=False) == []
    assert _dynamic(elf).isdisjoint({_NEEDED, _SONAME})
    assert {section.name for section in elf.sections if section.name.startswith(".note")} == set()
    assert generated.toolchain["lld"] == lld.version()
    assert (generated.blobs[0].kind, generated.blobs[0].version) == ("so", None)


@pytest.mark.parametrize("name", ["_init", "_fini"])
@pytest.mark.parametrize("target", CPUS, ids=str)
def test_kernel_with_a_loader_hooks_name_is_not_called_by_the_loader(target: Target, name: str) -> None:
    elf = ElfFile.parse(generate(*scale_relu(target, name), target).blobs[0].data)
    assert [symbol.name for symbol in elf.symbols(dynamic=True) if symbol.name] == [name]
    assert _dynamic(elf).isdisjoint({_INIT, _FINI})


def _dynamic(elf: ElfFile) -> set[int]:
    """Tags of the dynamic section."""
    section = elf.section(".dynamic")
    assert section is not None
    contents = elf.contents(section)
    return {int.from_bytes(contents[place : place + 8], "little") for place in range(0, len(contents), _DYNAMIC_ENTRY)}


@pytest.mark.parametrize(("target", "register", "count"), [("x86-64-v3", "ymm", 4), ("x86-64-v4", "ymm", 4), ("aarch64", ".4s", 2)])
def test_map_loop_is_vectorised_and_interleaved(target: str, register: str, count: int) -> None:
    cpu = parse_target(target)
    generated = generate(*scale_relu(cpu), cpu, emit=frozenset({"asm", "ir"}))
    multiply = "fmul <8 x float>" if register == "ymm" else "fmul <4 x float>"
    assert generated.listings["ir"].count(multiply) == count
    assert register in generated.listings["asm"]
    assert "call" not in generated.listings["asm"]


@pytest.mark.parametrize("target", CPUS, ids=str)
@pytest.mark.parametrize(
    ("body", "function"),
    [
        ("  %x = load i128, ptr %data\n  %v = udiv i128 %x, 12345678901\n  store i128 %v, ptr %data", "__udivti3"),
        ("  %x = load i128, ptr %data\n  %v = uitofp i128 %x to double\n  store double %v, ptr %data", "__floatuntidf"),
    ],
)
def test_operation_that_becomes_a_call_is_refused(target: Target, body: str, function: str) -> None:
    with pytest.raises(CompileError) as caught:
        generate(*kernel(target, body), target)
    assert f"kernel probe for {target.name}: some operations have no instruction there" in str(caught.value)
    assert f"function `probe` calls `{function}`" in str(caught.value)


def test_no_feature_of_the_host_is_used() -> None:
    ir, kernels = scale_relu(X86)
    assert "zmm" not in generate(ir, kernels, X86, emit=frozenset({"asm"})).listings["asm"]


def test_module_without_kernels_exports_nothing() -> None:
    elf = ElfFile.parse(generate(head(X86), (), X86).blobs[0].data)
    assert [symbol.name for symbol in elf.symbols(dynamic=True) if symbol.name] == []


def test_linker_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lld, "find_spec", lambda name: None)
    assert not lld.installed()
    with pytest.raises(CompileError, match=r"pip install 'gompute\[compiler\]'"):
        generate(*scale_relu(X86), X86)


def test_every_kernel_of_a_root_is_exported() -> None:
    map_, map_entries = scale_relu(X86)
    fill = raw_fill(X86)[0].partition("\ndefine ")[2].partition("\ndeclare ")[0]
    elf = ElfFile.parse(generate(f"{map_}\ndefine {fill}", (*map_entries, *raw_fill(X86)[1]), X86).blobs[0].data)
    assert sorted(symbol.name for symbol in elf.symbols(dynamic=True) if symbol.name) == ["fill", "scale_relu"]
