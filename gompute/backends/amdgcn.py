"""AMD: an object file linked into an HSA code object, whose metadata is read back and held against the name table."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from llvmlite import binding as llvm

from gompute.artifacts.entry import KernelEntry, Resources
from gompute.backends import codeobject, lld
from gompute.backends.blob import Blob
from gompute.backends.limits import argument_offsets
from gompute.backends.notes import merged_notes
from gompute.backends.work import Output, Unit, Whole
from gompute.errors import InternalError

if TYPE_CHECKING:
    from gompute.targets import Target

__all__ = ["VECTORISE", "code", "join", "machine"]

VECTORISE = False

_TARGET_ID_PREFIX = "amdgcn-amd-amdhsa--"


def machine(target: Target, level: int = 3) -> llvm.TargetMachine:
    """LLVM's code generator, with xnack and sramecc as the target pins them."""
    return llvm.Target.from_triple(target.triple).create_target_machine(cpu=target.cpu, features=target.features, opt=level)


def code(unit: Unit) -> bytes:
    """Generate an object file. Raises CompileError where it needs a function from elsewhere."""
    made = unit.object_code()
    lld.refuse_calls(made, unit.name)
    return made


def join(whole: Whole) -> Output:
    """Link the objects into a code object of the target's version.

    Raises:
        CompileError: the linker is not installed or was killed.
        InternalError: the code object does not say what the name table says.
    """
    objects = [piece.code for piece in whole.pieces]
    if len(objects) > 1:  # a linker puts their notes one after the other, and a loader reads one
        objects = merged_notes(objects, whole.target, machine(whole.target))
    data = lld.link(objects, (), whole.name)
    try:
        found = codeobject.read(data)
    except codeobject.MalformedCodeObject as error:
        raise InternalError(f"{whole.name}: the code object cannot be read back: {error}") from error
    _check(whole, found)
    resources = {kernel.symbol: _resources(found.kernels[kernel.symbol]) for kernel in whole.kernels}
    return Output((Blob("hsaco", data, str(found.version)),), resources, {"lld": lld.version_of(data)})


def _resources(kernel: codeobject.KernelMetadata) -> Resources:
    return Resources(kernel.vector_registers, kernel.scalar_registers, kernel.shared, kernel.private, kernel.spills)


def _check(whole: Whole, found: codeobject.CodeObject) -> None:
    target = whole.target
    wrong: list[str] = []
    if found.target != _TARGET_ID_PREFIX + target.name:
        wrong.append(f"it is for {found.target}")
    if found.version != target.code_object_version:
        wrong.append(f"its version is {found.version}, and {target.name} needs {target.code_object_version}")
    if found.flags != target.elf_flags:
        wrong.append(f"its ELF flags are {found.flags:#x}, and the table of targets says {target.elf_flags or 0:#x}")
    if found.kernels.keys() != {kernel.symbol for kernel in whole.kernels}:
        wrong.append(f"its kernels are {', '.join(sorted(found.kernels)) or 'none'}")
    for kernel in whole.kernels:
        metadata = found.kernels.get(kernel.symbol)
        if metadata is not None:
            wrong += _differences(kernel, metadata, target)
    if wrong:
        raise InternalError(f"{whole.name}: the code object is not what was asked for\n" + "\n".join(f"  {line}" for line in wrong))


def _differences(kernel: KernelEntry, found: codeobject.KernelMetadata, target: Target) -> list[str]:
    wrong: list[str] = []
    offsets, _ = argument_offsets(kernel)
    wanted = [(offset, argument.size) for offset, argument in zip(offsets, kernel.passed, strict=True)]
    have = [(argument.offset, argument.size) for argument in found.arguments]
    if have != wanted:
        wrong.append(f"kernel `{kernel.name}` has arguments at (offset, size) {have}, and its name table entry says {wanted}")
    for argument, metadata in zip(kernel.passed, found.arguments, strict=False):
        if argument.is_pointer != (metadata.kind == "global_buffer"):
            wrong.append(
                f"kernel `{kernel.name}` takes `{argument.name}` as {metadata.kind}, and its name table entry says {argument.kind}"
            )
    block = prod(kernel.block_size)
    if found.max_block != block:
        wrong.append(f"kernel `{kernel.name}` is for blocks of at most {found.max_block} work-items, and its name table entry says {block}")
    if found.wave_size != target.warp_size:
        wrong.append(f"kernel `{kernel.name}` runs in waves of {found.wave_size}, and the table of targets says {target.warp_size}")
    return wrong
