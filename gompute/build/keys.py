"""What a cached result is filed under: a hash of everything that decides it."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

from gompute.build.wire import encode

if TYPE_CHECKING:
    from gompute.build.job import Job

__all__ = ["blob_key", "code_key", "digest", "python_identity", "toolchain_identity", "tools"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What turns source into code: everything but the runtime and the command line.
_COMPILER = ("artifacts", "backends", "build", "frontend", "ir", "lang", "math", "targets")
# Package -> the distributions that bring it, by the names of their folders of metadata.
_TOOLS = {"llvmlite": ("llvmlite",), "ziglang": ("ziglang",), "nvidia": ("nvidia_cuda_nvcc", "nvidia_nvvm"), "numpy": ("numpy",)}


def digest(*parts: str | bytes) -> str:
    """The sha256, in hex, of a list of texts and bytes. Lists that differ in how they are cut differ."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        total.update(len(data).to_bytes(8, "big"))
        total.update(data)
    return total.hexdigest()


@lru_cache(maxsize=1)
def toolchain_identity() -> dict[str, str]:
    """A hash for each part of the compiler: Gompute's own sources, and each package that generates or links code. Nothing is imported."""
    return {"gompute": digest(*_own_sources()), **{package: _installed(package, names) for package, names in _TOOLS.items()}}


@lru_cache(maxsize=1)
def python_identity() -> str:
    """The interpreter that runs the frontend."""
    return f"{sys.implementation.name} {sys.version}"


def code_key(job: Job, entries: Sequence[Mapping[str, Any]], ir: str) -> str:
    """Of the code of some kernels, with their entries of the name table and the hash of their IR."""
    listings = sorted({"ir", "asm"} & job.emit)
    # Where the checks stand in the source is no part of the code.
    told = [{name: value for name, value in entry.items() if name != "checks"} for entry in entries]
    return digest("code", ir, encode({"entries": told}), job.target.name, str(job.mode), ",".join(listings), *tools())


def blob_key(job: Job, pieces: Iterable[str]) -> str:
    """Of a root's blobs, with the hash of each of its pieces in order."""
    return digest("blob", job.target.name, str(job.mode), ",".join(sorted(job.emit)), *tools(), *pieces)


def tools() -> list[str]:
    """`toolchain_identity` as a list."""
    return [f"{name} {identity}" for name, identity in sorted(toolchain_identity().items())]


def _own_sources() -> Iterator[str | bytes]:
    files = [os.path.join(_PACKAGE, "__init__.py"), os.path.join(_PACKAGE, "errors.py")]
    for name in _COMPILER:
        for folder, folders, names in os.walk(os.path.join(_PACKAGE, name)):
            folders.sort()
            files += [os.path.join(folder, file) for file in sorted(names) if file.endswith(".py")]
    for path in files:
        yield path[len(_PACKAGE) :]
        yield _content(path)


def _installed(package: str, distributions: tuple[str, ...]) -> str:
    """From the list of files and their hashes that an installer has left; where there is none, from size and time of the files."""
    spec = PathFinder.find_spec(package)
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    parts: list[str | bytes] = []
    for place in places:
        beside = os.path.dirname(os.path.abspath(place))
        records = [
            os.path.join(beside, name, "RECORD")
            for name in sorted(os.listdir(beside))
            if name.endswith(".dist-info") and name.partition("-")[0].lower() in distributions
        ]
        found = [_content(record) for record in records if os.path.isfile(record)]
        parts += found or [f"{name} {entry.st_size} {entry.st_mtime_ns}" for name, entry in _files(place)]
    return digest(*parts)


def _content(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read()


def _files(place: str) -> Iterator[tuple[str, os.stat_result]]:
    for folder, folders, names in os.walk(place):
        folders.sort()
        for name in sorted(names):
            if not name.endswith(".pyc"):
                yield os.path.relpath(os.path.join(folder, name), place), os.stat(os.path.join(folder, name))
