"""Name table entries as JSON, both ways."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal, get_args

from gompute.artifacts.checked import Node, shown
from gompute.artifacts.checks import Check, CheckKind
from gompute.artifacts.entry import ArgumentEntry, KernelEntry, ParamsEntry, ParamsFieldEntry, Resources
from gompute.lang.types import MAX_DIMENSIONS, SCALARS

__all__ = ["Known", "kernel_from_json", "kernel_from_node", "kernel_to_json", "kernels_from_json"]

_INT_MAX = 2**31 - 1
_LONGEST_TEXT = 1 << 16
_KEYS = ("arguments", "block_size", "fingerprint", "kind", "name", "resources", "signature", "symbol")
_KINDS: tuple[Literal["pointer", "array", "extent", "scalar"], ...] = ("pointer", "array", "extent", "scalar")
_RESOURCES = ("private", "registers", "scalar_registers", "shared", "spills")


def kernel_to_json(kernel: KernelEntry) -> dict[str, Any]:
    """An entry as JSON, without the resources that are not known."""
    return {
        "arguments": [_argument_to_json(argument) for argument in kernel.arguments],
        "block_size": list(kernel.block_size),
        "fingerprint": kernel.fingerprint,
        "kind": kernel.kind,
        "name": kernel.name,
        "resources": {name: value for name in _RESOURCES if (value := getattr(kernel.resources, name)) is not None},
        "signature": kernel.signature,
        "symbol": kernel.symbol,
        **({"fast": True} if kernel.fast else {}),
        **({} if kernel.checks is None else {"checks": [_check_to_json(check) for check in kernel.checks]}),
    }


def kernel_from_json(value: object) -> KernelEntry:
    """The entry that `kernel_to_json` gave.

    Raises:
        ArtifactError: it is not one; the message says what of it is wrong.
    """
    return kernel_from_node(Node(value), Known())


class Known:
    """What was read and checked before, by what it was read from: a kernel's entries for many targets differ in resources alone, and the
    kernels of a root often share their params."""

    def __init__(self) -> None:
        self.entries: dict[str, KernelEntry] = {}
        self.layouts: dict[str, ParamsEntry] = {}


def kernel_from_node(node: Node, known: Known) -> KernelEntry:
    """`kernel_from_json` at a place in a larger document; `known` is used, and added to."""
    members = node.members(_KEYS, ("checks", "fast"))
    source = repr([member.value for key, member in sorted(members.items()) if key not in ("checks", "resources")])
    entry = known.entries.get(source)
    if entry is None:
        entry = known.entries[source] = _entry(members, known)
    checks = tuple(map(_check, members["checks"].items())) if "checks" in members else None
    return replace(entry, resources=_resources(members["resources"]), checks=checks)


def kernels_from_json(values: Iterable[object], known: Known) -> tuple[KernelEntry, ...]:
    """Several entries of one name table; raises as `kernel_from_node`."""
    return tuple(kernel_from_node(Node(value), known) for value in values)


def _entry(members: dict[str, Node], known: Known) -> KernelEntry:
    block_size = [axis.integer(1, 1024) for axis in members["block_size"].items()]
    if len(block_size) != 3:
        members["block_size"].wrong(f"must have three numbers, has {len(block_size)}")
    entry = KernelEntry(
        name=members["name"].identifier(),
        symbol=members["symbol"].identifier(),
        kind=members["kind"].identifier(),
        arguments=_arguments(members["arguments"], known),
        block_size=(block_size[0], block_size[1], block_size[2]),
        fast="fast" in members,
    )
    if entry.fast and members["fast"].value is not True:
        members["fast"].wrong(f"must be true where it is given, is {shown(members['fast'].value)}")
    for member, own in (("signature", entry.signature), ("fingerprint", entry.fingerprint)):
        if members[member].text(1 << 20) != own:
            members[member].wrong(f"does not follow from the kernel's arguments and block size, which give {shown(own)}")
    return entry


def _argument_to_json(argument: ArgumentEntry) -> dict[str, Any]:
    known: dict[str, Any] = {
        "align": argument.align,
        "dtype": argument.dtype,
        "kind": argument.kind,
        "name": argument.name,
        "size": argument.size,
    }
    if argument.kind == "array":
        known["ndim"] = argument.ndim
    return known if argument.layout is None else known | {"layout": _params_to_json(argument.layout)}


def _params_to_json(params: ParamsEntry) -> dict[str, Any]:
    fields = [{"count": field.count, "dtype": field.dtype, "offset": field.offset, "path": field.path} for field in params.fields]
    return {"align": params.align, "fields": fields, "name": params.name, "size": params.size}


def _arguments(node: Node, known: Known) -> tuple[ArgumentEntry, ...]:
    arguments = tuple(_argument(argument, known) for argument in node.items())
    kinds = [argument.kind for argument in arguments]
    wanted: list[str] = []
    for argument in arguments:
        if argument.kind != "extent":
            wanted += [argument.kind, *["extent"] * argument.ndim]
    if kinds != wanted:
        node.wrong(f"must have as many extents after each array as it has dimensions, and are {', '.join(kinds)}")
    return arguments


def _argument(node: Node, known: Known) -> ArgumentEntry:
    members = node.members(("align", "dtype", "kind", "name", "size"), ("layout", "ndim"))
    kind, name = members["kind"].text(), members["name"].text()
    size, align = members["size"].integer(1, _INT_MAX), members["align"].integer(1, 128)
    if ("layout" in members) != (kind == "params"):
        node.wrong("params, and nothing else, have a layout")
    if kind == "bytes":
        if members["dtype"].text() != "bytes" or align & (align - 1):
            node.wrong("bytes have the type 'bytes' and an alignment that is a power of two")
        return ArgumentEntry(name, "bytes", "bytes", size, align)
    if kind == "params":
        source = repr(members["layout"].value)
        layout = known.layouts.get(source)
        if layout is None:
            layout = known.layouts[source] = _params(members["layout"])
        if (members["dtype"].text(), size, align) != (layout.name, layout.size, layout.align):
            node.wrong("disagrees with its layout")
        return ArgumentEntry(name, "params", layout.name, size, align, layout=layout)
    own = next((own for own in _KINDS if kind == own), None)
    if own is None:
        members["kind"].wrong(f"must be pointer, array, extent, scalar, params or bytes, is {shown(kind)}")
    untyped = kind == "pointer" and members["dtype"].value == "any"
    dtype = "any" if untyped else members["dtype"].scalar()
    if (kind == "array") != ("ndim" in members) or (kind == "extent" and dtype != "u64"):
        node.wrong("an array, and nothing else, has ndim, and an extent is a u64")
    ndim = members["ndim"].integer(1, MAX_DIMENSIONS) if "ndim" in members else 0
    natural = 8 if kind in ("pointer", "array") else SCALARS[dtype].size
    if (size, align) != (natural, natural):
        node.wrong(f"a {kind} of {dtype} has size and alignment {natural}, not {size} and {align}")
    return ArgumentEntry(name, own, dtype, size, align, ndim)


def _params(node: Node) -> ParamsEntry:
    members = node.members(("align", "fields", "name", "size"))
    size, align = members["size"].integer(1, _INT_MAX), members["align"].integer(1, 16)
    if align & (align - 1) or size % align:
        node.wrong(f"size {size} must be a multiple of the alignment {align}, which must be a power of two")
    fields: list[ParamsFieldEntry] = []
    end = 0
    for item in members["fields"].items():
        field = item.members(("count", "dtype", "offset", "path"))
        dtype, offset = field["dtype"].scalar(), field["offset"].integer(0, size)
        count = None if field["count"].value is None else field["count"].integer(1, _INT_MAX)
        width = SCALARS[dtype].size
        if offset < end or offset % width or offset + width * (count or 1) > size:
            item.wrong(f"offset {offset} overlaps the field before, is no multiple of {width}, or leaves the {size} bytes")
        end = offset + width * (count or 1)
        fields.append(ParamsFieldEntry(field["path"].text(), dtype, offset, count))
    return ParamsEntry(members["name"].text(), tuple(fields), size, align)


def _check_to_json(check: Check) -> list[str | int]:
    return [check.kind, check.file, check.line, check.what, check.dtype, check.message]


def _check(node: Node) -> Check:
    """As a list, since a model has thousands."""
    members = node.items()
    if len(members) != 6:
        node.wrong(f"must have six members, has {len(members)}")
    kind, file, line, what, dtype, message = members
    known = next((known for known in get_args(CheckKind) if kind.text() == known), None)
    if known is None:
        kind.wrong(f"must be one of {', '.join(get_args(CheckKind))}, is {shown(kind.value)}")
    name = dtype.scalar() if dtype.value != "" else ""
    texts = [text.text(_LONGEST_TEXT) if text.value != "" else "" for text in (what, message)]
    return Check(known, file.text(4096), line.integer(1, _INT_MAX), texts[0], name, texts[1])


def _resources(node: Node) -> Resources:
    members = node.members((), _RESOURCES)
    return Resources(**{name: value.integer(0, _INT_MAX) for name, value in members.items()})
