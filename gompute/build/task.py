"""What one worker has to do, what it said, and how to word its end when it gave no answer."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gompute.build.job import Job
from gompute.build.wire import Message

__all__ = ["Answer", "Limits", "Task", "death", "how_it_ended", "out_of_memory", "place"]

_OUT_OF_MEMORY = re.compile(r"out of memory|bad_alloc|Cannot allocate memory|MemoryError", re.IGNORECASE)


class Answer(NamedTuple):
    """A worker's answer: its JSON, its byte strings, what the worker printed, and its wall time in seconds."""

    body: Mapping[str, Any]
    blobs: tuple[bytes, ...]
    said: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Limits:
    """What one worker may use.

    Attributes:
        memory: bytes of data; None for no limit.
        seconds: wall time; None for no limit.
    """

    memory: int | None = None
    seconds: float | None = None


@dataclass(slots=True)
class Task:
    """One order for one worker.

    Attributes:
        job: what it is a part of.
        stage: `check`, `codegen` or `link`.
        kernels: what it is about, as far as that is known.
        answered: takes the answer of a worker that did its work.
        failed: takes the kernels, the message, whether it is a bug of ours, and what the worker printed.
        told: takes what a worker tells on its way.
    """

    job: Job
    stage: str
    kernels: tuple[str, ...]
    order: Mapping[str, Any]
    blobs: Sequence[bytes]
    answered: Callable[[Answer], None]
    failed: Callable[[tuple[str, ...], str, bool, str], None]
    told: Callable[[Message], None] | None = None
    began: float = 0.0
    cancelled: bool = False


def place(task: Task) -> str:
    """The kernels that a task is about, its root and its target."""
    kernels = f"{_kernels(task.kernels)}, " if task.kernels else ""
    return f"{kernels}root {task.job.root_name}, target {task.job.target.name}"


def _kernels(names: Sequence[str]) -> str:
    return f"kernel {names[0]}" if len(names) == 1 else f"one of the kernels {', '.join(names)}"


def out_of_memory(task: Task, limits: Limits) -> str:
    """What to say of a worker that has reached its limit."""
    most = f"{(limits.memory or 0) / (1 << 30):g} GiB"
    return (
        f"{place(task)}: it takes more than {most} of memory, the most that one worker may have\n"
        "  Make the kernel smaller, or give workers more: --memory GIB."
    )


def death(task: Task, limits: Limits, number: int | None, status: int | None, said: str) -> str:
    """What to say of a worker that ended without an answer: `number` is the signal that ended it, or None and `status` its exit status."""
    if task.cancelled:
        return (
            f"{place(task)}: not done after {limits.seconds:g} s, the most that one worker may take\n"
            "  Make the kernel smaller, or allow more: --timeout SECONDS."
        )
    if limits.memory is not None and _OUT_OF_MEMORY.search(said):
        return out_of_memory(task, limits)
    if task.stage == "check":
        what = "the worker that imports and checks the module"
        fix = "Look for code that ends the process (os._exit, a crashing extension module) in what the module imports."
    elif task.stage == "link":
        what = "the process that joins the kernels"
        fix = "When it was not killed by hand or for lack of memory, report it with these words."
    elif number == signal.SIGABRT:
        what = "LLVM gave up and its process"
        fix = "The kernel brings out a fault in the compiler: leave this target out, change the kernel, or report it with these words."
    else:
        what = "the process that generates code"
        fix = "When it was not killed by hand or for lack of memory, report it with these words."
    return f"{place(task)}: {what} {how_it_ended(number, status, said)}\n  {fix}"


def how_it_ended(number: int | None, status: int | None, said: str) -> str:
    """The end of a worker that gave no answer, as the rest of a sentence about it, and what it printed."""
    if number is None:
        end = f"ended with status {status} and gave no answer"
    else:
        names = {known.value: f" ({known.name})" for known in signal.Signals}
        end = f"was ended by signal {number}{names.get(number, '')}"
    words = "\n".join(f"    {line}" for line in said.rstrip().splitlines()) or "    (nothing)"
    return f"{end}. It printed:\n{words}"
