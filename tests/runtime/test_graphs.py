"""Capture and graphs."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable

import numpy as np
import pytest

from gompute.errors import BackendUnavailable, CaptureFailed, CopyFailed, Error, EventFailed, GraphFailed, InvalidArgument, LaunchFailed
from gompute.handles.kernel import Kernel
from gompute.handles.kernel_set import KernelSet
from gompute.handles.raw_kernel import RawKernel
from gompute.runtime import cpu
from gompute.runtime.buffer import Buffer
from gompute.runtime.context import AnyContext
from gompute.runtime.graph import Graph
from gompute.runtime.stream import Stream
from tests.driver.control import Driver
from tests.driver.kernels import Params, raw_add, scale_relu
from tests.runtime.devices import RUNTIMES, image, launch, open_context

DATA = np.arange(1, 101, dtype=np.float32)


def values(buffer: Buffer) -> np.ndarray:
    back = np.zeros(100, np.float32)
    buffer.download(back)
    return back


def captured(stream: Stream, *work: Callable[[], object]) -> Graph:
    stream.begin_capture()
    for one in work:
        one()
    return stream.end_capture()


@pytest.mark.parametrize("where", ["cuda", "hip", "cpu"])
def test_a_graph_of_copies_fills_and_kernels(where: str, request: pytest.FixtureRequest, kernel_set: KernelSet) -> None:
    """The same program on every backend: captured once, launched three times, updated, launched again."""
    gpu: Driver | None = None if where == "cpu" else request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[where])
    context: AnyContext = cpu.Context() if gpu is None else open_context(gpu)
    with (
        Kernel(scale_relu, where, kernels=kernel_set) as kernel,
        RawKernel(raw_add, where, kernels=kernel_set) as raw,
        context.alloc(400) as buffer,
        context.alloc(400) as total,
        context.create_stream() as stream,
    ):

        def work(scale: float) -> None:
            buffer.upload_async(DATA, stream)
            kernel.launch(buffer, Params(scale), stream=stream)
            raw.launch(1, 128, buffer, 100, stream=stream)
            total.copy_from(buffer, stream=stream)
            buffer.fill(0, stream=stream)

        total.fill(0)
        graph = captured(stream, lambda: work(2.0))
        assert not values(total).any()  # nothing has run
        assert graph.instantiate() is graph.instantiate()
        for _ in range(3):
            graph.launch(stream)
            stream.synchronize()
            assert np.array_equal(values(total), DATA * 2 + 1)
            assert not values(buffer).any()
            total.fill(0)
        graph.update(captured(stream, lambda: work(3.0)))
        gc.collect()
        graph.launch()
        context.synchronize()
        assert np.array_equal(values(total), DATA * 3 + 1)
        with (
            captured(stream, lambda: work(1.0), lambda: buffer.fill(0, stream=stream)) as other,
            pytest.raises(GraphFailed, match=f"{where}: the instantiated graph cannot be updated"),
        ):
            graph.update(other)
        kernel.launch(buffer, Params(1.0), stream=stream)  # the stream itself goes on
        stream.synchronize()
        graph.close()
        graph.close()
        for use in (graph.instantiate, graph.launch, lambda: graph.update(graph)):
            with pytest.raises(InvalidArgument, match=f"this {where} graph is closed"):
                use()
    if gpu is not None:
        assert (gpu.held["graphs"], gpu.held["executables"]) == (0, 0)


@pytest.mark.parametrize("where", ["cuda", "hip", "cpu"])
def test_an_event_draws_another_stream_into_the_capture(where: str, request: pytest.FixtureRequest) -> None:
    gpu: Driver | None = None if where == "cpu" else request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[where])
    context: AnyContext = cpu.Context() if gpu is None else open_context(gpu)
    with context.alloc(8) as buffer, context.create_stream() as first, context.create_stream() as second:
        fork, join = context.create_event(timing=False), context.create_event(timing=False)

        def work() -> None:
            buffer.fill(1, stream=first)
            fork.record(first)
            second.wait_event(fork)
            assert second.capturing
            buffer.fill(2, n=4, stream=second)
            join.record(second)
            first.wait_event(join)

        graph = captured(first, work)
        assert not first.capturing and not second.capturing
        buffer.fill(9)
        graph.instantiate().launch(first)
        first.synchronize()
        back = bytearray(8)
        buffer.download(back)
        assert back == bytes([2] * 4 + [1] * 4)
        with pytest.raises(CaptureFailed, match="synchronize: the event was recorded in a capture"):
            join.synchronize()
        with pytest.raises(EventFailed):
            second.wait_event(join)  # its capture is over
        with pytest.raises(CaptureFailed, match="the capture began on another stream: end it there"):
            first.begin_capture()
            fork.record(first)
            second.wait_event(fork)
            second.end_capture()
        join.record(second)
        first.wait_event(join)
        first.end_capture().close()


def test_work_that_is_never_joined_loses_the_capture(gpu: Driver) -> None:
    with open_context(gpu) as context, context.alloc(8) as buffer, context.create_stream() as first, context.create_stream() as second:
        first.begin_capture()
        event = context.create_event(timing=False)
        event.record(first)
        second.wait_event(event)
        buffer.fill(2, stream=second)
        with pytest.raises(CaptureFailed, match=r"the capture is lost: \w+ gave .*\(904\)"):
            first.end_capture()
        buffer.fill(1, stream=second)
        context.synchronize()
        assert gpu.held["graphs"] == 0


def test_what_would_end_a_capture_is_refused_before_it_does(gpu: Driver) -> None:
    with open_context(gpu) as context, context.alloc(400) as buffer, context.create_stream() as stream:
        code, event, data = image(gpu), context.create_event(), bytearray(400)
        stream.begin_capture()
        for what, use in (
            ("an allocation", lambda: context.alloc(1)),
            ("an allocation", lambda: context.alloc_pinned(1)),
            ("a copy that waits", lambda: buffer.upload(data)),
            ("a copy that waits", lambda: buffer.download(data)),
            ("loading a module", lambda: context.load_module(code)),
            ("waiting", context.synchronize),
            ("waiting", event.synchronize),
        ):
            with pytest.raises(CaptureFailed, match=f"{gpu.vendor.backend}: {what} would break the capture in this thread: do it before"):
                use()
        for what, use in (("synchronize", stream.synchronize), ("query", stream.query), ("begin_capture", stream.begin_capture)):
            with pytest.raises(CaptureFailed, match=f"{what}: the stream is under capture; its work runs when the graph is launched"):
                use()
        buffer.fill(3, stream=stream)
        with stream.end_capture() as graph:
            graph.instantiate().launch(stream)
            stream.synchronize()
        buffer.download(data)
        assert data == bytes([3] * 400)
        with pytest.raises(CaptureFailed, match="this stream is not under capture: call begin_capture first"):
            stream.end_capture()
        with context.wrap_stream(0) as default, pytest.raises(CaptureFailed, match="cannot begin a capture"):
            default.begin_capture()


def test_another_thread_works_on_during_a_capture(gpu: Driver) -> None:
    context = open_context(gpu)
    results: list[object] = []
    with context.create_stream(non_blocking=True) as stream, context.alloc(8) as buffer:
        stream.begin_capture()
        buffer.fill(1, stream=stream)

        def work() -> None:
            with context.alloc(8) as other:
                other.upload(bytes(8))
                results.append("done")

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        stream.end_capture().close()
    assert results == ["done"]


def test_what_is_let_go_during_a_capture_is_freed_after_it(gpu: Driver) -> None:
    """A driver call of the garbage collector's in the wrong moment would end the capture."""
    with open_context(gpu) as context, context.alloc(8) as buffer, context.create_stream() as stream:
        lost, event = context.alloc(64), context.create_event()
        stream.begin_capture()
        del lost, event
        gc.collect()
        assert gpu.held["bytes"] == 72
        buffer.fill(1, stream=stream)
        stream.end_capture().close()
        assert gpu.held["bytes"] == 8 and gpu.held["events"] == 0


