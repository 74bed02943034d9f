"""The processor that runs this program, as far as choosing CPU code goes."""

from __future__ import annotations

import platform
from functools import cache

from gompute.targets.device import Device

__all__ = ["host_device"]

_CPUINFO = "/proc/cpuinfo"


@cache
def host_device() -> Device:
    """This machine's processor; one without readable features runs no CPU target."""
    try:
        with open(_CPUINFO, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        text = ""
    return parse_cpuinfo(platform.machine(), text)


def parse_cpuinfo(machine: str, text: str) -> Device:
    """The processor that Linux describes.

    Args:
        machine: `platform.machine()`.
        text: what /proc/cpuinfo says. Only features that every core has count: a machine may have unlike cores.
    """
    per_core: list[frozenset[str]] = []
    name = ""
    for line in text.splitlines():
        key, _, value = line.partition(":")
        key = key.strip()
        if key in ("flags", "Features"):
            per_core.append(frozenset(value.split()))
        elif key == "model name" and not name:
            name = value.strip()
    flags = frozenset.intersection(*per_core) if per_core else frozenset()
    return Device.cpu(machine, flags, name=name)
