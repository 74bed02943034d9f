"""From a kernel spec to its entry in the name table, without the resources that only code generation knows.

The compiler writes the entry and the runtime compares it with its own spec: one function serves both, so the two cannot drift apart.
"""

from __future__ import annotations

from gompute.artifacts.entry import ArgumentEntry, KernelEntry, ParamsEntry, ParamsFieldEntry
from gompute.lang.params import leaves
from gompute.lang.signature import Argument
from gompute.lang.spec import KernelSpec
from gompute.lang.types import ParamsType, PointerType

__all__ = ["entry_of"]

POINTER_SIZE = 8


def entry_of(spec: KernelSpec) -> KernelEntry:
    """The name table entry of `spec`. Raises CompileError when its declaration is wrong."""
    interface = spec.interface
    return KernelEntry(
        name=spec.name,
        symbol=spec.name,
        kind=spec.kind,
        arguments=tuple(_argument(argument) for argument in spec.launch_arguments),
        params=None if interface.params is None else _params(interface.params),
        block_size=spec.block_size,
    )


def _argument(argument: Argument) -> ArgumentEntry:
    kind = argument.type
    if isinstance(kind, PointerType):
        return ArgumentEntry(argument.name, "pointer", kind.element.name, POINTER_SIZE, POINTER_SIZE)
    if isinstance(kind, ParamsType):
        return ArgumentEntry(argument.name, "params", kind.name, kind.size, kind.align)
    return ArgumentEntry(argument.name, "scalar", kind.name, kind.size, kind.size)


def _params(layout: ParamsType) -> ParamsEntry:
    fields = tuple(ParamsFieldEntry(path, element.name, offset, count) for path, element, offset, count in leaves(layout))
    return ParamsEntry(layout.name, fields, layout.size, layout.align)
