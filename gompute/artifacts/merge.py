"""Uniting kernel sets."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path

from gompute.artifacts.destination import Destination
from gompute.artifacts.entry import KernelEntry, Resources
from gompute.artifacts.kernel_set import KernelSet
from gompute.artifacts.write import NewBlob, NewUnit, WrittenBlob, set_content
from gompute.errors import ArtifactError

__all__ = ["merge_sets", "merged_units", "read_units"]


def read_units(kernels: KernelSet) -> tuple[NewUnit, ...]:
    """All of a set in memory, every blob verified: what `write_set` writes as the same bytes. Listings are no part of it.

    Raises:
        ArtifactError: a blob is missing or damaged.
    """
    return tuple(
        NewUnit(
            root=unit.root,
            target=unit.target,
            blobs=tuple(NewBlob(blob.kind, kernels.blob(unit.root, unit.target, blob.kind), blob.version) for blob in unit.blobs),
            kernels=tuple(unit.kernels.values()),
            toolchain=unit.toolchain,
            ir=unit.ir,
            mode=unit.mode,
            source=unit.source,
        )
        for unit in kernels.index.units
    )


def merge_sets(
    sources: Sequence[str | os.PathLike[str]], destination: Destination, *, generator: Mapping[str, str]
) -> tuple[Path, tuple[WrittenBlob, ...]]:
    """Write the union of several kernel sets; one of them may be what is replaced.

    Args:
        generator: as for `write_set`.

    Returns:
        The folder or the file that was written, and the blobs in it, in the order of the index.

    Raises:
        ArtifactError: as `merged_units`, or the destination cannot take the set.
    """
    destination.check()
    opened = [KernelSet.open(source) for source in sources]
    units = merged_units(opened)
    content = set_content(units, generator=generator, left_out=_left_out(opened, units))
    prepared = destination.prepare(content)
    prepared.write()
    return prepared.place, content.blobs


def merged_units(sources: Sequence[KernelSet]) -> tuple[NewUnit, ...]:
    """The union of several kernel sets, in memory. The order of `sources` changes nothing.

    A root and target that two sets have must be the same in both, except that one may have a kind of blob (a cubin beside the PTX) that the
    other lacks.

    Raises:
        ArtifactError: a blob can't be read, or two sets differ on a root and target, or give one kernel's name to two roots; both are
            named.
    """
    merged: dict[tuple[str, str], tuple[NewUnit, KernelSet]] = {}
    owners: dict[str, tuple[str, KernelSet]] = {}
    for kernels in sources:
        for unit in read_units(kernels):
            key = (unit.root, unit.target.name)
            if key in merged:
                earlier, where = merged[key]
                merged[key] = _unite(earlier, where, unit, kernels), where
            else:
                merged[key] = unit, kernels
            for kernel in unit.kernels:
                root, where = owners.setdefault(kernel.name, (unit.root, kernels))
                if root != unit.root:
                    raise ArtifactError(
                        f"kernel {kernel.name!r} is in root {root!r} of {where.path} and in root {unit.root!r} of {kernels.path}; "
                        "a name is unique in a kernel set: rename one of them, or keep the sets apart"
                    )
    return tuple(unit for unit, _ in merged.values())


def _left_out(sources: Sequence[KernelSet], units: Sequence[NewUnit]) -> dict[str, tuple[str, ...]]:
    """What a manifest left out of one set and no other set has."""
    made: dict[str, set[str]] = {}
    for source in sources:
        for root, kernels in source.index.left_out.items():
            made.setdefault(root, set()).update(kernels)
    roots = {unit.root for unit in units}
    there = {root: {kernel.name for unit in units if unit.root == root for kernel in unit.kernels} for root in {*roots, *made}}
    return {root: tuple(sorted(made[root] - there[root])) for root in made if made[root] - there[root] or root not in roots}


def _unite(first: NewUnit, first_set: KernelSet, second: NewUnit, second_set: KernelSet) -> NewUnit:
    where = f"root {first.root!r} for {first.target} of {first_set.path} and of {second_set.path}"
    if first.mode != second.mode:
        raise ArtifactError(f"{where} differ: one was built {first.mode}, the other {second.mode}; build one of them again")
    blobs = {blob.kind: blob for blob in first.blobs}
    for blob in second.blobs:
        if blobs.setdefault(blob.kind, blob) != blob:
            raise ArtifactError(f"{where} differ: the {blob.kind} is not the same; build one of them again, or rename its root")
    tables = [{kernel.name: kernel for kernel in unit.kernels} for unit in (first, second)]
    if tables[0].keys() != tables[1].keys():
        lone = min(tables[0].keys() ^ tables[1].keys())
        raise ArtifactError(f"{where} differ: only one has the kernel {lone!r}; build one of them again, or rename its root")
    united = tuple(_unite_kernels(kernel, tables[1][name], where) for name, kernel in tables[0].items())
    toolchain = dict(first.toolchain)
    for tool, version in second.toolchain.items():
        if toolchain.setdefault(tool, version) != version:
            raise ArtifactError(
                f"{where} differ: one was made by {tool} {toolchain[tool]}, the other by {version}; build one of them again"
            )
    ir, source = first.ir or second.ir, first.source or second.source
    if second.source not in (None, source):
        source = None  # the same code of two sources: neither is that of the whole
    return replace(first, blobs=tuple(blobs.values()), kernels=united, toolchain=toolchain, ir=ir, source=source)


def _unite_kernels(first: KernelEntry, second: KernelEntry, where: str) -> KernelEntry:
    if replace(first, resources=Resources()) != replace(second, resources=Resources()):
        raise ArtifactError(f"{where} differ: kernel {first.name!r} is not the same; build one of them again, or rename its root")
    known: dict[str, int | None] = {}
    for item in fields(Resources):
        # PTX says little of what a kernel takes, a cubin all of it.
        mine, other = getattr(first.resources, item.name), getattr(second.resources, item.name)
        if None not in (mine, other) and mine != other:
            raise ArtifactError(f"{where} differ: kernel {first.name!r} takes {mine} {item.name} in one and {other} in the other")
        known[item.name] = other if mine is None else mine
    return replace(first, resources=Resources(**known))
