"""What is passed in the place of a stream, an event, a buffer, code or a size: refused in words, on every backend."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import gompute as g
from gompute.handles.kernel_set import KernelSet
from gompute.runtime import cpu
from gompute.runtime.context import AnyContext
from tests.driver.control import Driver
from tests.driver.kernels import Params, add, count_tiles, raw_add, scale_relu
from tests.handles.test_device_array import Other
from tests.runtime.devices import open_context

P = Params(scale=1.0)


@pytest.fixture(params=["cpu", "cuda", "hip"])
def context(request: pytest.FixtureRequest) -> AnyContext:
    if request.param == "cpu":
        return cpu.Context()
    gpu: Driver = request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[request.param])
    return open_context(gpu)


@pytest.mark.parametrize("wrong", [7, object(), "stream"], ids=["number", "object", "text"])
def test_what_is_no_stream(context: AnyContext, kernel_set: KernelSet, wrong: object) -> None:
    stream, backend = wrong, context.backend
    with (
        g.Kernel(scale_relu, backend, kernels=kernel_set) as kernel,
        g.RawKernel(raw_add, backend, kernels=kernel_set) as raw,
        g.Kernel(count_tiles, backend, kernels=kernel_set) as total,
        context.alloc(16) as buffer,
        context.alloc(16) as other,
        context.create_event() as event,
        context.create_stream() as real,
        g.zeros(4, g.f32, backend) as array,
    ):
        real.begin_capture()
        buffer.fill(0, stream=real)
        with real.end_capture().instantiate() as graph:
            uses: list[Callable[[], object]] = [
                lambda: kernel.launch(buffer, P, stream=stream),
                lambda: kernel.launch(Other(array), P, stream=stream),
                lambda: raw.launch(1, 1, buffer, 4, stream=stream),
                lambda: total.launch(buffer, g.empty(1, g.u64, backend), stream=stream),
                lambda: buffer.upload_async(bytes(16), stream),
                lambda: buffer.download_async(bytearray(16), stream),
                lambda: buffer.copy_from(other, stream=stream),
                lambda: buffer.fill(0, stream=stream),
                lambda: event.record(stream),
                lambda: graph.launch(stream),
            ]
            for _ in range(2):
                for use in uses:
                    with pytest.raises(g.InvalidArgument) as caught:
                        use()
                    assert str(caught.value) == (
                        f"stream: expected a stream of {backend} 0 from create_stream, or from wrap_stream, which takes one of CuPy or "
                        f"PyTorch; got {stream!r}"
                    )
                raw.launch(1, 1, buffer, 4), kernel.launch(buffer, P)  # again after launches as they should be


def test_what_is_no_event_graph_or_buffer(context: AnyContext) -> None:
    with context.create_stream() as stream, context.create_event() as event, context.alloc(16) as buffer:
        event.record()
        context.synchronize()
        stream.begin_capture()
        with stream.end_capture().instantiate() as graph:
            for use, words in (
                (lambda: stream.wait_event(3), "event: expected an event (from create_event), got 3"),
                (lambda: event.elapsed_us(None), "end: expected an event (from create_event), got None"),
                (lambda: graph.update(stream), f"other: expected a graph (from end_capture), got {stream!r}"),
                (
                    lambda: buffer.copy_from(np.zeros(4)),
                    "copy_from: expected a Buffer, got ndarray: upload takes what is in host memory",
                ),
            ):
                with pytest.raises(g.InvalidArgument) as caught:
                    use()
                assert str(caught.value) == words


def test_what_is_no_code(context: AnyContext) -> None:
    for wrong, kind in (("kernels.ptx", "str"), (None, "NoneType"), (3, "int")):
        with pytest.raises(g.InvalidArgument) as caught:
            context.load_module(wrong)
        assert str(caught.value) == (
            f"image: expected the bytes of the code, got {kind}: pass pathlib.Path(...).read_bytes() of a file, or text.encode() of PTX"
        )
    with pytest.raises(g.ModuleLoadFailed):
        context.load_module(bytearray(b"no code"))


def test_sizes_that_no_memory_has(context: AnyContext, kernel_set: KernelSet) -> None:
    with g.Kernel(scale_relu, context.backend, kernels=kernel_set) as kernel:
        for use, size in (
            (lambda: context.alloc(2**63), 2**63),
            (lambda: context.alloc_pinned(2**70), 2**70),
            (lambda: kernel.alloc(2**62), 2**64),
            (lambda: g.empty(2**61, g.f64, context.backend), 2**64),
        ):
            with pytest.raises(g.AllocFailed) as caught:
                use()
            assert str(caught.value) == f"{context.backend}: cannot allocate {size} bytes: no memory has more than {2**63 - 1}"
    with pytest.raises(g.InvalidArgument, match="size: expected a number of bytes that is not negative, got -1"):
        context.alloc_pinned(-1)


def test_a_buffer_that_is_freed_is_told_by_the_arguments_name(context: AnyContext, kernel_set: KernelSet) -> None:
    backend = context.backend
    with (
        g.Kernel(add, backend, kernels=kernel_set) as both,
        g.RawKernel(raw_add, backend, kernels=kernel_set) as raw,
        context.alloc(16) as buffer,
        g.zeros(4, g.f32, backend) as array,
    ):
        freed = context.alloc(16)
        freed.free()
        gone = g.zeros(4, g.f32, backend)
        gone.free()
        for name, use in (
            ("b", lambda: both.launch(buffer, freed, buffer)),
            ("out", lambda: both.launch(buffer, buffer, freed)),
            ("data", lambda: raw.launch(1, 1, freed, 4)),
            *((("a", lambda: both.launch(gone, array, array)), ("data", lambda: raw.launch(1, 1, gone, 4))) if backend != "cpu" else ()),
        ):
            with pytest.raises(g.InvalidArgument) as caught:
                use()
            assert str(caught.value) == f"{name}: this {backend} buffer of 16 bytes is freed"


def test_what_an_argument_is_not_is_shown(context: AnyContext, kernel_set: KernelSet) -> None:
    backend = context.backend
    with g.RawKernel(raw_add, backend, kernels=kernel_set) as raw, g.Kernel(add, "cpu", kernels=kernel_set) as both:
        with pytest.raises(g.InvalidArgument, match="got None$"):
            raw.launch(1, 1, None, 4)
        with pytest.raises(g.InvalidArgument, match="got <Stream on .*: open>$"), context.create_stream() as stream:
            raw.launch(1, 1, stream, 4)
        if backend != "cpu":
            with pytest.raises(g.InvalidArgument, match=r"got <DeviceArray \(4,\) f32 on cpu 0>$"):
                raw.launch(1, 1, g.zeros(4, g.f32, "cpu"), 4)
        with pytest.raises(g.InvalidArgument, match=r"a: .*, got list: pass numpy.array\(a, 'float32'\)$"):
            both.run([1.0, 2.0], np.zeros(2, np.float32), np.zeros(2, np.float32))
