"""A kernel set on disk, opened for reading."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gompute.artifacts.entry import KernelEntry
from gompute.artifacts.files import read_regular
from gompute.artifacts.index import MAX_BLOB, MAX_INDEX, BlobEntry, Index, UnitEntry, decode_index
from gompute.artifacts.locks import Lock
from gompute.artifacts.names import INDEX
from gompute.errors import ArtifactError, KernelNotFound
from gompute.targets import BlobKind, Target
from gompute.targets.compat import Candidate, choose
from gompute.targets.device import Device

__all__ = ["KernelSet", "Selected"]


@dataclass(frozen=True, slots=True)
class Selected:
    """The code of one kernel that is best for a device.

    Attributes:
        data: the blob, its length and sha256 verified.
        path: the file it was read from.
    """

    root: str
    target: Target
    kind: BlobKind
    entry: KernelEntry
    data: bytes
    path: Path


class KernelSet:
    """An opened kernel set. The index has been checked whole; a blob is read and checked when it is first asked for, and kept.

    Attributes:
        path: the folder that holds the index and the blobs.
        index: what the index says.
    """

    def __init__(self, path: Path, index: Index) -> None:
        self.path = path
        self.index = index
        self._owners = index.owners()
        self._units = {(unit.root, unit.target.name): unit for unit in index.units}
        self._blobs: dict[str, bytes] = {}
        self._lock = Lock()

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> KernelSet:
        """Open the set in a folder, reading its index alone.

        Raises:
            ArtifactError: no set there, or its index is not to be trusted.
        """
        given = Path(path)
        # A set is where its index really is: folders of links, as Nix makes them, work, and a blob's own link does not.
        index = Path(os.path.realpath(given / INDEX))
        if not os.path.lexists(index):
            reason = f"no {INDEX} in it" if os.path.isdir(given) else "no such folder"
            raise ArtifactError(f"{given}: no kernel set here ({reason}); make one with `gompute build ... -o {given}`")
        return cls(index.parent, decode_index(read_regular(index, limit=MAX_INDEX), str(given / INDEX)))

    @property
    def kernels(self) -> tuple[str, ...]:
        """Public names of all kernels, sorted."""
        return tuple(sorted(self._owners))

    @property
    def roots(self) -> tuple[str, ...]:
        """Names of all roots, sorted."""
        return self.index.roots

    @property
    def targets(self) -> tuple[Target, ...]:
        """The targets that at least one root is compiled for."""
        return self.index.targets

    def root_of(self, kernel: str) -> str:
        """The root that defines a kernel.

        Raises:
            KernelNotFound: with near names; says so where the manifest of the build left the kernel out.
        """
        root = self._owners.get(kernel)
        if root is None:
            raise KernelNotFound(self._missing(kernel))
        return root

    def entry(self, kernel: str, target: Target | None = None) -> KernelEntry:
        """The name table entry of a kernel, for a target or, without one, for the first that has it.

        Raises:
            KernelNotFound: no such kernel, or not for that target.
        """
        units = self._units_of(kernel)
        for unit in units:
            if target is None or unit.target == target:
                return unit.kernels[kernel]
        have = ", ".join(unit.target.name for unit in units)
        raise KernelNotFound(f"kernel {kernel!r} of {self.path} is not compiled for {target}; it is for {have}")

    def unit(self, root: str, target: Target) -> UnitEntry:
        """What the index says of a root for a target.

        Raises:
            ArtifactError: the set has no such pair.
        """
        unit = self._units.get((root, target.name))
        if unit is None:
            raise ArtifactError(f"{self.path}: no root {root!r} for {target}; there are {', '.join(self.roots) or 'none'}")
        return unit

    def blob(self, root: str, target: Target, kind: BlobKind) -> bytes:
        """The verified bytes of a blob.

        Raises:
            ArtifactError: the set has no such blob, or the file is missing, truncated or not what the index says.
        """
        return self._read(self._blob_entry(root, target, kind))

    def blob_path(self, root: str, target: Target, kind: BlobKind) -> Path:
        """Where a blob lies, after it has been verified; raises as `blob` does."""
        blob = self._blob_entry(root, target, kind)
        self._read(blob)
        return self.path / blob.file

    def candidates(self, kernel: str) -> tuple[Candidate, ...]:
        """All code of a kernel, for any device.

        Raises:
            KernelNotFound: no such kernel.
        """
        return tuple(
            Candidate(unit.target, blob.kind, None if blob.version is None else tuple(map(int, blob.version.split("."))))
            for unit in self._units_of(kernel)
            for blob in unit.blobs
        )

    def select(self, kernel: str, device: Device) -> Selected:
        """The best code of a kernel for a device.

        Raises:
            KernelNotFound: no such kernel.
            ModuleLoadFailed: none of its code runs on the device; says why, for each.
            ArtifactError: the chosen blob is damaged.
        """
        root = self.root_of(kernel)
        best = choose(self.candidates(kernel), device, what=f"kernel {kernel!r} of {self.path}")
        blob = self._blob_entry(root, best.target, best.kind)
        entry = self.entry(kernel, best.target)
        return Selected(root, best.target, best.kind, entry, self._read(blob), self.path / blob.file)

    def _units_of(self, kernel: str) -> list[UnitEntry]:
        root = self.root_of(kernel)
        return [unit for unit in self.index.units if unit.root == root and kernel in unit.kernels]

    def _blob_entry(self, root: str, target: Target, kind: BlobKind) -> BlobEntry:
        blob = self.unit(root, target).blob(kind)
        if blob is None:
            raise ArtifactError(f"{self.path}: root {root!r} for {target} has no {kind}")
        return blob

    def _read(self, blob: BlobEntry) -> bytes:
        with self._lock:
            data = self._blobs.get(blob.file)
            if data is None:
                path = self.path / blob.file
                data = read_regular(path, limit=MAX_BLOB, length=blob.length)
                if hashlib.sha256(data).hexdigest() != blob.sha256:
                    raise ArtifactError(f"{path}: its sha256 is not the one in the index; build the set again")
                self._blobs[blob.file] = data
        return data

    def _missing(self, kernel: str) -> str:
        """What to say of a kernel that is not there."""
        left_out = {name: root for root, names in self.index.left_out.items() for name in names}
        said = f"no kernel {kernel!r} in {self.path}"
        if kernel in left_out:
            said += f": the manifest that it was built with left it out: root {left_out[kernel]!r} makes it, and no launch of it was found"
        else:
            said += f"; {self._near(kernel, left_out)}"
        if not self.index.left_out:
            return said
        if kernel not in left_out:
            whole = [f"all of root {root!r}" for root, names in self.index.left_out.items() if not names]
            what = " and ".join([*(["some kernels"] if left_out else []), *whole])
            said += f"\n  The manifest that it was built with left out {what}."
        return (
            f"{said}\n  To add a kernel that is launched, scan the program and build again: gompute manifest scan PATH... -o MANIFEST\n"
            f'  Where its name is known only at run time, declare it in pyproject.toml: [tool.gompute] keep = ["{kernel}"]'
        )

    def _near(self, kernel: str, left_out: Mapping[str, str]) -> str:
        # Imported here: only a wrong name pays for it.
        import difflib

        near = difflib.get_close_matches(kernel, [*self._owners, *left_out], n=3)
        if near:
            shown = (f"{name!r}{' (which the manifest left out)' if name in left_out else ''}" for name in near)
            return f"did you mean {' or '.join(shown)}?"
        names = self.kernels
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        return f"it has {', '.join(names[:10])}{more}" if names else "it has none"
