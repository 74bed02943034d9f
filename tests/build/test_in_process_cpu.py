"""A live kernel compiled for this machine through a worker."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

import gompute as g
from gompute import f32
from gompute.build import in_process_cpu
from gompute.build.in_process_cpu import compile_for_target
from gompute.errors import CompileError
from gompute.targets import parse_target

V3 = parse_target("x86-64-v3")


@g.map
def plus_one(x: f32) -> f32:
    return x + 1.0


@g.map
def minus_one(x: f32) -> f32:
    return x - 1.0


@g.map
def wrong(x: f32) -> f32:
    return x + "1"


@pytest.fixture(autouse=True)
def own_zygote() -> Iterator[None]:
    in_process_cpu._keeper.drop()
    yield
    in_process_cpu._keeper.drop()


def test_the_shared_object_and_its_entry_come_back() -> None:
    image, entry = compile_for_target(plus_one, V3)
    assert image.startswith(b"\x7fELF")
    assert (entry.name, entry.kind, entry.block_size) == ("plus_one", "map", (256, 1, 1))
    again, _ = compile_for_target(plus_one, V3)
    assert again == image


def test_operations_declared_by_a_call() -> None:
    both, pick = g.fused("both", plus_one, minus_one), g.gather("pick", f32, g.u16)
    for spec, kind, arguments in ((both, "fused", "data len"), (pick, "gather", "src idx out count bound")):
        image, entry = compile_for_target(spec, V3)
        assert image.startswith(b"\x7fELF")
        assert (entry.name, entry.kind) == (spec.name, kind)
        assert [argument.name for argument in entry.arguments] == arguments.split()


def test_a_wrong_kernel_is_a_compile_error() -> None:
    with pytest.raises(CompileError, match=r"test_in_process_cpu\.py"):
        compile_for_target(wrong, V3)


def test_threads_get_their_own_kernels() -> None:
    found: dict[int, list[str]] = {}

    def work(number: int) -> None:
        spec = plus_one if number % 2 else minus_one
        found[number] = [compile_for_target(spec, V3)[1].name for _ in range(3)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: ["plus_one" if number % 2 else "minus_one"] * 3 for number in range(4)}


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_starts_a_compiler_of_its_own() -> None:
    compile_for_target(plus_one, V3)
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if compile_for_target(minus_one, V3)[1].name == "minus_one" else 1)
        except BaseException:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert compile_for_target(plus_one, V3)[1].name == "plus_one"


def test_a_compiler_that_was_killed_is_started_anew() -> None:
    compile_for_target(plus_one, V3)
    zygote = in_process_cpu._keeper.zygote(None)
    os.kill(zygote.pid, 9)
    with pytest.raises(CompileError, match="was killed by signal 9"):
        compile_for_target(plus_one, V3)
    assert compile_for_target(plus_one, V3)[1].name == "plus_one"
