"""Memory that a kernel can reach, counted in bytes."""

from __future__ import annotations

import struct
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any, Protocol, Self

from gompute.errors import Error, InvalidArgument
from gompute.runtime.driver import Driver
from gompute.runtime.host_memory import HostMemory, readable, writable
from gompute.runtime.lane import Lane

if TYPE_CHECKING:
    from gompute.runtime.stream import Stream

__all__ = ["Buffer", "Loan", "Memory", "Releasable", "lane_of"]


class Memory(Protocol):
    """Where a buffer lives.

    Attributes:
        backend: ``cuda``, ``hip`` or ``cpu``.
        ordinal: the device's number.
        context: the driver's word for the device's context.
        default: the queue of the default stream.
    """

    backend: str
    ordinal: int
    context: int
    default: Lane

    def copy_in(self, target: int, source: int, size: int) -> None: ...

    def copy_out(self, target: int, source: int, size: int) -> None: ...

    def check_alive(self) -> None:
        """Refuses memory that `shutdown` has freed or that belongs to the parent of a fork."""

    def current(self) -> AbstractContextManager[Driver]:
        """Makes the memory's device current in this thread."""


class Releasable(Protocol):
    def release(self) -> None: ...


class Loan:
    """Keeps a buffer's memory for another library, also after the buffer's `free`, until nothing refers to the loan any more."""

    __slots__ = ("_buffer",)

    def __init__(self, buffer: Buffer) -> None:
        """
        Raises:
            InvalidArgument, BackendUnavailable: as `Buffer.device_addr`.
        """
        buffer.lend(self)
        self._buffer = buffer

    def __del__(self) -> None:
        buffer = getattr(self, "_buffer", None)
        if buffer is not None:
            with suppress(Error):  # a finaliser has nobody to tell; `shutdown` tries again, and tells
                buffer.take_back(self)


