"""From kernel source to LLVM IR text: import, check, emit. Pure Python; no LLVM is needed to find an author's mistakes."""

from __future__ import annotations

from gompute.frontend.root import RootIR, compile_root, compile_spec

__all__ = ["RootIR", "compile_root", "compile_spec"]
