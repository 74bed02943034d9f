"""The name table: what a kernel set records of each kernel, and all that the runtime needs to launch it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from gompute.artifacts.checks import Check

__all__ = ["ArgumentEntry", "KernelEntry", "ParamsEntry", "ParamsFieldEntry", "Resources"]


@dataclass(frozen=True, slots=True)
class ParamsFieldEntry:
    """One leaf of a params struct: `path` is dotted (`inner.w`), `count` is None for one value, else the length of a fixed array."""

    path: str
    dtype: str
    offset: int
    count: int | None


@dataclass(frozen=True, slots=True)
class ParamsEntry:
    """A params layout: its leaves in order of offset, and the struct's size and alignment in bytes."""

    name: str
    fields: tuple[ParamsFieldEntry, ...]
    size: int
    align: int

    def __str__(self) -> str:
        types = [field.dtype if field.count is None else f"{field.dtype}[{field.count}]" for field in self.fields]
        fields = "; ".join(f"{field.path}: {kind} @{field.offset}" for field, kind in zip(self.fields, types, strict=True))
        return f"{self.name}{{{fields}; size {self.size}, align {self.align}}}"


@dataclass(frozen=True, slots=True)
class ArgumentEntry:
    """One launch argument.

    Attributes:
        name: the parameter's name in the source; for a generated kernel the name in the table of operations (`data`, `len`, `params`).
        kind: `pointer` (to global memory), `array` (the pointer of a view), `extent` (the length of one of its dimensions), `scalar`,
            `params` (a struct by value), or `bytes` (a struct by value, of a kernel of another compiler, which says no more of it). After
            an `array` come as many `extent` as it has dimensions.
        dtype: the scalar's or the pointed-to type (`f32`; `any` where another compiler does not say it); for `params` the name of the
            params type; for `bytes` the word itself.
        size: bytes of the argument itself (8 for a pointer).
        align: its alignment.
        ndim: dimensions of an `array`; else 0.
        layout: of `params`; else None.
    """

    name: str
    kind: Literal["pointer", "array", "extent", "scalar", "params", "bytes"]
    dtype: str
    size: int
    align: int
    ndim: int = 0
    layout: ParamsEntry | None = None

    @property
    def is_pointer(self) -> bool:
        return self.kind in ("pointer", "array")

    @property
    def declared(self) -> str:
        """The argument's type as its author writes it."""
        if self.kind == "pointer":
            return f"ptr[{self.dtype}]"
        if self.kind == "bytes":
            return f"bytes[{self.size}, align {self.align}]"
        return f"array[{self.dtype}, {self.ndim}]" if self.kind == "array" else self.dtype


@dataclass(frozen=True, slots=True)
class Resources:
    """What one launch costs, where the compiler knows it; None where only the driver will (PTX).

    Attributes:
        registers: per work-item (VGPRs on AMD).
        scalar_registers: SGPRs; None off AMD.
        shared: bytes of static shared memory per block.
        private: bytes of scratch (stack) per work-item.
        spills: registers spilled to memory (AMD: count; NVIDIA: bytes stored).
    """

    registers: int | None = None
    scalar_registers: int | None = None
    shared: int | None = None
    private: int | None = None
    spills: int | None = None


#: See `gompute.artifacts.checks`.
_RECORD = ArgumentEntry("gompute.report", "pointer", "any", 8, 8)


@dataclass(frozen=True, slots=True)
class KernelEntry:
    """One public kernel of a blob.

    Attributes:
        name: public name, unique in a kernel set.
        symbol: the name in the blob.
        kind: the operation (`map`) or `kernel` for a raw kernel.
        arguments: launch arguments in order.
        block_size: work-items per block in x, y, z; exact for a generated kernel, the largest for a raw one.
        fast: it uses the hardware's approximations of functions.
        resources: see `Resources`.
        checks: what the code checks as it runs, by number from 1; None where it does not, and takes no record to report in.
    """

    name: str
    symbol: str
    kind: str
    arguments: tuple[ArgumentEntry, ...]
    block_size: tuple[int, int, int]
    resources: Resources = Resources()
    fast: bool = False
    checks: tuple[Check, ...] | None = None

    @property
    def passed(self) -> tuple[ArgumentEntry, ...]:
        """All that a launch passes: the arguments, and the address of the record where checks are reported."""
        return self.arguments if self.checks is None else (*self.arguments, _RECORD)

    @property
    def signature(self) -> str:
        """Readable text of all that a launch and the compiled kernel must agree on: operation, arguments, layouts of params, block size,
        and whether it approximates.

        It follows from the other members, so that a name table cannot say one thing and promise another.
        """
        arguments = ", ".join(f"{each.name}: {each.layout or each.declared}" for each in self.arguments if each.kind != "extent")
        x, y, z = self.block_size
        return f"{self.kind}({arguments}) {'block<=' if self.kind == 'kernel' else 'block='}{x},{y},{z}{' fast' if self.fast else ''}"

    @property
    def fingerprint(self) -> str:
        """First 16 hex digits of the sha256 of the signature."""
        return hashlib.sha256(self.signature.encode()).hexdigest()[:16]
