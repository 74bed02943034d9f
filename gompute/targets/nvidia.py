"""NVIDIA's rows: what LLVM 22.1 can generate and ptxas 13.5 accepts, and the older architectures that drivers still compile PTX for.

Sources: the PTX versions are those that LLVM writes for each processor; parameter sizes were tried with ptxas; families and the meaning
of the suffixes are in the PTX ISA manual under ``.target``.
"""

from __future__ import annotations

from typing import Literal

from gompute.targets.target import Target

__all__ = ["NVIDIA", "max_ptx", "sm_name"]

_TRIPLE = "nvptx64-nvidia-cuda"

# Shared memory beyond this must be asked for at launch; a static declaration of more is refused by ptxas and the driver.
_MAX_STATIC_SHARED = 48 * 1024

# CUDA's own limit for a launch. From PTX 8.1 on it is 32764 bytes; before, ptxas takes 4352, but only 4096 are promised.
_MAX_PARAMS_BEFORE_8_1 = 4096
_MAX_PARAMS = 32764

_OLDEST_OF_PTXAS = (7, 5)

# Compute capability; PTX version of the plain architecture, of suffix f and of suffix a; whether it is a system on a chip.
_ROWS: tuple[tuple[tuple[int, int], tuple[int, int], tuple[int, int] | None, tuple[int, int] | None, bool], ...] = (
    ((5, 0), (4, 0), None, None, False),
    ((5, 2), (4, 1), None, None, False),
    ((5, 3), (4, 2), None, None, True),
    ((6, 0), (5, 0), None, None, False),
    ((6, 1), (5, 0), None, None, False),
    ((6, 2), (5, 0), None, None, True),
    ((7, 0), (6, 0), None, None, False),
    ((7, 2), (6, 1), None, None, True),
    ((7, 5), (6, 3), None, None, False),
    ((8, 0), (7, 0), None, None, False),
    ((8, 6), (7, 1), None, None, False),
    ((8, 7), (7, 4), None, None, True),
    ((8, 8), (9, 0), None, None, True),
    ((8, 9), (7, 8), None, None, False),
    ((9, 0), (7, 8), None, (8, 0), False),
    ((10, 0), (8, 6), (8, 8), (8, 6), False),
    ((10, 3), (8, 8), (8, 8), (8, 8), False),
    ((11, 0), (9, 0), (9, 0), (9, 0), True),
    ((12, 0), (8, 7), (8, 8), (8, 7), False),
    ((12, 1), (8, 8), (8, 8), (8, 8), False),
)

# The first CUDA version whose driver takes a PTX version, from the release history in the PTX ISA manual; 13.5 was read off ptxas.
_PTX_OF_CUDA: tuple[tuple[tuple[int, int], tuple[int, int]], ...] = (
    ((6, 0), (4, 0)),
    ((6, 5), (4, 1)),
    ((7, 0), (4, 2)),
    ((7, 5), (4, 3)),
    ((8, 0), (5, 0)),
    ((9, 0), (6, 0)),
    ((9, 1), (6, 1)),
    ((9, 2), (6, 2)),
    ((10, 0), (6, 3)),
    ((10, 1), (6, 4)),
    ((10, 2), (6, 5)),
    *(((11, minor), (7, minor)) for minor in range(9)),
    *(((12, minor), (8, minor)) for minor in range(6)),
    ((12, 7), (8, 6)),
    ((12, 8), (8, 7)),
    ((12, 9), (8, 8)),
    *(((13, minor), (9, minor)) for minor in range(6)),
)


def sm_name(number: tuple[int, ...], suffix: str = "") -> str:
    """``sm_89`` for (8, 9)."""
    return f"sm_{number[0]}{number[1]}{suffix}"


def max_ptx(cuda: tuple[int, int]) -> tuple[int, int] | None:
    """The newest PTX version that a driver of CUDA version `cuda` compiles; for a driver newer than the table at least that much; None for
    one older than it."""
    known = [ptx for first, ptx in _PTX_OF_CUDA if first <= cuda]
    return known[-1] if known else None


def _target(number: tuple[int, int], suffix: Literal["", "a", "f"], ptx: tuple[int, int], embedded: bool) -> Target:
    name = sm_name(number, suffix)
    return Target(
        name=name,
        backend="cuda",
        vendor="nvidia",
        arch=name,
        number=number,
        family=f"sm_{number[0]}x",
        cpu=name,
        triple=_TRIPLE,
        warp_size=32,
        max_static_shared=_MAX_STATIC_SHARED,
        max_params=_MAX_PARAMS if ptx >= (8, 1) else _MAX_PARAMS_BEFORE_8_1,
        suffix=suffix,
        ptx_version=ptx,
        ptxas_arch=name if number >= _OLDEST_OF_PTXAS else sm_name(_OLDEST_OF_PTXAS),
        embedded=embedded,
    )


def _table() -> tuple[Target, ...]:
    targets: list[Target] = []
    for number, plain, family, own, embedded in _ROWS:
        targets.append(_target(number, "", plain, embedded))
        if family is not None:
            targets.append(_target(number, "f", family, embedded))
        if own is not None:
            targets.append(_target(number, "a", own, embedded))
    return tuple(targets)


NVIDIA: tuple[Target, ...] = _table()
