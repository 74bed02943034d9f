"""The Python module around a kernel set that is installed beside a program: ``gompute build --module`` and ``--wheel`` make them."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, cast

from gompute.artifacts.names import MODULE
from gompute.errors import ArtifactError, InvalidArgument

if TYPE_CHECKING:
    from gompute.artifacts.images import Images, Kernels

__all__ = ["InstalledKernels", "find_module", "folder_of", "installed_kernels"]


class InstalledKernels(Protocol):
    """What a generated module shows.

    Attributes:
        emitted: True; False for the stand-in where none is installed.
        has_cuda, has_hip, has_cpu: whether there is code for that backend.
        root_names: the roots of the set, sorted.
        path: the folder of the set, for `gompute.load`; None where none is installed.
        cuda_images, hip_images: target -> root -> image. An image is read and verified when it is asked for.
        cuda_index, hip_index: target -> kernel -> ``Entry(blob, symbol)``: the image that has the kernel and the name to ask it for.
    """

    @property
    def emitted(self) -> bool: ...
    @property
    def has_cuda(self) -> bool: ...
    @property
    def has_hip(self) -> bool: ...
    @property
    def has_cpu(self) -> bool: ...
    @property
    def root_names(self) -> tuple[str, ...]: ...
    @property
    def path(self) -> Path | None: ...
    @property
    def cuda_images(self) -> Images: ...
    @property
    def cuda_index(self) -> Kernels: ...
    @property
    def hip_images(self) -> Images: ...
    @property
    def hip_index(self) -> Kernels: ...


class _NoKernels:
    """The stand-in."""

    emitted = has_cuda = has_hip = has_cpu = False
    root_names: tuple[str, ...] = ()
    path: Path | None = None

    def __init__(self, module: str) -> None:
        from gompute.artifacts.images import Lazy

        self._module = module
        self.cuda_images: Images = Lazy({}, "targets for cuda")
        self.cuda_index: Kernels = Lazy({}, "targets for cuda")
        self.hip_images: Images = Lazy({}, "targets for hip")
        self.hip_index: Kernels = Lazy({}, "targets for hip")

    def __repr__(self) -> str:
        return f"<no module {self._module} is installed>"


def installed_kernels(module: str = MODULE) -> InstalledKernels:
    """The installed module of that name, or an empty stand-in with ``emitted = False`` where there is none.

    Raises:
        InvalidArgument: that is no name of a module.
        ArtifactError: the module is there and cannot be imported, or no build has made it.
    """
    if not isinstance(module, str) or not all(part.isidentifier() for part in module.split(".")):
        raise InvalidArgument(f"module: expected the name of a Python module, got {module!r}")
    found = find_module(module)
    if found is None:
        return _NoKernels(module)
    if not hasattr(found, "emitted"):
        raise _foreign(found, "`emitted`")
    return cast("InstalledKernels", found)


def find_module(name: str) -> ModuleType | None:
    """The module of that name, imported, or None where none is installed.

    A folder without an ``__init__.py``, which Python takes for a namespace package, is none: it may be a kernel set of that name in the
    current folder.

    Raises:
        ArtifactError: it cannot be imported.
    """
    module = sys.modules.get(name)
    if module is None:
        try:
            spec = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            return None  # the package that it would be in is not there
        except Exception as error:
            raise ArtifactError(f"the installed module {name} cannot be imported: {_said(error)}") from error
        if spec is None or spec.origin is None:
            return None
        try:
            module = importlib.import_module(name)
        except Exception as error:
            raise ArtifactError(f"the installed module {name} ({spec.origin}) cannot be imported: {_said(error)}") from error
    return None if _is_namespace(module) else module


def folder_of(module: ModuleType) -> Path:
    """The kernel set of a generated module.

    Raises:
        ArtifactError: it has none.
    """
    folder = getattr(module, "path", None)
    if not isinstance(folder, str | os.PathLike):
        raise _foreign(module, "`path` of a kernel set")
    return Path(folder)


def _is_namespace(module: ModuleType) -> bool:
    return hasattr(module, "__path__") and getattr(module, "__file__", None) is None


def _foreign(module: ModuleType, lacks: str) -> ArtifactError:
    place = getattr(module, "__file__", None) or "made in this process"
    return ArtifactError(f"the installed module {module.__name__} ({place}) has no {lacks}: `gompute build --module` makes such modules")


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
