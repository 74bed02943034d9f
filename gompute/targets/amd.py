"""AMD's rows: what LLVM 22.1 generates from gfx906 on, and the generic targets.

Sources: LLVM's "User Guide for AMDGPU Backend" for products, features and the members of generics; the machine number, the features that
a processor has, its wave size and its shared memory were read off what LLVM emits.
"""

from __future__ import annotations

from typing import Literal

from gompute.targets.target import Target

__all__ = ["AMD"]

_TRIPLE = "amdgcn-amd-amdhsa"

# AMD documents no limit for a kernel's arguments; CUDA's older one keeps a kernel portable.
_MAX_PARAMS = 4096

_SHARED = 64 * 1024

_Feature = Literal["sramecc", "xnack"]
_XNACK: tuple[_Feature, ...] = ("xnack",)
_BOTH: tuple[_Feature, ...] = ("sramecc", "xnack")

# Name, EF_AMDGPU_MACH of its ELF header, features that may be pinned.
_ROWS: tuple[tuple[str, int, tuple[_Feature, ...]], ...] = (
    ("gfx906", 0x2F, _BOTH),
    ("gfx908", 0x30, _BOTH),
    ("gfx909", 0x31, _XNACK),
    ("gfx90a", 0x3F, _BOTH),
    ("gfx90c", 0x32, _XNACK),
    ("gfx942", 0x4C, _BOTH),
    ("gfx950", 0x4F, _BOTH),
    ("gfx1010", 0x33, _XNACK),
    ("gfx1011", 0x34, _XNACK),
    ("gfx1012", 0x35, _XNACK),
    ("gfx1013", 0x42, _XNACK),
    ("gfx1030", 0x36, ()),
    ("gfx1031", 0x37, ()),
    ("gfx1032", 0x38, ()),
    ("gfx1033", 0x39, ()),
    ("gfx1034", 0x3E, ()),
    ("gfx1035", 0x3D, ()),
    ("gfx1036", 0x45, ()),
    ("gfx1100", 0x41, ()),
    ("gfx1101", 0x46, ()),
    ("gfx1102", 0x47, ()),
    ("gfx1103", 0x44, ()),
    ("gfx1150", 0x43, ()),
    ("gfx1151", 0x4A, ()),
    ("gfx1152", 0x55, ()),
    ("gfx1153", 0x58, ()),
    ("gfx1200", 0x48, ()),
    ("gfx1201", 0x4E, ()),
    ("gfx1250", 0x49, _BOTH),
    ("gfx1251", 0x5A, _BOTH),
)

# Name, machine, features, and the architectures it runs on (some of which have no row of their own).
_GENERICS: tuple[tuple[str, int, tuple[_Feature, ...], str], ...] = (
    ("gfx9-generic", 0x51, _XNACK, "gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c"),
    ("gfx9-4-generic", 0x5F, _BOTH, "gfx940 gfx941 gfx942 gfx950"),
    ("gfx10-1-generic", 0x52, _XNACK, "gfx1010 gfx1011 gfx1012 gfx1013"),
    ("gfx10-3-generic", 0x53, (), "gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036"),
    ("gfx11-generic", 0x54, (), "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153"),
    ("gfx12-generic", 0x59, (), "gfx1200 gfx1201"),
)

# Shared memory (LDS) of the architectures that have more than 64 KiB.
_LARGE_SHARED = {"gfx950": 160 * 1024, "gfx1250": 320 * 1024, "gfx1251": 320 * 1024}

# ELF header flags of code object version 4 and later: what a feature's setting adds. An architecture without the feature adds nothing.
_FLAGS: dict[_Feature, dict[bool | None, int]] = {
    "xnack": {None: 0x100, False: 0x200, True: 0x300},
    "sramecc": {None: 0x400, False: 0x800, True: 0xC00},
}
_GENERIC_VERSION_1 = 1 << 24

_SIGN = {True: "+", False: "-"}


def arch_number(arch: str) -> tuple[int, ...]:
    """(9, 0, 10) for ``gfx90a``, (11, 0, 0) for ``gfx1100``, (9, 4) for ``gfx9-4-generic``: major, minor and stepping."""
    text = arch.removeprefix("gfx")
    if text.endswith("-generic"):
        return tuple(int(part) for part in text.removesuffix("-generic").split("-"))
    return (int(text[:-2]), int(text[-2]), int(text[-1], 16))


def _targets(arch: str, machine: int, features: tuple[_Feature, ...], members: tuple[str, ...] = ()) -> list[Target]:
    number = arch_number(arch)
    settings: list[dict[_Feature, bool | None]] = [{}]
    for feature in features:
        settings = [{**setting, feature: value} for setting in settings for value in (None, False, True)]
    made: list[Target] = []
    for setting in settings:
        # In this order: a target ID lists its features by name.
        pinned = {feature: value for feature, value in sorted(setting.items()) if value is not None}
        flags = machine | (_GENERIC_VERSION_1 if members else 0)
        for feature, value in setting.items():
            flags |= _FLAGS[feature][value]
        made.append(
            Target(
                name=":".join([arch, *(feature + _SIGN[value] for feature, value in pinned.items())]),
                backend="hip",
                vendor="amd",
                arch=arch,
                number=number,
                family=f"gfx{number[0]}",
                cpu=arch,
                triple=_TRIPLE,
                warp_size=64 if number[0] == 9 else 32,
                max_static_shared=_LARGE_SHARED.get(arch, _SHARED),
                max_params=_MAX_PARAMS,
                features=",".join(_SIGN[value] + feature for feature, value in pinned.items()),
                xnack=setting.get("xnack"),
                sramecc=setting.get("sramecc"),
                generic=bool(members),
                members=members,
                code_object_version=6 if members else 5,
                elf_flags=flags,
            )
        )
    return made


def _table() -> tuple[Target, ...]:
    targets: list[Target] = []
    for arch, machine, features in _ROWS:
        targets += _targets(arch, machine, features)
    for arch, machine, features, members in _GENERICS:
        targets += _targets(arch, machine, features, tuple(members.split()))
    return tuple(targets)


AMD: tuple[Target, ...] = _table()
