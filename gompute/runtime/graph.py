"""Work that was written down once and is launched as a whole."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from gompute.errors import Error, GraphFailed, InvalidArgument
from gompute.runtime.buffer import Buffer, lane_of

if TYPE_CHECKING:
    from gompute.runtime.accelerator import Accelerator
    from gompute.runtime.held import Held
    from gompute.runtime.stream import Stream

__all__ = ["Graph"]


class Graph:
    """What a stream was given between `begin_capture` and `end_capture`.

    It keeps the buffers and the host arrays that its work uses. Ended by `close`, at the end of a ``with`` block, or when nothing refers to
    it; launches go on.
    """

    __slots__ = ("__weakref__", "_accelerator", "_executable", "_held", "_memory")

    def __init__(self, accelerator: Accelerator, held: Held, buffers: list[Buffer], kept: list[Any]) -> None:
        self._accelerator = accelerator
        self._held: Held | None = held
        self._executable: Held | None = None
        #: Buffers and host memory of the work as it was written down last.
        self._memory = (buffers, kept)

    def instantiate(self) -> Self:
        """Makes the graph ready to be launched, which takes the driver some time; again is no error. Gives the graph itself.

        Raises:
            GraphFailed: the driver refuses.
        """
        handle = self._open()
        accelerator = self._accelerator
        if self._executable is None:
            with accelerator.current() as driver:
                self._executable = accelerator.hold(driver.instantiate(handle), driver.destroy_executable)
        return self

    def launch(self, stream: Stream | None = None) -> None:
        """Queues all of the graph's work on a stream (the default stream when left out) and does not wait.

        Raises:
            GraphFailed: the graph is not instantiated, or the driver refuses.
            InvalidArgument: a buffer that its work uses is freed.
        """
        self._open()
        if self._executable is None:
            raise GraphFailed(f"{self._accelerator.backend}: the graph is not instantiated: call instantiate() once before launch()")
        buffers, _ = self._memory
        for buffer in buffers:
            if buffer.address is None:
                raise InvalidArgument(f"launch of a graph: a buffer of {buffer.nbytes} bytes that its work uses is freed")
        accelerator = self._accelerator
        lane = lane_of(accelerator, stream)
        with accelerator.current() as driver:
            driver.launch_graph(self._executable.handle, lane.handle)
            lane.launches += 1
            lane.names.append("a graph")
            if stream is not None and stream.capturing:
                stream.uses(buffers, self._memory)
            else:
                lane.keep(self._memory)

    def update(self, other: Graph) -> None:
        """From the next launch on, this graph does what `other` does; both must be of one shape (the same kernels and copies in the same
        order), which is what makes this cheaper than `instantiate`. `other` stays as it is.

        Raises:
            GraphFailed: this graph is not instantiated, or the graphs differ in shape; the message has the driver's reason.
        """
        self._open()
        if not isinstance(other, Graph):
            raise InvalidArgument(f"other: expected a graph (from end_capture), got {other!r}")
        if other._accelerator is not self._accelerator:
            raise InvalidArgument("other: the graph is of another device")
        handle = other._open()
        if self._executable is None:
            raise GraphFailed(f"{self._accelerator.backend}: the graph is not instantiated: call instantiate() before update()")
        with self._accelerator.current() as driver:
            driver.update_executable(self._executable.handle, handle)
        self._memory = other._memory

    def close(self) -> None:
        """Ends the graph; launches go on. Again is no error."""
        executable, held = self._executable, self._held
        self._executable = self._held = None
        try:
            if executable is not None:
                executable.release()
        finally:
            if held is not None:
                held.release()

    def _open(self) -> Any:
        if self._held is None:
            raise InvalidArgument(f"this {self._accelerator.backend} graph is closed")
        self._accelerator.check_alive()
        return self._held.handle

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_held", None) is not None:
            with suppress(Error):  # a finaliser has nobody to tell; `shutdown` tries again, and tells
                self.close()

    def __repr__(self) -> str:
        state = "closed" if self._held is None else "captured" if self._executable is None else "instantiated"
        return f"<Graph on {self._accelerator.backend} {self._accelerator.ordinal}: {state}>"
