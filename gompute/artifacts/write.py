"""Writing a kernel set."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gompute.artifacts.entry import KernelEntry
from gompute.artifacts.files import read_regular
from gompute.artifacts.index import (
    MAX_INDEX,
    BlobEntry,
    Index,
    SourceEntry,
    UnitEntry,
    decode_index,
    encode_index,
    is_index,
    sorted_units,
)
from gompute.artifacts.names import INDEX, LISTINGS, blob_file, is_set_file, listing_file
from gompute.artifacts.staging import replace_folder
from gompute.errors import ArtifactError, InternalError
from gompute.targets import FAST, KINDS, BlobKind, Mode, Target

__all__ = ["NewBlob", "NewUnit", "SetContent", "WrittenBlob", "check_destination", "set_content", "write_set", "writing"]


@dataclass(frozen=True, slots=True)
class NewBlob:
    """The code of one root for one target, in memory.

    Attributes:
        version: PTX version (``7.8``), code object version (``5``), version of the ptxas that made a cubin; None for a shared object.
    """

    kind: BlobKind
    data: bytes
    version: str | None = None


@dataclass(frozen=True, slots=True)
class NewUnit:
    """One root compiled for one target.

    Attributes:
        kernels: the name table.
        toolchain: the version of each tool that had a part in the blobs, and of no other: the same unit is the same bytes whatever else is
            built beside it.
        listings: text by kind (`ir`, `asm`), written beside the blobs for people to read.
        ir, mode, source: see `UnitEntry`.
    """

    root: str
    target: Target
    blobs: tuple[NewBlob, ...]
    kernels: tuple[KernelEntry, ...]
    toolchain: Mapping[str, str]
    listings: Mapping[str, str] = field(default_factory=dict)
    ir: Mapping[str, str] = field(default_factory=dict)
    mode: Mode = FAST
    source: SourceEntry | None = None


@dataclass(frozen=True, slots=True)
class WrittenBlob:
    """A blob of a set that has been written: its file's name, root, target's name, kind, bytes and sha256."""

    file: str
    root: str
    target: str
    kind: BlobKind
    length: int
    sha256: str


@dataclass(frozen=True, slots=True)
class SetContent:
    """A kernel set in memory.

    Attributes:
        files: the bytes of every file, by name: index, blobs and listings.
    """

    index: Index
    files: Mapping[str, bytes]

    @property
    def blobs(self) -> tuple[WrittenBlob, ...]:
        """The blobs, in the index's order."""
        return tuple(
            WrittenBlob(blob.file, unit.root, unit.target.name, blob.kind, blob.length, blob.sha256)
            for unit in self.index.units
            for blob in unit.blobs
        )


def check_destination(directory: Path, also: Collection[str] = ()) -> None:
    """Whether a kernel set may be written there; a build asks before it compiles.

    Args:
        also: what may be there besides the files of a set.

    Raises:
        ArtifactError: something is there that is neither an empty folder nor a kernel set, and would be lost.
    """
    try:
        names = sorted(os.listdir(directory))
    except FileNotFoundError:
        return
    except NotADirectoryError:
        culprit = "is a file" if os.path.lexists(directory) else "is below a file"
        raise ArtifactError(f"{directory}: {culprit}; a kernel set is a folder: choose another name") from None
    except OSError as error:
        raise ArtifactError(f"{directory}: {error.strerror}") from None
    foreign = [name for name in names if name not in also and not (is_set_file(name) and os.path.isfile(directory / name))]
    if foreign:
        raise ArtifactError(
            f"{directory}: not replaced, since it holds {foreign[0]!r}, which is no part of a kernel set; choose another folder"
        )
    if names and INDEX not in names:
        raise ArtifactError(f"{directory}: not replaced, since it is not empty and no kernel set (no {INDEX} in it); choose another folder")
    if names and not is_index(read_regular(directory / INDEX, limit=MAX_INDEX)):
        raise ArtifactError(f"{directory}: not replaced, since its {INDEX} is not that of a kernel set; delete it or choose another folder")


