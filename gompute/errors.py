"""Every exception that Gompute raises, in two families.

`Error` and its subclasses are what a caller can act on: a mistake in a kernel, a wrong argument, a missing driver.
`InternalError` is a bug in Gompute itself; it never derives from `Error`, so that ``except gompute.Error`` does not hide one.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "AllocFailed",
    "ArtifactError",
    "BackendUnavailable",
    "CaptureFailed",
    "CheckFailed",
    "CompileError",
    "ContextFailed",
    "CopyFailed",
    "Error",
    "EventFailed",
    "GraphFailed",
    "InitFailed",
    "InternalError",
    "InvalidArgument",
    "KernelNotFound",
    "LaunchFailed",
    "ModuleLoadFailed",
    "NoDevice",
    "SyncFailed",
    "UnknownTarget",
    "Unsupported",
]


class Error(Exception):
    """Base of all errors that a user of Gompute can act on.

    Attributes:
        code: the vendor's numeric error code, where a driver call failed, else None.
        code_name: the vendor's name for that code (``CUDA_ERROR_OUT_OF_MEMORY``), else None.
    """

    def __init__(self, message: str, *, code: int | None = None, code_name: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.code_name = code_name


class InitFailed(Error):
    """A driver is there but did not start."""


class NoDevice(Error):
    """The driver runs but has no device of the wanted ordinal."""


class ContextFailed(Error):
    """A device context could not be made or made current."""


class SyncFailed(Error):
    """Waiting for a device failed; an earlier launch is the suspect."""


class AllocFailed(Error):
    """Device or pinned host memory could not be allocated."""


class ModuleLoadFailed(Error):
    """A blob does not fit the device, or the driver refused it."""


class ArtifactError(ModuleLoadFailed):
    """A kernel set on disk is missing, damaged, of an unknown version, or not to be trusted."""


class KernelNotFound(Error):
    """No kernel of that name in the set."""


class LaunchFailed(Error):
    """The driver refused a launch."""


class CheckFailed(Error):
    """A check of a kernel that was built with checks has failed: `safe` and `debug` builds have them.

    Attributes:
        kernel: the kernel's public name.
        file: the source file, relative to the folder of the kernel's root.
        line: counted from 1.
        check: `index`, `division`, `shift` or `assert`.
        value: the index, the dividend, the distance of the shift, or the left side of the comparison that was asserted; None where an
            assert compares nothing.
    """

    def __init__(self, message: str, *, kernel: str, file: str, line: int, check: str, value: float | bool | None) -> None:
        super().__init__(message)
        self.kernel = kernel
        self.file = file
        self.line = line
        self.check = check
        self.value = value


class CopyFailed(Error):
    """A copy between host and device failed."""


class InvalidArgument(Error, TypeError, ValueError):
    """An argument has the wrong type, shape, layout or value; the message names the argument."""


class BackendUnavailable(Error):
    """The wanted backend cannot be used here; the message says what is missing and how to get it."""


class Unsupported(Error):
    """The device or driver lacks what was asked for."""


class CaptureFailed(Error):
    """Stream capture failed."""


class GraphFailed(Error):
    """A graph could not be instantiated, updated or launched."""


class EventFailed(Error):
    """An event could not be made, recorded or read."""


class CompileError(Error):
    """A kernel, a root or a build request is wrong; the message names file, line and the fix where there is one.

    Attributes:
        kernels: names of kernels that were asked for and are not there.
    """

    def __init__(self, message: str, *, kernels: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.kernels = tuple(kernels)


class UnknownTarget(CompileError, ValueError):
    """A target name that is not in the table of targets."""


class InternalError(Exception):
    """A bug in Gompute; please report it with the message, which says what was being compiled or run."""
