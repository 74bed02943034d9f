"""From a kernel spec to its entry in the name table, without the resources that only code generation knows.

The compiler writes the entry and the runtime compares it with its own spec: one function serves both, so the two cannot drift apart.
"""

from __future__ import annotations

from gompute.artifacts.entry import ArgumentEntry, KernelEntry, ParamsEntry, ParamsFieldEntry
from gompute.errors import InternalError
from gompute.lang import abi
from gompute.lang.params import leaves
from gompute.lang.spec import Argument, KernelSpec
from gompute.lang.types import U64, ParamsType, PointerType

__all__ = ["entry_of"]

POINTER_SIZE = 8


def entry_of(spec: KernelSpec) -> KernelEntry:
    """The name table entry of `spec`. Raises CompileError when its declaration is wrong."""
    interface = spec.interface
    signature = abi.signature(spec)
    return KernelEntry(
        name=spec.name,
        symbol=spec.name,
        kind=spec.kind,
        arguments=tuple(_argument(argument) for argument in _launch_arguments(spec)),
        params=None if interface.params is None else _params(interface.params),
        signature=signature,
        fingerprint=abi.fingerprint(signature),
        block_size=spec.block_size,
    )


def _launch_arguments(spec: KernelSpec) -> tuple[Argument, ...]:
    """The arguments of a launch, in order, by the operation."""
    arguments = spec.interface.arguments
    if spec.kind == "kernel":
        return arguments
    if spec.kind == "map":
        element, *rest = arguments
        if isinstance(element.type, (ParamsType, PointerType)):
            raise InternalError(f"map '{spec.name}' reached the name table with an element of type {element.type}")
        return (Argument("data", PointerType(element.type)), Argument("len", U64), *(Argument("params", a.type) for a in rest))
    raise InternalError(f"operation '{spec.kind}' has no launch arguments")


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
