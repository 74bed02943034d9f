"""What each kernel is given, and what it reports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.checked import kernels

SOURCE = Path(kernels.__file__)


@dataclass(frozen=True)
class Failing:
    """A launch in which a check fails, and one in which none does.

    Attributes:
        wrong, right: the arguments of `run`, or of a launch where there is a grid.
        line: the word after ``# fails:`` on the line.
        says: what the message ends in.
        item: the work-item, as the message names it; None where it does not.
    """

    kernel: str
    wrong: tuple[Any, ...]
    right: tuple[Any, ...]
    check: str
    value: Any
    says: str
    item: str | None
    line: str = ""
    grid: int | None = None
    block: int | tuple[int, ...] = 1

    @property
    def place(self) -> str:
        """File and line, as the message names them."""
        return place_of(self.line or self.kernel)


def place_of(name: str) -> str:
    """File and line of a check, as a message names them, by the word behind it."""
    (number,) = [at for at, text in enumerate(SOURCE.read_text().splitlines(), 1) if text.endswith(f"# fails: {name}")]
    return f"kernels.py:{number}"


def _ones(count: int, dtype: Any, at: int = -1, value: Any = 0) -> Any:
    made = np.ones(count, dtype)
    if at >= 0:
        made[at] = value
    return made


def _params(at: int) -> Any:
    return kernels.Params(weights=(1.0, 2.0, 3.0, 4.0), at=at)


def _bf16(value: float) -> Any:
    return (np.full(5, value, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def cases() -> list[Failing]:
    """Every kind of check, in every kind of kernel, and wherever an array may lie."""
    square = np.zeros((3, 5), np.float32)
    return [
        Failing(
            "divided", (_ones(300, np.int32, 260),), (_ones(300, np.int32),), "division", 1000, "integer division by zero: 1000 // 0", "260"
        ),
        Failing("remainder", (_ones(5, np.uint8, 2),), (_ones(5, np.uint8),), "division", 200, "integer division by zero: 200 % 0", "2"),
        Failing(
            "shifted",
            (_ones(4, np.int64, 3, -2), np.zeros(4, np.int64)),
            (_ones(4, np.int64, 3, 63), np.zeros(4, np.int64)),
            "shift",
            -2,
            "a i64 is shifted by -2, and has 64 bits (<<)",
            "3",
        ),
        Failing(
            "shifted_down",
            (_ones(4, np.uint32), _ones(4, np.uint32, 1, 32), np.zeros(4, np.uint32)),
            (_ones(4, np.uint32), _ones(4, np.uint32, 1, 31), np.zeros(4, np.uint32)),
            "shift",
            32,
            "a u32 is shifted by 32, and has 32 bits (>>)",
            "1",
        ),
        Failing(
            "stepped", (_ones(4, np.float32),), (_ones(3, np.float32),), "index", 3, "index 3 is out of range for STEPS, of length 3", "3"
        ),
        Failing(
            "weighed",
            (_ones(1, np.float32), _params(-1)),
            (_ones(1, np.float32), _params(3)),
            "index",
            -1,
            "index -1 is out of range for p.weights, of length 4",
            "0",
        ),
        Failing(
            "positive",
            (_ones(9, np.float32, 8, -0.1),),
            (_ones(9, np.float32),),
            "assert",
            -0.1,
            "assertion failed: it is positive (-0.1 > 0.0 is false)",
            "8",
        ),
        Failing("small", (_ones(2, np.float64, 0),), (np.zeros(2),), "assert", None, "assertion failed", "1"),
        Failing("narrow", (_bf16(2.0),), (_bf16(3.0),), "assert", 2.0, "assertion failed (2.0 != 2.0 is false)", None),
        Failing(
            "bounded_sum",
            (_ones(9000, np.int32, 4, 5000),),
            (_ones(9000, np.int32),),
            "assert",
            None,
            "<= 10000 is false)",
            None,
        ),
        Failing(
            "running",
            (_ones(5, np.int32, 4), np.zeros(5, np.int32)),
            (_ones(5, np.int32), np.zeros(5, np.int32)),
            "division",
            None,
            "// 0",
            None,
        ),
        Failing(
            "rows", (square, 3, 4), (square, 2, 4), "index", 3, "index 3 is out of range for dimension 0 of a, of length 3", "1", "", 1, 2
        ),
        Failing(
            "rows",
            (square, 2, -1),
            (square, 2, 0),
            "index",
            -1,
            "index -1 is out of range for dimension 1 of a, of length 5",
            "1",
            "",
            1,
            2,
        ),
        Failing(
            "added",
            (np.zeros(7, np.uint32), 7),
            (np.zeros(7, np.uint32), 6),
            "index",
            7,
            "index 7 is out of range for counts, of length 7",
            "0",
            "",
            1,
            1,
        ),
        Failing(
            "kept",
            (np.zeros(32, np.uint32), 7),
            (np.zeros(32, np.uint32), 6),
            "index",
            6,
            "index 6 is out of range for own, of length 6",
            None,
            "",
            1,
            (8, 4),
        ),
        Failing(
            "waited",
            (_ones(64, np.float32), 1),
            (_ones(64, np.float32), 0),
            "index",
            64,
            "index 64 is out of range for shared, of length 64",
            "63",
            "shared",
            1,
            64,
        ),
        Failing(
            "waited",
            (_ones(4, np.float32), 60),
            (_ones(4, np.float32), 40),
            "assert",
            60,
            "assertion failed (60 < 50 is false)",
            "3",
            "",
            1,
            4,
        ),
    ]
