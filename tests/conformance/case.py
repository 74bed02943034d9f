"""One launch of a kernel of the conformance root, and what it must give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """One launch.

    Attributes:
        kernel: its public name.
        arguments: in the kernel's order, without the counts for an operation; arrays are copied before each run.
        expected: what the arrays at these positions hold afterwards.
        grid, block: None for an operation, which runs through `Kernel.run`.
        shared: bytes of dynamic shared memory.
        result: what that gives, of a reduction: an array of one element.
    """

    kernel: str
    arguments: tuple[Any, ...]
    expected: dict[int, np.ndarray]
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] = (256, 1, 1)
    shared: int = 0
    result: np.ndarray | None = None

    @property
    def launched(self) -> tuple[tuple[Any, ...], dict[int, np.ndarray]]:
        """The arguments of a launch on a device and what the arrays hold afterwards: a reduction also takes an array for its result."""
        if self.result is None:
            return self.arguments, self.expected
        data, *params = self.arguments
        return (data, np.zeros_like(self.result), *params), {1: self.result}
