"""Bare calls of many threads to one stream and one event: what a driver must bear, with no Python of ours between them."""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path

from tests.driver.control import VENDORS, Driver

THREADS = 8
#: What a query may give: done, or not yet.
SUCCESS, NOT_READY = 0, 600


def crowd(backend: str, path: Path, laps: int) -> None:
    """Has every thread copy, record, wait and query `laps` times, all on the default stream, and looks at every answer."""
    vendor = VENDORS[backend]
    gpu = Driver(vendor, path)
    gpu.reset()
    gpu.quiet(True)
    library = ctypes.CDLL(str(path))
    prefix = vendor.init.removesuffix("Init")
    context, event = ctypes.c_void_p(), ctypes.c_void_p()

    def call(name: str, *arguments: object, may_give: tuple[int, ...] = (SUCCESS,)) -> None:
        code = getattr(library, prefix + name)(*arguments)
        if code not in may_give:
            raise AssertionError(f"{name} gave {code}")

    def enter() -> None:
        if backend == "cuda":
            call("CtxSetCurrent", context)

    def work() -> None:
        enter()
        memory, host, size = ctypes.c_void_p(), ctypes.create_string_buffer(8), ctypes.c_size_t(8)
        call(vendor.allocate.removeprefix(prefix), ctypes.byref(memory), size)
        for _ in range(laps):
            call("MemcpyHtoD", memory, host, size)
            call("EventRecord", event, None)
            call("StreamWaitEvent", None, event, 0)
            call("StreamSynchronize", None)
            call("MemcpyDtoH", host, memory, size)
            call("EventSynchronize", event)
            call("StreamQuery", None, may_give=(SUCCESS, NOT_READY))
            call("EventQuery", event, may_give=(SUCCESS, NOT_READY))
        finished.append(1)

    call("Init", 0)
    if backend == "cuda":
        call("DevicePrimaryCtxRetain", ctypes.byref(context), 0)
        enter()
        call("EventCreate", ctypes.byref(event), 0)
    else:
        call("EventCreateWithFlags", ctypes.byref(event), 0)
    finished: list[int] = []
    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(finished) == THREADS
    assert gpu.problems == []
