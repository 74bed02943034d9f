"""The launch manifest: which kernels, and which instances of generic ones, a program launches.

A manifest is made by `gompute manifest scan` and meant to be committed; a build compiles what it names and no more. As JSON:
``{"version": 1, "kernels": {"ROOT": {"KERNEL": ["INSTANCE", ...]}}}``, sorted, the list empty for a kernel that is not generic. Where it
was asked for, ``"call_sites": {"ROOT": {"KERNEL": ["FILE:LINE", ...]}}`` says where the launches are.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gompute.artifacts.checked import Node, Wrong, parse_json, shown
from gompute.artifacts.files import read_regular
from gompute.artifacts.names import is_identifier, is_root_name
from gompute.errors import ArtifactError

__all__ = ["MAX_MANIFEST", "Manifest", "decode_manifest", "encode_manifest", "merge_manifests", "public_name", "read_manifest"]

#: The version that this Gompute writes and reads.
_VERSION = 1

#: Bytes beyond which a manifest is not read; a kernel takes about thirty.
MAX_MANIFEST = 16 << 20

_INSTANCE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(,[A-Za-z_][A-Za-z0-9_]*)*")

_Kernels = Mapping[str, Mapping[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is launched.

    Attributes:
        kernels: by root and then by kernel, both sorted: the instances, sorted, of a generic kernel, each the names of its types joined by
            commas (``f32,i32``); empty for a kernel that is not generic.
        call_sites: by root and then by kernel, ``FILE:LINE`` of each launch, sorted; None where the manifest does not say.
    """

    kernels: _Kernels = field(default_factory=lambda: MappingProxyType({}))
    call_sites: _Kernels | None = None

    def public_names(self, root: str) -> tuple[str, ...]:
        """Public names of what is launched of a root, sorted."""
        kernels = self.kernels.get(root, {})
        return tuple(sorted(public_name(kernel, instance) for kernel, made in kernels.items() for instance in made or ("",)))

    def sites(self, root: str, name: str) -> tuple[str, ...]:
        """Where the kernel of a public name is launched, as far as the manifest says."""
        for kernel, made in self.kernels.get(root, {}).items():
            if name in (public_name(kernel, instance) for instance in made or ("",)):
                return (self.call_sites or {}).get(root, {}).get(kernel, ())
        return ()


def public_name(kernel: str, instance: str) -> str:
    """The public name of a kernel's instance (``axpy`` and ``f32,i32`` give ``axpy_f32_i32``), or of a kernel that has none."""
    return "_".join([kernel, *filter(None, instance.split(","))])


def encode_manifest(manifest: Manifest) -> bytes:
    """A manifest as the bytes of its file, which follow from its content alone."""
    document: dict[str, Any] = {"version": _VERSION, "kernels": _sorted(manifest.kernels)}
    if manifest.call_sites is not None:
        document["call_sites"] = _sorted(manifest.call_sites)
    return json.dumps(document, indent=1, sort_keys=True).encode() + b"\n"


def read_manifest(file: Path) -> Manifest:
    """Read a manifest.

    Raises:
        ArtifactError: it is not there, or is no manifest; says where in it.
    """
    return decode_manifest(read_regular(Path(os.path.realpath(file)), limit=MAX_MANIFEST), str(file))


def decode_manifest(data: bytes, source: str) -> Manifest:
    """Parse and check the bytes of a manifest.

    Args:
        source: the file's name, for messages.

    Raises:
        ArtifactError: naming the file, the place in it and what is wrong.
    """
    try:
        return _manifest(parse_json(data))
    except Wrong as wrong:
        raise ArtifactError(f"{source}: {wrong}") from None


