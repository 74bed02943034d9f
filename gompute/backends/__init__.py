"""Code generation: a verified module of LLVM IR in, blobs for one target out.

`pipeline` is the way through; `nvptx`, `amdgcn` and `cpu` are the backends; `lld` and `ptxas` run the tools that LLVM needs beside it;
`ptx`, `elf` and `codeobject` read back what came out.
"""

from __future__ import annotations

from gompute.backends.blob import Blob, Generated, Listing, Piece
from gompute.backends.pipeline import compile_piece, examine, generate, join_pieces, prepare, toolchain

__all__ = ["Blob", "Generated", "Listing", "Piece", "compile_piece", "examine", "generate", "join_pieces", "prepare", "toolchain"]