def set_content(
    units: Iterable[NewUnit], *, generator: Mapping[str, str], left_out: Mapping[str, tuple[str, ...]] | None = None
) -> SetContent:
    """Put a kernel set together.

    Args:
        units: in any order; the files do not depend on it.
        generator: name and version of the program that writes: ``{"gompute": "0.1.0"}``.
        left_out: see `Index`.

    Raises:
        ArtifactError: two units give the same root and target or the same kernel.
    """
    made = list(units)
    files: dict[str, bytes] = {}
    for unit in made:
        for blob in unit.blobs:
            _add(files, blob_file(unit.root, unit.target, blob.kind), blob.data, unit)
        for kind in LISTINGS:
            if kind in unit.listings:
                _add(files, listing_file(unit.root, unit.target, kind), unit.listings[kind].encode(), unit)
    _check_owners(made)
    index = Index(
        generator=dict(generator),
        units=sorted_units(map(_entry, made)),
        left_out={root: tuple(sorted(kernels)) for root, kernels in sorted((left_out or {}).items())},
    )
    files[INDEX] = encode_index(index)
    _check_readable(files[INDEX], index)
    return SetContent(index, files)


def write_set(directory: Path, units: Iterable[NewUnit], *, generator: Mapping[str, str]) -> tuple[WrittenBlob, ...]:
    """Write a kernel set, whole or not at all. A set that is there is replaced; missing parents are made.

    Args:
        units, generator: as for `set_content`.

    Returns:
        The blobs, in the index's order.

    Raises:
        ArtifactError: as `set_content`, or `check_destination` refuses, or writing fails; then what was in `directory` is there still.
    """
    content = set_content(units, generator=generator)
    check_destination(directory)
    with writing(directory, "the kernel set"):
        replace_folder(directory, content.files)
    return content.blobs


@contextmanager
def writing(place: Path, what: str) -> Iterator[None]:
    """Turns what the system says of a write to `place` into an ArtifactError that names it; `what` says what was to be written."""
    try:
        yield
    except OSError as error:
        hint = " (a mount point can't be replaced: name a folder inside it)" if error.errno in (errno.EBUSY, errno.EXDEV) else ""
        raise ArtifactError(f"{place}: could not write {what}: {error.strerror}{hint}") from error


def _add(files: dict[str, bytes], name: str, data: bytes, unit: NewUnit) -> None:
    if name in files:
        raise ArtifactError(f"root {unit.root!r} for {unit.target} is given twice")
    files[name] = data


def _check_owners(units: list[NewUnit]) -> None:
    owners: dict[str, str] = {}
    for unit in units:
        for kernel in unit.kernels:
            owner = owners.setdefault(kernel.name, unit.root)
            if owner != unit.root:
                raise ArtifactError(
                    f"kernel {kernel.name!r} is in root {owner!r} and in root {unit.root!r}; "
                    'a name is unique in a kernel set: rename one of them (name="...")'
                )


def _entry(unit: NewUnit) -> UnitEntry:
    order = KINDS[unit.target.backend]
    blobs = [
        BlobEntry(
            kind=blob.kind,
            file=blob_file(unit.root, unit.target, blob.kind),
            length=len(blob.data),
            sha256=hashlib.sha256(blob.data).hexdigest(),
            version=blob.version,
        )
        for blob in unit.blobs
    ]
    return UnitEntry(
        root=unit.root,
        target=unit.target,
        blobs=tuple(sorted(blobs, key=lambda blob: order.index(blob.kind))),
        kernels={kernel.name: kernel for kernel in sorted(unit.kernels, key=lambda kernel: kernel.name)},
        toolchain=dict(sorted(unit.toolchain.items())),
        ir=dict(sorted(unit.ir.items())),
        mode=unit.mode,
        source=unit.source,
    )


def _check_readable(data: bytes, index: Index) -> None:
    """What is written is what a reader will take: a set that its own reader refuses is our mistake, and is said before anything is lost."""
    try:
        same = decode_index(data, INDEX) == index
    except ArtifactError as error:
        raise InternalError(f"the index of a new kernel set can't be read back: {error}") from error
    if not same:
        raise InternalError("the index of a new kernel set reads back as another one")
