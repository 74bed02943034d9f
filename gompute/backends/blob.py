"""What code generation gives back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from gompute.artifacts.entry import KernelEntry
from gompute.targets import BlobKind

__all__ = ["Blob", "Generated", "Listing", "Piece"]

Listing = Literal["ir", "asm"]


class Blob(NamedTuple):
    """The code of one root for one target.

    Attributes:
        version: PTX version (`7.8`) or code object version (`5`) that a driver must know to load it; for a cubin that of ptxas (`13.5.37`);
            None for a shared object.
    """

    kind: BlobKind
    data: bytes
    version: str | None = None


class Piece(NamedTuple):
    """The code of some kernels of a root for one target, before it is joined with that of the others.

    Attributes:
        kernels: their entries in the name table, resources not filled in.
        code: a PTX text, or an object file.
        shared: bytes of static shared memory by kernel symbol.
        listings: text by `ir` (the optimised module) and `asm`, as far as asked for.
        toolchain: versions of the programs and libraries that generated it, by name.
    """

    kernels: tuple[KernelEntry, ...]
    code: bytes
    shared: Mapping[str, int]
    listings: Mapping[Listing, str]
    toolchain: Mapping[str, str]

    @property
    def facts(self) -> dict[str, Any]:
        """What goes with kernels and code, as JSON."""
        return {"shared": dict(self.shared), "listings": dict(self.listings), "toolchain": dict(self.toolchain)}

    @classmethod
    def of(cls, kernels: tuple[KernelEntry, ...], code: bytes, facts: Mapping[str, Any]) -> Piece:
        """A piece whose `facts` are these."""
        return cls(kernels, code, facts["shared"], facts["listings"], facts["toolchain"])


class Generated(NamedTuple):
    """All that one root gives for one target.

    Attributes:
        blobs: the target's own kind first, then a cubin where one was asked for.
        kernels: the name table as it was given, resources filled in.
        listings: text by `ir` (the optimised module) and `asm`, as far as asked for.
        toolchain: versions of the programs and libraries that had a part in it, by name.
    """

    blobs: tuple[Blob, ...]
    kernels: tuple[KernelEntry, ...]
    listings: Mapping[Listing, str]
    toolchain: Mapping[str, str]
