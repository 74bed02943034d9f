"""From kernel source to LLVM IR text: import, check, emit. Pure Python; no LLVM is needed to find an author's mistakes."""

from __future__ import annotations

from gompute.frontend.reads import Reads
from gompute.frontend.root import KernelIR, Lowering, RootIR, compile_root, compile_spec, kernels_not_made, lower_root

__all__ = ["KernelIR", "Lowering", "Reads", "RootIR", "compile_root", "compile_spec", "kernels_not_made", "lower_root"]
