"""A kernel's way into its driver.

Launches are the one call that does not go through the vendor's Python binding: the library is called with the arguments of a launch made
ready as C values, which takes half the time of CUDA's binding and a third of HIP's.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from gompute.errors import Error, LaunchFailed
from gompute.runtime.dim3 import Dim3
from gompute.runtime.lane import Lane

__all__ = ["LaunchCall", "Launcher", "Prepared", "as_config", "as_numbers"]

#: What a driver answers where the thread has another context than the kernel's or none; the same numbers in both vendors' headers.
_OTHER_CONTEXT = (201, 400)

_uint, _pointer = ctypes.c_uint, ctypes.c_void_p


class _Config(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = (
        *((name, _uint) for name in ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "shared")),
        ("stream", _pointer),
        ("attributes", _pointer),
        ("attribute_count", _uint),
    )


def as_config(function: int, grid: Dim3, block: Dim3, shared: int, stream: int, arguments: int) -> tuple[Any, ...]:
    """What `cuLaunchKernelEx` takes."""
    config = _Config(*grid, *block, shared, stream, None, 0)
    return ctypes.byref(config), _pointer(function), _pointer(arguments), None


def as_numbers(function: int, grid: Dim3, block: Dim3, shared: int, stream: int, arguments: int) -> tuple[Any, ...]:
    """What `cuLaunchKernel` and `hipModuleLaunchKernel` take."""
    return _pointer(function), *map(_uint, (*grid, *block, shared)), _pointer(stream), _pointer(arguments), None


@dataclass(frozen=True, slots=True)
class LaunchCall:
    """A function of a driver that launches.

    Attributes:
        name: the vendor's.
        function: takes what `ready` makes, and gives the vendor's code.
        ready: from the kernel's function, grid, block, bytes of dynamic shared memory, stream and array of argument pointers to the
            arguments as C values.
    """

    name: str
    function: Callable[..., int]
    ready: Callable[[int, Dim3, Dim3, int, int, int], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A launch that is ready but for the values of its arguments.

    Attributes:
        lane: the queue.
        arguments: what the driver's function takes.
    """

    grid: Dim3
    block: Dim3
    shared: int
    lane: Lane
    arguments: tuple[Any, ...]

    @property
    def sizes(self) -> str:
        """For messages."""
        return f"grid {tuple(self.grid)}, block {tuple(self.block)}, {self.shared} bytes of shared memory"


class _Driver(Protocol):
    def current(self) -> int | None: ...

    def failure(self, kind: type[Error], doing: str, call: str, code: Any) -> Error: ...

    def forget_failure(self) -> None: ...

    def answer(self, code: int) -> Any: ...


class Launcher:
    """A kernel's way into its driver.

    Attributes:
        call: launches what `Prepared.arguments` says, and gives the vendor's code, 0 for success.
    """

    __slots__ = ("_driver", "_function", "_how", "_symbol", "call")

    def __init__(self, driver: _Driver, how: LaunchCall, function: int, symbol: str) -> None:
        self._driver = driver
        self._how = how
        self._function = function
        self._symbol = symbol
        self.call = how.function

    def prepare(self, grid: Dim3, block: Dim3, shared: int, lane: Lane, arguments: int) -> Prepared:
        """Makes a launch ready.

        Args:
            arguments: address of an array of pointers, one to each argument's bytes, which are read at each launch.
        """
        return Prepared(grid, block, shared, lane, self._how.ready(self._function, grid, block, shared, lane.pointer, arguments))

    def elsewhere(self, code: int, context: int) -> bool:
        """Whether a launch was refused because the thread has another context than this, or none."""
        if code not in _OTHER_CONTEXT or self._driver.current() == context:
            return False
        self._driver.forget_failure()
        return True

    def failure(self, code: int, launch: Prepared) -> Error:
        """The error to raise for a code that is not 0."""
        return self._driver.failure(
            LaunchFailed, f"cannot launch {self._symbol} with {launch.sizes}", self._how.name, self._driver.answer(code)
        )
