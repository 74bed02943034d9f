"""Everything that can be closed, closed in any order, with work under way: what is closed says so, and what is not goes on working."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from itertools import permutations

import numpy as np
import pytest

import gompute as g
from gompute.handles.kernel_set import KernelSet
from gompute.runtime import cpu
from gompute.runtime.context import AnyContext
from tests.driver.control import Driver
from tests.driver.kernels import Params, raw_add, scale_relu
from tests.handles.test_device_array import Other
from tests.runtime.devices import RUNTIMES, open_context

P = Params(scale=2.0)
DATA = np.arange(100, dtype=np.float32)
GIVEN_BACK = ("bytes", "pinned", "streams", "events", "graphs", "executables")


@pytest.fixture(params=["cpu", "cuda", "hip"])
def gpu(request: pytest.FixtureRequest) -> Iterator[Driver | None]:
    """Each vendor's driver, slowed down so that work is under way; None for the CPU."""
    if request.param == "cpu":
        yield None
        return
    driver: Driver = request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[request.param])
    driver.delay(100)
    yield driver


class Thing:
    """Something that can be closed.

    Attributes:
        refused_after: the names of the things after whose closing `use` is refused.
    """

    def __init__(self, close: Callable[[], object], use: Callable[[], object], *refused_after: str) -> None:
        self.close, self.use, self.refused_after = close, use, set(refused_after)


class World:
    """One of everything on a device, and work of each under way."""

    def __init__(self, gpu: Driver | None, kernels: KernelSet) -> None:
        self.gpu = gpu
        self.closed: set[str] = set()
        context: AnyContext = cpu.Context() if gpu is None else open_context(gpu)
        backend = context.accelerator.backend
        kernel, raw = g.Kernel(scale_relu, backend, kernels=kernels), g.RawKernel(raw_add, backend, kernels=kernels)
        buffer, source, array = context.alloc(400), context.alloc(400), g.asarray(DATA.copy(), backend)
        stream, other, event = context.create_stream(non_blocking=True), context.create_stream(), context.create_event()
        pinned, rows, taken = context.alloc_pinned(400), array[10:20], g.asarray(Other(array), backend)
        host = pinned.array(np.float32)
        host[:] = 1
        other.begin_capture()
        raw.launch(1, 128, buffer, 100, stream=other)
        buffer.copy_from(source, stream=other)
        graph = other.end_capture().instantiate()
        self.things = {
            "context": Thing(context.close, lambda: context.alloc(8).free(), "context"),
            "kernel": Thing(kernel.close, lambda: kernel.run(DATA.copy(), P), "kernel"),
            "raw kernel": Thing(raw.close, lambda: raw.alloc(8).free(), "raw kernel"),
            "buffer": Thing(buffer.free, lambda: buffer.fill(1), "buffer"),
            "source": Thing(source.free, lambda: source.upload(DATA), "source"),
            "array": Thing(array.free, array.numpy, "array", "rows"),
            "rows": Thing(rows.free, rows.numpy, "array", "rows"),
            "taken": Thing(taken.free, taken.numpy, "taken"),
            "pinned": Thing(pinned.free, pinned.array, "pinned"),
            "stream": Thing(stream.close, stream.query, "stream"),
            "other": Thing(other.close, other.synchronize, "other"),
            "event": Thing(event.close, event.record, "event"),
            "graph": Thing(graph.close, graph.launch, "graph", "buffer", "source"),
        }
        source.upload_async(host, stream)
        kernel.launch(source, P, stream=stream)
        event.record(stream)
        other.wait_event(event)
        graph.launch(other)
        buffer.download_async(host, other)
        raw.launch(1, 128, array, 100)

    def close(self, name: str) -> None:
        self.things[name].close()
        self.things[name].close()
        self.closed.add(name)

    def look(self) -> None:
        """Each thing works, or says in words what is closed."""
        for name, thing in self.things.items():
            if self.closed & thing.refused_after:
                with pytest.raises(g.InvalidArgument, match=r"(is|handle of kernel '\w+' is) closed$|is freed$"):
                    thing.use()
            else:
                try:
                    thing.use()
                except g.Error as error:
                    raise AssertionError(f"{name} after {sorted(self.closed)}") from error

    def end(self) -> None:
        """Nothing is left of it."""
        self.things.clear()
        if self.gpu is not None:
            with open_context(self.gpu) as context:
                context.synchronize()
            held = self.gpu.held
            assert {kind: held[kind] for kind in GIVEN_BACK if held[kind]} == {}
            assert self.gpu.problems == []


def in_order(gpu: Driver | None, kernels: KernelSet, order: Iterable[str], look: bool) -> None:
    world = World(gpu, kernels)
    for name in order:
        world.close(name)
        if look:
            world.look()
    world.end()


def test_every_order_of_what_a_stream_s_work_is_made_of(gpu: Driver | None, kernel_set: KernelSet) -> None:
    """What is not named goes when nothing refers to it."""
    for order in permutations(("source", "other", "event", "graph")):
        in_order(gpu, kernel_set, order, look=False)


def test_any_order_of_everything(gpu: Driver | None, kernel_set: KernelSet) -> None:
    chance = random.Random(7)
    names = list(World(gpu, kernel_set).things)
    for _ in range(12):
        in_order(gpu, kernel_set, chance.sample(names, len(names)), look=True)


def test_the_device_is_shut_down_in_between(nvidia: Driver, amd: Driver, kernel_set: KernelSet) -> None:
    """Closing goes on in silence, and every use says what has happened."""
    chance = random.Random(8)
    for gpu in (nvidia, amd) * 4:
        world = World(gpu, kernel_set)
        order = chance.sample(list(world.things), len(world.things))
        at = chance.randrange(len(order))
        for name in order[:at]:
            world.close(name)
        RUNTIMES[gpu.vendor.backend].shutdown()
        for name, thing in world.things.items():
            if name == "pinned" and name not in world.closed:
                continue  # host memory, which an array on it has kept
            with pytest.raises(g.Error, match=r"closed$|is freed$|that its work uses is freed|was shut down with shutdown\(\)"):
                thing.use()
        for name in order[at:]:
            world.close(name)
        world.end()
