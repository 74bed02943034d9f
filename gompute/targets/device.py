"""What a device says of itself, as far as choosing code for it goes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gompute.targets.cpu import cpu_targets
from gompute.targets.nvidia import max_ptx, sm_name
from gompute.targets.target import Backend

__all__ = ["Device"]

# ROCm 6.3 is the first whose loader takes code object version 6.
_FIRST_HIP_OF_V6 = (6, 3)


@dataclass(frozen=True, slots=True)
class Device:
    """A device and its driver; made by `cuda`, `hip` or `cpu`.

    Attributes:
        backend: ``cuda``, ``hip`` or ``cpu``.
        arch: ``sm_86``; ``gfx90a`` without features; the machine for a CPU (``x86_64``).
        label: how messages call it: what was given, else the arch.
        number: NVIDIA: compute capability.
        driver: version of the driver's API as (major, minor), where it is known.
        max_ptx: NVIDIA: the newest PTX version that the driver compiles, where it is known.
        xnack: AMD: whether the device runs with page-fault replay; None where it has no such mode.
        sramecc: AMD: the same for ECC.
        max_code_object: AMD: the newest code object version that the driver loads, where it is known.
        flags: CPU: its feature flags.
    """

    backend: Backend
    arch: str
    label: str
    number: tuple[int, int] | None = None
    driver: tuple[int, int] | None = None
    max_ptx: tuple[int, int] | None = None
    xnack: bool | None = None
    sramecc: bool | None = None
    max_code_object: int | None = None
    flags: frozenset[str] = frozenset()

    @classmethod
    def cuda(cls, capability: tuple[int, int], driver_version: int | None = None, *, name: str = "") -> Device:
        """An NVIDIA GPU.

        Args:
            capability: compute capability, (8, 9).
            driver_version: as `cuDriverGetVersion` gives it: 12080 for CUDA 12.8; None where it is not known.
            name: the product, for messages.
        """
        driver = None if driver_version is None else (driver_version // 1000, driver_version % 1000 // 10)
        arch = sm_name(capability)
        # A driver older than the table takes no PTX that a target could have.
        newest = None if driver is None else max_ptx(driver) or (0, 0)
        return cls("cuda", arch, _label(name, arch), number=capability, driver=driver, max_ptx=newest)

    @classmethod
    def hip(cls, gcn_arch_name: str, driver_version: int | None = None, *, name: str = "") -> Device:
        """An AMD GPU.

        Args:
            gcn_arch_name: `hipDeviceProp_t.gcnArchName`: ``gfx90a:sramecc+:xnack-``.
            driver_version: as `hipDriverGetVersion` gives it: 60342134 for 6.3; None where it is not known.
            name: the product, for messages.
        """
        arch, *features = gcn_arch_name.split(":")
        setting = {feature[:-1]: feature.endswith("+") for feature in features if feature[-1:] in ("+", "-")}
        driver = None if driver_version is None else (driver_version // 10_000_000, driver_version // 100_000 % 100)
        newest = None if driver is None else 6 if driver >= _FIRST_HIP_OF_V6 else 5
        return cls(
            "hip",
            arch,
            _label(name, gcn_arch_name),
            driver=driver,
            xnack=setting.get("xnack"),
            sramecc=setting.get("sramecc"),
            max_code_object=newest,
        )

    @classmethod
    def cpu(cls, machine: str, flags: Iterable[str], *, name: str = "") -> Device:
        """The processor that runs this program.

        Args:
            machine: `platform.machine()`.
            flags: its feature flags as Linux names them; see `missing_flags`.
            name: the product, for messages.
        """
        have = frozenset(flags)
        runs = cpu_targets(machine, have)
        return cls("cpu", machine, _label(name, runs[-1].name if runs else machine), flags=have)


def _label(name: str, arch: str) -> str:
    return f"{name} ({arch})" if name else arch
