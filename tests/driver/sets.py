"""Kernel sets of the tests' kernels, with blobs that the driver libraries take."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

from gompute.artifacts.describe import entry_of
from gompute.artifacts.entry import KernelEntry
from gompute.artifacts.write import NewBlob, NewUnit, write_set
from gompute.lang.spec import KernelSpec
from gompute.runtime.processor import host_device
from gompute.targets import parse_target
from gompute.targets.cpu import cpu_targets
from tests.driver.kernels import SPECS

CUDA_TARGET = "sm_75"
HIP_TARGET = "gfx90a"


def host_target() -> str:
    device = host_device()
    return cpu_targets(device.arch, device.flags)[-1].name


def ptx(entries: Iterable[KernelEntry], version: str = "6.3", arch: str = CUDA_TARGET) -> bytes:
    """PTX with the kernels' heads and empty bodies."""
    lines = [f".version {version}", f".target {arch}", ".address_size 64", ""]
    for entry in entries:
        declared = ", ".join(f".param .align {a.align} .b8 {entry.symbol}_{i}[{a.size}]" for i, a in enumerate(entry.arguments))
        lines.append(f".visible .entry {entry.symbol}({declared}) {{ ret; }}")
    return "\n".join(lines).encode() + b"\n"


def elf(machine: int, entries: Iterable[KernelEntry]) -> bytes:
    """A header of that machine and a string table with the kernels' descriptors and, for the test driver, the sizes of their arguments."""
    names = b"\0"
    for entry in entries:
        sizes = ",".join(str(argument.size) for argument in entry.arguments)
        names += f"{entry.symbol}.kd\0{entry.symbol}.args={sizes}\0".encode()
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 0, 64 + len(names), 0, 64, 56, 0, 64, 0, 0)
    return header + names


EM_AMDGPU, EM_CUDA = 224, 190


def unit(target: str, entries: tuple[KernelEntry, ...], shared_object: Path, root: str = "tests") -> NewUnit:
    """One root for one target, with the kind of blob that it has."""
    parsed = parse_target(target)
    if parsed.backend == "cuda":
        assert parsed.ptx_version is not None
        version = ".".join(map(str, parsed.ptx_version))
        blob = NewBlob("ptx", ptx(entries, version, parsed.arch), version)
    elif parsed.backend == "hip":
        blob = NewBlob("hsaco", elf(EM_AMDGPU, entries), str(parsed.code_object_version))
    else:
        blob = NewBlob("so", shared_object.read_bytes())
    return NewUnit(root, parsed, (blob,), entries, {"llvm": "22.1.0"})


def write(folder: Path, shared_object: Path, targets: Iterable[str], specs: Iterable[KernelSpec] = SPECS, *units: NewUnit) -> Path:
    """Writes a set of these kernels for these targets."""
    entries = tuple(entry_of(spec) for spec in specs)
    made = [unit(target, entries, shared_object) for target in targets]
    write_set(folder, [*made, *units], generator={"gompute": "0.1.0"})
    return folder
