"""What `index.json` says: roots, targets, blobs and the name table of each; to its bytes, and from bytes that are not trusted.

The bytes are a function of the content alone: keys sorted, no path, no time. The reader is strict: a key that it does not know means a
set that it does not understand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from json.encoder import encode_basestring_ascii
from typing import Any

from gompute.artifacts.checked import Node, Wrong, parse_json, shown
from gompute.artifacts.entry import KernelEntry
from gompute.artifacts.name_table import Known, kernel_from_node, kernel_to_json
from gompute.artifacts.names import blob_file, is_identifier, is_root_name
from gompute.errors import ArtifactError
from gompute.targets import FAST, KINDS, OPTIMIZE, BlobKind, Mode, Target, find_target

__all__ = [
    "FORMAT",
    "MAX_BLOB",
    "MAX_INDEX",
    "BlobEntry",
    "Index",
    "SourceEntry",
    "UnitEntry",
    "decode_index",
    "encode_index",
    "is_index",
    "sorted_units",
]

#: The version of the index that this Gompute writes and reads.
FORMAT = 1

#: Bytes of an index and of a blob beyond which neither is read; far above what a build makes.
MAX_INDEX = 64 << 20
MAX_BLOB = 1 << 30

_TOOL = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_VERSION = re.compile(r"[0-9A-Za-z.+_-]{1,64}")
_SHA256 = re.compile(r"[0-9a-f]{64}")

# The key and the form of a blob's version, by kind. A shared object has none.
_VERSION_KEYS: dict[BlobKind, str] = {"ptx": "ptx_version", "cubin": "ptxas_version", "hsaco": "code_object_version"}
_VERSION_FORMS: dict[BlobKind, re.Pattern[str]] = {
    "ptx": re.compile(r"[1-9][0-9]?\.[0-9]{1,2}"),
    "cubin": re.compile(r"[0-9]{1,4}(\.[0-9]{1,4}){0,3}"),
    "hsaco": re.compile(r"[1-9][0-9]?"),
}


@dataclass(frozen=True, slots=True)
class BlobEntry:
    """One file of machine code or PTX.

    Attributes:
        file: its name in the set.
        length: bytes.
        sha256: 64 hex digits.
        version: PTX version (``7.8``), code object version (``5``), or the version of the ptxas that made a cubin; None where unknown.
    """

    kind: BlobKind
    file: str
    length: int
    sha256: str
    version: str | None


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """Hashes of a root's code, without comments and empty lines.

    Attributes:
        module: the sha256, in hex, of the root's module.
        imports: of each source that it imports, by its path below the root's folder, or the file's name where it lies elsewhere.
    """

    module: str
    imports: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class UnitEntry:
    """One root compiled for one target.

    Attributes:
        blobs: at least one, at most one of a kind, in the order of `KINDS`.
        kernels: the name table, by public name, sorted.
        toolchain: the version of each tool that had a part in the blobs.
        ir: the sha256, in hex, of the LLVM IR that each kernel was compiled from, by public name; empty where that is not known.
        mode: how the blobs were made.
        source: what the root's code was; None where that is not known.
    """

    root: str
    target: Target
    blobs: tuple[BlobEntry, ...]
    kernels: Mapping[str, KernelEntry]
    toolchain: Mapping[str, str]
    ir: Mapping[str, str] = field(default_factory=dict)
    mode: Mode = FAST
    source: SourceEntry | None = None

    def blob(self, kind: BlobKind) -> BlobEntry | None:
        """The blob of that kind, or None."""
        return next((blob for blob in self.blobs if blob.kind == kind), None)


@dataclass(frozen=True, slots=True)
class Index:
    """A whole index.

    Attributes:
        generator: name and version of the program that wrote the index.
        units: sorted by root, then by target.
        left_out: kernels that the sources make and that the manifest of the build did not name, sorted, by root; an empty tuple for a
            root that was left out whole, whose kernels nobody looked at.
    """

    generator: Mapping[str, str]
    units: tuple[UnitEntry, ...]
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def roots(self) -> tuple[str, ...]:
        """Names of the roots, sorted."""
        return tuple(dict.fromkeys(unit.root for unit in self.units))

    @property
    def targets(self) -> tuple[Target, ...]:
        """The targets that at least one root is compiled for, sorted."""
        return tuple(sorted({unit.target for unit in self.units}, key=lambda target: target.sort_key))

    def owners(self) -> dict[str, str]:
        """The root of each kernel, by kernel."""
        return {name: unit.root for unit in self.units for name in unit.kernels}


def sorted_units(units: Iterable[UnitEntry]) -> tuple[UnitEntry, ...]:
    """Units in the order of an index."""
    return tuple(sorted(units, key=lambda unit: (unit.root, unit.target.sort_key)))


# ---- to bytes ----


def encode_index(index: Index) -> bytes:
    """The bytes of `index.json`."""
    roots: dict[str, dict[str, Any]] = {}
    for unit in index.units:
        roots.setdefault(unit.root, {})[unit.target.name] = {
            "blobs": {blob.kind: _blob_to_json(blob) for blob in unit.blobs},
            "kernels": {name: kernel_to_json(kernel) for name, kernel in unit.kernels.items()},
            "toolchain": dict(unit.toolchain),
            **({"ir": dict(unit.ir)} if unit.ir else {}),
            **({"source": {"imports": dict(unit.source.imports), "module": unit.source.module}} if unit.source else {}),
            **({"mode": {"lineinfo": unit.mode.lineinfo, "optimize": unit.mode.optimize}} if unit.mode != FAST else {}),
        }
    document: dict[str, Any] = {"format": FORMAT, "generator": dict(index.generator), "roots": roots}
    if index.left_out:
        document["left_out"] = {root: list(kernels) for root, kernels in index.left_out.items()}
    return f"{_indented(document)}\n".encode("ascii")


def _indented(value: Any, margin: str = "\n") -> str:
    """What `json.dumps` gives with an indent of 1 and sorted keys, in a fraction of the time: with an indent, Python's own is slow."""
    if type(value) is str:
        return encode_basestring_ascii(value)
    if type(value) is int:
        return str(value)
    inner = f"{margin} "
    if value and isinstance(value, dict):
        items = [f"{encode_basestring_ascii(key)}: {_indented(value[key], inner)}" for key in sorted(value)]
        return f"{{{inner}{f',{inner}'.join(items)}{margin}}}"
    if value and isinstance(value, list):
        return f"[{inner}{f',{inner}'.join([_indented(item, inner) for item in value])}{margin}]"
    return json.dumps(value)


