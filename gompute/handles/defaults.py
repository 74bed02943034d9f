"""Which kernel set a handle uses when it is given none."""

from __future__ import annotations

import os
from types import ModuleType
from typing import TypeAlias

from gompute.artifacts import kernel_set as artifacts
from gompute.artifacts.locks import Lock
from gompute.artifacts.names import MODULE
from gompute.errors import ArtifactError, InvalidArgument, KernelNotFound
from gompute.handles.installed import find_module, folder_of
from gompute.handles.kernel_set import KernelSet, load

__all__ = ["Kernels", "default_set", "register_kernels", "required_set"]

#: What a caller may give for a kernel set: an opened one, a folder, or the generated module around one.
Kernels: TypeAlias = KernelSet | str | os.PathLike[str] | ModuleType | None

_VARIABLE = "GOMPUTE_KERNELS"


class _Registry:
    """This process's default, and the sets opened by folder with what tells that the folder was built again."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.default: KernelSet | None = None
        self.opened: dict[str, tuple[tuple[int, int], KernelSet]] = {}


_registry = _Registry()


def register_kernels(kernels: KernelSet | str | os.PathLike[str] | ModuleType) -> KernelSet:
    """Makes a kernel set (or the one in a folder, or of a generated module) this process's default, and returns it.

    A program registers its own set once; a library passes ``kernels=`` to its handles instead.

    Raises:
        InvalidArgument: another set is the default already.
        ArtifactError: no kernel set there.
    """
    given = _set_of(kernels)
    with _registry.lock:
        known = _registry.default
        if known is not None and known.path != given.path:
            raise InvalidArgument(
                f"kernels: {known.path} is this process's default kernel set already; {given.path} cannot be a second one: "
                f"pass kernels=... to the handles that use it"
            )
        _registry.default = known or given
        return _registry.default


def default_set(kernels: Kernels = None) -> KernelSet | None:
    """The kernel set to use: the argument, else the registered default, else the folder in GOMPUTE_KERNELS, else that of the installed
    module `gompute_kernels`, else None.

    Raises:
        ArtifactError: that set is missing or not to be trusted.
    """
    if kernels is not None:
        return _set_of(kernels)
    if _registry.default is not None:
        return _registry.default
    folder = os.environ.get(_VARIABLE)
    if folder:
        try:
            return _open(folder)
        except ArtifactError as error:
            raise ArtifactError(f"{_VARIABLE}: {error}") from error
    module = find_module(MODULE)
    return None if module is None else _open(folder_of(module))


def required_set(kernels: Kernels, kernel: str) -> KernelSet:
    """As `default_set`.

    Raises:
        KernelNotFound: there is no set; says how to give one.
    """
    found = default_set(kernels)
    if found is None:
        raise KernelNotFound(
            f"kernel {kernel!r}: no kernel set to look in: pass kernels=g.load(FOLDER), call g.register_kernels(FOLDER) once, "
            f"set {_VARIABLE}, or install a {MODULE} package; `gompute build` makes a set, and with --wheel such a package"
        )
    return found


def _set_of(kernels: KernelSet | str | os.PathLike[str] | ModuleType) -> KernelSet:
    if isinstance(kernels, KernelSet):
        return kernels
    if isinstance(kernels, artifacts.KernelSet):
        return KernelSet(kernels.path, kernels.index)
    if isinstance(kernels, str | os.PathLike):
        return _open(kernels)
    if isinstance(kernels, ModuleType):
        return _open(folder_of(kernels))
    raise InvalidArgument(f"kernels: expected a kernel set (from g.load) or the path of one, got {type(kernels).__name__}")


def _open(folder: str | os.PathLike[str]) -> KernelSet:
    """The set in a folder, opened once as long as its index is the same file."""
    where = os.path.abspath(folder)
    try:
        index = os.stat(os.path.join(where, "index.json"))
    except OSError:
        return load(folder)  # which says what is wrong
    state = (index.st_ino, index.st_mtime_ns)
    with _registry.lock:
        known = _registry.opened.get(where)
        if known is None or known[0] != state:
            known = _registry.opened[where] = (state, load(folder))
        return known[1]
