"""Where a vendor's driver library is.

It is opened here first, by an absolute path where one is needed, because the Python bindings ask the system's loader for a plain name and
that loader knows neither an override nor NixOS's folder of drivers.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from gompute.errors import BackendUnavailable

__all__ = ["DriverMissing", "FoundLibrary", "find_library", "mapped_libraries"]

#: Where NixOS puts the drivers of the running system.
_NIXOS_DRIVERS = "/run/opengl-driver/lib"


class DriverMissing(BackendUnavailable):
    """This machine has no driver of that vendor: the one reason for which `AutoKernel` goes on without a word."""


@dataclass(frozen=True, slots=True)
class FoundLibrary:
    """An opened library.

    Attributes:
        path: what was given to the loader.
        handle: the loader's handle.
    """

    path: str
    handle: int


def find_library(vendor: str, variable: str, names: Sequence[str], fallbacks: Iterable[str] = ()) -> FoundLibrary:
    """Opens a driver library: the one that an environment variable names, else the one that this process has already loaded, else the
    first that is there of NixOS's folder, the loader's own search, and `fallbacks`.

    Args:
        vendor: for messages: ``CUDA``.
        variable: the variable that overrides the search; a file, or a folder that holds one of `names`.
        names: the library's names, the wanted one first.
        fallbacks: paths to try last; asked for only then.

    Raises:
        DriverMissing: there is none.
        BackendUnavailable: the override cannot be loaded, or another library of that name is loaded already.
    """
    override = os.environ.get(variable)
    if override:
        paths = [os.path.join(override, name) for name in names] if os.path.isdir(override) else [override]
        found, reasons = _first(paths)
        if found is None:
            raise BackendUnavailable(f"{variable}={override} cannot be loaded as the {vendor} driver:\n{_lines(reasons)}")
        loaded = _already_loaded(names)
        if loaded is not None and loaded.handle != found.handle:
            raise BackendUnavailable(
                f"{variable}={override} comes too late: this process has already loaded another {loaded.path}; import gompute and open the "
                f"device before the library that does so"
            )
        return found
    loaded = _already_loaded(names)
    if loaded is not None:
        return loaded
    found, reasons = _first(chain((os.path.join(_NIXOS_DRIVERS, name) for name in names), names, fallbacks))
    if found is None:
        raise DriverMissing(f"no {vendor} driver on this machine; tried (set {variable} to name another place):\n{_lines(reasons)}")
    return found


def mapped_libraries(stem: str) -> list[str]:
    """The files that this process has mapped and whose names begin so."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        paths = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if line.count("/")}
    return sorted(path for path in paths if os.path.basename(path).startswith(stem))


def _already_loaded(names: Sequence[str]) -> FoundLibrary | None:
    for name in names:
        try:
            return FoundLibrary(name, _open(name, os.RTLD_NOLOAD))
        except OSError:
            continue  # that name is not loaded, the usual case
    return None


def _first(paths: Iterable[str]) -> tuple[FoundLibrary | None, list[str]]:
    reasons = []
    for path in paths:
        try:
            return FoundLibrary(path, _open(path)), []
        except OSError as error:
            reasons.append(str(error))
    return None, reasons


def _open(path: str, flags: int = 0) -> int:
    handle: int = ctypes.CDLL(path, mode=os.RTLD_NOW | flags)._handle
    return handle


def _lines(reasons: list[str]) -> str:
    return "\n".join(f"  {reason}" for reason in dict.fromkeys(reasons))
