"""Streams and events."""

from __future__ import annotations

import gc
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from gompute.errors import BackendUnavailable, ContextFailed, EventFailed, InvalidArgument, SyncFailed, Unsupported
from gompute.runtime import cpu
from tests.driver.control import Driver
from tests.runtime.devices import RUNTIMES, image, launch, open_context


def test_streams_run_beside_each_other_and_an_event_orders_them(gpu: Driver) -> None:
    """Each stream's work is delayed at random: without the wait the copy would often come first."""
    gpu.delay(3000)
    data = np.arange(1000, dtype=np.int32)
    with open_context(gpu) as context, context.alloc(4000) as buffer:
        first, second = context.create_stream(non_blocking=True), context.create_stream(non_blocking=True)
        for _ in range(10):
            back = np.zeros_like(data)
            with context.create_event(timing=False) as event:
                buffer.upload_async(data, first)
                launch(context, image(gpu), buffer.device_addr, 1000, first)
                event.record(first)
                second.wait_event(event)
                buffer.download_async(back, second)
            second.synchronize()
            assert np.array_equal(back, -data)


def test_a_missing_wait_shows(gpu: Driver) -> None:
    """The test driver's own promise, on which the other tests stand."""
    back = np.ones(100, np.int32)
    with open_context(gpu) as context, context.alloc(400) as buffer:
        first, second = context.create_stream(non_blocking=True), context.create_stream(non_blocking=True)
        buffer.fill(0)
        context.synchronize()
        with gpu.holding(first):
            buffer.upload_async(np.arange(100, dtype=np.int32), first)
            buffer.download_async(back, second)
            second.synchronize()
        assert not back.any()


def test_the_default_stream_waits_for_blocking_streams_alone(gpu: Driver) -> None:
    back = np.zeros(100, np.int32)
    with open_context(gpu) as context, context.alloc(400) as buffer:
        with context.create_stream() as stream:
            gpu.delay(20_000)
            buffer.fill(1, stream=stream)
            buffer.download(back)
            assert (back == 0x01010101).all()
        with context.create_stream(non_blocking=True) as free:
            late = np.zeros(100, np.int32)
            with gpu.holding(free):
                buffer.download_async(late, free)
                buffer.download(back)
                assert not late.any()
            free.synchronize()
            assert late.any()


def test_query_and_elapsed_time(gpu: Driver) -> None:
    with open_context(gpu) as context, context.alloc(4) as buffer:
        start, end = context.create_event(), context.create_event()
        stream = context.create_stream()
        assert stream.query() and start.query()
        with gpu.holding(stream):
            start.record(stream)
            buffer.fill(0, stream=stream)
            end.record(stream)
            assert not stream.query() and not end.query()
            with pytest.raises(EventFailed, match=r"cannot read the time between two events: \w+ gave \w+ \(600\): device not ready"):
                start.elapsed_us(end)
        end.synchronize()
        assert end.query()
        assert start.elapsed_us(end) == -end.elapsed_us(start)
        assert 0 < start.elapsed_us(end) < 10_000_000
        stream.synchronize()
        assert stream.query()


def test_the_time_between_events_needs_two_times(gpu: Driver) -> None:
    with open_context(gpu) as context:
        timed, untimed, new = context.create_event(), context.create_event(timing=False), context.create_event()
        timed.record()
        untimed.record()
        context.synchronize()
        with pytest.raises(EventFailed, match="elapsed_us: end was made with timing=False"):
            timed.elapsed_us(untimed)
        with pytest.raises(EventFailed, match="elapsed_us: this event was made with timing=False"):
            untimed.elapsed_us(timed)
        with pytest.raises(EventFailed, match="elapsed_us: end was never recorded"):
            timed.elapsed_us(new)
        with pytest.raises(InvalidArgument, match=f"event: it is of cpu, the stream or event of {gpu.vendor.backend}"):
            timed.elapsed_us(cpu.Context().create_event())
        assert [repr(event).split(": ")[1] for event in (timed, new)] == ["recorded>", "new>"]


def test_streams_and_events_end_once(gpu: Driver) -> None:
    with open_context(gpu) as context:
        stream, event = context.create_stream(), context.create_event()
        assert (gpu.held["streams"], gpu.held["events"]) == (1, 1)
        for one in (stream, event):
            one.close()
            one.close()
        assert (gpu.held["streams"], gpu.held["events"]) == (0, 0)
        for use in (stream.synchronize, stream.query, lambda: stream.pointer, stream.begin_capture, stream.end_capture):
            with pytest.raises(InvalidArgument, match=f"this {gpu.vendor.backend} stream is closed"):
                use()
        for use in (event.record, event.synchronize, event.query):
            with pytest.raises(InvalidArgument, match=f"this {gpu.vendor.backend} event is closed"):
                use()
        with pytest.raises(InvalidArgument, match="event is closed"), context.create_stream() as other:
            other.wait_event(event)
        context.create_stream()
        context.create_event()
        gc.collect()
        assert (gpu.held["streams"], gpu.held["events"]) == (0, 0)


def test_shutdown_ends_streams_and_events(gpu: Driver) -> None:
    context = open_context(gpu)
    stream, event = context.create_stream(), context.create_event()
    event.record(stream)
    RUNTIMES[gpu.vendor.backend].shutdown()
    assert (gpu.held["streams"], gpu.held["events"]) == (0, 0)
    for use in (stream.synchronize, stream.query, event.record, event.query):
        with pytest.raises(BackendUnavailable, match="the device was shut down with shutdown"):
            use()
    stream.close()
    event.close()


