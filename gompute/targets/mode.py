"""How code for a target is made: for speed, with checks, or to be looked into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

__all__ = ["FAST", "OPTIMIZE", "Mode", "Optimize"]

Optimize: TypeAlias = Literal["fast", "safe", "debug"]

OPTIMIZE: tuple[Optimize, ...] = get_args(Optimize)


@dataclass(frozen=True, slots=True)
class Mode:
    """How the code of one root for one target is made.

    Attributes:
        optimize: `fast`; `safe` with checks, of which the first that fails is reported with its file and line; `debug` with checks, line
            tables and little optimisation.
        lineinfo: line tables in any mode.
    """

    optimize: Optimize = "fast"
    lineinfo: bool = False

    @property
    def checks(self) -> bool:
        """Whether the code checks indices, divisors, shifts and asserts."""
        return self.optimize != "fast"

    @property
    def lines(self) -> bool:
        """Whether the code says which line of the source it is from."""
        return self.lineinfo or self.optimize == "debug"

    def __str__(self) -> str:
        return f"{self.optimize} with line tables" if self.lineinfo and self.optimize != "debug" else self.optimize


FAST = Mode()
