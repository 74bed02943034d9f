"""Copies, fills and pinned memory."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from gompute.errors import AllocFailed, CopyFailed, InvalidArgument
from gompute.runtime import cpu
from tests.driver.control import Driver
from tests.runtime.devices import RUNTIMES, image, launch, open_context


def test_copies_on_a_stream_keep_its_order(gpu: Driver) -> None:
    gpu.delay(2000)
    data = np.arange(1000, dtype=np.int32)
    back = np.zeros_like(data)
    with open_context(gpu) as context, context.alloc(4000) as buffer, context.create_stream() as stream:
        for _ in range(5):
            buffer.upload_async(data, stream)
            launch(context, image(gpu), buffer.device_addr, 1000, stream)
            buffer.download_async(back, stream)
            stream.synchronize()
            assert np.array_equal(back, -data)
            back[:] = 0


def test_a_download_returns_before_it_is_done(gpu: Driver) -> None:
    """The test driver runs streams in threads, so what does not wait sees old data."""
    back = np.zeros(100, np.int32)
    with open_context(gpu) as context, context.alloc(400) as buffer, context.create_stream(non_blocking=True) as stream:
        buffer.upload(np.full(100, 7, np.int32))
        with gpu.holding(stream):
            buffer.download_async(back, stream)
            assert not back.any()
        stream.synchronize()
    assert (back == 7).all()


def test_host_memory_outlives_an_asynchronous_copy(gpu: Driver) -> None:
    """Nobody but the stream holds the arrays; a freed one would be written over by the next."""
    gpu.delay(300)
    back = np.zeros(20_000, np.int32)
    with open_context(gpu) as context, context.alloc(80_000) as buffer, context.create_stream() as stream:
        for round_ in range(200):
            buffer.upload_async(np.full(100, round_, np.int32), stream, offset=400 * round_)
        stream.synchronize()
        buffer.download(back)
    assert np.array_equal(back, np.repeat(np.arange(200), 100))


def test_copies_of_a_program_that_never_waits_are_let_go(gpu: Driver) -> None:
    with open_context(gpu) as context, context.alloc(4) as buffer, context.create_stream() as stream:
        for _ in range(1000):
            buffer.upload_async(b"1234", stream)
            while not stream.query():
                pass
        assert gpu.held["events"] <= 2
        buffer.upload_async(b"5678", stream)
        stream.close()
        assert gpu.held["events"] == 1  # marks the end of what the closed stream still uses
        context.synchronize()
        assert gpu.held["events"] == 0


def test_from_buffer_to_buffer(gpu: Driver) -> None:
    with open_context(gpu) as context, context.alloc(16) as one, context.alloc(8) as other:
        one.upload(bytes(range(16)))
        other.copy_from(one, 4, 0, 8)
        back = bytearray(8)
        other.download(back)
        assert back == bytes(range(4, 12))
        one.copy_from(one, 0, 8, 8)
        other.copy_from(one, 8)
        other.download(back)
        assert back == bytes(range(8))
        other.copy_from(one, 0, 8, 0)
        for arguments, message in (
            ((one,), "copy of 16 bytes at offset 0: the buffer has 8 bytes"),
            ((one, 9, 0, 8), "copy of 8 bytes at offset 9: the buffer has 16 bytes"),
            ((one, 0, 1, 8), "copy of 8 bytes at offset 1: the buffer has 8 bytes"),
            ((one, 20), "copy of -4 bytes at offset 20: the buffer has 16 bytes"),
        ):
            with pytest.raises(InvalidArgument, match=message):
                other.copy_from(*arguments)
        with pytest.raises(InvalidArgument, match="8 bytes at 0 and at 4 of one buffer overlap"):
            one.copy_from(one, 0, 4, 8)
        with (
            cpu.Context().alloc(8) as host,
            pytest.raises(InvalidArgument, match="the source is on cpu, this buffer on .*: download to host"),
        ):
            one.copy_from(host)


def test_from_one_device_to_another(gpu: Driver) -> None:
    gpu.device(1, gpu.vendor.arch)
    with open_context(gpu) as context, open_context(gpu, 1) as second, context.alloc(8) as one, second.alloc(8) as other:
        one.upload(b"abcdefgh")
        with second.create_stream() as stream:
            other.copy_from(one, 2, 0, 4, stream)
            other.copy_from(one, 0, 4, 4, stream)
            stream.synchronize()
        back = bytearray(8)
        other.download(back)
        assert back == b"cdefabcd"
        assert gpu.names.count({"cuda": "cuMemcpyPeerAsync", "hip": "hipMemcpyPeerAsync"}[gpu.vendor.backend]) == 2
        with context.create_stream() as wrong, pytest.raises(InvalidArgument, match=r"stream: it is of \w+ 0, the work of \w+ 1"):
            other.copy_from(one, stream=wrong)


@pytest.mark.parametrize("where", ["gpu", "cpu"])
def test_fills(where: str, request: pytest.FixtureRequest) -> None:
    context = cpu.Context() if where == "cpu" else open_context(request.getfixturevalue("nvidia"))
    back = np.zeros(16, np.uint8)
    with context.alloc(16) as buffer:
        buffer.fill()
        buffer.fill(7, offset=1, n=2)
        buffer.fill(b"\x01\x02", offset=4, n=4)
        buffer.fill(b"\x01\x02\x03\x04", offset=8)
        buffer.fill(1, n=0)
        buffer.download(back)
        assert back.tolist() == [0, 7, 7, 0, 1, 2, 1, 2, 1, 2, 3, 4, 1, 2, 3, 4]
        for value, message in (
            (256, "expected a byte"),
            (-1, "expected a byte"),
            (b"123", "1, 2 or 4 bytes, got 3"),
            (1.0, "expected a byte"),
        ):
            with pytest.raises(InvalidArgument, match=message):
                buffer.fill(value)  # type: ignore[arg-type]
        with pytest.raises(InvalidArgument, match="fill of 13 bytes at offset 3: both must be multiples of the pattern's 2 bytes"):
            buffer.fill(b"12", offset=3)
        with pytest.raises(InvalidArgument, match="fill of 16 bytes at offset 1: the buffer has 16 bytes"):
            buffer.fill(0, offset=1, n=16)


def test_fills_of_every_width_on_both_vendors(gpu: Driver) -> None:
    with open_context(gpu) as context, context.alloc(8) as buffer, context.create_stream() as stream:
        buffer.fill(b"\x01\x02\x03\x04", stream=stream)
        buffer.fill(b"\x05\x06", n=2, stream=stream)
        buffer.fill(9, offset=7, stream=stream)
        stream.synchronize()
        back = bytearray(8)
        buffer.download(back)
    assert back == bytes([5, 6, 3, 4, 1, 2, 3, 9])


# ---- pinned memory ----


@pytest.mark.parametrize("where", ["gpu", "cpu"])
def test_pinned_memory_is_an_array(where: str, request: pytest.FixtureRequest) -> None:
    context = cpu.Context() if where == "cpu" else open_context(request.getfixturevalue("amd"))
    with context.alloc_pinned(48) as pinned, context.alloc(48) as buffer:
        array = pinned.array(np.float32, (3, 4))
        array[:] = 2
        assert pinned.array().nbytes == 48 and pinned.array(np.int64).shape == (6,)
        buffer.upload_async(array)
        array2 = np.zeros((3, 4), np.float32)
        buffer.download(array2)
        assert (array2 == 2).all()
        for arguments, message in (((np.float32, 13), "has 52 bytes: the pinned memory has 48"), ((np.uint8, (-1, 2)), r"shape \(-1, 2\)")):
            with pytest.raises(InvalidArgument, match=message):
                pinned.array(*arguments)
    with pytest.raises(InvalidArgument, match="this pinned memory of 48 bytes is freed"):
        pinned.array()
    assert repr(pinned) == "<PinnedMemory: freed>"
    assert (array == 2).all()


def test_pinned_memory_lasts_as_long_as_its_arrays(gpu: Driver) -> None:
    with open_context(gpu) as context:
        pinned = context.alloc_pinned(64)
        array = pinned.array()
        part = array[10:20]
        pinned.free()
        pinned.free()
        del array
        gc.collect()
        assert gpu.held["pinned"] == 64
        part[:] = 1
        del part
        gc.collect()
        assert gpu.held["pinned"] == 0
        with context.alloc_pinned(0) as empty:
            assert empty.array().size == 0


def test_an_array_on_pinned_memory_outlives_shutdown(gpu: Driver) -> None:
    """Its context is kept as long, and let go with it."""
    with open_context(gpu) as context:
        array: Any = context.alloc_pinned(64).array()
    RUNTIMES[gpu.vendor.backend].shutdown()
    array[:] = 3
    assert gpu.held["pinned"] == 64
    assert gpu.held["contexts"] == (1 if gpu.vendor.backend == "cuda" else 0)
    with open_context(gpu) as again, again.alloc(64) as buffer:
        buffer.upload_async(array)
        again.synchronize()
    del array
    gc.collect()
    assert gpu.held["pinned"] == 0
    assert gpu.held["contexts"] == (1 if gpu.vendor.backend == "cuda" else 0)  # that of the new context


def test_failures_of_memory_say_what_they_are(gpu: Driver) -> None:
    calls = RUNTIMES[gpu.vendor.backend].driver.calls
    with open_context(gpu) as context, context.alloc(16) as buffer:
        data = bytearray(16)
        for call, kind, message, use in (
            (calls.allocate_host, AllocFailed, "cannot allocate 16 bytes of pinned host memory", lambda: context.alloc_pinned(16)),
            (calls.copy_in_async, CopyFailed, "cannot copy 16 bytes to the device", lambda: buffer.upload_async(data)),
            (calls.copy_out_async, CopyFailed, "cannot copy 16 bytes to the host", lambda: buffer.download_async(data)),
            (calls.copy_within, CopyFailed, "cannot copy 4 bytes on the device", lambda: buffer.copy_from(buffer, 0, 8, 4)),
            (calls.fill[1], CopyFailed, "cannot fill 16 bytes", lambda: buffer.fill(0)),
        ):
            gpu.fail(call)
            with pytest.raises(kind, match=rf"{gpu.vendor.backend}: {message}: {call} gave {gpu.vendor.code_name} \(700\)"):
                use()
            use()
        context.synchronize()
