"""What differs between a kernel as the host declares it and as an artifact was built, in words."""

from __future__ import annotations

from gompute.artifacts.entry import ArgumentEntry, KernelEntry

__all__ = ["difference"]

_NOTHING = "none"


def difference(source: KernelEntry, artifact: KernelEntry) -> str:
    """The first thing in which two entries with different fingerprints differ: the operation, an argument, a field, the block size,
    `fast`."""
    if source.kind != artifact.kind:
        return _words("the operation", source.kind, artifact.kind)
    for position in range(max(len(source.arguments), len(artifact.arguments))):
        here, there = _argument(source.arguments, position), _argument(artifact.arguments, position)
        if here != there:
            return _words(f"argument {position}", here, there)
    mine, theirs = _fields(source), _fields(artifact)
    for name in sorted(mine.keys() | theirs.keys(), key=lambda name: (name not in mine, name)):
        here, there = mine.get(name, _NOTHING), theirs.get(name, _NOTHING)
        if here != there:
            return _words(f"params field {name}", here, there)
    here, there = (",".join(map(str, entry.block_size)) for entry in (source, artifact))
    if here != there:
        return _words("block_size", here, there)
    if source.fast != artifact.fast:
        return _words("fast", str(source.fast), str(artifact.fast))
    return _words("params", _sizes(source), _sizes(artifact))


def _words(what: str, here: str, there: str) -> str:
    return f"{what} is {here} in the source, and {there} in the artifact"


def _argument(arguments: tuple[ArgumentEntry, ...], position: int) -> str:
    if position >= len(arguments):
        return _NOTHING
    argument = arguments[position]
    return f"{argument.name}: {argument.declared}"


def _fields(entry: KernelEntry) -> dict[str, str]:
    """Where each field of the params lies, by its path; where there are several structs, behind the argument's name."""
    structs = [(argument.name, argument.layout) for argument in entry.arguments if argument.layout is not None]
    return {
        field.path if len(structs) == 1 else f"{name}.{field.path}": (
            f"{field.dtype if field.count is None else f'{field.dtype}[{field.count}]'} at byte {field.offset}"
        )
        for name, layout in structs
        for field in layout.fields
    }


def _sizes(entry: KernelEntry) -> str:
    return "; ".join(f"{argument.size} bytes, aligned to {argument.align}" for argument in entry.arguments if argument.layout is not None)
