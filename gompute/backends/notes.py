"""The metadata notes of several AMD objects as one.

A linker puts the notes of its inputs one after the other, and a loader that reads the first would see one kernel. So each object's note
is marked as not to be linked, and one more object brings a note with the kernels of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from llvmlite import binding as llvm

from gompute.backends.elf import ElfFile, without
from gompute.backends.msgpack import Value, decode, encode
from gompute.errors import InternalError

if TYPE_CHECKING:
    from gompute.targets import Target

__all__ = ["merged_notes"]

_OWNER = b"AMDGPU\0"
_METADATA_NOTE = 32
_KERNELS = "amdhsa.kernels"


def merged_notes(objects: Sequence[bytes], target: Target, machine: llvm.TargetMachine) -> list[bytes]:
    """The objects without their metadata notes, and one more that holds the merged note.

    Args:
        machine: the code generator that made them, which makes the last one too.

    Raises:
        InternalError: their metadata differs in more than the kernels.
    """
    common: dict[str, Value] | None = None
    kernels: list[Value] = []
    for item in objects:
        metadata = _metadata(item)
        own = metadata.pop(_KERNELS)
        assert isinstance(own, list)
        kernels += own
        if common is not None and common != metadata:
            raise InternalError(f"the objects of one root have different metadata: {common} and {metadata}")
        common = metadata
    assert common is not None
    note = _note(encode({_KERNELS: kernels, **common}))
    text = "".join(f"\\{byte:02x}" for byte in note)
    ir = (
        f'target triple = "{target.triple}"\n!llvm.module.flags = !{{!0}}\n'
        f'!0 = !{{i32 1, !"amdhsa_code_object_version", i32 {100 * (target.code_object_version or 0)}}}\n'
        f'@gompute_metadata = protected addrspace(4) constant [{len(note)} x i8] c"{text}", section ".note.gompute", align 4\n'
    )
    context = llvm.create_context()
    try:
        with closing(llvm.parse_assembly(ir, context)) as module:
            made: bytes = machine.emit_object(module)
    finally:
        context.close()
    return [without(item, ".note") for item in (*objects, made)]


def _metadata(item: bytes) -> dict[str, Value]:
    found = [note.data for note in ElfFile.parse(item).notes() if note.owner == "AMDGPU" and note.type == _METADATA_NOTE]
    metadata = decode(found[0]) if len(found) == 1 else None
    if not isinstance(metadata, dict):
        raise InternalError(f"an object with {len(found)} metadata notes, not one")
    return metadata


def _note(data: bytes) -> bytes:
    words = (len(_OWNER), len(data), _METADATA_NOTE)
    return b"".join((*(word.to_bytes(4, "little") for word in words), _OWNER, b"\0" * (-len(_OWNER) % 4), data, b"\0" * (-len(data) % 4)))
