"""What a target is: one pinned architecture with its limits, and nothing read from the machine that builds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["KINDS", "Backend", "BlobKind", "Target"]

Backend = Literal["cuda", "hip", "cpu"]
BlobKind = Literal["ptx", "cubin", "hsaco", "so"]

#: The kinds of blob that each backend makes, in the order in which an index lists them.
KINDS: dict[Backend, tuple[BlobKind, ...]] = {"cuda": ("ptx", "cubin"), "hip": ("hsaco",), "cpu": ("so",)}

_BACKEND_ORDER: dict[Backend, int] = {"cuda": 0, "hip": 1, "cpu": 2}
_FEATURE_ORDER = {None: 0, False: 1, True: 2}


@dataclass(frozen=True, slots=True)
class Target:
    """One row of the table of targets.

    Attributes:
        name: as written in a build (``sm_90a``, ``gfx90a:xnack+``, ``x86-64-v3``).
        backend: ``cuda``, ``hip`` or ``cpu``.
        vendor: ``nvidia``, ``amd`` or ``cpu``.
        arch: the name without features (``gfx90a`` for ``gfx90a:xnack+``; NVIDIA's suffix is part of the arch).
        number: the architecture as numbers, to compare with: (8, 9) for sm_89, (9, 0, 10) for gfx90a, (9, 4) for gfx9-4-generic, (3,) for
            x86-64-v3.
        suffix: NVIDIA only: ``a`` (this architecture alone), ``f`` (its family) or empty.
        family: what shares a name by major number: ``sm_12x``, ``gfx11``, ``x86-64``, ``aarch64``.
        cpu: the processor name that LLVM is given.
        features: LLVM's feature string; says all that `cpu` leaves open.
        triple: LLVM's target triple.
        warp_size: work-items that run in step; 1 on a CPU.
        max_static_shared: bytes of shared memory that a kernel may declare; on a CPU that is also the most that a launch may ask for.
        max_params: bytes of all launch arguments together; None where nothing limits it.
        max_block: work-items per block.
        ptx_version: NVIDIA: the lowest PTX version that has this architecture, which is what LLVM writes.
        ptxas_arch: NVIDIA: the architecture to give the pinned ptxas, the lowest it knows where it has dropped this one; a cubin can be
            made only where this equals `name`.
        embedded: NVIDIA: a system on a chip, whose machine code is exchanged with no other architecture.
        xnack: AMD: page-fault replay must be on (True), off (False), or either (None).
        sramecc: AMD: the same for ECC of the register and shared memory.
        generic: AMD: one blob for all of `members`.
        members: AMD: the architectures that a generic target runs on.
        code_object_version: AMD: the version of the HSA code object, 6 for generic targets, which need it, else 5.
        elf_flags: AMD: the ``e_flags`` that a code object of this target carries.
    """

    name: str
    backend: Backend
    vendor: Literal["nvidia", "amd", "cpu"]
    arch: str
    number: tuple[int, ...]
    family: str
    cpu: str
    triple: str
    warp_size: int
    max_static_shared: int
    max_params: int | None
    suffix: Literal["", "a", "f"] = ""
    features: str = ""
    max_block: int = 1024
    ptx_version: tuple[int, int] | None = None
    ptxas_arch: str = ""
    embedded: bool = False
    xnack: bool | None = None
    sramecc: bool | None = None
    generic: bool = False
    members: tuple[str, ...] = ()
    code_object_version: int | None = None
    elf_flags: int | None = None

    @property
    def safe_name(self) -> str:
        """The name in file and derivation names: ``gfx90a:xnack+`` becomes ``gfx90a-xnack-on``."""
        arch, *features = self.name.split(":")
        return "-".join([arch, *(f"{feature[:-1]}-{'on' if feature[-1] == '+' else 'off'}" for feature in features)])

    @property
    def kinds(self) -> tuple[BlobKind, ...]:
        """The kinds of blob that can be made for this target."""
        if self.backend == "cuda" and self.ptxas_arch != self.name:
            return ("ptx",)
        return KINDS[self.backend]

    @property
    def sort_key(self) -> tuple[object, ...]:
        """Orders targets by backend, then by number (sm_89 before sm_100), generics after the architectures of their generation."""
        number: tuple[object, ...] = (self.number[0], self.generic, *self.number[1:])
        features = (_FEATURE_ORDER[self.sramecc], _FEATURE_ORDER[self.xnack])
        return (_BACKEND_ORDER[self.backend], self.family.rstrip("0123456789x"), number, ("", "f", "a").index(self.suffix), features)

    def __str__(self) -> str:
        return self.name
