"""Launches that are like the one before go straight to the driver, and mean what a careful launch means."""

from __future__ import annotations

import gc
import pickle
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gompute.errors import BackendUnavailable, Error, InvalidArgument, LaunchFailed
from gompute.handles.kernel_set import KernelSet
from gompute.handles.raw_kernel import RawKernel
from gompute.runtime.dim3 import Dim3
from gompute.runtime.status import last_driver_error
from tests.driver.control import Driver
from tests.driver.kernels import Inner, Mixed, every_type, params_to, raw_add, where
from tests.runtime.devices import RUNTIMES, open_context


class Careful(Exception):
    """The launch went the careful way."""


@pytest.fixture
def raw(gpu: Driver, kernel_set: KernelSet) -> RawKernel:
    return RawKernel(raw_add, gpu.vendor.backend, kernels=kernel_set)


def no_careful_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def careful(*_: object) -> None:
        raise Careful

    monkeypatch.setattr(RawKernel, "_launch_on_device", careful)


def test_the_second_launch_is_one_call(gpu: Driver, raw: RawKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    with raw.alloc(40) as one, raw.alloc(40) as other:
        for buffer in (one, other):
            buffer.fill(0)
        raw.launch(1, 16, one, 10)
        no_careful_way(monkeypatch)
        gpu.forget()
        raw.launch(1, 16, other, 7)
        raw.launch(1, 16, one, np.uint64(3))
        assert gpu.calls == [f"{gpu.vendor.launch} raw_add grid=1,1,1 block=16,1,1 shared=0"] * 2
        found = [np.zeros(10, np.float32) for _ in range(2)]
        one.download(found[0])
        other.download(found[1])
        assert found[0].tolist() == [2] * 3 + [1] * 7 and found[1].tolist() == [1] * 7 + [0] * 3


@pytest.mark.parametrize("first", [(300, 8), ((2, 3), (8, 8)), (Dim3(2), Dim3(4))], ids=str)
def test_equal_sizes_are_the_same(gpu: Driver, kernel_set: KernelSet, monkeypatch: pytest.MonkeyPatch, first: Any) -> None:
    fresh = pickle.loads(pickle.dumps(first))
    with RawKernel(where, gpu.vendor.backend, kernels=kernel_set) as kernel, kernel.alloc(8 * 8 * 3000) as out:
        kernel.launch(*first, out, shared=int("1000"))
        no_careful_way(monkeypatch)
        kernel.launch(*fresh, out, shared=int("1000"))
        for grid, block, shared in ((1, first[1], 1000), (first[0], 1, 1000), (first[0], first[1], 0), (float(2), first[1], 1000)):
            with pytest.raises((Careful, InvalidArgument)):
                kernel.launch(grid, block, out, shared=shared)
        kernel.synchronize()


def test_every_kind_of_argument(gpu: Driver, kernel_set: KernelSet, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = (True, -3, -300, -70000, -(2**40), 200, 60000, 4_000_000_000, 2**64 - 1, 1.5, -2.0, 0.1, -0.5)
    found = np.zeros(13, np.uint64)
    backend = gpu.vendor.backend
    with RawKernel(every_type, backend, kernels=kernel_set) as kernel, kernel.alloc(104) as out:
        kernel.launch(1, 1, out, *[0] * 13)
        no_careful_way(monkeypatch)
        kernel.launch(1, 1, out, *numbers)
        out.download(found)
        assert [hex(bits) for bits in found.tolist()] == [
            *("0x1", "0xfd", "0xfed4", "0xfffeee90", hex(2**64 - 2**40), "0xc8", "0xea60", "0xee6b2800", hex(2**64 - 1)),
            *("0x3e00", "0xc000", "0x3dcccccd", "0xbfe0000000000000"),
        ]
        monkeypatch.undo()
        for place, wrong in ((1, 2), (2, 128), (6, -1), (9, 2**64), (3, 1.5), (10, "1"), (12, None)):
            arguments = list(numbers)
            arguments[place - 1] = wrong
            with pytest.raises(InvalidArgument, match=f"^{'abcdefghijkmn'[place - 1]} "):
                kernel.launch(1, 1, out, *arguments)
        kernel.launch(1, 1, out, *numbers[:11], 1e300, float("nan"))  # an f32 that is beyond the largest is infinity
        out.download(found)
        assert [hex(bits) for bits in found.tolist()[11:]] == ["0x7f800000", "0x7ff8000000000000"]
    mixed = [Mixed(count, Inner((1.0, 2.0, 3.0), True), 0.5) for count in (1, 2)]
    with RawKernel(params_to, backend, kernels=kernel_set) as kernel, kernel.alloc(64) as out:
        kernel.launch(1, 1, out, mixed[0])
        no_careful_way(monkeypatch)
        kernel.launch(1, 1, out, mixed[1])
        first = np.zeros(1, np.uint64)
        out.download(first)
        assert first.tolist() == [2]


def wrong_launches(raw: RawKernel, buffer: Any, freed: Any) -> dict[str, Callable[[], None]]:
    return {
        "InvalidArgument: n missing": lambda: raw.launch(1, 16, buffer),
        "InvalidArgument: got 3, 1 too many": lambda: raw.launch(1, 16, buffer, 1, 2),
        "InvalidArgument: it has no argument 'm'": lambda: raw.launch(1, 16, buffer, m=1),
        "InvalidArgument: data is given by position and by name": lambda: raw.launch(1, 16, buffer, data=buffer, n=1),
        "InvalidArgument: this .* buffer of 40 bytes is freed": lambda: raw.launch(1, 16, freed, 1),
        "InvalidArgument: n .u64.: -1 does not fit": lambda: raw.launch(1, 16, buffer, -1),
        "InvalidArgument: n .u64.: 1.5": lambda: raw.launch(1, 16, buffer, 1.5),
        "InvalidArgument: data: expected a Buffer": lambda: raw.launch(1, 16, 12345, 1),
        "InvalidArgument: grid": lambda: raw.launch(0, 16, buffer, 1),
        "InvalidArgument: block": lambda: raw.launch(1, 1024, buffer, 1),
        "InvalidArgument: shared": lambda: raw.launch(1, 16, buffer, 1, shared=-1),
    }


def test_what_is_wrong_has_the_words_of_a_first_launch(raw: RawKernel) -> None:
    with raw.alloc(40) as buffer, raw.alloc(40) as freed:
        freed.free()
        told: list[list[str]] = []
        for _ in range(2):
            told.append([])
            for words, launch in wrong_launches(raw, buffer, freed).items():
                with pytest.raises(InvalidArgument, match=words.partition(": ")[2]) as raised:
                    launch()
                told[-1].append(str(raised.value))
            raw.launch(1, 16, buffer, 10)
        assert told[0] == told[1]
        raw.launch(grid=1, block=16, data=buffer, n=10)
        raw.launch(1, 16, n=10, data=buffer)
        with pytest.raises(TypeError, match="grid"):
            raw.launch()
        raw.synchronize()


def test_a_thread_without_a_context_and_one_with_another(gpu: Driver, raw: RawKernel) -> None:
    gpu.device(1, gpu.vendor.arch)
    found = np.zeros(10, np.float32)
    with raw.alloc(40) as buffer, open_context(gpu, 1) as second:
        buffer.fill(0)
        raw.launch(1, 16, buffer, 10)
        raw.synchronize()
        driver = raw._opened.context.accelerator.driver
        seen: list[object] = []

        def work() -> None:
            raw.launch(1, 16, buffer, 10)
            seen.append(last_driver_error())
            driver.set_current(second.accelerator.context)
            raw.launch(1, 16, buffer, 10)
            seen.extend([last_driver_error(), driver.current() == second.accelerator.context])

        gpu.forget()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert seen == [None, None, True]
        assert gpu.last_error == 0 if gpu.vendor.backend == "hip" else True
        buffer.download(found)
        assert found.tolist() == [3] * 10
        gpu.fail(gpu.vendor.launch, 400)
        with pytest.raises(LaunchFailed, match="cannot launch raw_add with grid .1, 1, 1., block .16, 1, 1., 0 bytes of shared memory"):
            raw.launch(1, 16, buffer, 10)  # refused with the right context current: not tried again


def test_a_launch_that_the_driver_refuses(gpu: Driver, raw: RawKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    with raw.alloc(40) as buffer:
        raw.launch(1, 16, buffer, 10)
        for code, name in ((2, "OutOfMemory|OUT_OF_MEMORY"), (12345, "unknown")):
            gpu.fail(gpu.vendor.launch, code)
            words = f"{gpu.vendor.launch} gave .*({name}).* .{code}."
            with monkeypatch.context() as patch, pytest.raises(LaunchFailed, match=words) as raised:
                no_careful_way(patch)
                raw.launch(1, 16, buffer, 10)
            error = last_driver_error()
            assert raised.value.code == code and error is not None and error.code == code
            raw.launch(1, 16, buffer, 10)
            assert last_driver_error() is None
        raw.synchronize()


def test_a_checked_device_names_the_launch(gpu: Driver, raw: RawKernel, kernel_set: KernelSet) -> None:
    runtime = RUNTIMES[gpu.vendor.backend]
    with raw.alloc(40) as buffer:
        raw.launch(1, 16, buffer, 10)
        runtime.Context(0, checked=True).close()
        gpu.break_by("raw_add")
        with pytest.raises(LaunchFailed, match="checked launch: kernel raw_add with grid .1, 1, 1., block .16, 1, 1."):
            raw.launch(1, 16, buffer, 10)
        gpu.mend()
        runtime.Context(0, checked=False).close()
        gpu.forget()
        raw.launch(1, 16, buffer, 10)
        assert gpu.calls == [f"{gpu.vendor.launch} raw_add grid=1,1,1 block=16,1,1 shared=0"]
        raw.synchronize()


def test_streams(gpu: Driver, raw: RawKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    found = np.zeros(10, np.float32)
    with raw.alloc(40) as buffer, open_context(gpu) as context, context.create_stream() as stream, context.create_stream() as other:
        buffer.fill(0)
        context.synchronize()
        raw.launch(1, 16, buffer, 10, stream=stream)
        with monkeypatch.context() as patch:
            no_careful_way(patch)
            raw.launch(1, 16, buffer, 10, stream=stream)
            for another in (None, other):
                with pytest.raises(Careful):
                    raw.launch(1, 16, buffer, 10, stream=another)
        stream.synchronize()
        stream.begin_capture()
        raw.launch(1, 16, buffer, 10, stream=stream)
        with stream.end_capture() as graph:
            graph.instantiate()
            assert buffer in graph._memory[0]
            graph.launch(stream)
        stream.synchronize()
        buffer.download(found)
        assert found.tolist() == [3] * 10
        raw.launch(1, 16, buffer, 10, stream=stream)
        stream.close()
        with pytest.raises(InvalidArgument, match="stream is closed"):
            raw.launch(1, 16, buffer, 10, stream=stream)
        with pytest.raises(InvalidArgument, match="stream: expected a stream of .*; got 3$"):
            raw.launch(1, 16, buffer, 10, stream=3)  # type: ignore[arg-type]


def test_a_launch_that_somebody_kept(gpu: Driver, raw: RawKernel) -> None:
    launch = raw.launch
    buffer = raw.alloc(40)
    launch(1, 16, buffer, 10)
    raw.close()
    for refused in (launch, raw.launch):
        with pytest.raises(InvalidArgument, match="launch: the handle of kernel 'raw_add' is closed"):
            refused(1, 16, buffer, 10)
    buffer.free()


def test_after_shutdown(gpu: Driver, raw: RawKernel) -> None:
    buffer = raw.alloc(40)
    raw.launch(1, 16, buffer, 10)
    RUNTIMES[gpu.vendor.backend].shutdown()
    gpu.forget()
    with pytest.raises(BackendUnavailable, match="was shut down"):
        raw.launch(1, 16, buffer, 10)
    assert gpu.calls == []


def test_a_handle_that_nobody_closes_goes(raw: RawKernel, kernel_set: KernelSet) -> None:
    handle = RawKernel(raw_add, raw.backend, kernels=kernel_set)
    gone = weakref.ref(handle)
    del handle
    gc.collect()
    assert gone() is None
    handle = RawKernel(raw_add, raw.backend, kernels=kernel_set)
    gone = weakref.ref(handle)
    handle.close()
    gc.disable()
    try:
        del handle
        assert gone() is None, "a closed handle waits for the collector"
    finally:
        gc.enable()


def test_a_subclass_may_have_its_own_launch(gpu: Driver, kernel_set: KernelSet) -> None:
    class Counted(RawKernel):
        count = 0

        def launch(self, *arguments: Any, **named: Any) -> None:
            self.count += 1
            super().launch(*arguments, **named)

    with Counted(raw_add, gpu.vendor.backend, kernels=kernel_set) as kernel, kernel.alloc(40) as buffer:
        for _ in range(3):
            kernel.launch(1, 16, buffer, 10)
        kernel.synchronize()
        assert kernel.count == 3


def test_threads_do_not_mix_their_arguments(gpu: Driver, raw: RawKernel) -> None:
    """Each of eight threads has its own buffer and count on one handle; a driver reads the arguments with the interpreter let go."""
    failures: list[BaseException] = []
    gpu.quiet(True)

    def work(number: int) -> None:
        wanted = np.zeros(64, np.float32)
        try:
            with raw.alloc(256) as buffer:
                buffer.fill(0)
                for turn in range(200):
                    count = (number * 7 + turn) % 65
                    raw.launch(1, 64, buffer, count)
                    wanted[:count] += 1
                found = np.zeros(64, np.float32)
                buffer.download(found)
                assert np.array_equal(found, wanted)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gpu.quiet(False)
    assert failures == []


def test_a_handle_that_is_closed_while_others_launch(gpu: Driver, raw: RawKernel) -> None:
    refusals: list[Error] = []
    started = threading.Barrier(5)

    def work() -> None:
        with raw.alloc(256) as buffer:
            started.wait()
            try:
                while True:
                    raw.launch(1, 64, buffer, 64)
            except Error as error:
                refusals.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    gpu.quiet(True)
    for thread in threads:
        thread.start()
    started.wait()
    raw.close()
    for thread in threads:
        thread.join()
    gpu.quiet(False)
    assert [str(error) for error in refusals] == ["launch: the handle of kernel 'raw_add' is closed"] * 4
