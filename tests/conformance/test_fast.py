"""Kernels declared with ``fast=True``: the hardware's own instructions where it has them, and nowhere else."""

from __future__ import annotations

import ctypes
import math
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import gompute as g
from gompute.artifacts.entry import ArgumentEntry, KernelEntry
from gompute.artifacts.name_table import kernel_from_json, kernel_to_json
from gompute.backends.blob import Generated
from gompute.backends.pipeline import compile_piece, join_pieces
from gompute.errors import ArtifactError, CompileError
from gompute.frontend import compile_root
from gompute.ir.intrinsics import GROUPS, refusal
from gompute.lang.approximation import APPROXIMATIONS
from gompute.targets import parse_target
from tests.conformance.loading import FAST
from tests.frontend.authoring import faults
from tests.ptx.floats import approximations_allowed
from tests.ptx.machine import Machine
from tests.ptx.memory import GlobalMemory
from tests.ptx.parse import parse

AMD = ("gfx90a", "gfx1201")
NVIDIA = ("sm_75", "sm_120")


@cache
def built(name: str) -> Generated:
    target, emit = parse_target(name), frozenset({"asm", "cubin"} if name.startswith("sm_") else {"asm"})
    root = compile_root(FAST, name="fast", imports=None, target=target)
    return join_pieces([compile_piece(unit.ir, unit.kernels, target, emit=emit) for unit in root.units], target, emit=emit)


def bodies(name: str) -> dict[str, str]:
    """The assembly of each kernel."""
    text = built(name).listings["asm"]
    starts = r"^\.visible \.entry (\w+)\(" if name.startswith("sm_") else r"^((?:fast|right)_\w+):$"
    found = list(re.finditer(starts, text, re.MULTILINE))
    ends = [each.start() for each in found[1:]] + [len(text)]
    return {each[1]: text[each.start() : end] for each, end in zip(found, ends, strict=True)}


APPROXIMATE = re.compile(r"\b\w+\.approx\.\w+|\bv_(?:s_)?(?:exp|log|sin|cos|rsq|sqrt)_f32")
#: With what AMD's exact square roots begin.
BEGINNINGS = {"v_sqrt_f32", "v_rsq_f32"}


@pytest.mark.parametrize("name", [*NVIDIA, *AMD])
def test_only_a_fast_kernel_has_the_instructions(name: str) -> None:
    backend, number = ("cuda", parse_target(name).number) if name.startswith("sm_") else ("hip", None)
    found = bodies(name)
    assert len(found) == 24
    for kernel, body in found.items():
        used = {instruction.replace("v_s_", "v_") for instruction in APPROXIMATE.findall(body)}
        way, _, function = kernel.partition("_")
        how = APPROXIMATIONS[backend].get(function)
        if way == "right":
            assert not used - BEGINNINGS, kernel
        elif how is not None and (number is None or number >= how.since):
            assert used == {how.instruction}, kernel
        elif function in g.math.max_ulp:
            assert function == "tanh" and not used, kernel
        else:
            assert {"ex2.approx.f32"} <= used or {"v_exp_f32"} <= used, kernel
    kernels = {kernel.name: kernel for kernel in built(name).kernels}
    assert all(kernel.fast == kernel.name.startswith("fast_") for kernel in kernels.values())
    assert kernels["fast_exp"].signature.endswith("block=256,1,1 fast")


@pytest.mark.parametrize("name", NVIDIA)
def test_ptxas_takes_them(name: str) -> None:
    assert [blob.kind for blob in built(name).blobs] == ["ptx", "cubin"]


def reference(name: str, x: np.ndarray) -> np.ndarray:
    wide = x.astype(np.float64)
    return {"rsqrt": lambda: 1 / np.sqrt(wide)}.get(name, lambda: getattr(np, name)(wide))()


