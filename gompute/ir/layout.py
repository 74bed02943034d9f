"""The target triple and data layout of foreign modules, brought to those of the pinned LLVM."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from llvmlite import binding as llvm

from gompute.errors import CompileError

__all__ = ["Platform", "layout_warnings", "platform_of", "triple_warnings"]

_INTEGER = re.compile(r'i(\d+)(?![\w."])')
_WIDE = re.compile(r'i(6[5-9]|[7-9]\d|\d{3,})(?![\w."])')
_VECTOR = re.compile(r"<(\d+) x (i\d+|half|bfloat|float|double|ptr[^>]*)>")
_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}
_NAMES = {"e": "byte order", "A": "address space of stack variables", "G": "address space of globals", "P": "address space of functions"}

# What LLVM assumes where a layout is silent.
_INTEGERS = {1: 8, 8: 8, 16: 16, 32: 32, 64: 32}
_FLOATS = {16: 16, 32: 32, 64: 64, 128: 128}
_VECTORS = {64: 64, 128: 128}


class Platform(NamedTuple):
    """Where GPU code runs.

    Attributes:
        convention: the calling convention of its kernels.
        triple: as the pinned LLVM writes it.
        processor: one that every such LLVM knows; the layout is the same for all.
    """

    convention: str
    triple: str
    processor: str

    def data_layout(self) -> str:
        """What the pinned LLVM's code generator demands."""
        return _data_layout(self.triple, self.processor)


_PLATFORMS = {
    "nvptx64": Platform("ptx_kernel", "nvptx64-nvidia-cuda", "sm_75"),
    "amdgcn": Platform("amdgpu_kernel", "amdgcn-amd-amdhsa", "gfx900"),
}


@lru_cache
def _data_layout(triple: str, processor: str) -> str:
    llvm.initialize_all_targets()
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=processor)
    return str(machine.target_data)


def platform_of(triple: str, where: str) -> Platform:
    """The platform that a module's triple names.

    Raises:
        CompileError: it names none, or none of those that kernels are made for.
    """
    architecture = triple.partition("-")[0]
    if architecture in _PLATFORMS:
        return _PLATFORMS[architecture]
    found = f"is for {triple!r}" if triple else "has no target triple"
    raise CompileError(
        f"{where}: the module {found}; kernels are read for {' and '.join(_PLATFORMS)}.\n"
        f"  Compile it for {' or '.join(platform.triple for platform in _PLATFORMS.values())}."
    )


def triple_warnings(triple: str, platform: Platform) -> list[str]:
    """Why code for `triple` may mean something else on `platform`; nothing where only the spelling differs."""
    system = "-".join(triple.split("-")[2:])
    if platform.convention == "amdgpu_kernel" and not system.startswith("amdhsa"):
        return [
            f"its triple {triple!r} is not that of HSA, so its kernels may expect arguments elsewhere than {platform.triple!r} puts them"
        ]
    if platform.convention == "ptx_kernel" and system.startswith("nvcl"):
        return [f"its triple {triple!r} is that of OpenCL, whose images and samplers {platform.triple!r} does not have"]
    return []


def layout_warnings(layout: str, platform: Platform, text: str) -> list[str]:
    """Where types that the module uses lie differently in memory under `layout` and under the platform's.

    Args:
        layout: the module's own; an empty one promises nothing, and so breaks nothing.
        text: the printed module.
    """
    wanted = platform.data_layout()
    if layout in ("", wanted):
        return []
    old, new = _Layout(layout), _Layout(wanted)
    compared = [
        *((f"the {_NAMES[key]}", old.flags[key], new.flags[key]) for key in _NAMES),
        *((f"the size of pointers in address space {space}", old.pointer(space), new.pointer(space)) for space in _spaces(old, new, text)),
        *((f"the alignment of i{bits}", old.integer(bits), new.integer(bits)) for bits in _integers(old, new, text)),
        *((f"the alignment of vectors of {bits} bits", old.vector(bits), new.vector(bits)) for bits in _vectors(old, new, text)),
        *((f"the alignment of floats of {bits} bits", old.float(bits), new.float(bits)) for bits in (16, 32, 64)),
    ]
    differences = [f"{what} was {before} and is {after}" for what, before, after in compared if before != after]
    return [f"its data layout {layout!r} is not the target's: {difference}" for difference in differences]


# What the module uses is searched for only where the layouts differ: a module may be long.


def _spaces(old: _Layout, new: _Layout, text: str) -> list[int]:
    known = {0, *old.pointers, *new.pointers}
    return [space for space in sorted(known) if old.pointer(space) != new.pointer(space) and (space == 0 or f"addrspace({space})" in text)]


def _integers(old: _Layout, new: _Layout, text: str) -> list[int]:
    if old.integers == new.integers:
        return []
    usual = all(old.integer(bits) == new.integer(bits) for bits in _INTEGERS)
    pattern = _WIDE if usual else _INTEGER
    return sorted({int(found[1]) for found in pattern.finditer(text) if _starts_type(text, found.start())})


def _vectors(old: _Layout, new: _Layout, text: str) -> list[int]:
    if old.vectors == new.vectors:
        return []
    return sorted({int(found[1]) * _element_bits(found[2]) for found in _VECTOR.finditer(text)})


def _starts_type(text: str, position: int) -> bool:
    return position == 0 or not (text[position - 1].isalnum() or text[position - 1] in '%@_.$-"\\')


def _element_bits(element: str) -> int:
    return int(element[1:]) if element.startswith("i") else _BITS.get(element, 64)


class _Layout:
    """What decides the meaning of memory in a layout string; alignments and sizes in bits."""

    def __init__(self, text: str) -> None:
        self.flags = {"e": "little endian", "A": "0", "G": "0", "P": "0"}
        self.pointers: dict[int, tuple[int, int, int]] = {0: (64, 64, 64)}
        self.integers = dict(_INTEGERS)
        self._floats = dict(_FLOATS)
        self.vectors = dict(_VECTORS)
        for part in text.split("-"):
            self._read(part)

    def _read(self, part: str) -> None:
        if part == "E":
            self.flags["e"] = "big endian"
        elif (flag := re.fullmatch(r"([AGP])(\d+)", part)) is not None:
            self.flags[flag[1]] = flag[2]
        elif (pointer := re.fullmatch(r"p[a-z]*(\d*):(\d+):(\d+)(?::(\d+))?(?::(\d+))?", part)) is not None:
            size = int(pointer[2])
            self.pointers[int(pointer[1] or 0)] = (size, int(pointer[3]), int(pointer[5] or size))
        elif (aligned := re.fullmatch(r"([ifv])(\d+):(\d+)(?::\d+)?", part)) is not None:
            table = {"i": self.integers, "f": self._floats, "v": self.vectors}[aligned[1]]
            table[int(aligned[2])] = int(aligned[3])

    def pointer(self, space: int) -> str:
        """Size, alignment and index width in words."""
        size, alignment, index = self.pointers.get(space, self.pointers[0])
        return f"{size} bits (aligned to {alignment}, indices of {index})"

    def integer(self, bits: int) -> int:
        larger = [width for width in self.integers if width >= bits]
        return self.integers[min(larger) if larger else max(self.integers)]

    def float(self, bits: int) -> int:
        return self._floats.get(bits, bits)

    def vector(self, bits: int) -> int:
        return self.vectors.get(bits) or 1 << max(bits - 1, 7).bit_length()
