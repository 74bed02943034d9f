"""From a spec or a name to a kernel that is loaded on a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from gompute.artifacts.describe import entry_of
from gompute.artifacts.entry import KernelEntry
from gompute.errors import ArtifactError, BackendUnavailable, InvalidArgument, KernelNotFound, ModuleLoadFailed
from gompute.handles.defaults import Kernels, default_set, required_set
from gompute.handles.kernel_set import KernelSet
from gompute.handles.staleness import difference
from gompute.lang.spec import KernelSpec
from gompute.runtime import cpu
from gompute.runtime.context import DeviceContext, DeviceKernel
from gompute.targets import KINDS

__all__ = ["BACKENDS", "AnyContext", "Opened", "check_backend", "open_compiled", "open_context", "open_kernel", "spec_of"]

BACKENDS = tuple(KINDS)

AnyContext: TypeAlias = DeviceContext | cpu.Context


@dataclass(frozen=True, slots=True)
class Opened:
    """A kernel on a device.

    Attributes:
        kernel: to launch; a `CpuKernel` exactly where the backend is ``cpu``.
        source: where the code is from, for people: set, target and kind of blob.
        record: the address that a launch of a kernel with checks passes last.
    """

    backend: str
    entry: KernelEntry
    context: AnyContext
    kernel: DeviceKernel | cpu.CpuKernel
    source: str
    record: int | None = None


class _Module(Protocol):
    def get_kernel(self, symbol: str) -> DeviceKernel | cpu.CpuKernel: ...


def spec_of(spec: object, handle: str) -> KernelSpec:
    """`spec` itself, when it is one.

    Raises:
        InvalidArgument: it is something else; says what to pass.
    """
    if isinstance(spec, KernelSpec):
        return spec
    if isinstance(spec, str):
        raise InvalidArgument(
            f"spec: expected a kernel, got the name {spec!r}: {handle} takes the decorated function; for a name use g.kernel_by_name"
        )
    if callable(spec):
        raise InvalidArgument(f"spec: {getattr(spec, '__name__', spec)!r} is a plain function: decorate it with @g.map or @g.kernel")
    raise InvalidArgument(f"spec: expected a kernel (a function decorated with @g.map or @g.kernel), got {type(spec).__name__}")


def open_kernel(what: KernelSpec | str, backend: str, ordinal: int, kernels: Kernels) -> Opened:
    """Finds the best code of a kernel for a device and loads it there.

    Args:
        what: a spec, which the artifact must agree with, or a name.

    Raises:
        KernelNotFound: no kernel of that name, or no set to look in.
        ModuleLoadFailed: no code for the device, a damaged artifact, one that the driver refuses, or one built from another version of
            the spec.
        BackendUnavailable, InitFailed, NoDevice: as the backend's context.
    """
    check_backend(backend)
    if backend == "cpu":
        return _open_cpu(what, ordinal, kernels)
    name = what if isinstance(what, str) else what.name
    kernel_set = required_set(kernels, name)
    kernel_set.root_of(name)  # a wrong name is told before a missing driver
    return _load(what, kernel_set, _device_context(backend, ordinal))


def open_compiled(spec: KernelSpec) -> Opened:
    """A kernel compiled for this machine's processor, whatever the kernel sets hold.

    Raises:
        BackendUnavailable: the compiler is not installed, or has no target for this processor.
    """
    return _compile(spec, cpu.Context(0), "it is compiled on first use")


def check_backend(backend: object) -> None:
    """Refuses what is no backend."""
    if backend not in BACKENDS:
        raise InvalidArgument(f"backend: {backend!r} is none of {', '.join(map(repr, BACKENDS))}")


def open_context(backend: str, ordinal: int) -> AnyContext:
    """A device of any backend.

    Raises:
        InvalidArgument: no such backend.
        BackendUnavailable, InitFailed, NoDevice: as the backend's context.
    """
    check_backend(backend)
    return cpu.Context(ordinal) if backend == "cpu" else _device_context(backend, ordinal)


def _device_context(backend: str, ordinal: int) -> DeviceContext:
    if backend == "cuda":
        from gompute.runtime import cuda

        return cuda.Context(ordinal)
    from gompute.runtime import hip

    return hip.Context(ordinal)


def _open_cpu(what: KernelSpec | str, ordinal: int, kernels: Kernels) -> Opened:
    context = cpu.Context(ordinal)
    if isinstance(what, str):
        return _load(what, required_set(kernels, what), context)
    kernel_set = default_set(kernels)
    if kernel_set is None:
        return _compile(what, context, "there is no kernel set")
    try:
        return _load(what, kernel_set, context)
    except (KernelNotFound, NoCode) as error:
        return _compile(what, context, str(error))


class NoCode(ModuleLoadFailed):
    """The set has the kernel and no code of it that runs on the device."""


def _load(what: KernelSpec | str, kernel_set: KernelSet, context: AnyContext) -> Opened:
    name = what if isinstance(what, str) else what.name
    try:
        selected = kernel_set.select(name, context.device)
    except ArtifactError:
        raise
    except ModuleLoadFailed as error:
        raise NoCode(str(error)) from error
    source = f"{selected.path} ({selected.target} {selected.kind})"
    if isinstance(what, KernelSpec):
        _check_fresh(what, selected.entry, source)
    try:
        module: _Module = context.load_module(selected.data)
        kernel = module.get_kernel(selected.entry.symbol)
    except (ModuleLoadFailed, KernelNotFound) as error:
        raise ModuleLoadFailed(f"kernel {name!r} of {source}: {error}", code=error.code, code_name=error.code_name) from error
    record = None if selected.entry.checks is None else kernel.report_to(selected.entry)
    return Opened(context.backend, selected.entry, context, kernel, source, record)


def _compile(spec: KernelSpec, context: cpu.Context, reason: str) -> Opened:
    """Compiles for this machine's processor, in this process; `reason` says why there is nothing to load."""
    from gompute import in_process

    try:
        image, entry = in_process.compile_for_cpu(spec)
    except BackendUnavailable as error:
        raise BackendUnavailable(f"kernel {spec.name!r} on cpu: {reason}\nand it cannot be compiled here: {error}") from error
    return Opened("cpu", entry, context, context.load_module(image).get_kernel(entry.symbol), "the compiler in this process")


def _check_fresh(spec: KernelSpec, entry: KernelEntry, source: str) -> None:
    """Refuses an artifact whose arguments are not those of the spec: it was built from another version of the source."""
    mine = entry_of(spec)
    if mine.fingerprint == entry.fingerprint:
        return
    raise ModuleLoadFailed(
        f"kernel {spec.name!r}: {source} was built from another version of it (ABI fingerprint {entry.fingerprint}, the source here has "
        f"{mine.fingerprint}); build the set again\n"
        f"  differs:  {difference(mine, entry)}\n"
        f"  source:   {mine.signature}\n"
        f"  artifact: {entry.signature}"
    )
