"""Code objects: every target's links, and its metadata names the kernel, its arguments and its work-group size."""

from __future__ import annotations

import pytest

from gompute.artifacts.entry import ArgumentEntry
from gompute.backends import codeobject, lld
from gompute.backends.pipeline import generate
from gompute.errors import InternalError
from gompute.targets import Target, all_targets, parse_target
from tests.backends.modules import entry, kernel, raw_fill, scale_relu

AMD = [target for target in all_targets() if target.backend == "hip"]
GFX942 = parse_target("gfx942")


@pytest.mark.parametrize("target", AMD, ids=str)
def test_code_object_of_every_target(target: Target) -> None:
    ir, kernels = scale_relu(target)
    generated = generate(ir, kernels, target)
    (blob,) = generated.blobs
    assert (blob.kind, blob.version) == ("hsaco", str(target.code_object_version))
    read = codeobject.read(blob.data)
    assert read.target == f"amdgcn-amd-amdhsa--{target.name}"
    assert (read.version, read.flags) == (target.code_object_version, target.elf_flags)
    metadata = read.kernels["scale_relu"]
    assert metadata.symbol == "scale_relu.kd"
    assert metadata.max_block == 256
    assert metadata.wave_size == target.warp_size
    assert metadata.arguments == (
        codeobject.ArgumentMetadata("data", 0, 8, "global_buffer"),
        codeobject.ArgumentMetadata("len", 8, 8, "by_value"),
        codeobject.ArgumentMetadata("params", 16, 4, "by_value"),
    )
    resources = generated.kernels[0].resources
    assert resources.registers is not None
    assert resources.scalar_registers is not None
    assert resources.registers > 0
    assert resources.scalar_registers > 0
    assert (resources.shared, resources.private, resources.spills) == (0, 0, 0)
    assert generated.toolchain["lld"] == lld.version()


def test_raw_kernel_states_its_largest_block() -> None:
    ir, kernels = raw_fill(GFX942, block_size=(32, 4, 2))
    assert codeobject.read(generate(ir, kernels, GFX942).blobs[0].data).kernels["fill"].max_block == 256


def test_two_kernels_in_one_code_object() -> None:
    ir, kernels = scale_relu(GFX942)
    more = raw_fill(GFX942)[0].partition("define ")[2]
    both = (*kernels, *raw_fill(GFX942)[1])
    read = codeobject.read(generate(f"{ir}define {more}", both, GFX942).blobs[0].data)
    assert read.kernels.keys() == {"scale_relu", "fill"}


def test_shared_memory_is_in_the_resources() -> None:
    before = "@tile = internal addrspace(3) global [1000 x float] poison, align 16"
    body = "  %i = load i64, ptr %data\n  %p = getelementptr float, ptr addrspace(3) @tile, i64 %i\n"
    body += "  store volatile float 1.0, ptr addrspace(3) %p"
    assert generate(*kernel(GFX942, body, before=before), GFX942).kernels[0].resources.shared == 4000


@pytest.mark.parametrize(
    ("arguments", "block_size", "message"),
    [
        (
            [("pointer", 8), ("scalar", 4), ("params", 4)],
            (256, 1, 1),
            "has arguments at (offset, size) [(0, 8), (8, 8), (16, 4)], and its name table entry says [(0, 8), (8, 4), (12, 4)]",
        ),
        ([("scalar", 8), ("scalar", 8), ("params", 4)], (256, 1, 1), "takes `a0` as global_buffer, and its name table entry says scalar"),
        ([("pointer", 8), ("scalar", 8), ("params", 4)], (128, 1, 1), "of at most 256 work-items, and its name table entry says 128"),
    ],
)
def test_code_object_that_contradicts_the_name_table(
    arguments: list[tuple[str, int]], block_size: tuple[int, int, int], message: str
) -> None:
    entries = [ArgumentEntry(f"a{number}", kind, "", size, size) for number, (kind, size) in enumerate(arguments)]  # type: ignore[arg-type]
    with pytest.raises(InternalError) as caught:
        generate(scale_relu(GFX942)[0], (entry("scale_relu", arguments=entries, block_size=block_size),), GFX942)
    assert message in str(caught.value)


def test_code_object_of_another_version() -> None:
    ir, kernels = scale_relu(GFX942)
    with pytest.raises(InternalError, match="its version is 6, and gfx942 needs 5"):
        generate(ir.replace("i32 500", "i32 600"), kernels, GFX942)
