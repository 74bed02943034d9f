"""A wheel around a kernel set, written as bytes that depend on the set and the names alone.

One wheel serves every machine (``py3-none-any``), also where the set holds shared objects for a processor. They are no extension modules:
Python imports none of them, they are linked against nothing, and which of them runs here is decided when a kernel is loaded, as for a
GPU's code. A set often holds code for x86-64 and aarch64 side by side, and one for a GPU alone runs beside either.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Wheel", "make_wheel", "wheel_name_fault"]

# The earliest time that a zip file can hold.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_PYTHON = ">=3.11"


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel in memory.

    Attributes:
        file: its file name, from which installers read name, version and tag.
    """

    file: str
    data: bytes


def wheel_name_fault(module: str) -> str | None:
    """Why a wheel cannot be named after a module; None where it can."""
    if module.startswith("_") or module.endswith("_"):
        return "a wheel's name must start and end with a letter or a digit"
    return None


def make_wheel(module: str, files: Mapping[str, bytes], gompute_version: str) -> Wheel:
    """The wheel that installs `files` as the package `module`.

    Its version is that of Gompute and, as the local part, a hash of the files: two different sets never have the same version, so that pip
    replaces the one by the other.

    Args:
        module: a name for which `wheel_name_fault` gives none.
        files: the package's files by name.
        gompute_version: of the Gompute that builds; the wheel requires that version or a later one.
    """
    name = re.sub(r"[-_.]+", "_", module).lower()
    version = f"{gompute_version}+set{_digest_of(files)[:16]}"
    info = f"{name}-{version}.dist-info"
    entries = {f"{module}/{file}": files[file] for file in sorted(files)}
    entries[f"{info}/METADATA"] = _lines(
        "Metadata-Version: 2.1",
        f"Name: {module}",
        f"Version: {version}",
        "Summary: Kernels compiled ahead of time by Gompute",
        f"Requires-Python: {_PYTHON}",
        f"Requires-Dist: gompute>={gompute_version}",
    )
    entries[f"{info}/WHEEL"] = _lines(
        "Wheel-Version: 1.0", f"Generator: gompute {gompute_version}", "Root-Is-Purelib: true", "Tag: py3-none-any"
    )
    record = f"{info}/RECORD"
    entries[record] = _lines(*(f"{path},sha256={_record_hash(data)},{len(data)}" for path, data in entries.items()), f"{record},,")
    return Wheel(f"{name}-{version}-py3-none-any.whl", _zip(entries))


def _digest_of(files: Mapping[str, bytes]) -> str:
    lines = (f"{hashlib.sha256(files[file]).hexdigest()}  {file}\n" for file in sorted(files))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _lines(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("ascii")


def _record_hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode("ascii")


def _zip(entries: Mapping[str, bytes]) -> bytes:
    import zipfile  # here, since few builds make a wheel

    # Not compressed: what zlib makes of the same bytes differs between its versions and its replacements.
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
        for path, data in entries.items():
            entry = zipfile.ZipInfo(path, _EPOCH)
            entry.create_system = _UNIX
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, data)
    return written.getvalue()
