"""Kernel sets made of a few bytes, for tests of what happens around the bytes."""

from __future__ import annotations

from pathlib import Path

from gompute.artifacts.entry import ArgumentEntry, KernelEntry, ParamsEntry, ParamsFieldEntry, Resources
from gompute.artifacts.write import NewBlob, NewUnit, set_content, write_set
from gompute.targets import parse_target

GENERATOR = {"gompute": "0.1.0"}
TOOLCHAIN = {"llvm": "22.1.0", "llvmlite": "0.50.0"}


def kernel(name: str, *, resources: Resources = Resources()) -> KernelEntry:  # noqa: B008 (it is frozen)
    """A map over f32 with a params struct."""
    fields = (
        ParamsFieldEntry("scale", "f32", 0, None),
        ParamsFieldEntry("table", "u16", 4, 3),
        ParamsFieldEntry("inner.flag", "bool", 10, None),
    )
    return KernelEntry(
        name=name,
        symbol=name,
        kind="map",
        arguments=(
            ArgumentEntry("data", "pointer", "f32", 8, 8),
            ArgumentEntry("len", "scalar", "u64", 8, 8),
            ArgumentEntry("params", "params", "Params", 12, 4, layout=ParamsEntry("Params", fields, 12, 4)),
        ),
        block_size=(256, 1, 1),
        resources=resources,
    )


def raw_kernel(name: str) -> KernelEntry:
    """A raw kernel without params."""
    arguments = (ArgumentEntry("out", "pointer", "f64", 8, 8), ArgumentEntry("n", "scalar", "u64", 8, 8))
    return KernelEntry(name, name, "kernel", arguments, (64, 2, 1))


def unit(root: str, target: str, *kernels: KernelEntry, cubin: bool = False) -> NewUnit:
    """A root whose blobs say what they are."""
    made = parse_target(target)
    kind = made.kinds[0]
    version = {"cuda": "{}.{}".format(*(made.ptx_version or (0, 0))), "hip": str(made.code_object_version), "cpu": None}[made.backend]
    blobs = [NewBlob(kind, f"{root} {target} {kind}\n".encode() * 3, version)]
    if cubin:
        blobs.append(NewBlob("cubin", f"{root} {target} cubin\n".encode(), "13.5.37"))
    return NewUnit(root, made, tuple(blobs), kernels or (kernel(f"{root}_kernel"),), TOOLCHAIN | ({"ptxas": "13.5.37"} if cubin else {}))


def sample_units() -> list[NewUnit]:
    """Two roots for targets of three backends."""
    scale = kernel("scale", resources=Resources(registers=12, shared=0))
    return [
        unit("image", "sm_89", scale, raw_kernel("blur"), cubin=True),
        unit("image", "sm_80", scale, raw_kernel("blur")),
        unit("image", "gfx90a:xnack+", scale, raw_kernel("blur")),
        unit("image", "gfx11-generic", scale, raw_kernel("blur")),
        unit("image", "x86-64-v3", scale, raw_kernel("blur")),
        unit("sort", "sm_80", raw_kernel("sort_step")),
    ]


def write_sample(directory: Path, units: list[NewUnit] | None = None) -> Path:
    """A set on disk."""
    write_set(directory, sample_units() if units is None else units, generator=GENERATOR)
    return directory


def left_out_set(folder: Path, units: list[NewUnit], left_out: dict[str, tuple[str, ...]]) -> Path:
    """A set on disk that was built with a manifest."""
    folder.mkdir()
    for name, data in set_content(units, generator=GENERATOR, left_out=left_out).files.items():
        (folder / name).write_bytes(data)
    return folder


def contents(directory: Path) -> dict[str, bytes]:
    """All files of a folder, by name."""
    return {path.name: path.read_bytes() for path in directory.iterdir()}
