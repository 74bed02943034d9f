"""How a build shows its progress: a live view per root and target on a terminal, one plain line per unit elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gompute.build.engine import Reporter
from gompute.build.job import Job
from gompute.build.outcome import Compiled, Failed, Outcome
from gompute.cli.report import count, print_note, readable_size

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["kept_line", "progress"]

_PATIENCE = 0.3  # seconds of work before a live view appears: a build that is done by then only flickers


@contextmanager
def progress() -> Iterator[Reporter]:
    """The reporter that suits the standard error."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    live = _Live()
    try:
        yield live
    finally:
        live.stop()


def _unit(job: Job) -> str:
    return f"{job.root_name} for {job.target.name}"


def kept_line(outcome: Compiled) -> str:
    """What is printed of a unit that is found in the cache."""
    return f"{_unit(outcome.job)}: {_sizes(outcome)} (from the cache)"


def _sizes(outcome: Compiled) -> str:
    return ", ".join(f"{blob.kind} {readable_size(len(blob.data))}" for blob in outcome.blobs) or "checked"


def _line(outcome: Outcome) -> str:
    unit = _unit(outcome.job)
    if isinstance(outcome, Failed):
        return f"{unit}: failed"
    if outcome.reused:
        return kept_line(outcome)
    done = [name for step in outcome.steps if step.work == "code" and not step.reused for name in step.kernels]
    kept = [name for step in outcome.steps if step.work == "code" and step.reused for name in step.kernels]
    how = f"{outcome.seconds:.2f} s"
    if kept:
        how += f", {len(done)} of {count(len(done) + len(kept), 'kernel')} compiled"
    return f"{unit}: {_sizes(outcome)} ({how})"


class _Lines:
    def planned(self, jobs: Sequence[Job]) -> None: ...

    def started(self, job: Job) -> None: ...

    def staged(self, job: Job, stage: str) -> None: ...

    def finished(self, outcome: Outcome) -> None:
        print_note(_line(outcome))

    def waiting(self) -> None: ...


class _Live:
    """Bars drawn by rich, which is imported when the work has taken a while, as it costs as much time as a small build."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._view: Progress | None = None
        self._tried = False
        self._total: TaskID | None = None
        self._count = self._done = 0
        self._stages: dict[str, str] = {}
        self._bars: dict[str, TaskID] = {}
        self._finished: list[str] = []

    def planned(self, jobs: Sequence[Job]) -> None:
        self._count = len(jobs)

    def started(self, job: Job) -> None:
        self._stages[_unit(job)] = "starting"
        self._draw()

    def staged(self, job: Job, stage: str) -> None:
        self._stages[_unit(job)] = {"check": "checking", "codegen": "generating", "link": "linking"}.get(stage, stage)
        self._draw()

    def finished(self, outcome: Outcome) -> None:
        self._done += 1
        self._stages.pop(_unit(outcome.job), None)
        if self._view is not None and (bar := self._bars.pop(_unit(outcome.job), None)) is not None:
            self._view.remove_task(bar)
        self._finished.append(_line(outcome))
        self._draw()

    def waiting(self) -> None:
        self._draw()

    def stop(self) -> None:
        """Take the live view away and leave one line per unit behind."""
        if self._view is not None:
            self._view.stop()
        for line in self._finished:
            print_note(line)
        self._finished.clear()

    def _draw(self) -> None:
        if self._view is None and not self._start():
            return
        assert self._view is not None and self._total is not None
        self._view.update(self._total, completed=self._done)
        for unit, stage in self._stages.items():
            if unit not in self._bars:
                self._bars[unit] = self._view.add_task("", total=None)
            self._view.update(self._bars[unit], description=f"{unit}: {stage}")
        for line in self._finished:
            self._view.console.print(line, highlight=False, markup=False)
        self._finished.clear()

    def _start(self) -> bool:
        """Import rich and show the view, once the time has come; False while there is none, or when rich is not installed."""
        if self._tried or time.monotonic() - self._began < _PATIENCE:
            return False
        self._tried = True
        try:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
        except ImportError:
            return False
        columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn())
        self._view = Progress(*columns, console=Console(stderr=True), transient=True)
        self._total = self._view.add_task("building", total=self._count)
        self._view.start()
        return True
