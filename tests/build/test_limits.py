"""A compile that runs away, in memory or in time, becomes an error that names its kernel; the others go on, and nothing of it is left."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gompute.build.engine import Quiet, run_jobs
from gompute.build.job import CompileJob
from gompute.build.outcome import Compiled, Failed, Outcome
from gompute.build.roots import KernelRoot
from gompute.build.task import Limits, Task, death
from gompute.build.zygote import Zygote
from gompute.targets import parse_target
from tests.processes import gone, pid_in

SM_89 = parse_target("sm_89")
MakeRoot = Callable[[str, str], KernelRoot]


def _run(zygote: Zygote, root: MakeRoot, action: str, limits: Limits) -> list[Outcome]:
    jobs = [CompileJob(root(name, words), SM_89) for name, words in (("before", "compile"), ("bad", action), ("after", "compile"))]
    return run_jobs(jobs, zygote, limit=1, reporter=Quiet(), limits=limits)


def test_a_compile_that_takes_too_much_memory_says_so(scripted: Zygote, root: MakeRoot) -> None:
    before, bad, after = _run(scripted, root, "hog runaway", Limits(memory=1 << 30))
    assert isinstance(before, Compiled)
    assert isinstance(after, Compiled)
    assert isinstance(bad, Failed)
    assert not bad.internal
    assert bad.message == (
        "kernel runaway, root bad, target sm_89: it takes more than 1 GiB of memory, the most that one worker may have\n"
        "  Make the kernel smaller, or give workers more: --memory GIB."
    )


def test_a_compile_within_its_memory_is_none_of_that(scripted: Zygote, root: MakeRoot) -> None:
    (_, fits, _) = _run(scripted, root, "hog runaway", Limits(memory=4 << 30))
    assert isinstance(fits, Failed)
    assert "had 2147483648 bytes" in fits.message


def test_a_compile_that_takes_too_long_says_so_and_is_ended(scripted: Zygote, root: MakeRoot) -> None:
    hanging = root("bad", "hang runaway")
    (bad,) = run_jobs([CompileJob(hanging, SM_89)], scripted, limit=1, reporter=Quiet(), limits=Limits(seconds=3.0))
    assert isinstance(bad, Failed)
    assert bad.message == (
        "kernel runaway, root bad, target sm_89: not done after 3 s, the most that one worker may take\n"
        "  Make the kernel smaller, or allow more: --timeout SECONDS."
    )
    assert gone(pid_in(hanging.source.with_suffix(".pid")))
    (after,) = run_jobs([CompileJob(root("after", "compile"), SM_89)], scripted, limit=1, reporter=Quiet())
    assert isinstance(after, Compiled)


def test_an_import_that_takes_too_long_says_so_too(root: MakeRoot) -> None:
    slow = root("slow", "anything")
    slow.source.write_text("import time\ntime.sleep(60)\n")
    with Zygote.start() as zygote:
        (bad,) = run_jobs([CompileJob(slow, SM_89)], zygote, limit=1, reporter=Quiet(), limits=Limits(seconds=1.0))
    assert isinstance(bad, Failed)
    assert bad.message.startswith("root slow, target sm_89: not done after 1 s")


@pytest.mark.parametrize("words", ["LLVM ERROR: out of memory", "terminate called after throwing an instance of 'std::bad_alloc'"])
def test_words_of_a_compiler_without_memory_are_understood(words: str, root: MakeRoot) -> None:
    task = Task(CompileJob(root("r", "x"), SM_89), "codegen", ("k",), {}, (), lambda _: None, lambda *_: None)
    limits = Limits(memory=1 << 29)
    assert "it takes more than 0.5 GiB of memory" in death(task, limits, 6, None, f"{words}\n")
    assert "out of memory" in death(task, Limits(), 6, None, "LLVM ERROR: out of memory\n"), "without a limit its own words are shown"
