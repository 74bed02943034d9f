"""Params on the command line: ``-p scale=2 -p inner.w=1,2,3`` to the bytes that a kernel takes."""

from __future__ import annotations

from collections.abc import Sequence

from gompute.artifacts.entry import KernelEntry, ParamsEntry, ParamsFieldEntry
from gompute.errors import InvalidArgument
from gompute.lang import abi
from gompute.lang.types import SCALARS, ScalarType

__all__ = ["params_from_text"]

_BOOLS = {"true": 1, "false": 0, "1": 1, "0": 0}


def params_from_text(kernel: KernelEntry, given: Sequence[str]) -> bytes | None:
    """The packed params of a kernel, or None for one that takes none.

    Args:
        given: ``field=value``; a nested field is a dotted path, a fixed array has its values between commas. Integers may be written as
            0x1f, floats as in Python (``1e-3``, ``inf``), a bool as true or false.

    Raises:
        InvalidArgument: a field is missing, unknown, given twice, or its value does not fit.
    """
    values: dict[str, str] = {}
    for text in given:
        path, equals, value = text.partition("=")
        if not equals:
            raise InvalidArgument(f"-p {text}: a parameter is written field=value.")
        if path in values:
            raise InvalidArgument(f"-p {text}: {path} is given twice.")
        values[path] = value
    layout = next((argument.layout for argument in kernel.arguments if argument.layout is not None), None)
    if layout is None:
        if values:
            raise InvalidArgument(f"-p {given[0]}: kernel {kernel.name} takes no parameters.")
        return None
    fields = {field.path: field for field in layout.fields}
    unknown = [path for path in values if path not in fields]
    missing = [path for path in fields if path not in values]
    if unknown or missing:
        faults = [f"{path} is no field" for path in unknown] + [f"{path} is missing" for path in missing]
        raise InvalidArgument(f"parameters of kernel {kernel.name}: {'; '.join(faults)}.\n  It takes: {_wanted(layout)}")
    packed = bytearray(layout.size)
    for path, field in fields.items():
        data = b"".join(_encode(part, SCALARS[field.dtype], path) for part in _parts(values[path], field))
        packed[field.offset : field.offset + len(data)] = data
    return bytes(packed)


def _wanted(layout: ParamsEntry) -> str:
    return " ".join(f"-p {field.path}={','.join([field.dtype] * (field.count or 1))}" for field in layout.fields)


def _parts(text: str, field: ParamsFieldEntry) -> list[str]:
    if field.count is None:
        return [text]
    parts = text.split(",")
    if len(parts) != field.count:
        raise InvalidArgument(f"-p {field.path}={text}: {field.count} values between commas are wanted, got {len(parts)}.")
    return parts


def _encode(text: str, kind: ScalarType, path: str) -> bytes:
    word = text.strip()
    try:
        value = float(word) if kind.is_float else _BOOLS[word.lower()] if kind.kind == "bool" else int(word, 0)
    except (KeyError, ValueError):
        raise InvalidArgument(f"-p {path}={text}: {word!r} is no {kind.name}.") from None
    return abi.encode(value, kind, f"-p {path}")
