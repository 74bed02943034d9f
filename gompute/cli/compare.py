"""What differs between two kernel sets, and why as far as their indexes tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

from gompute.artifacts.entry import KernelEntry, Resources
from gompute.artifacts.index import SourceEntry, UnitEntry
from gompute.artifacts.kernel_set import KernelSet

__all__ = ["Difference", "compare_sets"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: what it is about (the set, a root for a target, a kernel of one), and what differs."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"

    def to_json(self) -> dict[str, str]:
        return {"place": self.place, "what": self.what}


def compare_sets(old: KernelSet, new: KernelSet) -> list[Difference]:
    """Every difference, in the order of the index; none when the sets are the same, byte for byte but for listings."""
    found = [Difference("generator", what) for what in _versions(old.index.generator, new.index.generator)]
    before = {(unit.root, unit.target): unit for unit in old.index.units}
    after = {(unit.root, unit.target): unit for unit in new.index.units}
    keys = sorted({*before, *after}, key=lambda key: (key[0], key[1].sort_key))
    for root, target in keys:
        place = f"root {root} for {target.name}"
        one, two = before.get((root, target)), after.get((root, target))
        if one is None or two is None:
            found.append(Difference(place, f"only in {(new if one is None else old).path}"))
        else:
            found += _units(place, one, two)
    return found


def _units(place: str, old: UnitEntry, new: UnitEntry) -> Iterator[Difference]:
    reasons = list(_versions(old.toolchain, new.toolchain))
    if old.mode != new.mode:
        reasons.append(f"option: {old.mode} became {new.mode}")
    yield from (Difference(place, reason) for reason in reasons)
    for name in sorted({*old.kernels, *new.kernels}):
        if name not in old.kernels or name not in new.kernels:
            reasons.append(name)
            yield Difference(place, f"kernel {name} was {'added' if name in new.kernels else 'removed'}")
        else:
            changes = list(_kernels(old.kernels[name], new.kernels[name]))
            reasons += changes
            yield from (Difference(f"{place}: kernel {name}", change) for change in changes)
    # Another mode makes other IR of the same source.
    both = sorted(old.ir.keys() & new.ir.keys()) if old.mode == new.mode else []
    edited = [name for name in both if old.ir[name] != new.ir[name]]
    for name in edited:
        yield Difference(f"{place}: kernel {name}", f"it was compiled from other IR: {_edits(old.source, new.source)}")
    known = bool(old.ir) and bool(new.ir)
    for kind in dict.fromkeys(blob.kind for blob in (*old.blobs, *new.blobs)):
        one, two = old.blob(kind), new.blob(kind)
        if one is None or two is None:
            yield Difference(place, f"a {kind} was {'added' if one is None else 'removed'}")
            continue
        if one.version != two.version:
            yield Difference(place, f"{kind}: version {one.version} became {two.version}")
        if one.sha256 != two.sha256:
            why = ""
            if not reasons and not edited:
                same = "the same IR, so they were told other options" if known else "the same kernels' declarations, so their bodies differ"
                why = f"; the same tools made both from {same}"
            yield Difference(
                place, f"{kind}: {one.length} bytes became {two.length}, sha256 {one.sha256[:12]} became {two.sha256[:12]}{why}"
            )


def _edits(old: SourceEntry | None, new: SourceEntry | None) -> str:
    """What was edited."""
    if old is None or new is None:
        return "its source, what it imports or a type that it uses changed"
    found = ["source: the root's module changed"] if old.module != new.module else []
    for name in sorted({*old.imports, *new.imports}):
        one, two = old.imports.get(name), new.imports.get(name)
        if one != two:
            found.append(f"import: {name} {'is new' if one is None else 'is gone' if two is None else 'changed'}")
    return "; ".join(found) or "no source changed, so a file that its import reads or the compiler did"


def _kernels(old: KernelEntry, new: KernelEntry) -> Iterator[str]:
    if old.signature != new.signature:
        yield f"its interface {old.signature} became {new.signature}"
    if old.block_size != new.block_size:
        yield f"its block size {old.block_size} became {new.block_size}"
    for item in fields(Resources):
        one, two = getattr(old.resources, item.name), getattr(new.resources, item.name)
        if one != two and None not in (one, two):  # else it is the tool that tells it which came or went
            yield f"{item.name.replace('_', ' ')}: {one} became {two}"


def _versions(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield f"{name}: {old.get(name, 'none')} became {new.get(name, 'none')}"
