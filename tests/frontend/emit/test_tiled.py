"""Reductions and scans on the CPU: every type, in the order that is documented, whatever ranges of tiles run when; and as vector code."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

from gompute.frontend import typed
from gompute.frontend.typed import Slot
from gompute.lang.tiled import scratch_elements, stage_tiles
from gompute.lang.types import BF16, BOOL, F32, SCALARS, ScalarType
from gompute.targets import parse_target
from tests.conformance.tiled_cases import add, bf16_bits, greatest, in_bf16, least
from tests.conformance.tiled_model import Combine, reduced, scanned
from tests.frontend.emit.compiled import Loaded, assembly
from tests.frontend.emit.trees import binary, constant, function, read

NUMBERS = [scalar for scalar in SCALARS.values() if scalar != BOOL]
EXTREMES = [SCALARS[name] for name in ("i8", "u64", "f16", "bf16", "f64")]
SCANNED = [SCALARS[name] for name in ("i8", "u64", "f16", "bf16", "bool")]
LENGTHS = (1, 2, 15, 17, 255, 256, 257, 512, 4095, 4096, 4097, 4096 * 3 + 1000)


def dtype(scalar: ScalarType) -> np.dtype[np.generic]:
    if scalar == BF16:
        return np.dtype(np.uint16)
    return np.dtype(f"{({'int': 'i', 'uint': 'u', 'float': 'f', 'bool': 'b'})[scalar.kind]}{scalar.size}")


def samples(scalar: ScalarType, n: int) -> np.ndarray:
    generator = np.random.default_rng(n)
    if scalar.is_float:
        x = generator.standard_normal(n)
        return bf16_bits(x) if scalar == BF16 else x.astype(dtype(scalar))
    return generator.integers(0, 256, n * scalar.size, np.uint8).view(dtype(scalar)) if scalar != BOOL else generator.random(n) < 0.5


def kernel(name: str, scalar: ScalarType, op: str, scan: typed.Scan | None = None) -> typed.TiledKernel:
    a, b = Slot("a", scalar), Slot("b", scalar)
    value: typed.Expression
    if op == "min" or op == "max":
        value = typed.Intrinsic(scalar, op, (read(a), read(b)))
    else:
        value = binary("xor" if scalar == BOOL else "add", read(a), read(b))
    combine = function(f"{name}_combine", (a, b), scalar, typed.Return(value))
    return typed.TiledKernel(name, scalar, None, combine, constant(scalar, 0), scan, (256, 1, 1))


def loaded(kernels: list[typed.TiledKernel]) -> Loaded:
    return Loaded(typed.Module("root", tuple(kernels), tuple(made.combine for made in kernels)))


def run(code: Loaded, name: str, x: np.ndarray, *, scan: bool, split: int) -> np.ndarray:
    """The output, with `split` calls a stage, the last tiles first; nothing is written past an end."""
    out, partials = (np.full(count + 1, 7).astype(x.dtype) for count in (x.size if scan else 1, scratch_elements(x.size)))
    for stage, tiles in enumerate(stage_tiles(x.size, scan)):
        edges = np.linspace(0, tiles, split + 1).astype(int).tolist()
        for begin, end in reversed(list(pairwise(edges))):
            code.run(name, x, partials, out, np.uint64(x.size), np.uint64(stage), begin=begin, end=end)
    assert out[-1] == partials[-1] == np.array(7).astype(x.dtype)
    return out[:-1]


def check(code: Loaded, name: str, scalar: ScalarType, combine: Combine, *, scan: bool = False, exclusive: bool = False) -> None:
    combine = in_bf16(combine) if scalar == BF16 else combine
    with np.errstate(over="ignore"):
        for n in (0, *LENGTHS):
            x = samples(scalar, n)
            for split in (1, 3):
                got = run(code, name, x, scan=scan, split=split)
                wanted = scanned(x, combine, 0 if exclusive else None) if scan else reduced(x, combine, 0)
                assert np.array_equal(got.view(np.uint8), wanted.view(np.uint8)), (name, n, split)


def test_sums_of_every_type() -> None:
    code = loaded([kernel(f"sum_{scalar}", scalar, "add") for scalar in NUMBERS])
    for scalar in NUMBERS:
        check(code, f"sum_{scalar}", scalar, add)


def test_extremes() -> None:
    code = loaded([kernel(f"{op}_{scalar}", scalar, op) for op in ("min", "max") for scalar in EXTREMES])
    for scalar in EXTREMES:
        check(code, f"min_{scalar}", scalar, least if scalar.is_float else np.minimum)
        check(code, f"max_{scalar}", scalar, greatest if scalar.is_float else np.maximum)


def test_scans() -> None:
    kinds: list[typed.Scan] = ["inclusive", "exclusive"]
    code = loaded([kernel(f"{kinds[i % 2]}_{scalar}", scalar, "add", kinds[i % 2]) for i, scalar in enumerate(SCANNED)])
    for i, scalar in enumerate(SCANNED):
        combine = np.bitwise_xor if scalar == BOOL else add
        check(code, f"{kinds[i % 2]}_{scalar}", scalar, combine, scan=True, exclusive=bool(i % 2))


def test_a_length_beyond_32_bits_is_counted_in_64() -> None:
    """The last tile of an array of 2**33 elements, whose other tiles are never touched."""
    code = loaded([kernel("total", F32, "add")])
    n = 2**33
    tiles = stage_tiles(n, scan=False)[0]
    x, partials = np.arange(4096, dtype=np.float32), np.zeros(1, np.float32)
    # The addresses to which the kernel adds the tile's place.
    data = x.ctypes.data - (n - 4096) * 4
    out = partials.ctypes.data - (tiles - 1) * 4
    code.run("total", np.uint64(data % 2**64), np.uint64(out % 2**64), np.uint64(0), np.uint64(n), np.uint64(0), begin=tiles - 1)
    assert partials[0] == reduced(x, add, 0)[0]


VECTORS = {"x86-64-v3": r"vaddps\s.*%ymm", "aarch64": r"fadd\s+v\d+\.4s"}


@pytest.mark.parametrize("name", VECTORS)
def test_whole_tiles_are_vector_code(name: str) -> None:
    """Sums of lanes with whole vectors alone, and no test of aliasing: the elements' part of the loop adds four rows at once."""
    ir, text = assembly(typed.Module("root", (made := kernel("total", F32, "add"),), (made.combine,)), parse_target(name))
    assert "memcheck" not in ir
    body = text[text.index("\ntotal:") :]
    assert len(re.findall(VECTORS[name], body)) >= 8