def test_a_capture_that_is_given_up_leaves_nothing(gpu: Driver) -> None:
    with open_context(gpu) as context, context.alloc(8) as buffer:
        with pytest.raises(ZeroDivisionError), context.create_stream() as stream:
            stream.begin_capture()
            buffer.fill(1, stream=stream)
            raise ZeroDivisionError
        context.alloc(8).free()
        assert (gpu.held["streams"], gpu.held["graphs"], gpu.held["bytes"]) == (0, 0, 8)


@pytest.mark.parametrize("where", ["gpu", "cpu"])
def test_a_graph_whose_buffer_is_freed_is_not_launched(where: str, request: pytest.FixtureRequest) -> None:
    context: AnyContext = cpu.Context() if where == "cpu" else open_context(request.getfixturevalue("nvidia"))
    with context.create_stream() as stream:
        buffer = context.alloc(8)
        graph = captured(stream, lambda: buffer.fill(1, stream=stream))
        with pytest.raises(GraphFailed, match="the graph is not instantiated: call instantiate"):
            graph.launch()
        with pytest.raises(GraphFailed, match=r"the graph is not instantiated: call instantiate\(\) before update"):
            graph.update(graph)
        graph.instantiate()
        buffer.free()
        with pytest.raises(InvalidArgument, match="launch of a graph: a buffer of 8 bytes that its work uses is freed"):
            graph.launch()


