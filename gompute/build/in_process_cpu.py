"""A kernel of the running program, compiled for this machine's processor.

The frontend runs here, since a live spec holds objects that no other process has; code generation runs in a worker all the same, so
that an abort inside LLVM is an error and not the end of the program.
"""

from __future__ import annotations

from gompute.artifacts.entry import KernelEntry
from gompute.artifacts.locks import Lock
from gompute.build.engine import Quiet, run_jobs
from gompute.build.job import CodegenJob
from gompute.build.outcome import Failed
from gompute.build.zygote import Zygote, ZygoteCommand
from gompute.errors import CompileError, InternalError
from gompute.frontend import compile_spec
from gompute.lang.spec import KernelSpec
from gompute.targets import Target

__all__ = ["compile_for_target"]


class _Keeper:
    """Keeps one zygote for the whole process, for one caller at a time."""

    def __init__(self) -> None:
        self.lock = Lock()
        self._zygote: Zygote | None = None

    def zygote(self, command: ZygoteCommand | None) -> Zygote:
        if self._zygote is not None and not self._zygote.usable:  # after a fork the parent's is not ours to talk to
            self.drop()
        if self._zygote is None:
            self._zygote = Zygote.start(command)
        return self._zygote

    def drop(self) -> None:
        if self._zygote is not None:
            self._zygote.close()
        self._zygote = None


_keeper = _Keeper()


def compile_for_target(spec: KernelSpec, target: Target, *, command: ZygoteCommand | None = None) -> tuple[bytes, KernelEntry]:
    """The shared object and the name table entry of one kernel. Safe to call from any thread.

    The compiler's process is started on the first call and kept; it ends with this process.

    Args:
        target: a CPU target that this machine runs.
        command: for tests, how to start that process; one that runs already is used as it is.

    Raises:
        BackendUnavailable: the compiler is not installed.
        CompileError: the kernel is wrong, or the compiler gave up on it.
        InternalError: a bug in gompute.
    """
    lowered = compile_spec(spec, target)
    job = CodegenJob(spec.name, lowered.ir, lowered.kernels, target)
    with _keeper.lock:
        try:
            (outcome,) = run_jobs([job], _keeper.zygote(command), limit=1, reporter=Quiet())
        except BaseException:
            _keeper.drop()  # it may have an answer under way that the next call would take for its own
            raise
    if isinstance(outcome, Failed):
        raise InternalError(outcome.message) if outcome.internal else CompileError(outcome.message)
    (kernel,) = outcome.kernels
    return outcome.blobs[0].data, kernel
