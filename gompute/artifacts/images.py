"""The images and kernels of a set as plain mappings, for a program that hands them to a driver itself: what the generated module shows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple, TypeVar

from gompute.artifacts.index import UnitEntry
from gompute.artifacts.kernel_set import KernelSet
from gompute.targets import Backend

__all__ = ["Entry", "Images", "Kernels", "Lazy", "mappings"]

Value = TypeVar("Value")


class Entry(NamedTuple):
    """A kernel as a driver wants it: the image to load, and the name to ask it for."""

    blob: bytes
    symbol: str


class Lazy(Mapping[str, Value]):
    """A mapping that makes a value when it is asked for, and that nobody can change. Keys, length and `in` make none.

    Args:
        makers: what makes each value, in the order of the keys.
        what: what the keys are, for the message of a KeyError.
    """

    __slots__ = ("_makers", "_what")

    def __init__(self, makers: Mapping[str, Callable[[], Value]], what: str) -> None:
        self._makers = makers
        self._what = what

    def __getitem__(self, key: str) -> Value:
        if key not in self:
            raise KeyError(f"{key!r} is none of the {self._what}: {', '.join(self._makers) or '(none)'}")
        return self._makers[key]()

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __repr__(self) -> str:
        return f"<{self._what}: {', '.join(self._makers) or '(none)'}>"


Images = Mapping[str, Mapping[str, bytes]]
"""Target -> root -> image."""

Kernels = Mapping[str, Mapping[str, Entry]]
"""Target -> kernel -> entry."""


def mappings(path: str | os.PathLike[str]) -> dict[str, Images | Kernels]:
    """``cuda_images``, ``cuda_index``, ``hip_images`` and ``hip_index`` of the set in a folder.

    The index is read now; a blob is read and verified when it is asked for, and kept. Where a target has two kinds of blob it is the one
    that every build makes: PTX, not the cubin.

    Raises:
        ArtifactError: no kernel set there, or its index is not to be trusted. Asking for a blob may raise it too.
    """
    kernels = KernelSet.open(path)
    made: dict[str, Images | Kernels] = {}
    backends: tuple[Backend, ...] = ("cuda", "hip")
    for backend in backends:
        made[f"{backend}_images"] = _by_target(kernels, backend, _images)
        made[f"{backend}_index"] = _by_target(kernels, backend, _index)
    return made


def _by_target(
    kernels: KernelSet, backend: Backend, inner: Callable[[KernelSet, list[UnitEntry]], Mapping[str, Value]]
) -> Mapping[str, Mapping[str, Value]]:
    units: dict[str, list[UnitEntry]] = {target.name: [] for target in kernels.targets if target.backend == backend}
    for unit in kernels.index.units:
        if unit.target.name in units:
            units[unit.target.name].append(unit)
    return Lazy({name: partial(inner, kernels, found) for name, found in units.items()}, f"targets for {backend}")


def _images(kernels: KernelSet, units: list[UnitEntry]) -> Mapping[str, bytes]:
    return Lazy({unit.root: partial(_image, kernels, unit) for unit in units}, f"roots for {units[0].target}")


def _index(kernels: KernelSet, units: list[UnitEntry]) -> Mapping[str, Entry]:
    owners = {name: unit for unit in units for name in unit.kernels}
    return Lazy({name: partial(_entry, kernels, owners[name], name) for name in sorted(owners)}, f"kernels for {units[0].target}")


def _entry(kernels: KernelSet, unit: UnitEntry, name: str) -> Entry:
    return Entry(_image(kernels, unit), unit.kernels[name].symbol)


def _image(kernels: KernelSet, unit: UnitEntry) -> bytes:
    return kernels.blob(unit.root, unit.target, unit.blobs[0].kind)
