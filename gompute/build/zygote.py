"""The calling process's end of the zygote: talk to it, end it."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gompute.build.spawn import COMPILER_PACKAGES, WORKER, spawn
from gompute.build.wire import CHUNK, Decoder, Message, WireError, parts
from gompute.errors import BackendUnavailable, CompileError, InternalError

__all__ = ["Zygote", "ZygoteCommand", "ZygoteEnded"]


class ZygoteEnded(Exception):
    """The zygote is gone in the middle of the work; the text says how it ended."""


@dataclass(frozen=True, slots=True)
class ZygoteCommand:
    """Which worker a zygote runs.

    Attributes:
        worker: the module whose `compile_unit` the children run.
        folders: where the zygote finds that module, besides the folders of the compiler.
    """

    worker: str = WORKER
    folders: tuple[Path, ...] = ()


class Zygote:
    """A zygote, which is started when there is something to do, or was before. Its end, on purpose or not, ends all of its units.

    Args:
        spawned: what `spawn` returned, in this process; None to start it with the first order.
        command: what to start then.

    Attributes:
        pid: its process id; 0 before it is started.
    """

    def __init__(self, spawned: tuple[int, int, int] | None = None, command: ZygoteCommand | None = None) -> None:
        self._command = command or ZygoteCommand()
        self._owner = os.getpid()
        self._poll = select.poll()
        self._both = select.poll()
        self.pid = 0
        self._orders = self._reports = -1
        self._closed = False
        if spawned is not None:
            self._take(spawned)
        self._decoder = Decoder()
        self._ready = False
        self._waiting: list[Message] = []
        self._asked = False

    @classmethod
    def start(cls, command: ZygoteCommand | None = None) -> Zygote:
        """Start the process and return at once; it loads the compiler while the caller goes on. Raises as `spawn`."""
        made = cls(command=command)
        made.ready()
        return made

    def ready(self) -> None:
        """Start the process where it was not yet. Raises as `spawn`."""
        if not self.pid:
            self._take(spawn(self._command.worker, tuple(map(str, self._command.folders))))

    def _take(self, spawned: tuple[int, int, int]) -> None:
        self.pid, self._orders, self._reports = spawned
        self._poll.register(self._reports, select.POLLIN)
        self._both.register(self._reports, select.POLLIN)
        self._both.register(self._orders, select.POLLOUT)
        os.set_blocking(self._orders, False)

    @property
    def usable(self) -> bool:
        """False when closed, or when this process is a fork of the one that started it."""
        return not self._closed and self._owner == os.getpid()

    def send(self, order: Mapping[str, Any], blobs: Sequence[bytes] = ()) -> None:
        """Give an order. Reports that come meanwhile are kept for `receive`: a zygote whose report nobody reads would read no order, and
        each side would wait for the other.

        Raises: as `receive`.
        """
        self.ready()
        self._asked = True
        try:
            for part in parts(order, blobs):
                self._write(memoryview(part))
        except BrokenPipeError:
            raise self._ended() from None

    def _write(self, data: memoryview) -> None:
        while data:
            if any(fd == self._reports for fd, _ in self._both.poll()):
                self._read()
            try:
                data = data[os.write(self._orders, data) :]
            except BlockingIOError:
                continue  # the pipe is full: there was a report to read first

    def receive(self, timeout: float | None = None) -> Message | None:
        """The next report of a unit, or None when none has come within `timeout` seconds.

        Raises:
            BackendUnavailable: a package that the compiler needs is not installed.
            InternalError: the zygote could not start, or writes what is no message.
            ZygoteEnded: it is gone.
        """
        while not self._waiting:
            if not self._poll.poll(None if timeout is None else timeout * 1000):
                return None
            self._read()
        return self._waiting.pop(0)

    def _read(self) -> None:
        """Take what there is of reports, which is something or the end."""
        data = os.read(self._reports, CHUNK)
        if not data:
            raise self._ended()
        try:
            self._waiting += [message for message in self._decoder.feed(data) if not self._is_start(message)]
        except WireError as error:
            raise InternalError(f"the compiler's process writes no messages: {error}") from error

    def guard(self, folder: Path) -> None:
        """Have `folder` removed should this process end before `release`. Nothing is started for it: the next write to its place removes
        what a killed one has left."""
        if self.pid:
            self.send({"order": "guard", "path": str(folder)})

    def release(self) -> None:
        """Take back `guard`."""
        if self.pid:
            self.send({"order": "release"})

    def close(self) -> None:
        """End the zygote and all of its units, and wait for the end. Safe to call twice."""
        self._closed = True
        if self._orders < 0:
            return
        os.close(self._orders)
        os.close(self._reports)
        self._orders = self._reports = -1
        if self._owner == os.getpid():
            if not self._asked:
                os.kill(self.pid, signal.SIGKILL)  # it has nothing to clean up, and would go on to load the compiler first
            os.waitpid(self.pid, 0)

    def __enter__(self) -> Zygote:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _is_start(self, message: Message) -> bool:
        if message.body["report"] == "ready":
            self._ready = True
            return True
        if message.body["report"] != "broken":
            return False
        missing = str(message.body["missing"] or "").partition(".")[0]
        if missing in COMPILER_PACKAGES and missing != "gompute":
            raise BackendUnavailable(
                f"compiling kernels needs the package {missing}, which is not installed.\n"
                "  Install the compiler: pip install 'gompute[compiler]'"
            )
        if message.body.get("refused"):
            raise CompileError(f"the compiler's process could not go on: {message.body['message']}")
        raise InternalError(f"the compiler's process failed:\n{message.body['message']}")

    def _ended(self) -> ZygoteEnded:
        _, status = os.waitpid(self.pid, 0)
        self._closed = True
        os.close(self._orders)
        os.close(self._reports)
        self._orders = self._reports = -1
        how = f"was killed by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"ended with status {os.WEXITSTATUS(status)}"
        when = "" if self._ready else " before it was ready"
        return ZygoteEnded(f"the compiler's process {how}{when}")
