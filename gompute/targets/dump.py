"""The table of targets as JSON, for readers that are not Python (Nix evaluates target names before it builds anything)."""

from __future__ import annotations

import dataclasses

from gompute.targets.names import all_targets
from gompute.targets.target import Target

__all__ = ["targets_json"]


def _row(target: Target) -> dict[str, object]:
    row = {field.name: getattr(target, field.name) for field in dataclasses.fields(target) if field.name != "name"}
    if target.ptx_version is not None:
        row["ptx_version"] = "{}.{}".format(*target.ptx_version)
    row["safe_name"] = target.safe_name
    row["kinds"] = target.kinds
    # A key only where it says something: a reader asks with a default. An AMD feature that is pinned off does say something.
    flags = {key: row.pop(key) for key in ("embedded", "generic")}
    return {key: value for key, value in row.items() if value not in (None, "", ())} | {key: True for key, on in flags.items() if on}


def targets_json() -> str:
    """An object of one line per target, keyed by name, in the order of `all_targets`; ends in a newline. The same text on every machine."""
    import json

    lines = [f"{json.dumps(target.name)}: {json.dumps(_row(target), sort_keys=True)}" for target in all_targets()]
    return "{\n" + ",\n".join(lines) + "\n}\n"