def _blob_to_json(blob: BlobEntry) -> dict[str, Any]:
    made: dict[str, Any] = {"file": blob.file, "length": blob.length, "sha256": blob.sha256}
    if blob.version is not None:
        made[_VERSION_KEYS[blob.kind]] = blob.version
    return made


# ---- from bytes ----


def decode_index(data: bytes, source: str) -> Index:
    """Parse and check the bytes of an index.

    Args:
        source: the file's path, for messages.

    Raises:
        ArtifactError: naming the file, the place in it and what is wrong.
    """
    try:
        return _index(parse_json(data))
    except Wrong as wrong:
        raise ArtifactError(f"{source}: {wrong}") from None
    except RecursionError:
        raise ArtifactError(f"{source}: nested too deeply") from None


def is_index(data: bytes) -> bool:
    """Whether these are the bytes of an index of any version, well-formed or not beyond that."""
    try:
        return {"format", "roots"} <= parse_json(data).mapping().keys()
    except Wrong:
        return False


def _index(node: Node) -> Index:
    # The version first: another one may have other keys.
    version = node.mapping().get("format")
    if version is None:
        node.wrong("not the index of a kernel set: lacks 'format'")
    if type(version.value) is not int or version.value != FORMAT:
        version.wrong(f"is {shown(version.value)}, this Gompute reads {FORMAT}; build the set again, or use the Gompute that wrote it")
    members = node.members(("format", "generator", "roots"), ("left_out",))
    units: list[UnitEntry] = []
    owners: dict[str, str] = {}
    known = Known()
    for root, targets in members["roots"].mapping(is_root_name, "name of a root").items():
        for name, unit in targets.mapping().items():
            target = find_target(name)
            if target is None:
                targets.wrong(f"unknown target {shown(name)}")
            units.append(_unit(unit, root, target, known))
            for kernel in units[-1].kernels:
                if owners.setdefault(kernel, root) != root:
                    members["roots"].wrong(f"kernel {kernel!r} is in root {owners[kernel]!r} and in root {root!r}")
    left_out = _left_out(members["left_out"], owners) if "left_out" in members else {}
    return Index(generator=_versions(members["generator"]), units=sorted_units(units), left_out=left_out)


