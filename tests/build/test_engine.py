"""The engine against a scripted worker: how units start, end and die."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gompute.build.engine import Quiet, run_jobs
from gompute.build.job import CompileJob, Job
from gompute.build.outcome import Compiled, Failed, Outcome
from gompute.build.roots import KernelRoot
from gompute.build.zygote import Zygote, ZygoteCommand
from gompute.errors import BackendUnavailable, CompileError, InternalError
from gompute.targets import parse_target
from tests.processes import gone, pid_in

SM_89 = parse_target("sm_89")
V3 = parse_target("x86-64-v3")
MakeRoot = Callable[[str, str], KernelRoot]


def _run(zygote: Zygote, roots: Sequence[KernelRoot], limit: int = 2) -> list[Outcome]:
    return run_jobs([CompileJob(root, target) for root in roots for target in (SM_89, V3)], zygote, limit=limit, reporter=Quiet())


def _failed(outcome: Outcome) -> Failed:
    assert isinstance(outcome, Failed)
    return outcome


def _blob(outcome: Compiled, action: str) -> bytes:
    """What the scripted worker makes of a root with this action and target."""
    header = ".version 7.8\n.target sm\n.address_size 64\n" if outcome.job.target.backend == "cuda" else ""
    return f"{header}{outcome.job.target.name}\n# {action}\n".encode()


def test_outcomes_come_in_the_order_of_the_jobs(scripted: Zygote, root: MakeRoot) -> None:
    outcomes = _run(scripted, [root(name, "compile") for name in "cab"], limit=4)
    assert [(outcome.job.root_name, outcome.job.target.name) for outcome in outcomes] == [
        (name, target) for name in "cab" for target in ("sm_89", "x86-64-v3")
    ]
    for outcome in outcomes:
        assert isinstance(outcome, Compiled)
        assert outcome.blobs[0].data == _blob(outcome, "compile")
        assert [kernel.name for kernel in outcome.kernels] == [f"{outcome.job.root_name}_kernel"]


def test_a_blob_larger_than_any_pipe_arrives_whole(scripted: Zygote, root: MakeRoot) -> None:
    for big in _run(scripted, [root("big", "compile 3000000")]):
        assert isinstance(big, Compiled)
        assert big.blobs[0].data == _blob(big, "compile 3000000") + bytes(3000000)


def test_an_abort_names_kernel_root_target_and_llvms_words_and_stops_no_other_unit(scripted: Zygote, root: MakeRoot) -> None:
    outcomes = _run(scripted, [root("good", "compile"), root("bad", "abort scale_relu"), root("more", "compile")])
    assert [type(outcome) for outcome in outcomes] == [Compiled, Compiled, Failed, Failed, Compiled, Compiled]
    failed = _failed(outcomes[2])
    assert failed.kernels == ("scale_relu",)
    assert not failed.internal
    assert failed.message.startswith(
        "kernel scale_relu, root bad, target sm_89: LLVM gave up and its process was ended by signal 6 (SIGABRT)"
    )
    assert "    LLVM ERROR: words of LLVM\n" in failed.message


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("abort one two", "one of the kernels one, two, root r, target sm_89: LLVM gave up"),
        ("kill", "was ended by signal 9 (SIGKILL). It printed:\n    (nothing)\n"),
        ("exit", "root r, target sm_89: the worker that imports and checks the module ended with status 3 and gave no answer"),
        ("raise", "RuntimeError: not caught in the worker"),
        ("refuse", "r.py:1:1: refused"),
    ],
)
def test_how_a_unit_ended_is_said(scripted: Zygote, root: MakeRoot, script: str, words: str) -> None:
    failed = _failed(_run(scripted, [root("r", script)])[0])
    assert words in failed.message
    assert not failed.internal


def test_a_bug_in_the_compiler_is_told_apart_from_a_refusal(scripted: Zygote, root: MakeRoot) -> None:
    failed = _failed(_run(scripted, [root("r", "bug")])[0])
    assert failed.internal
    assert "root r, target sm_89: a bug in gompute" in failed.message


def test_an_answer_that_lacks_something_is_our_bug(scripted: Zygote, root: MakeRoot) -> None:
    with pytest.raises(InternalError, match=r"root r, target .*: a worker's answer cannot be read"):
        _run(scripted, [root("r", "silent")])


def test_what_a_module_prints_is_kept_apart_from_the_answer(scripted: Zygote, root: MakeRoot) -> None:
    outcome = _run(scripted, [root("r", "print")])[0]
    assert isinstance(outcome, Compiled)
    assert sorted(outcome.said.split("\n")) == ["", "a word on stderr", "a word on stdout"]


def test_units_see_an_empty_environment_a_pinned_hash_and_a_process_of_their_own(root: MakeRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        with Zygote.start(ZygoteCommand("scripted_worker", (Path(__file__).parent / "workers",))) as zygote:
            for outcome in _run(zygote, [root("r", "environment")]):
                assert isinstance(outcome, Compiled)
                seen.append(eval(outcome.blobs[0].data.decode().rsplit("\n", 1)[1]))
    environment, randomised, salted, no_user_site, current_folder, _ = zip(*seen, strict=True)
    assert set(map(tuple, environment)) == {()}
    assert set(randomised) == {0}
    assert len(set(salted)) == 1
    assert set(no_user_site) == {1}
    assert set(current_folder) == {False}
    assert len({pid for *_, pid in seen}) == len(seen)


class _Counter(Quiet):
    """Counts the units at work, and of these the heavy ones; keeps the most there were of each, and the order in which they started."""

    def __init__(self) -> None:
        self.now = {False: 0, True: 0}
        self.most = {False: 0, True: 0}
        self.most_of_all = 0
        self.order: list[str] = []

    def started(self, job: Job) -> None:
        self.now[job.heavy] += 1
        self.most[job.heavy] = max(self.most[job.heavy], self.now[job.heavy])
        self.most_of_all = max(self.most_of_all, sum(self.now.values()))
        self.order.append(job.root_name)

    def finished(self, outcome: Outcome) -> None:
        self.now[outcome.job.heavy] -= 1


def test_no_more_units_than_allowed_are_at_work(scripted: Zygote, root: MakeRoot) -> None:
    counter = _Counter()
    run_jobs([CompileJob(root(name, "compile"), SM_89) for name in "abcdef"], scripted, limit=3, reporter=counter)
    assert (counter.now, counter.most_of_all) == ({False: 0, True: 0}, 3)


@pytest.mark.parametrize(
    ("limit", "lanes", "heavy", "both"),
    [(3, 1, 1, 3), (3, 2, 2, 3), (1, 1, 1, 1), (2, 4, 2, 2), (8, 1, 1, 5), (8, 3, 3, 7), (8, 9, 4, 8)],
)
def test_heavy_units_run_in_lanes_and_all_are_bounded(
    scripted: Zygote, root: MakeRoot, limit: int, lanes: int, heavy: int, both: int
) -> None:
    """Four units of two heavy roots, and four of two light ones."""
    counter = _Counter()
    roots = [replace(root(name, "compile"), heavy=name in "ac") for name in "abcd"]
    jobs = [CompileJob(made, target) for made in roots for target in (SM_89, V3)]
    outcomes = run_jobs(jobs, scripted, limit=limit, heavy_lanes=lanes, reporter=counter)
    assert [outcome.job for outcome in outcomes] == jobs, "the order of the answers is that of the jobs"
    assert all(isinstance(outcome, Compiled) for outcome in outcomes)
    assert (counter.most[True], counter.most_of_all) == (heavy, both)
    assert counter.now == {False: 0, True: 0}


def test_a_heavy_unit_goes_first_and_holds_up_no_light_one(scripted: Zygote, root: MakeRoot) -> None:
    counter = _Counter()
    jobs = [CompileJob(replace(root(name, "compile"), heavy=name in "cd"), SM_89) for name in "abcd"]
    run_jobs(jobs, scripted, limit=2, reporter=counter)
    assert counter.order[:2] == ["c", "a"]
    assert counter.most[True] == 1


def test_a_heavy_unit_that_dies_frees_its_lane(scripted: Zygote, root: MakeRoot) -> None:
    jobs = [CompileJob(replace(root(name, "kill" if name == "a" else "compile"), heavy=True), SM_89) for name in "abc"]
    outcomes = run_jobs(jobs, scripted, limit=4, reporter=Quiet())
    assert [type(outcome) for outcome in outcomes] == [Failed, Compiled, Compiled]


def test_a_check_is_never_heavy(scripted: Zygote, root: MakeRoot) -> None:
    counter = _Counter()
    jobs = [CompileJob(replace(root(name, "compile"), heavy=True), SM_89, check_only=True) for name in "abc"]
    run_jobs(jobs, scripted, limit=3, reporter=counter)
    assert counter.most == {False: 3, True: 0}


def test_closing_the_zygote_ends_its_units(scripted: Zygote, root: MakeRoot) -> None:
    hanging = root("hanging", "hang")
    ir = f"{hanging.source.with_suffix('.pid')}\n# hang\n"
    scripted.send({"order": "unit", "unit": 0, "work": "code", "kernels": []}, [ir.encode()])
    pid = pid_in(hanging.source.with_suffix(".pid"))
    scripted.close()
    assert gone(pid)


def test_units_end_with_a_zygote_that_is_killed_and_the_build_says_so(scripted: Zygote, root: MakeRoot) -> None:
    hanging = root("hanging", "hang")

    class Killer(Quiet):
        pid = 0

        def waiting(self) -> None:
            if not self.pid and hanging.source.with_suffix(".pid").exists():
                self.pid = pid_in(hanging.source.with_suffix(".pid"))
                os.kill(scripted.pid, signal.SIGKILL)

    killer = Killer()
    with pytest.raises(CompileError, match=r"was killed by signal 9, with these units at work: hanging for sm_89"):
        run_jobs([CompileJob(hanging, SM_89)], scripted, limit=1, reporter=killer)
    assert gone(killer.pid)


def test_a_killed_unit_holds_up_no_other(scripted: Zygote, root: MakeRoot) -> None:
    hanging = root("hanging", "hang")

    class Killer(Quiet):
        def waiting(self) -> None:
            if (file := hanging.source.with_suffix(".pid")).exists():
                os.kill(pid_in(file), signal.SIGKILL)

    outcomes = run_jobs([CompileJob(hanging, SM_89), CompileJob(root("good", "compile"), SM_89)], scripted, limit=1, reporter=Killer())
    assert (
        "kernel hanging_kernel, root hanging, target sm_89: the process that generates code was ended by signal 9"
        in _failed(outcomes[0]).message
    )
    assert isinstance(outcomes[1], Compiled)


def test_a_guarded_folder_goes_with_the_caller_and_a_released_one_stays(tmp_path: Path) -> None:
    for released in (False, True):
        folder = tmp_path / f"staging-{released}"
        folder.mkdir()
        (folder / "half").write_text("written")
        with Zygote.start(ZygoteCommand("scripted_worker", (Path(__file__).parent / "workers",))) as zygote:
            zygote.guard(folder)
            if released:
                zygote.release()
        assert folder.exists() is released


def test_a_missing_compiler_package_is_named_with_the_fix() -> None:
    with (
        Zygote.start(ZygoteCommand("llvmlite_that_is_not_there")) as zygote,
        pytest.raises(InternalError, match="llvmlite_that_is_not_there"),
    ):
        zygote.receive(10)
    wanted = r"needs the package ziglang, which is not installed.\n  .*gompute\[compiler\]"
    command = ZygoteCommand("needs_ziglang", (Path(__file__).parent / "workers",))
    with Zygote.start(command) as zygote, pytest.raises(BackendUnavailable, match=wanted):
        zygote.receive(10)
