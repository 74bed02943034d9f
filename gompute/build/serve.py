"""The zygote: a process with the compiler loaded that compiles nothing itself and forks one child for every unit.

It is started by `gompute.build.zygote` in an empty environment, reads orders on its standard input and writes what became of each unit on
its standard output (`gompute.build.wire`). It has one thread. When its input ends, because the calling process is done, was stopped or was
killed, it kills its children, removes the folder that it was told to guard and ends.

Orders: ``{"order": "unit", "unit": N, "memory": BYTES, ...}`` with byte strings (the rest is for `compile_unit` of the worker module),
``{"order": "cancel", "unit": N}``, ``{"order": "guard", "path": P}`` and ``{"order": "release"}``. Reports: ``{"report": "ready"}`` or
``{"report": "broken", "message"}`` once, then per unit any number of ``{"report": "stage", "unit", "stage", "kernels", ...}``, perhaps
with byte strings, and one of ``{"report": "answer", "unit", "answer", "said"}`` with the answer's blobs, or ``{"report": "died", "unit",
"signal", "status", "said"}``.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import resource
import selectors
import shutil
import signal
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NoReturn, Protocol, cast

from gompute.build.wire import CHUNK, Decoder, Message, WireError, parts, pipe

__all__ = ["Report", "Worker", "main"]

_SAID_LIMIT = 1 << 16  # of what a unit prints, the last bytes are kept: LLVM's words come last
_PR_SET_PDEATHSIG = 1
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Report(Protocol):
    """Tells the calling process which stage a unit has reached, the kernels that it is about, and what goes with it."""

    def __call__(self, stage: str, kernels: Sequence[str], more: Mapping[str, Any] = ..., blobs: Sequence[bytes] = ...) -> None: ...


class Worker(Protocol):
    """The module that does the work in a child; the real one is `gompute.build.worker`."""

    def prepare(self, order: Mapping[str, Any]) -> None:
        """Load in the zygote what the order takes, so that its children share it. Nothing is compiled."""

    def foresee(self, order: Mapping[str, Any]) -> None:
        """Load in the zygote what the orders that follow this one take, while a child is at work on it."""

    def compile_unit(self, order: Mapping[str, Any], blobs: Sequence[bytes], report: Report) -> tuple[Mapping[str, Any], Sequence[bytes]]:
        """The answer, as JSON and byte strings."""


@dataclass(slots=True)
class _Unit:
    """A child at work: its number in the orders, its pipes, and what has come through them."""

    number: int
    pid: int
    result: int
    stderr: int
    decoder: Decoder = field(default_factory=Decoder)
    answer: Message | None = None
    said: bytes = b""
    fault: str | None = None


def main() -> NoReturn:
    """Serve orders until the input ends. Never returns: the process ends without running anything that the compiler left for its exit."""
    orders, reports = _take_over_standard_streams()
    os.environ.clear()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # an abort inside LLVM is expected and reported; it must not leave a core file
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    zygote: _Zygote | None = None
    try:
        worker = cast("Worker", importlib.import_module(sys.argv[1]))
        _write_if_read(reports, {"report": "ready"})
        zygote = _Zygote(worker, orders, reports)
        zygote.serve()
    except ModuleNotFoundError as error:
        _write_if_read(reports, {"report": "broken", "missing": error.name, "message": str(error)})
    except OSError as error:  # no process, no file left to open: the machine's word and no fault of ours
        _write_if_read(reports, {"report": "broken", "missing": None, "message": str(error), "refused": True})
    except BaseException:
        _write_if_read(reports, {"report": "broken", "missing": None, "message": traceback.format_exc()})
    finally:
        if zygote is not None:
            zygote.stop()
        os._exit(0)


def _take_over_standard_streams() -> tuple[int, int]:
    """Move the two pipes away from the descriptors that a stray `print` or a library writes to."""
    orders, reports = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    return orders, reports


def _write(fd: int, body: Mapping[str, Any], blobs: Sequence[bytes] = ()) -> None:
    """One message."""
    for part in parts(body, blobs):
        view = memoryview(part)
        while view:
            view = view[os.write(fd, view) :]


def _write_if_read(fd: int, body: Mapping[str, Any], blobs: Sequence[bytes] = ()) -> None:
    try:
        _write(fd, body, blobs)
    except BrokenPipeError:
        return  # the reader is gone; the end of the orders follows, and what is to be done then is among them


class _Zygote:
    def __init__(self, worker: Worker, orders: int, reports: int) -> None:
        self._worker = worker
        self._orders = orders
        self._reports = reports
        self._units: dict[int, _Unit] = {}
        self._guarded: str | None = None
        self._selector = selectors.DefaultSelector()
        self._wake, wake_end = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake_end, False)
        self._wake_end = wake_end
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_end, warn_on_full_buffer=False)
        self._selector.register(self._wake, selectors.EVENT_READ, None)
        self._selector.register(orders, selectors.EVENT_READ, None)
        gc.freeze()  # children collect garbage without touching, and so copying, what all of them share

    def serve(self) -> None:
        decoder = Decoder()
        while True:
            ended = False
            for key, _ in self._selector.select():
                if key.fd == self._orders:
                    data = os.read(self._orders, CHUNK)
                    if not data:
                        return
                    for message in decoder.feed(data):
                        self._obey(message)
                elif key.fd == self._wake:
                    ended = True
                    os.read(self._wake, CHUNK)
                elif isinstance(key.data, _Unit):
                    self._read(key.data, key.fd)
            if ended:
                self._reap()

    def stop(self) -> None:
        """Kill every child with what it has started, and remove the guarded folder."""
        for pid in self._units:
            _kill_group(pid)
        for pid in self._units:
            os.waitpid(pid, 0)
        if self._guarded is not None:
            shutil.rmtree(self._guarded, ignore_errors=True)

    # ---- orders ----

    def _obey(self, message: Message) -> None:
        order = message.body
        match order["order"]:
            case "unit":
                self._fork(message)
            case "cancel":
                for pid, unit in self._units.items():
                    if unit.number == order["unit"]:
                        _kill_group(pid)
            case "guard":
                self._guarded = order["path"]
            case "release":
                self._guarded = None
            case other:
                raise WireError(f"unknown order {other!r}")

    def _fork(self, order: Message) -> None:
        self._worker.prepare(order.body)
        result, result_end = pipe()
        stderr, stderr_end = os.pipe()
        zygote = os.getpid()
        pid = os.fork()
        if pid == 0:
            os.close(result)
            os.close(stderr)
            self._be_child(order, zygote, result_end, stderr_end)
        _own_group(pid)
        os.close(result_end)
        os.close(stderr_end)
        unit = _Unit(order.body["unit"], pid, result, stderr)
        self._units[pid] = unit
        for fd in (result, stderr):
            os.set_blocking(fd, False)
            self._selector.register(fd, selectors.EVENT_READ, unit)
        self._worker.foresee(order.body)
        gc.freeze()

    def _be_child(self, order: Message, zygote: int, result: int, stderr: int) -> NoReturn:
        status = 1
        try:
            _own_group(0)
            _die_with(zygote)
            self._leave_to_child(stderr)

            if (memory := order.body.get("memory")) is not None:
                resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
            gc.disable()  # a unit is short, and makes far more objects than it drops

            def report(stage: str, kernels: Sequence[str], more: Mapping[str, Any] = _NOTHING, blobs: Sequence[bytes] = ()) -> None:
                _write(result, {**more, "stage": stage, "kernels": list(kernels)}, blobs)

            answer, blobs = self._worker.compile_unit(order.body, order.blobs, report)
            _write(result, {"answer": dict(answer)}, blobs)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            try:
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(status)  # nothing of the zygote's or of LLVM's may run at this exit

    def _leave_to_child(self, stderr: int) -> None:
        """In a child: keep of the zygote's descriptors only the child's own."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        for unit in self._units.values():
            os.close(unit.result)
            os.close(unit.stderr)
        os.dup2(stderr, 1)
        os.dup2(stderr, 2)
        for fd in (stderr, self._orders, self._reports, self._wake, self._wake_end):
            os.close(fd)

    # ---- children ----

    def _read(self, unit: _Unit, fd: int) -> bool:
        """Take what is there on one of a child's pipes; False when there is nothing now or ever again."""
        try:
            data = os.read(fd, CHUNK)
        except BlockingIOError:
            return False
        if not data:
            if fd in self._selector.get_map():
                self._selector.unregister(fd)
            return False
        if fd == unit.stderr:
            unit.said = (unit.said + data)[-_SAID_LIMIT:]
        elif unit.fault is None:
            try:
                for message in unit.decoder.feed(data):
                    self._take(unit, message)
            except (WireError, KeyError, TypeError) as error:
                unit.fault = f"the worker's answer cannot be read: {error}"
        return True

    def _take(self, unit: _Unit, message: Message) -> None:
        if "answer" in message.body:
            if unit.answer is not None:
                raise WireError("more than one answer")
            unit.answer = message
        else:
            told = {"stage": str(message.body["stage"]), "kernels": list(message.body["kernels"])}
            _write_if_read(self._reports, {**message.body, **told, "report": "stage", "unit": unit.number}, message.blobs)

    def _reap(self) -> None:
        for pid, unit in list(self._units.items()):
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                continue
            _kill_group(pid)  # a linker that an aborted child has left behind; before the wait, while the number is still the child's
            _, status = os.waitpid(pid, 0)
            for fd in (unit.result, unit.stderr):
                while self._read(unit, fd):
                    pass
                if fd in self._selector.get_map():
                    self._selector.unregister(fd)
                os.close(fd)
            del self._units[pid]
            self._tell(unit, status)

    def _tell(self, unit: _Unit, status: int) -> None:
        said = unit.said.decode(errors="replace")
        if status == 0 and unit.answer is not None and unit.fault is None and unit.decoder.between_messages:
            body = {"report": "answer", "unit": unit.number, "answer": unit.answer.body["answer"], "said": said}
            _write_if_read(self._reports, body, unit.answer.blobs)
            return
        body = {
            "report": "died",
            "unit": unit.number,
            "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
            "status": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            "said": said if unit.fault is None else f"{said}{unit.fault}\n",
        }
        _write_if_read(self._reports, body)


def _own_group(pid: int) -> None:
    """Give a child a process group of its own; called on both sides of the fork, whichever comes first."""
    try:
        os.setpgid(pid, pid)
    except (PermissionError, ProcessLookupError):
        return  # it has ended already, and the group with it


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return  # nothing of the group is left


def _die_with(zygote: int) -> None:
    """Have the kernel kill this child when the zygote ends, even by SIGKILL."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != zygote:
        os._exit(1)
