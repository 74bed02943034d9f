"""The conformance suite's device code: ptxas assembles it, lld links it, and the metadata names every kernel and argument."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest

from gompute.backends.pipeline import compile_piece, join_pieces
from gompute.frontend import compile_root
from gompute.targets import parse_target
from tests.conformance.conftest import TARGETS
from tests.conformance.loading import SOURCE


@pytest.mark.parametrize("target", [t for t in TARGETS if t.startswith("sm_")])
def test_ptxas_takes_every_kernel(target: str, conformance_set: Any) -> None:
    cubin = conformance_set.blob("kernels", parse_target(target), "cubin")
    assert cubin[:4] == b"\x7fELF"
    for name in conformance_set.kernels:
        assert f".text.{name}\0".encode() in cubin
        assert conformance_set.entry(name, parse_target(target)).resources.registers > 0


@pytest.mark.parametrize("target", [t for t in TARGETS if t.startswith("gfx")])
def test_a_code_object_describes_every_kernel(target: str, conformance_set: Any) -> None:
    from gompute.backends import codeobject

    found = codeobject.read(conformance_set.blob("kernels", parse_target(target), "hsaco"))
    assert found.kernels.keys() == set(conformance_set.kernels)
    for name, kernel in found.kernels.items():
        entry = conformance_set.entry(name, parse_target(target))
        assert [argument.size for argument in kernel.arguments] == [argument.size for argument in entry.arguments]
        x, y, z = entry.block_size
        assert kernel.max_block == x * y * z


def test_a_product_and_a_sum_are_not_contracted(conformance_set: Any) -> None:
    ptx = conformance_set.blob("kernels", parse_target("sm_90"), "ptx").decode()
    body = ptx[ptx.index(".entry taps(") :]
    body = body[: body.index("\n}")]
    assert "mul.rn.f32" in body
    assert "add.rn.f32" in body
    assert "fma" not in body


VECTORS = {
    "x86-64-v3": {
        "halve": r"vmulps\s.*%ymm",
        "widen": r"vmulpd\s.*%ymm",
        "same_type": r"vp?xorp?s?\s.*%ymm",
        "axpy": r"vaddps\s.*%ymm",
        "blend": r"vblendvpd\s.*%ymm",
        "place": r"vpaddd\s.*%ymm",
        "ramp": r"vaddps\s.*%ymm",
        "both": r"vmulps\s.*%ymm",
    },
    "aarch64": {
        "halve": r"fmul\sv\d+\.4s",
        "widen": r"fmul\sv\d+\.2d",
        "same_type": r"mvn\sv\d+\.16b",
        "axpy": r"fadd\sv\d+\.4s",
        "blend": r"fmul\sv\d+\.2d",
        "place": r"add\sv\d+\.4s",
        "ramp": r"fadd\sv\d+\.4s",
        "both": r"fmul\sv\d+\.4s",
    },
}


@pytest.mark.parametrize("name", VECTORS)
def test_elementwise_kernels_are_vectorised(name: str) -> None:
    """Without a check of aliasing before the loop: then there would be a second loop of single elements that begins at the first."""
    target = parse_target(name)
    root = compile_root(SOURCE, name="kernels", imports=None, target=target)
    emit = frozenset({"asm", "ir"})
    pieces = [compile_piece(unit.ir, unit.kernels, target, emit=emit) for unit in root.units]
    listings = join_pieces(pieces, target, emit=emit).listings
    assert "memcheck" not in "".join(_bodies(listings["ir"], r"^define [^\n]*@{name}\(.*?^}}", VECTORS[name]))
    for kernel, body in zip(VECTORS[name], _bodies(listings["asm"], r"^{name}:.*?^\.Lfunc_end", VECTORS[name]), strict=True):
        assert re.search(VECTORS[name][kernel], body), f"{kernel}: {body}"
    # A processor swaps single bytes: nothing past the end of an array is touched.
    (added,) = _bodies(listings["asm"], r"^{name}:.*?^\.Lfunc_end", ["scatter_add_i8"])
    assert re.search(r"lock\s+cmpxchgb" if name.startswith("x86") else r"\b(ldaxrb|ldxrb|casb?)\b", added)


def _bodies(text: str, pattern: str, names: Iterable[str]) -> list[str]:
    return [re.search(pattern.format(name=name), text, re.DOTALL | re.MULTILINE).group() for name in names]  # type: ignore[union-attr]


def test_a_gather_reads_its_index_once_and_checks_it_once(conformance_set: Any) -> None:
    ptx = conformance_set.blob("kernels", parse_target("sm_90"), "ptx").decode()
    body = ptx[ptx.index(".entry gather_f64(") :]
    body = body[: body.index("\n}")]
    assert body.count("setp") == 2  # i < count, idx[i] < bound
    assert body.count("ld.global.nc.b64") == 2
    assert body.count("st.global.b64") == 1
