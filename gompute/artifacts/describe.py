"""From a kernel spec to its entry in the name table, without the resources that only code generation knows.

The compiler writes the entry and the runtime compares it with its own spec: one function serves both, so the two cannot drift apart.
"""

from __future__ import annotations

from gompute.artifacts.entry import ArgumentEntry, KernelEntry, ParamsEntry, ParamsFieldEntry
from gompute.lang.params import leaves
from gompute.lang.signature import Argument
from gompute.lang.spec import KernelSpec
from gompute.lang.types import U64, ParamsType, PointerType, ViewType

__all__ = ["entry_of"]

POINTER_SIZE = 8


def entry_of(spec: KernelSpec) -> KernelEntry:
    """The name table entry of `spec`. Raises CompileError when its declaration is wrong."""
    return KernelEntry(
        name=spec.name,
        symbol=spec.name,
        kind=spec.kind,
        arguments=tuple(entry for argument in spec.launch_arguments for entry in _arguments(argument)),
        block_size=spec.block_size,
        fast=spec.fast,
    )


def _arguments(argument: Argument) -> tuple[ArgumentEntry, ...]:
    """What a launch passes for one argument of the author's: of a view, its pointer and the length of each dimension."""
    name, kind = argument.name, argument.type
    if isinstance(kind, PointerType):
        return (ArgumentEntry(name, "pointer", kind.element.name, POINTER_SIZE, POINTER_SIZE),)
    if isinstance(kind, ViewType):
        extents = (ArgumentEntry(f"{name}.shape[{axis}]", "extent", U64.name, U64.size, U64.size) for axis in range(kind.ndim))
        return (ArgumentEntry(name, "array", kind.element.name, POINTER_SIZE, POINTER_SIZE, kind.ndim), *extents)
    if isinstance(kind, ParamsType):
        return (ArgumentEntry(name, "params", kind.name, kind.size, kind.align, layout=_layout(kind)),)
    return (ArgumentEntry(name, "scalar", kind.name, kind.size, kind.size),)


def _layout(layout: ParamsType) -> ParamsEntry:
    fields = tuple(ParamsFieldEntry(path, element.name, offset, count) for path, element, offset, count in leaves(layout))
    return ParamsEntry(layout.name, fields, layout.size, layout.align)
