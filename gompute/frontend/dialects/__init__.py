"""How each backend spells what the emitter needs beyond plain arithmetic: entry points, address spaces, coordinates, attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gompute.errors import InternalError
from gompute.frontend.dialects.amdgcn import AmdgcnDialect
from gompute.frontend.dialects.cpu import CpuDialect
from gompute.frontend.dialects.dialect import Dialect
from gompute.frontend.dialects.nvptx import NvptxDialect

if TYPE_CHECKING:
    from gompute.targets import Target

__all__ = ["Dialect", "dialect_for"]


def dialect_for(target: Target) -> Dialect:
    """The dialect of a target's backend."""
    if target.backend == "cuda":
        return NvptxDialect()
    if target.backend == "hip":
        if target.code_object_version is None:
            raise InternalError(f"the target {target.name!r} has no code object version")
        return AmdgcnDialect(target.code_object_version, target.warp_size)
    if target.backend == "cpu":
        return CpuDialect(target.triple)
    raise InternalError(f"no dialect for the backend {target.backend!r} of target {target.name!r}")
