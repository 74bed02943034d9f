"""From a module's text to blobs: parse, verify, optimise, verify, keep the target's limits, generate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import llvmlite
from llvmlite import binding as llvm

from gompute.artifacts.entry import KernelEntry
from gompute.backends.blob import Generated, Listing
from gompute.backends.limits import check_limits, static_shared
from gompute.backends.optimize import internalise, optimise
from gompute.backends.work import Output, Unit
from gompute.errors import InternalError
from gompute.ir.parse import parsed
from gompute.ir.verify import verify

if TYPE_CHECKING:
    from gompute.targets import Target

__all__ = ["generate", "prepare", "toolchain"]


class _Backend(Protocol):
    VECTORISE: bool

    def machine(self, target: Target) -> llvm.TargetMachine: ...

    def produce(self, unit: Unit) -> Output: ...


def prepare(backends: Iterable[str]) -> None:
    """Load what generating code for `backends` takes, so that processes forked from this one share it. Nothing is compiled."""
    _initialise()
    for backend in backends:
        _load(backend)


def generate(ir: str, kernels: tuple[KernelEntry, ...], target: Target, *, emit: frozenset[str] = frozenset()) -> Generated:
    """Compile one module for one target.

    The bytes depend on the arguments and the toolchain alone, not on what the process compiled before. LLVM may still end the process
    over IR that its verifier and ours accept, so callers run this in one that can be spared.

    Args:
        ir: LLVM IR text, complete with triple and data layout.
        kernels: the module's name table, resources not filled in.
        emit: `cubin` adds one to the PTX of an NVIDIA target; `ir` and `asm` ask for listings; `ptx` is implied.

    Raises:
        CompileError: the module cannot be compiled for the target; the message names kernels and target, and LLVM's words where it spoke.
        InternalError: what came out contradicts the name table.
    """
    _initialise()
    backend = _load(target.backend)
    machine = backend.machine(target)
    data = machine.target_data
    listings: dict[Listing, str] = {}
    with parsed(ir, [kernel.name for kernel in kernels], target, str(data)) as module:
        verify(module, kernels, target, "before optimisation")
        internalise(module, {kernel.symbol for kernel in kernels})
        optimise(module, machine, vectorise=backend.VECTORISE)
        shape = verify(module, kernels, target, "after optimisation")
        shared = static_shared(module, shape, data, kernels)
        check_limits(kernels, shared, target)
        if "ir" in emit:
            listings["ir"] = str(module)
        made = backend.produce(Unit(module, machine, kernels, target, shared, emit))
    if made.assembly is not None:
        listings["asm"] = made.assembly
    filled = tuple(replace(kernel, resources=made.resources[kernel.symbol]) for kernel in kernels)
    return Generated(made.blobs, filled, listings, {**_llvm(), **made.toolchain})


def toolchain() -> dict[str, str]:
    """Versions of every part of the toolchain that is installed; `Generated.toolchain` has those that one result came from."""
    from gompute.backends import lld, ptxas

    found = _llvm()
    if lld.installed():
        found["lld"] = lld.version()
    if ptxas.installed():
        found["ptxas"] = ptxas.version()
    return found


def _load(backend: str) -> _Backend:
    """A backend's module. One that is not needed is not loaded: the three together take longer than compiling a small kernel."""
    if backend == "cuda":
        from gompute.backends import nvptx

        return nvptx
    if backend == "hip":
        from gompute.backends import amdgcn

        return amdgcn
    if backend == "cpu":
        from gompute.backends import cpu

        return cpu
    raise InternalError(f"no backend is called {backend!r}")


def _llvm() -> dict[str, str]:
    return {"llvm": ".".join(str(part) for part in llvm.llvm_version_info), "llvmlite": llvmlite.__version__}


@lru_cache(maxsize=1)
def _initialise() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