class Buffer:
    """A piece of a device's memory (of the host's, for the CPU backend).

    Freed by `free`, at the end of a ``with`` block, or when nothing refers to it any more; work that was launched before is waited for by
    the driver. Methods named ``..._async`` and `copy_from` and `fill` return at once; `stream` is the default stream when left out.

    Attributes:
        memory: where it lives.
        nbytes: its size.
        address: where it starts, None when it is freed; `device_addr` is the checked form.
    """

    __slots__ = ("__weakref__", "_held", "_lent", "address", "memory", "nbytes")

    def __init__(self, memory: Memory, address: int, nbytes: int, held: Releasable | None = None) -> None:
        """
        Args:
            held: what gives the memory back; None where it is another's, who frees it.
        """
        self.memory = memory
        self.nbytes = nbytes
        self.address: int | None = address
        self._held = held
        #: The loans that there are, by their ids.
        self._lent: set[int] = set()

    @property
    def device_addr(self) -> int:
        """The address, as a kernel takes it.

        Raises:
            InvalidArgument: the buffer is freed.
            BackendUnavailable: its device was shut down.
        """
        if self.address is None:
            raise InvalidArgument(f"this {self.memory.backend} buffer of {self.nbytes} bytes is freed")
        self.memory.check_alive()
        return self.address

    @property
    def arg(self) -> bytes:
        """The address as the 8 bytes of a launch argument."""
        return struct.pack("<Q", self.device_addr)

    # ---- between host and device ----

    def upload(self, host: Any) -> None:
        """Copies an array or a bytes-like object to the buffer's start."""
        self.upload_at(host, 0)

    def download(self, host: Any) -> None:
        """Fills a writable array or bytes-like object from the buffer's start; waits for the launches before it on the default stream and
        on streams that are not `non_blocking`."""
        self.download_at(host, 0)

    def upload_at(self, host: Any, offset: int) -> None:
        """Copies `host` to `offset` bytes from the buffer's start.

        Raises:
            InvalidArgument: it does not fit, or is not contiguous.
        """
        source = readable("host", host)
        self.memory.copy_in(self._range(offset, source.nbytes, "upload"), source.address, source.nbytes)

    def download_at(self, host: Any, offset: int) -> None:
        """Fills `host` from `offset` bytes after the buffer's start; waits as `download`.

        Raises:
            InvalidArgument: the buffer ends before `host` is full, or `host` is read-only or not contiguous.
        """
        target = writable("host", host)
        self.memory.copy_out(target.address, self._range(offset, target.nbytes, "download"), target.nbytes)

    def upload_async(self, host: Any, stream: Stream | None = None, *, offset: int = 0) -> None:
        """As `upload_at`, in the order of the stream; `host` is kept alive until the copy is done and must not be changed before.

        From pinned memory (`alloc_pinned`) the copy runs beside the host's work; from other memory the driver may wait.
        """
        source = readable("host", host)
        address = self._range(offset, source.nbytes, "upload")
        if source.nbytes:
            with self.memory.current() as driver:
                lane = lane_of(self.memory, stream)
                driver.copy_in_async(address, source.address, source.nbytes, lane.handle)
                _keep(lane, stream, source, self)

    def download_async(self, host: Any, stream: Stream | None = None, *, offset: int = 0) -> None:
        """As `download_at`, in the order of the stream; `host` holds the data once the stream was waited for."""
        target = writable("host", host)
        address = self._range(offset, target.nbytes, "download")
        if target.nbytes:
            with self.memory.current() as driver:
                lane = lane_of(self.memory, stream)
                driver.copy_out_async(target.address, address, target.nbytes, lane.handle)
                _keep(lane, stream, target, self)

    # ---- on the device ----

    def copy_from(
        self, source: Buffer, src_offset: int = 0, dst_offset: int = 0, n: int | None = None, stream: Stream | None = None
    ) -> None:
        """Copies from another buffer of the same device or of another device of the same backend, in the order of the stream.

        Args:
            n: bytes; all from `src_offset` on when left out.
            stream: of the device of this buffer. It is not waited for; a copy from another device waits for neither device's other work.

        Raises:
            InvalidArgument: it does not fit, the ranges overlap, or the buffers are of different backends.
        """
        if not isinstance(source, Buffer):
            raise InvalidArgument(f"copy_from: expected a Buffer, got {type(source).__name__}: upload takes what is in host memory")
        size = source.nbytes - src_offset if n is None else n
        start = source._range(src_offset, size, "copy")
        address = self._range(dst_offset, size, "copy")
        mine, theirs = self.memory, source.memory
        if mine.backend != theirs.backend:
            raise InvalidArgument(
                f"copy_from: the source is on {theirs.backend}, this buffer on {mine.backend}: download to host memory, upload from there"
            )
        if mine is theirs and address < start + size and start < address + size and size:
            raise InvalidArgument(f"copy_from: {size} bytes at {src_offset} and at {dst_offset} of one buffer overlap")
        if not size:
            return
        with mine.current() as driver:
            lane = lane_of(mine, stream)
            if mine is theirs:
                driver.copy_within(address, start, size, lane.handle)
            else:
                driver.copy_across(address, mine.context, start, theirs.context, size, lane.handle)
            if stream is not None:
                stream.uses((self, source))

    def fill(self, value: int | bytes = 0, *, offset: int = 0, n: int | None = None, stream: Stream | None = None) -> None:
        """Fills with a byte (0 to 255) or with a pattern of 1, 2 or 4 bytes, in the order of the stream.

        Args:
            offset: bytes from the buffer's start; a multiple of the pattern's length.
            n: bytes to fill, a multiple of the pattern's length; all from `offset` on when left out.

        Raises:
            InvalidArgument: naming what does not fit.
        """
        pattern = _pattern(value)
        width = len(pattern)
        size = self.nbytes - offset if n is None else n
        address = self._range(offset, size, "fill")
        if offset % width or size % width:
            raise InvalidArgument(f"fill of {size} bytes at offset {offset}: both must be multiples of the pattern's {width} bytes")
        if size:
            with self.memory.current() as driver:
                driver.fill(address, int.from_bytes(pattern, "little"), width, size // width, lane_of(self.memory, stream).handle)
                if stream is not None:
                    stream.uses((self,))

    def _range(self, offset: int, size: int, what: str) -> int:
        address = self.device_addr
        if offset < 0 or size < 0 or offset + size > self.nbytes:
            raise InvalidArgument(f"{what} of {size} bytes at offset {offset}: the buffer has {self.nbytes} bytes")
        return address + offset

    # ---- the end ----

    def lend(self, loan: Loan) -> None:
        """Keeps the memory until `take_back` of the loan."""
        _ = self.device_addr
        self._lent.add(id(loan))

    def take_back(self, loan: Loan) -> None:
        """Ends a loan; where it was the last of a buffer that is freed, the memory is given back."""
        self._lent.discard(id(loan))
        if self.address is None:
            self._give_back()

    def free(self) -> None:
        """Gives the memory back, or the last to whom it is lent does (another library that has it through DLPack); again is no error."""
        if self.address is not None:
            self.address = None
            self._give_back()

    def _give_back(self) -> None:
        if not self._lent:
            held, self._held = self._held, None
            if held is not None:
                held.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def __del__(self) -> None:
        if getattr(self, "_held", None) is not None:
            with suppress(Error):  # a finaliser has nobody to tell; `shutdown` tries again, and tells
                self.free()

    def __repr__(self) -> str:
        state = f"{self.nbytes} bytes" if self.address is not None else "freed"
        return f"<Buffer on {self.memory.backend} {self.memory.ordinal}: {state}>"


def lane_of(memory: Memory, stream: Stream | None) -> Lane:
    """The queue for work on that device: the stream's, or the default stream's without one.

    Raises:
        InvalidArgument: it is no stream, is closed, or is of another device.
    """
    if stream is None:
        return memory.default
    try:
        lane_on = stream.lane_on
    except AttributeError:
        raise InvalidArgument(
            f"stream: expected a stream of {memory.backend} {memory.ordinal} from create_stream, or from wrap_stream, which takes one of "
            f"CuPy or PyTorch; got {stream!r}"
        ) from None
    return lane_on(memory)


def _keep(lane: Lane, stream: Stream | None, host: HostMemory, buffer: Buffer) -> None:
    """Has the host's memory outlast the copy, or the graph that it is captured into."""
    if stream is not None and stream.capturing:
        stream.uses((buffer,), host)
    else:
        lane.keep(host)


def _pattern(value: int | bytes) -> bytes:
    if isinstance(value, bytes):
        if len(value) in (1, 2, 4):
            return value
        raise InvalidArgument(f"value: a pattern has 1, 2 or 4 bytes, got {len(value)}")
    if isinstance(value, int) and 0 <= value <= 255:
        return bytes([value])
    raise InvalidArgument(f"value: expected a byte (0 to 255) or a pattern of 1, 2 or 4 bytes, got {value!r}")
