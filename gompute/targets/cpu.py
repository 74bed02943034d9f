"""CPU rows, and which of them a machine can run, told from its feature flags.

A CPU target must convert between f16 and f32 and fuse multiply and add in hardware: compiled kernels call nothing outside themselves.
"""

from __future__ import annotations

from collections.abc import Iterable

from gompute.targets.target import Target

__all__ = ["CPU", "MAX_SHARED", "cpu_targets", "missing_flags"]

# What the x86-64 psABI asks of a level, in the words of /proc/cpuinfo: `abm` is LZCNT, `cx16` CMPXCHG16B, `pni` SSE3. OSXSAVE has no word
# there; the kernel shows `avx` only where it saves the registers.
_V3 = frozenset(
    "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3 avx avx2 bmi1 bmi2 f16c fma abm movbe xsave".split(),
)
_V4 = _V3 | frozenset("avx512f avx512bw avx512cd avx512dq avx512vl".split())
_ARMV8 = frozenset("fp asimd".split())

#: Bytes of shared memory of a block. It is ordinary memory, so the number is chosen: as much as the GPU with the most has.
MAX_SHARED = 320 * 1024

#: platform.machine() of the machines that a triple's first part names.
_MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}

_FLAGS = {"x86-64-v3": _V3, "x86-64-v4": _V4, "aarch64": _ARMV8}


def _target(name: str, number: tuple[int, ...], family: str, triple: str, cpu: str, features: str) -> Target:
    return Target(
        name=name,
        backend="cpu",
        vendor="cpu",
        arch=name,
        number=number,
        family=family,
        cpu=cpu,
        triple=triple,
        warp_size=1,
        max_static_shared=MAX_SHARED,
        max_params=None,
        features=features,
    )


CPU: tuple[Target, ...] = (
    _target("x86-64-v3", (3,), "x86-64", "x86_64-unknown-linux-gnu", "x86-64-v3", "+avx2,+bmi2,+f16c,+fma"),
    _target("x86-64-v4", (4,), "x86-64", "x86_64-unknown-linux-gnu", "x86-64-v4", "+avx2,+bmi2,+f16c,+fma"),
    _target("aarch64", (8,), "aarch64", "aarch64-unknown-linux-gnu", "generic", "+fp-armv8,+neon"),
)


def missing_flags(target: Target, machine: str, flags: Iterable[str]) -> tuple[str, ...] | None:
    """What a machine lacks to run a CPU target.

    Args:
        machine: as `platform.machine()` says it (``x86_64``, ``aarch64``).
        flags: the processor's features as Linux names them: ``flags`` of /proc/cpuinfo on x86-64, ``Features`` on aarch64.

    Returns:
        The missing flags, sorted, empty where the target runs; None where the machine is of another kind.
    """
    if _MACHINES.get(machine.lower()) != target.triple.partition("-")[0]:
        return None
    return tuple(sorted(_FLAGS[target.name].difference(flags)))


def cpu_targets(machine: str, flags: Iterable[str]) -> tuple[Target, ...]:
    """The CPU targets that a machine runs, the most capable last; arguments as for `missing_flags`."""
    have = frozenset(flags)
    return tuple(target for target in CPU if missing_flags(target, machine, have) == ())
