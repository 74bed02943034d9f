"""What goes between another library and us without a copy: arrays both ways, streams both ways, and what is refused by name.

The library is one of `libraries`, or anything in that shape: the tests run these checks with a library of their own on the test drivers,
and with NumPy on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from libraries import Library
from sections import Found, Say

import gompute as g
from gompute.runtime import dynamic
from tests.conformance.loading import spec

__all__ = ["SHAPE", "check"]

#: Of most arrays.
SHAPE = (64, 1000)


class Interface:
    """An array that speaks nothing but ``__cuda_array_interface__``."""

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        found: dict[str, Any] = self.array.__cuda_array_interface__
        return found


class _Checks:
    """
    Attributes:
        times: how often an element is added to, so that the work is still under way when the next is queued.
    """

    def __init__(self, library: Library, compute: dynamic.Compute, kernels: g.KernelSet, times: int) -> None:
        self.library, self.compute, self.times = library, compute, times
        self.backend = compute.backend
        self.halve = g.Kernel(spec("halve"), self.backend, kernels=kernels)
        self.invert = g.Kernel(spec("same_type"), self.backend, kernels=kernels)
        self.bits = g.RawKernel("bits", self.backend, kernels=kernels)

    def close(self) -> None:
        for kernel in (self.halve, self.invert, self.bits):
            kernel.close()

    @staticmethod
    def values(step: float = 2.0) -> np.ndarray:
        return np.arange(SHAPE[0] * SHAPE[1], dtype=np.float32).reshape(SHAPE) * np.float32(step)

    def same(self, array: Any, wanted: np.ndarray) -> None:
        """What the library's array holds."""
        np.testing.assert_array_equal(self.library.numpy(array), wanted)

    # ---- arrays ----

    def taken(self) -> None:
        """Theirs as arguments of ours, and as one of our arrays, on the same memory."""
        if not self.library.writes:
            return self._read()
        values, array = self.values(), self.library.array(self.values())
        self.halve.run(array)
        self.same(array, values / 2)
        self.halve.launch(array)
        self.halve.synchronize()
        self.same(array, values / 4)
        with g.asarray(array, self.backend) as ours:
            assert (ours.shape, ours.element) == (SHAPE, g.f32)
            self.halve.launch(ours)
            np.testing.assert_array_equal(ours.numpy(), values / 8)
        self.same(array, values / 8)
        self._raw(array)
        return None

    def _raw(self, array: Any) -> None:
        values = self.library.numpy(array)
        with g.empty(SHAPE, g.u32, self.backend) as out:
            self.bits.launch(-(-values.size // 256), 256, array, out, values.size)
            np.testing.assert_array_equal(out.numpy(), values.view(np.uint32) ^ np.uint32(0x80000000))

    def _read(self) -> None:
        """Arrays that nobody may write to are inputs, and copied on request."""
        values = np.arange(1000, dtype=np.uint8)
        array = self.library.array(values)
        made = self.invert.run(array, None)
        np.testing.assert_array_equal(np.asarray(made) if isinstance(made, np.ndarray) else made.numpy(), ~values)
        with g.asarray(array, self.backend) as copied:
            copied.upload(np.zeros_like(values))
        self.same(array, values)

    def given(self) -> None:
        """Ours in their hands."""
        values = self.values()
        with g.asarray(values.copy(), self.backend) as ours:
            theirs = self.library.take(ours)
            self.same(theirs, values)
            if self.library.writes:
                self.library.add(theirs, 1)
                self.same(theirs, values + 1)
                np.testing.assert_array_equal(ours.numpy(), values + 1)
                self.halve.run(ours)
                self.same(theirs, (values + 1) / 2)
        self.same(theirs, (values + 1) / 2 if self.library.writes else values)  # it keeps the memory

    def every_type(self) -> None:
        for kind in (g.i8, g.i16, g.i32, g.u8, g.u16, g.u32, g.f16, g.f32):
            with g.zeros(5, kind, self.backend) as ours, g.asarray(self.library.take(ours), self.backend) as back:
                assert (back.element, back.shape) == (kind, (5,))
                assert not back.numpy().any()

    def interface(self) -> str | None:
        """The same both ways by ``__cuda_array_interface__``."""
        if not self.library.interface:
            return "no __cuda_array_interface__"
        values, array = self.values(), self.library.array(self.values())
        self.halve.run(Interface(array))
        self.same(array, values / 2)
        with g.asarray(values, self.backend) as ours:
            theirs = self.library.take_interface(Interface(ours))
            self.same(theirs, values)
            self.halve.run(ours)
            self.same(theirs, values / 2)
        return None

    # ---- streams ----

    def ordered(self) -> str | None:
        """Ours waits for what they have queued, and theirs for what we have, on the device."""
        library, values, times = self.library, self.values(0.0), self.times
        if not library.streams:
            return "no streams"
        with self.compute.create_stream(non_blocking=True) as ours:
            for wrap in (lambda array: array, Interface) if library.interface else (lambda array: array,):
                stream = library.stream()
                with library.on(stream):
                    array = library.array(values)
                    library.add(array, times)
                    if wrap is Interface and wrap(array).__cuda_array_interface__.get("stream") is None:
                        library.wait(stream)  # version 2 of the interface, or a producer that names no stream: nobody can wait for it
                    self.halve.launch(wrap(array), stream=ours)
                ours.synchronize()
                self.same(array, values + times / 2)
        with g.asarray(np.full(SHAPE, 2.0**times, np.float32), self.backend) as mine:
            for _ in range(times):
                self.halve.launch(mine)
            stream = library.stream()
            with library.on(stream):
                theirs = library.take(mine)
                library.add(theirs, 1)
            library.wait(stream)
            self.same(theirs, np.full(SHAPE, 2.0, np.float32))
        return None

    def shared_streams(self) -> str | None:
        """Work of both on one stream, made by them and by us."""
        library, compute, times = self.library, self.compute, self.times
        if not library.streams:
            return "no streams"
        theirs = library.stream()
        with compute.wrap_stream(theirs) as wrapped, compute.create_stream() as ours:
            for stream, queue in ((theirs, wrapped), (library.stream_of(ours.pointer), ours)):
                with library.on(stream):
                    array = library.array(self.values(0.0))
                    library.add(array, times)
                    self.halve.launch(array, stream=queue)
                    library.add(array, 1)
                library.wait(stream)
                queue.synchronize()
                self.same(array, self.values(0.0) + times / 2 + 1)
        return None

    # ---- what is refused ----

    def refused(self) -> None:
        """What is refused says the argument's name and why."""
        library, array = self.library, self.library.array(self.values())
        other = library.array(np.zeros(SHAPE, np.int32))
        wrong: list[tuple[str, Callable[[], object]]] = [("f32", lambda: self.halve.launch(other))]
        locked, turned = library.read_only(array), library.transposed(array)
        if locked is not None:
            wrong += [("read-only", lambda: self.halve.launch(locked)), ("read-only", lambda: self.halve.run(locked))]
        if turned is not None and self.backend != "cpu":
            wrong += [("strides", lambda: self.halve.launch(turned)), ("strides", lambda: g.asarray(turned, self.backend))]
        for word, use in wrong:
            try:
                use()
            except g.InvalidArgument as error:
                text = str(error)
            else:
                text = "it was taken"
            assert word in text and text.startswith(("data: ", "value: ")), f"wrong for {word}: {text}"
        if turned is not None and self.backend == "cpu":  # an elementwise kernel takes Fortran's order there
            self.halve.run(turned)
            self.same(array, self.values() / 2)


def check(library: type[Library], backend: str, kernels: g.KernelSet, say: Say, times: int = 100) -> Found:
    """Everything between one library and a device.

    Args:
        times: how much work is queued before the other side is given the array.
    """
    say(f"the import of {library.name}")
    try:
        found = library(backend)
    except ImportError as error:
        return str(error)
    why_not = found.missing()
    if why_not is not None:
        return why_not
    results: dict[str, Any] = {"version": found.version}
    with dynamic.Compute(backend) as compute:
        checks = _Checks(found, compute, kernels, times)
        for name in ("taken", "given", "every_type", "interface", "ordered", "shared_streams", "refused"):
            say(f"{found.name}, {name}")
            try:
                results[name] = getattr(checks, name)() or "ok"
            except Exception as error:
                results[name] = f"{type(error).__name__}: {error}"
                results["status"] = "failed"
        checks.close()
    return results
