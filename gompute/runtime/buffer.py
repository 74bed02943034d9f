"""Memory that a kernel can reach, counted in bytes."""

from __future__ import annotations

from typing import Any, Protocol, Self

from gompute.errors import InvalidArgument
from gompute.runtime.host_memory import readable, writable

__all__ = ["Buffer", "Memory"]


class Memory(Protocol):
    """Where a buffer lives.

    Attributes:
        backend: ``cuda``, ``hip`` or ``cpu``.
        ordinal: the device's number.
    """

    backend: str
    ordinal: int

    def release(self, address: int) -> None:
        """Gives memory back; of memory that is gone already (after `shutdown`, in a fork, at exit) it does nothing."""

    def copy_in(self, target: int, source: int, size: int) -> None: ...

    def copy_out(self, target: int, source: int, size: int) -> None: ...

    def check_alive(self) -> None:
        """Refuses memory that `shutdown` has freed or that belongs to the parent of a fork."""


class Buffer:
    """A piece of a device's memory (of the host's, for the CPU backend).

    Freed by `free`, at the end of a ``with`` block, or when nothing refers to it any more.

    Attributes:
        memory: where it lives.
        nbytes: its size.
        address: where it starts, None when it is freed; `device_addr` is the checked form.
    """

    __slots__ = ("__weakref__", "address", "memory", "nbytes")

    def __init__(self, memory: Memory, address: int, nbytes: int) -> None:
        self.memory = memory
        self.nbytes = nbytes
        self.address: int | None = address

    @property
    def device_addr(self) -> int:
        """The address, as a kernel takes it.

        Raises:
            InvalidArgument: the buffer is freed, or its device was shut down.
        """
        if self.address is None:
            raise InvalidArgument(f"this {self.memory.backend} buffer of {self.nbytes} bytes is freed")
        self.memory.check_alive()
        return self.address

    def upload(self, host: Any) -> None:
        """Copies an array or a bytes-like object to the buffer's start."""
        self.upload_at(host, 0)

    def download(self, host: Any) -> None:
        """Fills a writable array or bytes-like object from the buffer's start; waits for the launches before it."""
        self.download_at(host, 0)

    def upload_at(self, host: Any, offset: int) -> None:
        """Copies `host` to `offset` bytes from the buffer's start.

        Raises:
            InvalidArgument: it does not fit, or is not contiguous.
        """
        source = readable("host", host)
        self.memory.copy_in(self._range(offset, source.nbytes, "upload"), source.address, source.nbytes)

    def download_at(self, host: Any, offset: int) -> None:
        """Fills `host` from `offset` bytes after the buffer's start; waits for the launches before it.

        Raises:
            InvalidArgument: the buffer ends before `host` is full, or `host` is read-only or not contiguous.
        """
        target = writable("host", host)
        self.memory.copy_out(target.address, self._range(offset, target.nbytes, "download"), target.nbytes)

    def _range(self, offset: int, size: int, what: str) -> int:
        address = self.device_addr
        if offset < 0 or offset + size > self.nbytes:
            raise InvalidArgument(f"{what} of {size} bytes at offset {offset}: the buffer has {self.nbytes} bytes")
        return address + offset

    def free(self) -> None:
        """Gives the memory back; again is no error."""
        address, self.address = self.address, None
        if address is not None:
            self.memory.release(address)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def __del__(self) -> None:
        if getattr(self, "address", None) is not None:
            self.free()

    def __repr__(self) -> str:
        state = f"{self.nbytes} bytes" if self.address is not None else "freed"
        return f"<Buffer on {self.memory.backend} {self.memory.ordinal}: {state}>"
