"""From the text of modules to blobs: parse, verify, optimise, verify, keep the target's limits, generate; then join the root's pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import llvmlite
from llvmlite import binding as llvm

from gompute.artifacts.entry import KernelEntry
from gompute.backends import blocks, literals, truths
from gompute.backends.blob import Generated, Listing, Piece
from gompute.backends.joining import generated
from gompute.backends.limits import check_limits, static_shared
from gompute.backends.optimize import internalise, name_locals, optimise, set_options
from gompute.backends.work import Output, Unit, Whole
from gompute.errors import InternalError
from gompute.ir.parse import parsed
from gompute.ir.verify import verify
from gompute.targets import FAST, Mode

if TYPE_CHECKING:
    from gompute.targets import Target

__all__ = ["compile_piece", "examine", "generate", "join_pieces", "prepare", "toolchain"]

_STRAIGHT_LINE = 4 * blocks.LONGEST
"""Lines of LLVM IR in a function from which on it is taken for a straight-line model."""


# LLVM's levels of optimisation.
_LITTLE, _MUCH = 1, 3


class _Backend(Protocol):
    VECTORISE: bool

    def machine(self, target: Target, level: int = 3) -> llvm.TargetMachine: ...

    def code(self, unit: Unit) -> bytes: ...

    def join(self, whole: Whole) -> Output: ...


def prepare(backends: Iterable[str]) -> None:
    """Load what generating code for `backends` takes, so that processes forked from this one share it. Nothing is compiled."""
    _initialise()
    for backend in backends:
        _load(backend)


def generate(ir: str, kernels: tuple[KernelEntry, ...], target: Target, *, emit: frozenset[str] = frozenset()) -> Generated:
    """Compile one module for one target, as a root of its own; see `compile_piece` and `join_pieces`."""
    return join_pieces([compile_piece(ir, kernels, target, emit=emit)], target, emit=emit)


def compile_piece(
    ir: str,
    kernels: tuple[KernelEntry, ...],
    target: Target,
    *,
    emit: frozenset[str] = frozenset(),
    mode: Mode = FAST,
    timed: Callable[[str], object] = lambda _: None,
) -> Piece:
    """Compile one module for one target, to be joined with the root's others.

    The bytes depend on the arguments and the toolchain alone, not on what the process compiled before. LLVM may still end the process
    over IR that its verifier and ours accept, so callers run this in one that can be spared.

    Args:
        ir: LLVM IR text, complete with triple and data layout.
        kernels: the module's name table, resources not filled in.
        emit: `ir` and `asm` ask for listings; the rest is for `join_pieces`.
        mode: how the code is to be made; what `debug` looks for is worth more than speed.
        timed: is called with the name of a phase (`read`, `optimise`, `generate`) when it has ended.

    Raises:
        CompileError: the module cannot be compiled for the target; the message names kernels and target, and LLVM's words where it spoke.
        InternalError: what came out contradicts the name table.
    """
    _initialise()
    backend = _load(target.backend)
    level = _LITTLE if mode.optimize == "debug" else _MUCH
    machine = backend.machine(target, level)
    data = machine.target_data
    listings: dict[Listing, str] = {}
    names = [kernel.name for kernel in kernels]
    symbols = {kernel.symbol for kernel in kernels}
    with parsed(ir, names, target, str(data)) as module:
        given = verify(module, kernels, target, "before optimisation")
        timed("read")
        internalise(module, symbols)
        # A loop that may be left at any of its lines is no vector, and LLVM's tries leave what not every backend has.
        vectorise = backend.VECTORISE and all(kernel.checks is None for kernel in kernels)
        optimise(module, machine, vectorise=vectorise, straight_line=given.longest_body > _STRAIGHT_LINE, level=level)
        shape = verify(module, kernels, target, "after optimisation")
        shared = static_shared(module, shape, data, kernels)
        check_limits(kernels, shared, target)
        if target.backend == "cuda":
            name_locals(module, symbols, kernels[0].symbol if kernels else "")
        if "ir" in emit:
            listings["ir"] = str(module)
        pieces = blocks.cut(str(module)) if shape.longest_body > blocks.LONGEST else None
        if target.backend == "cpu" and shape.longest_body > blocks.LONGEST:
            pieces = literals.by_load(str(module) if pieces is None else pieces)
        if target.backend == "hip" and given.longest_body > _STRAIGHT_LINE:
            pieces = truths.made_again(str(module) if pieces is None else pieces)
        if pieces is not None or shape.longest_body > _STRAIGHT_LINE:
            blocks.set_options(target.backend)
            machine = backend.machine(target, min(level, blocks.LEVELS[target.backend]))
        timed("optimise")
        with nullcontext(module) if pieces is None else parsed(pieces, names, target, str(data)) as last:
            unit = Unit(last, machine, kernels, target, emit)
            if (assembly := unit.listing()) is not None:
                listings["asm"] = assembly
            code = backend.code(unit)
        timed("generate")
    return Piece(kernels, code, shared, listings, _llvm())


def join_pieces(pieces: Sequence[Piece], target: Target, *, emit: frozenset[str] = frozenset()) -> Generated:
    """Join all pieces of one root for one target; the bytes depend on the pieces and their order alone.

    Args:
        pieces: in the order of the name table.
        emit: `cubin` adds one to the PTX of an NVIDIA target; `ir` and `asm` ask for listings; `ptx` is implied.

    Raises:
        CompileError: the linker or ptxas failed.
        InternalError: what came out contradicts the name table.
    """
    _initialise()
    whole = Whole(tuple(pieces), target, emit)
    return generated(whole, _load(target.backend).join(whole))


def examine(ir: str, kernels: tuple[KernelEntry, ...], target: Target) -> None:
    """Check a module as `generate` does before it changes it, and generate nothing. Raises CompileError as `generate`."""
    _initialise()
    data = _load(target.backend).machine(target).target_data
    with parsed(ir, [kernel.name for kernel in kernels], target, str(data)) as module:
        verify(module, kernels, target, "before optimisation")


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
    set_options()
