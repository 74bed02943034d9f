"""LLVM's optimiser, set up so that its work depends on the module and the target alone."""

from __future__ import annotations

from collections.abc import Container
from functools import lru_cache

from llvmlite import binding as llvm

__all__ = ["internalise", "name_locals", "optimise", "set_options"]

#: Options of LLVM that hold for the whole process. Float2Int takes time with the square of a function's length, for what straight-line
#: models have nothing of.
_OPTIONS = ("-opt-disable=float2int",)


@lru_cache(maxsize=1)
def set_options() -> None:
    """Set the options that hold for every module."""
    for option in _OPTIONS:
        llvm.set_option("gompute", option)


def internalise(module: llvm.ModuleRef, keep: Container[str]) -> None:
    """Make every function and variable with a definition internal, but for those named in `keep`: inlined ones then leave no code behind,
    and a shared object exports the kernels alone."""
    for values in (module.functions, module.global_variables):
        for value in values:
            if not value.is_declaration and value.name not in keep and value.linkage not in (llvm.Linkage.internal, llvm.Linkage.private):
                value.visibility = llvm.Visibility.default  # a local symbol can have no other
                value.linkage = llvm.Linkage.internal


def name_locals(module: llvm.ModuleRef, keep: Container[str], suffix: str) -> None:
    """End the name of every function and variable with a definition, but for those named in `keep`, in `$` and `suffix`.

    Where an assembler has no local names, the names of several modules are told apart by their suffixes: no name in `keep` has a `$`.
    """
    number = 0
    for values in (module.functions, module.global_variables):
        for value in values:
            if not value.is_declaration and value.name not in keep and not value.name.startswith("llvm."):
                number += not value.name
                value.name = f"{value.name or f'unnamed{number}'}${suffix}"


def optimise(module: llvm.ModuleRef, machine: llvm.TargetMachine, *, vectorise: bool, straight_line: bool, level: int = 3) -> None:
    """Run LLVM's default pipeline.

    Args:
        vectorise: turn loops and straight-line code into vector operations. For a CPU; on a GPU a kernel's work-items are the vector.
        straight_line: leave straight-line code as it is: the search for vectors in it takes time with the square of its length.
        level: of -O1 to -O3.
    """
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = vectorise
    options.loop_interleaving = vectorise
    options.slp_vectorization = vectorise and not straight_line
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
