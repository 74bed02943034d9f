"""From the typed tree to LLVM IR text.

No undefined behaviour is left to LLVM: divisions, shifts and conversions are guarded, no arithmetic carries nsw, nuw or fast-math flags,
and nothing is called but the module's own functions and intrinsics that every target expands in place.
"""

from __future__ import annotations

from gompute.frontend.emit.module import emit, emitted

__all__ = ["emit", "emitted"]
