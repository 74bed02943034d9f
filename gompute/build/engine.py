"""Hands tasks to a zygote, as many at a time as allowed, until every job has its outcome."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from gompute.artifacts.name_table import Known
from gompute.build.job import Job
from gompute.build.making import Making
from gompute.build.outcome import Outcome
from gompute.build.records import Records
from gompute.build.store import Store
from gompute.build.task import Answer, Limits, Task, death, out_of_memory, place
from gompute.build.wire import Message
from gompute.build.zygote import Zygote, ZygoteEnded
from gompute.errors import ArtifactError, CompileError, InternalError

__all__ = ["Quiet", "Reporter", "run_jobs"]

_TICK = 0.1  # seconds between calls of `Reporter.waiting`


class Reporter(Protocol):
    """Is told how a build goes."""

    def planned(self, jobs: Sequence[Job]) -> None:
        """All jobs of this build, before the first starts."""

    def started(self, job: Job) -> None:
        """A worker has the job's first task."""

    def staged(self, job: Job, stage: str) -> None:
        """A worker has reached `check`, `codegen` or `link` for the job; before, it waits for the zygote to have loaded the compiler."""

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


_ORDER = ("link", "codegen", "check")


class _Waiting:
    """The tasks that no worker has yet, and which of them is next.

    What goes on with a job goes before what begins another: so no more jobs are held in memory than are at work.
    """

    def __init__(self, lanes: int) -> None:
        self._heavy: dict[str, deque[Task]] = {stage: deque() for stage in _ORDER}
        self._light: dict[str, deque[Task]] = {stage: deque() for stage in _ORDER}
        self._lanes = lanes

    def __bool__(self) -> bool:
        return any((*self._heavy.values(), *self._light.values()))

    def add(self, task: Task) -> None:
        """A task that may start at once."""
        (self._heavy if task.job.heavy else self._light)[task.stage].append(task)

    def drop(self, job: Job) -> None:
        """Forget the tasks of a job."""
        for tasks in (*self._heavy.values(), *self._light.values()):
            for task in [task for task in tasks if task.job is job]:
                tasks.remove(task)

    def take(self, at_work: Iterable[Task]) -> Task | None:
        """The next task, or None when all that are left wait for a lane. Heavy ones go first: they take longest."""
        free = sum(task.job.heavy for task in at_work) < self._lanes
        waiting = (*(self._heavy.values() if free else ()), *self._light.values())
        return next((tasks.popleft() for tasks in waiting if tasks), None)


def run_jobs(
    jobs: Sequence[Job],
    zygote: Zygote,
    *,
    limit: int,
    reporter: Reporter,
    heavy_lanes: int = 1,
    store: Store | None = None,
    limits: Limits | None = None,
) -> list[Outcome]:
    """Do all jobs, at most `limit` tasks of them at a time; a job that fails holds up no other.

    Args:
        zygote: is started when there is something to do that the cache does not have.
        heavy_lanes: how many of the tasks at work may be of heavy jobs.
        store: the cache; None for none.
        limits: of each worker.

    Returns:
        One outcome per job, in the order of `jobs`.

    Raises:
        BackendUnavailable: the compiler is not installed.
        CompileError: the zygote itself was ended from outside.
        InternalError: the zygote is broken.
    """
    return _Run(zygote, limit, reporter, heavy_lanes, store, limits or Limits()).run(jobs)


class _Run:
    def __init__(self, zygote: Zygote, limit: int, reporter: Reporter, lanes: int, store: Store | None, limits: Limits) -> None:
        self._zygote = zygote
        self._limit = limit
        self._reporter = reporter
        self._store = store
        self._records = None if store is None else Records(store)
        self._limits = limits
        self._waiting = _Waiting(lanes)
        self._meanwhile: deque[Callable[[], None]] = deque()
        self._running: dict[int, Task] = {}
        self._known = Known()
        self._number = 0
        self._seen: set[int] = set()

    def run(self, jobs: Sequence[Job]) -> list[Outcome]:
        self._reporter.planned(jobs)
        outcomes: dict[int, Outcome] = {}

        def ends(number: int, job: Job) -> Making:
            def end(outcome: Outcome) -> None:
                self._waiting.drop(job)
                outcomes[number] = outcome
                self._reporter.finished(outcome)

            return Making(job, self._store, self._records, self._known, self._waiting.add, self._meanwhile.append, end)

        for number, job in enumerate(jobs):
            ends(number, job).start()
        try:
            while self._waiting or self._running or self._meanwhile:
                self._hand_out()
                if self._meanwhile:
                    self._meanwhile.popleft()()
                else:
                    self._hear()
        except ZygoteEnded as ended:
            units = ", ".join(dict.fromkeys(f"{task.job.root_name} for {task.job.target.name}" for task in self._running.values()))
            raise CompileError(
                f"{ended}, with these units at work: {units}.\n"
                "  Nothing was written. Run the build again; when memory is short, with a smaller -j."
            ) from None
        return [outcomes[number] for number in range(len(jobs))]

    def _hand_out(self) -> None:
        while len(self._running) < self._limit and (task := self._waiting.take(self._running.values())) is not None:
            number, self._number = self._number, self._number + 1
            self._running[number] = task
            task.began = time.monotonic()
            self._zygote.send({"order": "unit", "unit": number, "memory": self._limits.memory, **task.order}, task.blobs)
            if id(task.job) not in self._seen:
                self._seen.add(id(task.job))
                self._reporter.started(task.job)

    def _hear(self) -> None:
        message = self._zygote.receive(_TICK)
        if self._limits.seconds is not None:
            for number, task in self._running.items():
                if not task.cancelled and time.monotonic() - task.began > self._limits.seconds:
                    task.cancelled = True
                    self._zygote.send({"order": "cancel", "unit": number})
        if message is None:
            self._reporter.waiting()
            return
        task = self._running[message.body["unit"]]
        if message.body["report"] == "stage":
            self._told(task, message)
            return
        del self._running[message.body["unit"]]
        self._ended(task, message)

    def _told(self, task: Task, message: Message) -> None:
        stage = message.body["stage"]
        if stage in ("check", "codegen", "link"):
            if task.stage == "check":
                task.began = time.monotonic()
            task.stage = stage
            task.kernels = tuple(message.body["kernels"])
            self._reporter.staged(task.job, stage)
        elif task.told is not None:
            task.told(message)

    def _ended(self, task: Task, message: Message) -> None:
        body = message.body
        said = str(body["said"])
        if body["report"] == "died":
            task.failed(task.kernels, death(task, self._limits, body["signal"], body["status"], said), False, said)
            return
        answer = body["answer"]
        try:
            match answer["status"]:
                case "done":
                    task.answered(Answer(answer, message.blobs, said, time.monotonic() - task.began))
                case "refused":
                    missing = tuple(map(str, answer.get("missing", ())))
                    task.failed(missing or task.kernels, str(answer["message"]), False, said)
                case "memory":
                    task.failed(task.kernels, out_of_memory(task, self._limits), False, said)
                case "bug":
                    task.failed(task.kernels, f"{place(task)}: a bug in gompute.\n{answer['message']}", True, said)
                case unknown:
                    raise InternalError(f"{place(task)}: a worker's answer has the unknown status {unknown!r}")
        except (ArtifactError, KeyError, IndexError, TypeError, ValueError) as error:
            raise InternalError(f"{place(task)}: a worker's answer cannot be read: {error!r}") from error
