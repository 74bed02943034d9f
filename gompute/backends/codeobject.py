"""What an AMD code object says of itself: the metadata note that a loader reads, and the versions in its ELF header.

Keys and meanings are those of "Code Object V3 and above metadata" in LLVM's "User Guide for AMDGPU Backend".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gompute.backends.elf import ElfFile, MalformedElf
from gompute.backends.msgpack import MalformedMessage, Value, decode

__all__ = ["ArgumentMetadata", "CodeObject", "KernelMetadata", "MalformedCodeObject", "read"]

_AMDGPU = 224
_METADATA_NOTE = 32
# e_ident[EI_ABIVERSION] of code object version 2 is 0.
_ABI_VERSION_OFFSET = 2


class MalformedCodeObject(ValueError):
    """The bytes are no AMD code object, or its metadata cannot be read."""


class ArgumentMetadata(NamedTuple):
    """One explicit argument: its place in the kernel's argument segment in bytes, and AMD's word for its kind (`global_buffer`)."""

    name: str
    offset: int
    size: int
    kind: str


class KernelMetadata(NamedTuple):
    """One kernel.

    Attributes:
        symbol: of the kernel descriptor (`scale_relu.kd`).
        arguments: the explicit ones; those that the runtime adds are left out.
        max_block: most work-items in a work-group.
        vector_registers: per work-item.
        scalar_registers: per wave.
        spills: registers of both kinds that were spilled to memory.
        shared: bytes of static LDS.
        private: bytes of scratch per work-item.
    """

    name: str
    symbol: str
    arguments: tuple[ArgumentMetadata, ...]
    max_block: int
    vector_registers: int
    scalar_registers: int
    spills: int
    shared: int
    private: int
    wave_size: int


class CodeObject(NamedTuple):
    """A code object: its target ID (`amdgcn-amd-amdhsa--gfx90a:xnack+`), its version, its ELF flags and its kernels by name."""

    target: str
    version: int
    flags: int
    kernels: Mapping[str, KernelMetadata]


def read(data: bytes) -> CodeObject:
    """Read a code object.

    Raises:
        MalformedCodeObject: it is none, or its metadata is missing or not as documented.
    """
    try:
        elf = ElfFile.parse(data)
        if elf.machine != _AMDGPU:
            raise MalformedCodeObject(f"an ELF file for machine {elf.machine}, not {_AMDGPU} (AMDGPU)")
        notes = [note.data for note in elf.notes() if note.owner == "AMDGPU" and note.type == _METADATA_NOTE]
        if len(notes) != 1:
            raise MalformedCodeObject(f"{len(notes)} metadata notes, not one")
        root = _Node(decode(notes[0]), "metadata")
        kernels = [_kernel(node) for node in root.children("amdhsa.kernels")]
        by_name = {kernel.name: kernel for kernel in kernels}
        if len(by_name) != len(kernels):
            raise MalformedCodeObject("two kernels of one name")
        return CodeObject(root.text("amdhsa.target"), elf.abi_version + _ABI_VERSION_OFFSET, elf.flags, by_name)
    except (MalformedElf, MalformedMessage) as error:
        raise MalformedCodeObject(str(error)) from None


def _kernel(node: _Node) -> KernelMetadata:
    arguments = [_argument(child) for child in node.children(".args", optional=True)]
    return KernelMetadata(
        name=node.text(".name"),
        symbol=node.text(".symbol"),
        arguments=tuple(argument for argument in arguments if not argument.kind.startswith("hidden_")),
        max_block=node.number(".max_flat_workgroup_size"),
        vector_registers=node.number(".vgpr_count"),
        scalar_registers=node.number(".sgpr_count"),
        spills=node.number(".vgpr_spill_count") + node.number(".sgpr_spill_count"),
        shared=node.number(".group_segment_fixed_size"),
        private=node.number(".private_segment_fixed_size"),
        wave_size=node.number(".wavefront_size"),
    )


def _argument(node: _Node) -> ArgumentMetadata:
    name = node.text(".name", default="")
    return ArgumentMetadata(name, node.number(".offset"), node.number(".size"), node.text(".value_kind"))


class _Node(NamedTuple):
    """A map in the metadata, with the path to it for messages."""

    value: Value
    path: str

    def _get(self, key: str) -> Value:
        if not isinstance(self.value, dict):
            raise MalformedCodeObject(f"{self.path} is no map")
        return self.value.get(key)

    def text(self, key: str, default: str | None = None) -> str:
        found = self._get(key)
        if found is None and default is not None:
            return default
        if not isinstance(found, str):
            raise MalformedCodeObject(f"{self.path}: {key} is missing or no text")
        return found

    def number(self, key: str) -> int:
        found = self._get(key)
        if not isinstance(found, int) or isinstance(found, bool) or found < 0:
            raise MalformedCodeObject(f"{self.path}: {key} is missing or no count")
        return found

    def children(self, key: str, *, optional: bool = False) -> list[_Node]:
        found = self._get(key)
        if found is None and optional:
            return []
        if not isinstance(found, list):
            raise MalformedCodeObject(f"{self.path}: {key} is missing or no list")
        return [_Node(child, f"{self.path}, {key} {number}") for number, child in enumerate(found)]