def test_a_graph_keeps_the_memory_of_its_work(gpu: Driver) -> None:
    gpu.delay(2000)
    with open_context(gpu) as context, context.create_stream() as stream:
        source, inner, out = context.alloc(400), context.alloc(400), np.zeros(100, np.float32)
        source.upload(DATA)
        stream.begin_capture()
        inner.copy_from(source, stream=stream)
        inner.download_async(out, stream)
        graph = stream.end_capture().instantiate()
        del source, inner
        gc.collect()
        for _ in range(3):
            out[:] = 0
            graph.launch(stream)
            stream.synchronize()
            assert np.array_equal(out, DATA)
        graph.launch(stream)
        del graph, out  # while it may still run
        gc.collect()
        stream.synchronize()
    assert gpu.held["bytes"] == 0


def test_a_graph_within_a_graph(gpu: Driver) -> None:
    with open_context(gpu) as context, context.alloc(8) as buffer, context.create_stream() as stream:
        inner = captured(stream, lambda: buffer.fill(4, stream=stream)).instantiate()
        outer = captured(stream, lambda: inner.launch(stream)).instantiate()
        inner.close()
        outer.launch(stream)
        stream.synchronize()
        back = bytearray(8)
        buffer.download(back)
        assert back == bytes([4] * 8)


def test_the_default_stream_and_a_capture_that_blocks_it(gpu: Driver) -> None:
    """A launch on the default stream would wait for the captured one: the driver refuses, and the capture is lost."""
    with open_context(gpu) as context, context.alloc(400) as buffer, context.create_stream() as stream:
        context.load_module(image(gpu)).get_kernel("negate")
        stream.begin_capture()
        with pytest.raises(LaunchFailed, match=r"\(906\)"):
            launch(context, image(gpu), buffer.device_addr, 100)
        with pytest.raises(CopyFailed, match=r"\(901\)"):
            buffer.upload_async(bytes(400), stream)
        with pytest.raises(CaptureFailed, match=r"the capture is lost: \w+ gave .*\(901\)"):
            stream.end_capture()
        launch(context, image(gpu), buffer.device_addr, 100)
        context.synchronize()


def test_failures_of_graphs_say_what_they_are(gpu: Driver) -> None:
    calls = RUNTIMES[gpu.vendor.backend].driver.calls
    with open_context(gpu) as context, context.alloc(8) as buffer, context.create_stream() as stream:

        def fill() -> None:
            buffer.fill(1, stream=stream)

        graph, other = captured(stream, fill), captured(stream, fill)
        cases: list[tuple[str, type[Error], str, Callable[[], object]]] = [
            (calls.begin_capture, CaptureFailed, "cannot begin a capture", stream.begin_capture),
            (calls.end_capture, CaptureFailed, "the capture is lost", lambda: (fill(), stream.end_capture())),
            (calls.instantiate, GraphFailed, "cannot instantiate the graph", graph.instantiate),
            (calls.launch_graph, GraphFailed, "cannot launch the graph", lambda: graph.launch(stream)),
            (calls.update_executable, GraphFailed, r"the instantiated graph cannot be updated \(.*\)", lambda: graph.update(other)),
        ]
        for call, kind, message, use in cases:
            gpu.fail(call)
            with pytest.raises(kind, match=rf"{gpu.vendor.backend}: {message}: {call} gave {gpu.vendor.code_name} \(700\)"):
                use()
            if call == calls.end_capture:
                continue  # that capture is over
            use()
        stream.synchronize()


def test_shutdown_ends_graphs(gpu: Driver) -> None:
    context = open_context(gpu)
    buffer, stream = context.alloc(8), context.create_stream()
    graph = captured(stream, lambda: buffer.fill(1, stream=stream)).instantiate()
    stream.begin_capture()
    RUNTIMES[gpu.vendor.backend].shutdown()
    assert (gpu.held["graphs"], gpu.held["executables"], gpu.held["streams"]) == (0, 0, 0)
    for use in (graph.launch, graph.instantiate, stream.end_capture):
        with pytest.raises(BackendUnavailable, match="the device was shut down"):
            use()
    graph.close()
    stream.close()
