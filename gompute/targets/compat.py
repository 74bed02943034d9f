"""Which code runs on which device, and which of several is best.

The rules are the vendors' own and differ by kind of blob:

- PTX runs on its architecture and every later one; with suffix ``f`` on the later ones of its family, with ``a`` on its own alone. The
  driver must know its PTX version.
- A cubin runs where the major number is equal and the minor no less, and nowhere else where either side is a system on a chip; suffixes
  as for PTX. The driver must be of ptxas's major version or newer.
- A code object runs on its exact architecture or, where generic, on the architectures it lists; a pinned feature must equal the device's.
  The driver must load its code object version.
- A shared object runs where the CPU has every feature of its level.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gompute.errors import InternalError, ModuleLoadFailed
from gompute.targets.cpu import cpu_targets, missing_flags
from gompute.targets.device import Device
from gompute.targets.names import all_targets
from gompute.targets.nvidia import NVIDIA
from gompute.targets.target import KINDS, BlobKind, Target

__all__ = ["Candidate", "choose", "explain", "runs_on", "why_not"]

_SIGN = {True: "+", False: "-"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """Code that could be loaded.

    Attributes:
        version: PTX: its PTX version; code object: its version; cubin: the version of the ptxas that made it; None where not known.
    """

    target: Target
    kind: BlobKind
    version: tuple[int, ...] | None = None

    def __str__(self) -> str:
        return f"{self.target} {self.kind}"


def runs_on(candidate: Candidate, device: Device) -> bool:
    """Whether the device and its driver can load and run this."""
    return why_not(candidate, device) is None


def why_not(candidate: Candidate, device: Device) -> str | None:
    """Why the device can't run this, in words that follow the candidate's name; None where it can."""
    target = candidate.target
    if target.backend != device.backend:
        return f"is for {target.backend}, the device is {device.backend}"
    if target.backend == "cuda":
        return _why_not_arch_cuda(target, candidate.kind, device) or _why_not_driver_cuda(candidate, device)
    if target.backend == "hip":
        return _why_not_hip(candidate, device)
    return _why_not_cpu(target, device)


def choose(candidates: Iterable[Candidate], device: Device, *, what: str = "") -> Candidate:
    """The best of what the device can run: its exact architecture, then its family, then the highest that the driver can compile.

    Args:
        what: whose code it is, for the message: ``kernel 'scale' of /opt/kernels``.

    Raises:
        ModuleLoadFailed: nothing runs there; the message is `explain`'s.
    """
    offered = list(candidates)
    runnable = [candidate for candidate in offered if runs_on(candidate, device)]
    if not runnable:
        raise ModuleLoadFailed(explain(offered, device, what=what))
    return max(runnable, key=lambda candidate: (_rank(candidate, device), candidate.target.sort_key))


def explain(candidates: Sequence[Candidate], device: Device, *, what: str = "") -> str:
    """Why none of `candidates` runs on the device, each with its reason, and the target to add to the build."""
    driver = ""
    if device.driver is not None:
        name = "CUDA" if device.backend == "cuda" else "HIP"
        driver = f", driver of {name} {_dotted(device.driver)}"
        if device.max_ptx is not None and device.max_ptx > (0, 0):
            driver += f" (PTX up to {_dotted(device.max_ptx)})"
    head = f"{what + ': ' if what else ''}no code for {device.backend} device {device.label}{driver}"
    ours = [candidate for candidate in candidates if candidate.target.backend == device.backend]
    if ours:
        lines = [f"{head}; there is:"]
        lines += [f"  {candidate}: {why_not(candidate, device) or 'runs'}" for candidate in ours]
    elif candidates:
        others = ", ".join(dict.fromkeys(str(candidate.target) for candidate in candidates))
        lines = [f"{head}: the set has {others}"]
    else:
        lines = [f"{head}: the set is empty"]
    wanted = _target_for(device)
    if wanted is None:
        lines.append("no target of Gompute runs there")
    else:
        lines.append(f'add the target to the build: --target {wanted}, or in pyproject.toml: [tool.gompute] targets = [..., "{wanted}"]')
    return "\n".join(lines)


def _why_not_arch_cuda(target: Target, kind: BlobKind, device: Device) -> str | None:
    wanted, have = target.number, _capability(device)
    is_text, has = _dotted(wanted), f"the device is {_dotted(have)}"
    if target.suffix == "a" and wanted != have:
        return f"runs on {is_text} alone (suffix a), {has}"
    if target.suffix == "f" and wanted[0] != have[0]:
        return f"runs on the family {target.family} alone (suffix f), {has}"
    if kind == "ptx":
        return None if have >= wanted else f"needs {is_text} or newer, {has}"
    if wanted == have:
        return None
    if wanted[0] != have[0] or have < wanted:
        return f"is machine code for {wanted[0]}.x from {is_text} on, {has}"
    if target.embedded or any(row.embedded and row.number == have for row in NVIDIA):
        return f"is machine code for {is_text}, {has}: a system on a chip runs its own alone"
    return None


def _why_not_driver_cuda(candidate: Candidate, device: Device) -> str | None:
    if device.driver is None or device.max_ptx is None:
        return None
    if candidate.kind == "ptx":
        version = candidate.version or candidate.target.ptx_version
        if version is not None and version > device.max_ptx:
            takes = f"takes PTX up to {_dotted(device.max_ptx)}" if device.max_ptx > (0, 0) else "takes no PTX of any target"
            return (
                f"is PTX {_dotted(version)}; the driver (CUDA {_dotted(device.driver)}) {takes}: update the driver, or add an older target"
            )
    elif candidate.version is not None and candidate.version[0] > device.driver[0]:
        needs = f"needs a driver of CUDA {candidate.version[0]}.0 or newer"
        return f"was made by ptxas {_dotted(candidate.version)}, which {needs}; it is of {_dotted(device.driver)}"
    return None


def _why_not_hip(candidate: Candidate, device: Device) -> str | None:
    target = candidate.target
    if target.generic:
        if device.arch not in target.members:
            return f"runs on {', '.join(target.members)}; the device is {device.arch}"
    elif target.arch != device.arch:
        return f"runs on {target.arch} alone; the device is {device.arch}"
    for feature, pinned, actual in (("sramecc", target.sramecc, device.sramecc), ("xnack", target.xnack, device.xnack)):
        if pinned is not None and pinned != actual:
            runs = "does not report it" if actual is None else f"runs with {feature}{_SIGN[actual]}"
            return f"is pinned to {feature}{_SIGN[pinned]}; the device {runs}"
    version = candidate.version[0] if candidate.version else target.code_object_version
    if device.max_code_object is not None and version is not None and version > device.max_code_object:
        takes = f"the driver takes up to {device.max_code_object}"
        return f"is a code object of version {version}; {takes}: update ROCm to 6.3 or newer, or add the exact architecture"
    return None


def _why_not_cpu(target: Target, device: Device) -> str | None:
    missing = missing_flags(target, device.arch, device.flags)
    if missing is None:
        return f"is for {target.triple.partition('-')[0]}; this machine is {device.arch}"
    return f"needs {', '.join(missing)}, which this CPU lacks" if missing else None


def _rank(candidate: Candidate, device: Device) -> tuple[int, ...]:
    """Higher is better, among candidates that run."""
    target = candidate.target
    if target.backend == "cuda":
        compiled = candidate.kind == "cubin"
        suffix = ("", "f", "a").index(target.suffix)
        if target.number == device.number:
            # Of equal architecture: machine code, which needs no compilation, then the most special.
            return (2, compiled, suffix)
        if compiled or target.suffix == "f":
            return (1, *target.number, suffix, compiled)
        return (0, *target.number)
    if target.backend == "hip":
        pinned = (target.sramecc is not None) + (target.xnack is not None)
        return (0 if target.generic else 1, pinned, *(candidate.version or ()))
    return target.number


def _target_for(device: Device) -> Target | None:
    """The target to recommend for a device: its own where the driver takes it, else the nearest that runs."""
    if device.backend == "cpu":
        runs = cpu_targets(device.arch, device.flags)
        return runs[-1] if runs else None
    fitting = [
        candidate
        for target in all_targets()
        if target.backend == device.backend and target.name == target.arch and target.suffix == ""
        if not target.embedded or target.number == device.number
        if runs_on(candidate := Candidate(target, KINDS[target.backend][0]), device)
    ]
    return max(fitting, key=lambda candidate: _rank(candidate, device)).target if fitting else None


def _capability(device: Device) -> tuple[int, int]:
    if device.number is None:
        raise InternalError(f"a cuda device without its compute capability: {device}")
    return device.number


def _dotted(number: Sequence[int]) -> str:
    return ".".join(map(str, number))
