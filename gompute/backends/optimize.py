"""LLVM's optimiser, set up so that its work depends on the module and the target alone."""

from __future__ import annotations

from collections.abc import Container

from llvmlite import binding as llvm

__all__ = ["internalise", "optimise"]


def internalise(module: llvm.ModuleRef, keep: Container[str]) -> None:
    """Make every function and variable with a definition internal, but for those named in `keep`: inlined ones then leave no code behind,
    and a shared object exports the kernels alone."""
    for values in (module.functions, module.global_variables):
        for value in values:
            if not value.is_declaration and value.name not in keep and value.linkage not in (llvm.Linkage.internal, llvm.Linkage.private):
                value.visibility = llvm.Visibility.default  # a local symbol can have no other
                value.linkage = llvm.Linkage.internal


def optimise(module: llvm.ModuleRef, machine: llvm.TargetMachine, *, vectorise: bool) -> None:
    """Run LLVM's default pipeline at -O3.

    Args:
        vectorise: turn loops and straight-line code into vector operations. For a CPU; on a GPU a kernel's work-items are the vector.
    """
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = vectorise
    options.loop_interleaving = vectorise
    options.slp_vectorization = vectorise
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