@pytest.mark.parametrize("name", NVIDIA)
@pytest.mark.parametrize("function", sorted(APPROXIMATIONS["cuda"]))
def test_what_is_around_an_instruction_keeps_the_bound(function: str, name: str) -> None:
    """The instruction itself is right in the interpreter; the constants and products around it add what the bound allows for."""
    how = APPROXIMATIONS["cuda"][function]
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.uniform(-88, 88, 2000), rng.uniform(-6.2, 6.2, 2000), [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan]]).astype(
        np.float32
    )
    out = np.zeros_like(x)
    text = next(blob.data for blob in built(name).blobs if blob.kind == "ptx").decode()
    memory = GlobalMemory()
    for array in (x, out):
        memory.add_array(array)
    arguments = [array.ctypes.data.to_bytes(8, "little") for array in (x, out)] + [x.size.to_bytes(8, "little")]
    with approximations_allowed():
        Machine(parse(text), memory).launch(f"fast_{function}", (-(-x.size // 256), 1, 1), (256, 1, 1), arguments)
    with np.errstate(all="ignore"):
        wanted = reference(function, x)
        finite = np.isfinite(x) & np.isfinite(wanted) & (np.abs(x) <= how.within) & np.isfinite(wanted.astype(np.float32))
        error = np.abs(out[finite] - wanted[finite])
    assert how.absolute is not None
    allowed = how.absolute + np.abs(wanted[finite]) * (how.relative + how.per_argument * np.abs(x[finite]))
    assert (error <= allowed).all(), (x[finite][error > allowed][:5], (error / allowed).max())
    assert np.array_equal(np.isnan(out), np.isnan(wanted.astype(np.float32)))


def test_the_cpu_has_the_same_bits_with_and_without(tmp_path: Path) -> None:
    made = built("x86-64-v3")
    file = tmp_path / "fast.so"
    file.write_bytes(made.blobs[0].data)
    library = ctypes.CDLL(str(file))
    x = np.random.default_rng(5).uniform(0.1, 80, 1000).astype(np.float32)
    for function in APPROXIMATIONS["cuda"]:
        outs = []
        for way in ("fast", "right"):
            out, length = np.zeros_like(x), ctypes.c_uint64(x.size)
            pointers = [ctypes.c_void_p(array.ctypes.data) for array in (x, out)]
            arguments = (ctypes.c_void_p * 3)(*(ctypes.addressof(each) for each in (*pointers, length)))
            entry = library[f"{way}_{function}"]
            entry.argtypes, entry.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64], None
            entry(arguments, None, 0, x.size)
            outs.append(out)
        assert np.array_equal(*outs)


def test_the_same_instruction_is_refused_where_nobody_asked_for_it() -> None:
    target = parse_target("sm_120")
    root = compile_root(FAST, name="fast", imports=None, target=target)
    unit = next(unit for unit in root.units if unit.kernels[0].name == "fast_exp2")
    (kernel,) = unit.kernels
    compile_piece(unit.ir, (kernel,), target)
    plain = KernelEntry(kernel.name, kernel.symbol, kernel.kind, kernel.arguments, kernel.block_size)
    with pytest.raises(CompileError) as caught:
        compile_piece(unit.ir, (plain,), target)
    assert str(caught.value).endswith(
        "the intrinsic `llvm.nvvm.ex2.approx.f32` is not allowed: it is an approximation of the hardware, "
        "which a kernel uses only where it is declared with fast=True"
    )


def test_every_approximation_is_refused_unless_it_is_asked_for() -> None:
    for group in GROUPS:
        for name in group.names if group.approximate else ():
            full, (backend,) = f"llvm.{name}{'' if group.types is None else '.f32'}", group.backends
            assert "fast=True" in str(refusal(full, backend, (9, 0)))
            assert refusal(full, backend, (9, 0), fast=True) is None
            assert "belongs to" in str(refusal(full, "cpu", fast=True))
    assert "sm_75 does not have it" in str(refusal("llvm.tanh.f32", "cuda", (7, 5), fast=True))
    assert refusal("llvm.sin.f32", "hip", fast=True) is not None


def test_it_belongs_to_the_name_table() -> None:
    entry = KernelEntry("k", "k", "map", (ArgumentEntry("data", "pointer", "f32", 8, 8),), (256, 1, 1), fast=True)
    written = kernel_to_json(entry)
    assert written["fast"] is True and kernel_from_json(written) == entry
    plain = KernelEntry("k", "k", "map", entry.arguments, (256, 1, 1))
    assert "fast" not in kernel_to_json(plain) and plain.fingerprint != entry.fingerprint
    for wrong in (False, 1, None):
        with pytest.raises(ArtifactError, match="fast"):
            kernel_from_json(written | {"fast": wrong})


def test_the_data_is_public_and_every_function_is_one_of_math() -> None:
    assert g.math.fast is APPROXIMATIONS
    for backend, functions in g.math.fast.items():
        assert backend in ("cuda", "hip") and functions.keys() <= g.math.max_ulp.keys()
        for how in functions.values():
            assert how.absolute is None or how.absolute + how.relative > 0
            assert math.isinf(how.within) or how.within > 6


def test_what_is_neither_true_nor_false_is_refused(tmp_path: Path) -> None:
    found = faults(
        tmp_path,
        """
        @g.map(fast="yes")
        def k(x: f32) -> f32:
            return x
        """,
    )
    assert "fast='yes' is neither True nor False" in found
    assert found.endswith("write fast=True for the hardware's approximations")
