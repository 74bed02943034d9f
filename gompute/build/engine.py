"""Hands units to a zygote, as many at a time as allowed, and gathers what became of them."""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gompute.artifacts.name_table import kernel_from_json
from gompute.build.job import Job
from gompute.build.outcome import Compiled, CompiledBlob, Failed, Outcome
from gompute.build.wire import Message
from gompute.build.zygote import Zygote, ZygoteEnded
from gompute.errors import ArtifactError, CompileError, InternalError

__all__ = ["Quiet", "Reporter", "how_it_ended", "run_jobs"]

_TICK = 0.1  # seconds between calls of `Reporter.waiting`


class Reporter(Protocol):
    """Is told how a build goes."""

    def planned(self, jobs: Sequence[Job]) -> None:
        """All jobs of this build, before the first starts."""

    def started(self, job: Job) -> None:
        """A worker has the job."""

    def staged(self, job: Job, stage: str) -> None:
        """The job has reached `check` or `codegen`; before, it waits for the zygote to have loaded the compiler."""

    def finished(self, outcome: Outcome) -> None:
        """The job's outcome is known."""

    def waiting(self) -> None:
        """Nothing has happened for a while."""


class Quiet:
    """A reporter that tells nobody."""

    def planned(self, jobs: Sequence[Job]) -> None: ...

    def started(self, job: Job) -> None: ...

    def staged(self, job: Job, stage: str) -> None: ...

    def finished(self, outcome: Outcome) -> None: ...

    def waiting(self) -> None: ...


@dataclass(slots=True)
class _Running:
    """A unit that a worker has."""

    job: Job
    began: float
    stage: str = "start"
    kernels: tuple[str, ...] = ()


class _Waiting:
    """The jobs that no worker has yet, each with its number, and which of them is next."""

    def __init__(self, jobs: Sequence[Job], lanes: int) -> None:
        self._heavy = deque((number, job) for number, job in enumerate(jobs) if job.heavy)
        self._light = deque((number, job) for number, job in enumerate(jobs) if not job.heavy)
        self._lanes = lanes

    def __bool__(self) -> bool:
        return bool(self._heavy or self._light)

    def take(self, at_work: Iterable[_Running]) -> tuple[int, Job] | None:
        """The next job, or None when all that are left wait for a lane. Heavy ones go first: they take longest."""
        if self._heavy and sum(unit.job.heavy for unit in at_work) < self._lanes:
            return self._heavy.popleft()
        return self._light.popleft() if self._light else None


def run_jobs(jobs: Sequence[Job], zygote: Zygote, *, limit: int, reporter: Reporter, heavy_lanes: int = 1) -> list[Outcome]:
    """Do all jobs, at most `limit` at a time; a job that fails holds up no other.

    Args:
        heavy_lanes: how many of those at work may be heavy.

    Returns:
        One outcome per job, in the order of `jobs`.

    Raises:
        BackendUnavailable: the compiler is not installed.
        CompileError: the zygote itself was ended from outside.
        InternalError: the zygote is broken.
    """
    reporter.planned(jobs)
    outcomes: dict[int, Outcome] = {}
    running: dict[int, _Running] = {}
    waiting = _Waiting(jobs, heavy_lanes)
    try:
        while waiting or running:
            while len(running) < limit and (taken := waiting.take(running.values())) is not None:
                number, job = taken
                running[number] = _Running(job, time.monotonic())
                zygote.send({"order": "unit", "unit": number, **job.order()})
                reporter.started(job)
            message = zygote.receive(_TICK)
            if message is None:
                reporter.waiting()
                continue
            number = message.body["unit"]
            unit = running[number]
            if message.body["report"] == "stage":
                if unit.stage == "start":
                    unit.began = time.monotonic()
                unit.stage = message.body["stage"]
                unit.kernels = tuple(message.body["kernels"])
                reporter.staged(unit.job, unit.stage)
                continue
            del running[number]
            outcomes[number] = _outcome(unit, message)
            reporter.finished(outcomes[number])
    except ZygoteEnded as ended:
        units = ", ".join(f"{unit.job.root_name} for {unit.job.target.name}" for unit in running.values())
        raise CompileError(
            f"{ended}, with these units at work: {units}.\n"
            "  Nothing was written. Run the build again; when memory is short, with a smaller -j."
        ) from None
    return [outcomes[number] for number in range(len(jobs))]


def _outcome(unit: _Running, message: Message) -> Outcome:
    seconds = time.monotonic() - unit.began
    body = message.body
    said = str(body["said"])
    if body["report"] == "died":
        return Failed(unit.job, _death(unit, body["signal"], body["status"], said), unit.kernels, False, said, seconds)
    answer = body["answer"]
    try:
        match answer["status"]:
            case "done":
                kernels = tuple(kernel_from_json(kernel) for kernel in answer["kernels"])
                blobs = tuple(
                    CompiledBlob(blob["kind"], data, blob["version"]) for blob, data in zip(answer["blobs"], message.blobs, strict=True)
                )
                sources = tuple(Path(source) for source in answer["sources"])
                left_out = tuple(map(str, answer["left_out"]))
                return Compiled(unit.job, kernels, blobs, answer["listings"], sources, answer["toolchain"], left_out, said, seconds)
            case "refused":
                return Failed(unit.job, str(answer["message"]), unit.kernels, False, said, seconds)
            case "bug":
                return Failed(unit.job, f"{_place(unit)}: a bug in gompute.\n{answer['message']}", unit.kernels, True, said, seconds)
    except (ArtifactError, KeyError, TypeError, ValueError) as error:
        raise InternalError(f"{_place(unit)}: a worker's answer cannot be read: {error!r}") from error
    raise InternalError(f"{_place(unit)}: a worker's answer has the unknown status {answer['status']!r}")


def _place(unit: _Running) -> str:
    kernels = f"{_kernels(unit.kernels)}, " if unit.kernels else ""
    return f"{kernels}root {unit.job.root_name}, target {unit.job.target.name}"


def _kernels(names: Sequence[str]) -> str:
    return f"kernel {names[0]}" if len(names) == 1 else f"one of the kernels {', '.join(names)}"


def _death(unit: _Running, number: int | None, status: int | None, said: str) -> str:
    """What to say of a worker that ended without an answer: `number` is the signal that ended it, or None and `status` its exit status."""
    if unit.stage != "codegen":
        what = "the worker that imports and checks the module"
        fix = "Look for code that ends the process (os._exit, a crashing extension module) in what the module imports."
    elif number == signal.SIGABRT:
        what = "LLVM gave up and its process"
        fix = "The kernel brings out a fault in the compiler: leave this target out, change the kernel, or report it with these words."
    else:
        what = "the process that generates code"
        fix = "When it was not killed by hand or for lack of memory, report it with these words."
    return f"{_place(unit)}: {what} {how_it_ended(number, status, said)}\n  {fix}"


def how_it_ended(number: int | None, status: int | None, said: str) -> str:
    """The end of a worker that gave no answer, as the rest of a sentence about it, and what it printed."""
    if number is None:
        end = f"ended with status {status} and gave no answer"
    else:
        names = {known.value: f" ({known.name})" for known in signal.Signals}
        end = f"was ended by signal {number}{names.get(number, '')}"
    words = "\n".join(f"    {line}" for line in said.rstrip().splitlines()) or "    (nothing)"
    return f"{end}. It printed:\n{words}"
