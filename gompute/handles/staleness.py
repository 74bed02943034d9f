"""What differs between a kernel as the host declares it and as an artifact was built, in words."""

from __future__ import annotations

from gompute.artifacts.entry import ArgumentEntry, KernelEntry, ParamsEntry

__all__ = ["difference"]

_NOTHING = "none"


def difference(source: KernelEntry, artifact: KernelEntry) -> str:
    """The first thing in which two entries with different fingerprints differ: the operation, an argument, a field, the block size."""
    if source.kind != artifact.kind:
        return _words("the operation", source.kind, artifact.kind)
    for position in range(max(len(source.arguments), len(artifact.arguments))):
        here, there = _argument(source.arguments, position), _argument(artifact.arguments, position)
        if here != there:
            return _words(f"argument {position}", here, there)
    mine, theirs = _fields(source.params), _fields(artifact.params)
    for name in sorted(mine.keys() | theirs.keys(), key=lambda name: (name not in mine, name)):
        here, there = mine.get(name, _NOTHING), theirs.get(name, _NOTHING)
        if here != there:
            return _words(f"params field {name}", here, there)
    here, there = (",".join(map(str, entry.block_size)) for entry in (source, artifact))
    if here != there:
        return _words("block_size", here, there)
    return _words(
        "params", *("" if e.params is None else f"{e.params.size} bytes, aligned to {e.params.align}" for e in (source, artifact))
    )


def _words(what: str, here: str, there: str) -> str:
    return f"{what} is {here} in the source, and {there} in the artifact"


def _argument(arguments: tuple[ArgumentEntry, ...], position: int) -> str:
    if position >= len(arguments):
        return _NOTHING
    argument = arguments[position]
    return f"{argument.name}: {argument.declared}"


def _fields(params: ParamsEntry | None) -> dict[str, str]:
    if params is None:
        return {}
    return {
        field.path: f"{field.dtype if field.count is None else f'{field.dtype}[{field.count}]'} at byte {field.offset}"
        for field in params.fields
    }