def _left_out(node: Node, owners: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Never a kernel or a whole root that is there."""
    made: dict[str, tuple[str, ...]] = {}
    for root, kernels in sorted(node.mapping(is_root_name, "name of a root").items()):
        made[root] = tuple(sorted({kernel.identifier() for kernel in kernels.items()}))
        present = sorted(name for name in made[root] if owners.get(name) == root)
        if present or (not made[root] and root in owners.values()):
            kernels.wrong(f"lists {present[0]!r}, which is in the set" if present else "lists nothing, and the root is in the set")
    return made


def _unit(node: Node, root: str, target: Target, known: Known) -> UnitEntry:
    members = node.members(("blobs", "kernels", "toolchain"), ("ir", "mode", "source"))
    # In the order of the table of kinds, whatever the file's.
    allowed = KINDS[target.backend]
    entries = members["blobs"].members((), allowed)
    blobs = tuple(_blob(entries[kind], root, target, kind) for kind in allowed if kind in entries)
    if not blobs:
        members["blobs"].wrong("lists none")
    kernels = members["kernels"].mapping(is_identifier, "C identifier")
    table: dict[str, KernelEntry] = {}
    for name in sorted(kernels):
        table[name] = kernel_from_node(kernels[name], known)
        if table[name].name != name:
            kernels[name].wrong(f"calls itself {table[name].name!r}")
    by_symbol: dict[str, str] = {}
    for name, kernel in table.items():
        if by_symbol.setdefault(kernel.symbol, name) != name:
            kernels[name].wrong(f"has the symbol {kernel.symbol!r}, and so has {by_symbol[kernel.symbol]!r}")
    ir = {name: given.matching(_SHA256, "64 hex digits") for name, given in members["ir"].mapping().items()} if "ir" in members else {}
    if ir and ir.keys() != table.keys():
        members["ir"].wrong("lists other kernels than 'kernels'")
    mode = _mode(members["mode"]) if "mode" in members else FAST
    source = _source(members["source"]) if "source" in members else None
    return UnitEntry(root, target, blobs, table, _versions(members["toolchain"]), ir, mode, source)


def _source(node: Node) -> SourceEntry:
    members = node.members(("imports", "module"))
    imports = members["imports"].mapping(_is_source_name, "path below a root's folder")
    found = {name: imports[name].matching(_SHA256, "64 hex digits") for name in sorted(imports)}
    return SourceEntry(members["module"].matching(_SHA256, "64 hex digits"), found)


def _is_source_name(name: str) -> bool:
    return name.isprintable() and 0 < len(name) <= 4096 and not {"", ".", ".."} & set(name.split("/"))


def _mode(node: Node) -> Mode:
    members = node.members(("lineinfo", "optimize"))
    lineinfo, word = members["lineinfo"].value, members["optimize"].text()
    optimize = next((known for known in OPTIMIZE if known == word), None)
    if optimize is None or not isinstance(lineinfo, bool):
        node.wrong(f"must have a lineinfo that is true or false, and an optimize that is one of {', '.join(OPTIMIZE)}")
    return Mode(optimize, lineinfo)


def _blob(node: Node, root: str, target: Target, kind: BlobKind) -> BlobEntry:
    version_key = _VERSION_KEYS.get(kind)
    members = node.members(("file", "length", "sha256"), (version_key,) if version_key else ())
    file, expected = members["file"].text(4096), blob_file(root, target, kind)
    if file != expected:
        leaves = "/" in file or "\\" in file or file in ("..", ".")
        members["file"].wrong(f"{shown(file)} {'leaves the set' if leaves else 'is not its name'}; it must be {expected!r}")
    version = members.get(version_key) if version_key else None
    return BlobEntry(
        kind=kind,
        file=file,
        length=members["length"].integer(1, MAX_BLOB),
        sha256=members["sha256"].matching(_SHA256, "64 hex digits"),
        version=None if version is None else version.matching(_VERSION_FORMS[kind], f"a version of {kind}"),
    )


def _versions(node: Node) -> dict[str, str]:
    members: Mapping[str, Node] = node.mapping(_TOOL.fullmatch, "name of a tool")
    return {name: members[name].matching(_VERSION, "a version") for name in sorted(members)}
