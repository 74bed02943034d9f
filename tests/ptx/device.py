"""An NVIDIA device that interprets: behind the test driver, so that kernels come to it by the way of a real launch."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from tests.driver.control import Driver, Extent
from tests.ptx.machine import Machine
from tests.ptx.memory import GlobalMemory
from tests.ptx.parse import parse
from tests.ptx.syntax import Function, Module


@lru_cache(maxsize=8)
def _module(text: str) -> Module:
    return parse(text)


def _arguments(function: Function, pointers: int) -> list[bytes]:
    """The bytes that each of an array of pointers points to."""
    array = (ctypes.c_void_p * len(function.parameters)).from_address(pointers)
    return [ctypes.string_at(address or 0, each.size) for address, each in zip(array, function.parameters, strict=True)]


class Interpreted:
    """Launches of a test driver's device.

    Attributes:
        fault: why the first launch that failed did so; those after it are left out.
        kernels: those launched so far.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.fault: Exception | None = None
        self.kernels: list[str] = []

    def launch(self, image: str, symbol: str, grid: Extent, block: Extent, shared: int, arguments: int) -> None:
        if self.fault is not None:
            return
        module = _module(image)
        self.kernels.append(symbol)
        memory = GlobalMemory()
        for address, size in self._driver.blocks:
            if size:
                memory.add_host(address, size)
        try:
            Machine(module, memory).launch(symbol, grid, block, _arguments(module.functions[symbol], arguments), shared)
        except Exception as fault:
            self.fault = fault


@contextmanager
def interpreted(driver: Driver, arch: str) -> Iterator[Interpreted]:
    """The test driver's only device has this compute capability (``7.5``), and interprets what is launched on it."""
    device = Interpreted(driver)
    driver.device(0, arch)
    driver.interpreter(device.launch)
    try:
        yield device
    finally:
        driver.interpreter(None)
        if device.fault is not None:
            raise device.fault