def test_another_librarys_stream(gpu: Driver) -> None:
    with open_context(gpu) as context, context.create_stream() as owner, context.alloc(4) as buffer:
        pointer = owner.pointer
        back = bytearray(4)
        for foreign in (pointer, SimpleNamespace(ptr=pointer), SimpleNamespace(cuda_stream=pointer), 0):
            with context.wrap_stream(foreign) as stream:
                assert stream.pointer == (pointer if foreign else 0)
                buffer.fill(5, stream=stream)
                buffer.download_async(back, stream)
                stream.synchronize()
                assert back == bytes([5] * 4)
        with context.wrap_stream(SimpleNamespace(__cuda_stream__=lambda: (0, pointer))) as stream:
            assert stream.pointer == pointer
        assert gpu.held["streams"] == 1  # the owner's
        for wrong in ("0", None, -1, True, 1.5):
            with pytest.raises(InvalidArgument, match="stream: expected a stream of CuPy, PyTorch or another library"):
                context.wrap_stream(wrong)
        if gpu.vendor.backend == "cuda":
            assert owner.__cuda_stream__() == (0, pointer)
        else:
            assert not hasattr(owner, "__cuda_stream__")


def test_a_stream_takes_its_own_devices_work(gpu: Driver) -> None:
    gpu.device(1, gpu.vendor.arch)
    with open_context(gpu) as context, open_context(gpu, 1) as second, context.create_stream() as stream, second.alloc(400) as buffer:
        for use in (
            lambda: buffer.fill(0, stream=stream),
            lambda: buffer.upload_async(b"1", stream),
            lambda: launch(second, image(gpu), buffer.device_addr, 100, stream),
            lambda: second.create_event().record(stream),
        ):
            with pytest.raises(InvalidArgument, match="stream: it is of .* 0, the work of .* 1: a stream takes its own device's work"):
                use()
        with second.create_stream() as other, context.create_event() as event:
            event.record(stream)
            other.wait_event(event)  # between devices, events work
            other.synchronize()


def test_a_failed_wait_for_a_stream_names_its_launches(gpu: Driver) -> None:
    calls = RUNTIMES[gpu.vendor.backend].driver.calls
    with open_context(gpu) as context, context.alloc(400) as buffer, context.create_stream() as stream, context.create_event() as event:
        buffer.upload(bytes(400))
        launch(context, image(gpu), buffer.device_addr, 100, stream)
        gpu.fail(calls.synchronize_stream)
        with pytest.raises(
            SyncFailed, match="waiting for a stream failed: .*\nan earlier launch is the suspect; since the last wait: negate$"
        ):
            stream.synchronize()
        launch(context, image(gpu), buffer.device_addr, 100, stream)
        event.record(stream)
        gpu.fail(calls.synchronize_event)
        with pytest.raises(
            SyncFailed, match="waiting for an event failed: .*\nan earlier launch is the suspect; since the last wait: negate$"
        ):
            event.synchronize()
        context.synchronize()
        gpu.fail(calls.query_stream)
        with pytest.raises(SyncFailed, match="cannot ask a stream whether it is done"):
            stream.query()
        gpu.fail(calls.query_event)
        with pytest.raises(EventFailed, match="cannot ask an event whether it is reached"):
            event.query()


def test_failures_of_streams_and_events_say_what_they_are(gpu: Driver) -> None:
    calls = RUNTIMES[gpu.vendor.backend].driver.calls
    with open_context(gpu) as context, context.create_stream() as stream, context.create_event() as event:
        event.record(stream)
        event.synchronize()
        for call, kind, message, use in (
            (calls.create_stream, ContextFailed, "cannot make a stream", context.create_stream),
            (calls.create_event, EventFailed, "cannot make an event", context.create_event),
            (calls.record_event, EventFailed, "cannot record an event", event.record),
            (calls.wait_event, EventFailed, "cannot have a stream wait for an event", lambda: stream.wait_event(event)),
            (calls.elapsed, EventFailed, "cannot read the time between two events", lambda: (event.synchronize(), event.elapsed_us(event))),
        ):
            gpu.fail(call)
            with pytest.raises(kind, match=rf"{gpu.vendor.backend}: {message}: {call} gave {gpu.vendor.code_name} \(700\)"):
                use()
            use()


def test_streams_of_many_threads(gpu: Driver) -> None:
    gpu.delay(200)
    context = open_context(gpu)
    data, results = np.arange(500, dtype=np.int32), []

    def work() -> None:
        back = np.zeros_like(data)
        with context.alloc(2000) as buffer, context.create_stream() as stream:
            for _ in range(20):
                buffer.upload_async(data, stream)
                launch(context, image(gpu), buffer.device_addr, 500, stream)
                buffer.download_async(back, stream)
                stream.synchronize()
        results.append(np.array_equal(back, -data))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 4


def test_a_cpu_stream_is_always_done() -> None:
    context = cpu.Context()
    with context.alloc(8) as buffer, context.create_stream(non_blocking=True) as stream:
        start, end = context.create_event(), context.create_event()
        start.record(stream)
        buffer.upload_async(b"12345678", stream)
        end.record(stream)
        stream.wait_event(end)
        assert stream.query() and end.query()
        back = bytearray(8)
        buffer.download_async(back, stream)
        assert back == b"12345678"
        stream.synchronize()
        end.synchronize()
        assert start.elapsed_us(end) >= 0
        with pytest.raises(Unsupported, match="another library has no stream that runs on the CPU"):
            context.wrap_stream(0)
        assert not hasattr(stream, "__cuda_stream__")