def _manifest(node: Node) -> Manifest:
    # The version first: another one may have other keys.
    version = node.mapping().get("version")
    if version is None or "kernels" not in node.mapping():
        node.wrong("not a launch manifest: it lacks 'version' or 'kernels'; write one with `gompute manifest scan`")
    if type(version.value) is not int or version.value != _VERSION:
        version.wrong(f"is {shown(version.value)}, this Gompute reads {_VERSION}; scan again")
    members = node.members(("kernels", "version"), ("call_sites",))
    kernels = {
        root: {kernel: _instances(list_) for kernel, list_ in sorted(made.mapping(_is_kernel, "name of a kernel").items())}
        for root, made in sorted(members["kernels"].mapping(is_root_name, "name of a root").items())
    }
    kernels = {root: made for root, made in kernels.items() if made}
    for root, made in kernels.items():
        _check_public_names(members["kernels"], root, made)
    if "call_sites" not in members:
        return Manifest(kernels)
    sites = {
        root: {kernel: tuple(sorted({site.text(4096) for site in list_.items()})) for kernel, list_ in sorted(made.mapping().items())}
        for root, made in sorted(members["call_sites"].mapping().items())
    }
    return Manifest(kernels, sites)


def _is_kernel(name: str) -> bool:
    return is_identifier(name)


def _instances(node: Node) -> tuple[str, ...]:
    return tuple(sorted({item.matching(_INSTANCE, "names of types, joined by commas") for item in node.items()}))


def _check_public_names(node: Node, root: str, kernels: Mapping[str, Sequence[str]]) -> None:
    """`axpy` with the instance `f32` and a plain kernel `axpy_f32` would be one kernel."""
    owners: dict[str, str] = {}
    for kernel, made in kernels.items():
        for instance in made or ("",):
            name = public_name(kernel, instance)
            if owners.setdefault(name, kernel) != kernel:
                node.wrong(f"root {root!r}: {owners[name]!r} and {kernel!r} both stand for the kernel {name!r}")


def merge_manifests(manifests: Sequence[tuple[str, Manifest]]) -> Manifest:
    """The union of several manifests, each with the name to call it by. What one launches is in the result, whatever the others say.

    Call sites are kept where all have them.

    Raises:
        ArtifactError: two roots have a kernel of one name; both are named.
    """
    kernels: dict[str, dict[str, set[str]]] = {}
    owners: dict[str, tuple[str, str]] = {}
    for source, manifest in manifests:
        for root, made in manifest.kernels.items():
            for kernel, instances in made.items():
                known = kernels.setdefault(root, {})
                if kernel in known and bool(known[kernel]) != bool(instances):
                    raise ArtifactError(
                        f"kernel {kernel!r} of root {root!r} has instances in one manifest and none in another ({source}); "
                        "one of them was made from another version of the root: scan again"
                    )
                known.setdefault(kernel, set()).update(instances)
            for name in manifest.public_names(root):
                owner, where = owners.setdefault(name, (root, source))
                if owner != root:
                    raise ArtifactError(
                        f"kernel {name!r} is in root {owner!r} ({where}) and in root {root!r} ({source}); "
                        'a name is unique in a kernel set: rename one of them (name="..."), or name the root alike in both packages'
                    )
    united = {root: {kernel: tuple(sorted(made)) for kernel, made in sorted(known.items())} for root, known in sorted(kernels.items())}
    listed = [manifest.call_sites for _, manifest in manifests]
    sites = _united_sites([site for site in listed if site is not None]) if listed and None not in listed else None
    return Manifest(united, sites)


def _united_sites(listed: Iterable[_Kernels]) -> _Kernels:
    united: dict[str, dict[str, set[str]]] = {}
    for sites in listed:
        for root, made in sites.items():
            for kernel, places in made.items():
                united.setdefault(root, {}).setdefault(kernel, set()).update(places)
    return {root: {kernel: tuple(sorted(places)) for kernel, places in made.items()} for root, made in united.items()}


def _sorted(kernels: _Kernels) -> dict[str, dict[str, list[str]]]:
    return {root: {kernel: sorted(made) for kernel, made in kernels[root].items()} for root in kernels if kernels[root]}
