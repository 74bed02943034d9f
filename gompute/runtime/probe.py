"""What a GPU backend is on this machine, found out in a process of its own: a driver that is broken may end the process that asks it.

python -c "from gompute.runtime.probe import main; main('cuda')"      # writes JSON to the standard output
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
from importlib import import_module, metadata
from typing import Any

from gompute.errors import Error, NoDevice
from gompute.runtime.libraries import DriverMissing, mapped_libraries
from gompute.targets.device import Device

__all__ = ["Found", "FoundDevice", "main", "probe"]

#: Distribution of each backend's binding, and how its driver's file names begin.
BINDINGS = {"cuda": ("cuda-python", "libcuda.so"), "hip": ("hip-python", "libamdhip64")}
_SECONDS = 60
_CODE = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from gompute.runtime.probe import main; main(sys.argv[2])"


@dataclasses.dataclass(frozen=True, slots=True)
class FoundDevice:
    """A GPU.

    Attributes:
        device: for choosing code; None where it cannot be used.
        memory: free and total bytes; None as well.
        problem: why it cannot be used, None where it can.
    """

    ordinal: int
    device: Device | None
    memory: tuple[int, int] | None
    problem: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """A GPU backend.

    Attributes:
        libraries: the driver's files that were loaded.
        binding: the installed Python binding, with its version; None where there is none.
        problem: why it cannot be used, with what to do; None where it can.
        missing: whether the problem is that this machine has no such driver or device, which is no fault.
    """

    backend: str
    libraries: tuple[str, ...]
    binding: str | None
    devices: tuple[FoundDevice, ...]
    problem: str | None
    missing: bool


def probe(backend: str) -> Found:
    """Asks the backend's driver, in a process of its own.

    Args:
        backend: ``cuda`` or ``hip``.
    """
    command = [sys.executable, "-c", _CODE, json.dumps(sys.path), backend]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return _unusable(backend, f"the driver did not answer within {_SECONDS} seconds")
    if done.returncode == 0:
        return _decoded(json.loads(done.stdout.splitlines()[-1]))
    how = f"by {signal.Signals(-done.returncode).name}" if done.returncode < 0 else f"with {done.returncode}"
    said = done.stderr.strip()
    return _unusable(backend, f"the driver ended the process that asked it, {how}" + (f":\n{said}" if said else ""))


def main(backend: str) -> None:
    """Asks in this process, and writes what was found."""
    found = _ask(backend)
    sys.stdout.write("\n" + json.dumps(dataclasses.asdict(found), default=sorted) + "\n")
    sys.stdout.flush()
    os._exit(0)  # what a broken driver does at exit is of no interest


def _ask(backend: str) -> Found:
    devices: list[FoundDevice] = []
    try:
        runtime = import_module(f"gompute.runtime.{backend}")
        runtime.driver.start()
        devices += [_device(runtime, ordinal) for ordinal in range(runtime.driver.device_count())]
        problem, missing = (None, False) if devices else (f"{backend}: the driver has no device", True)
    except Error as error:
        problem, missing = str(error), isinstance(error, DriverMissing | NoDevice)
    libraries = tuple(mapped_libraries(BINDINGS[backend][1]))
    return Found(backend, libraries, _binding(backend), tuple(devices), problem, missing)


def _device(runtime: Any, ordinal: int) -> FoundDevice:
    try:
        with runtime.Context(ordinal) as context:
            return FoundDevice(ordinal, context.device, context.memory_info(), None)
    except Error as error:
        return FoundDevice(ordinal, None, None, str(error))


def _binding(backend: str) -> str | None:
    name, _ = BINDINGS[backend]
    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:
        return None


def _unusable(backend: str, problem: str) -> Found:
    return Found(backend, (), _binding(backend), (), f"{backend}: {problem}", False)


def _decoded(given: dict[str, Any]) -> Found:
    devices = []
    for item in given["devices"]:
        fields = item["device"]
        device = None
        if fields is not None:
            values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
            values["flags"] = frozenset(values["flags"])
            device = Device(**values)
        memory = None if item["memory"] is None else (item["memory"][0], item["memory"][1])
        devices.append(FoundDevice(item["ordinal"], device, memory, item["problem"]))
    return Found(given["backend"], tuple(given["libraries"]), given["binding"], tuple(devices), given["problem"], given["missing"])
