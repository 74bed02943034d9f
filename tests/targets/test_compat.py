"""Which code runs where, and which is best."""

from __future__ import annotations

import pytest

from gompute.errors import ModuleLoadFailed
from gompute.targets import all_targets, parse_target
from gompute.targets.compat import Candidate, choose, explain, runs_on, why_not
from gompute.targets.cpu import _V3, _V4  # the flags of a level, which no test should write twice
from gompute.targets.device import Device


def code(text: str) -> Candidate:
    """``sm_80 cubin``, ``sm_89`` (PTX), ``sm_89 ptx 8.3``, ``gfx1100``, ``x86-64-v3``."""
    name, *rest = text.split()
    target = parse_target(name)
    version = tuple(map(int, rest[1].split("."))) if len(rest) > 1 else None
    return Candidate(target, rest[0] if rest else target.kinds[0], version)


def gpu(text: str, driver: int | None = None) -> Device:
    if text.startswith("gfx"):
        return Device.hip(text, driver)
    major, minor = text.split(".")
    return Device.cuda((int(major), int(minor)), driver)


@pytest.mark.parametrize(
    ("artifact", "device", "runs"),
    [
        # PTX runs on its architecture and on every later one, compared as numbers.
        ("sm_80", "8.0", True),
        ("sm_80", "8.6", True),
        ("sm_89", "8.6", False),
        ("sm_89", "10.0", True),
        ("sm_100", "8.9", False),
        ("sm_75", "12.1", True),
        ("sm_50", "9.0", True),
        # Suffix a: equal only. Suffix f: later ones of its family only.
        ("sm_90a", "9.0", True),
        ("sm_90a", "10.0", False),
        ("sm_100a", "10.3", False),
        ("sm_100f", "10.0", True),
        ("sm_100f", "10.3", True),
        ("sm_100f", "10.7", True),
        ("sm_103f", "10.0", False),
        ("sm_100f", "11.0", False),
        ("sm_100f", "12.0", False),
        ("sm_120f", "12.1", True),
        ("sm_120a", "12.1", False),
        # A cubin: same major, minor no less.
        ("sm_80 cubin", "8.0", True),
        ("sm_80 cubin", "8.6", True),
        ("sm_89 cubin", "8.6", False),
        ("sm_89 cubin", "9.0", False),
        ("sm_75 cubin", "8.0", False),
        ("sm_120 cubin", "12.1", True),
        ("sm_100f cubin", "10.3", True),
        ("sm_100a cubin", "10.3", False),
        ("sm_90a cubin", "9.0", True),
        # Systems on a chip run their own machine code alone, and theirs runs nowhere else.
        ("sm_80 cubin", "8.7", False),
        ("sm_87 cubin", "8.7", True),
        ("sm_87 cubin", "8.9", False),
        ("sm_80", "8.7", True),
        # A code object: exact or an explicit generic; pinned features equal.
        ("gfx1100", "gfx1100", True),
        ("gfx1100", "gfx1101", False),
        ("gfx11-generic", "gfx1101", True),
        ("gfx11-generic", "gfx1151", True),
        ("gfx11-generic", "gfx1200", False),
        ("gfx12-generic", "gfx1250", False),
        ("gfx9-generic", "gfx906:sramecc+:xnack-", True),
        ("gfx9-generic", "gfx908:sramecc+:xnack-", False),
        ("gfx9-generic", "gfx900:xnack-", True),
        ("gfx9-4-generic", "gfx942:sramecc+:xnack-", True),
        ("gfx9-4-generic", "gfx90a:sramecc+:xnack-", False),
        ("gfx9-4-generic:xnack+", "gfx942:sramecc+:xnack-", False),
        ("gfx90a", "gfx90a:sramecc+:xnack-", True),
        ("gfx90a:xnack-", "gfx90a:sramecc+:xnack-", True),
        ("gfx90a:xnack+", "gfx90a:sramecc+:xnack-", False),
        ("gfx90a:sramecc+", "gfx90a:sramecc+:xnack-", True),
        ("gfx90a:sramecc-:xnack-", "gfx90a:sramecc+:xnack-", False),
        ("gfx1010:xnack-", "gfx1010", False),
        # Not the same backend.
        ("gfx1100", "8.9", False),
        ("sm_89", "gfx1100", False),
        ("x86-64-v3", "8.9", False),
    ],
)
def test_architecture(artifact: str, device: str, runs: bool) -> None:
    assert runs_on(code(artifact), gpu(device)) is runs


@pytest.mark.parametrize(
    ("artifact", "device", "driver", "why"),
    [
        ("sm_89", "8.9", 11080, None),
        ("sm_89", "8.9", 11070, "is PTX 7.8; the driver (CUDA 11.7) takes PTX up to 7.7"),
        ("sm_89 ptx 8.3", "8.9", 12020, "is PTX 8.3; the driver (CUDA 12.2) takes PTX up to 8.2"),
        ("sm_120", "12.0", 12080, None),
        ("sm_120f", "12.0", 12080, "is PTX 8.8"),
        ("sm_50", "5.0", 5000, "takes no PTX of any target"),
        ("sm_80 cubin 13.5.37", "8.0", 13000, None),
        ("sm_80 cubin 13.5.37", "8.0", 12080, "was made by ptxas 13.5.37, which needs a driver of CUDA 13.0 or newer; it is of 12.8"),
        ("sm_80 cubin", "8.0", 12080, None),
        ("gfx1100", "gfx1100", 60241134, None),
        ("gfx11-generic", "gfx1100", 60342134, None),
        ("gfx11-generic", "gfx1100", 60241134, "is a code object of version 6; the driver takes up to 5"),
        ("gfx1100 hsaco 6", "gfx1100", 60241134, "is a code object of version 6"),
    ],
)
def test_driver(artifact: str, device: str, driver: int, why: str | None) -> None:
    said = why_not(code(artifact), gpu(device, driver))
    assert said is None if why is None else said is not None and why in said


@pytest.mark.parametrize(
    ("artifacts", "device", "driver", "best"),
    [
        # The exact architecture, of it machine code, of that the most special.
        ("sm_80, sm_86, sm_89", "8.6", None, "sm_86"),
        ("sm_86, sm_86 cubin", "8.6", None, "sm_86 cubin"),
        ("sm_90, sm_90a", "9.0", None, "sm_90a"),
        ("sm_90 cubin, sm_90a", "9.0", None, "sm_90 cubin"),
        ("sm_100, sm_100f, sm_100a", "10.0", None, "sm_100a"),
        # Then the family: the nearest of it, before PTX of any other.
        ("sm_80 cubin, sm_80, sm_89", "8.6", None, "sm_80 cubin"),
        ("sm_80 cubin, sm_86 cubin, sm_75", "8.9", None, "sm_86 cubin"),
        ("sm_100f, sm_90, sm_100", "10.3", None, "sm_100f"),
        ("sm_120f, sm_120 cubin", "12.1", None, "sm_120f"),
        # Then the highest PTX that device and driver take, compared as numbers.
        ("sm_75, sm_80, sm_89, sm_90", "12.0", None, "sm_90"),
        ("sm_89, sm_100", "12.0", None, "sm_100"),
        ("sm_80, sm_100f, sm_120", "11.0", None, "sm_80"),
        ("sm_75, sm_80, sm_100", "12.0", 12050, "sm_80"),
        # A driver too old for the exact one falls back to what it takes.
        ("sm_80, sm_89", "8.9", 11050, "sm_80"),
        ("sm_89 cubin 13.5, sm_80", "8.9", 12080, "sm_80"),
        ("gfx11-generic, gfx1100", "gfx1100", None, "gfx1100"),
        ("gfx1100, gfx11-generic", "gfx1102", None, "gfx11-generic"),
        ("gfx90a, gfx90a:xnack-, gfx90a:xnack+", "gfx90a:sramecc+:xnack-", None, "gfx90a:xnack-"),
        ("gfx90a:xnack-, gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack-", None, "gfx90a:sramecc+:xnack-"),
        ("gfx9-4-generic:xnack-, gfx942", "gfx942:sramecc+:xnack-", None, "gfx942"),
        ("sm_80, gfx1100, x86-64-v3", "gfx1100", None, "gfx1100"),
    ],
)
def test_choice(artifacts: str, device: str, driver: int | None, best: str) -> None:
    offered = [code(text.strip()) for text in artifacts.split(",")]
    assert choose(offered, gpu(device, driver)) == code(best)
    assert choose(reversed(offered), gpu(device, driver)) == code(best)


def test_choice_on_a_cpu() -> None:
    offered = [code("x86-64-v4"), code("x86-64-v3"), code("aarch64")]
    assert choose(offered, Device.cpu("x86_64", _V3)) == code("x86-64-v3")
    assert choose(offered, Device.cpu("x86_64", _V4)) == code("x86-64-v4")
    assert choose(offered, Device.cpu("aarch64", ["fp", "asimd"])) == code("aarch64")


def test_without_a_match_each_candidate_has_its_reason() -> None:
    offered = [code("sm_90"), code("sm_89 ptx 8.3"), code("sm_75 cubin"), code("gfx1100")]
    with pytest.raises(ModuleLoadFailed) as caught:
        choose(offered, Device.cuda((8, 9), 12020, name="NVIDIA L4"), what="kernel 'scale' of /opt/kernels")
    assert str(caught.value).splitlines() == [
        "kernel 'scale' of /opt/kernels: no code for cuda device NVIDIA L4 (sm_89), driver of CUDA 12.2 (PTX up to 8.2); there is:",
        "  sm_90 ptx: needs 9.0 or newer, the device is 8.9",
        "  sm_89 ptx: is PTX 8.3; the driver (CUDA 12.2) takes PTX up to 8.2: update the driver, or add an older target",
        "  sm_75 cubin: is machine code for 7.x from 7.5 on, the device is 8.9",
        'add the target to the build: --target sm_89, or in pyproject.toml: [tool.gompute] targets = [..., "sm_89"]',
    ]


@pytest.mark.parametrize(
    ("device", "says"),
    [
        (Device.hip("gfx1102"), "the set has sm_90, x86-64-v3"),
        (Device.hip("gfx1102"), "--target gfx1102"),
        (Device.hip("gfx904:xnack-"), "--target gfx9-generic"),
        (Device.hip("gfx700"), "no target of Gompute runs there"),
        (Device.cuda((10, 7)), "sm_90 ptx: runs"),
        (Device.cuda((8, 9), 11070), "--target sm_86"),
        (Device.cuda((8, 7), 11070), "--target sm_87"),
        (Device.cuda((3, 5)), "no target of Gompute runs there"),
        (Device.cpu("x86_64", ["avx2"]), "x86-64-v3 so: needs abm, avx, bmi1"),
        (Device.cpu("aarch64", ["fp", "asimd"]), "x86-64-v3 so: is for x86_64; this machine is aarch64"),
        (Device.cpu("aarch64", ["fp", "asimd"]), "--target aarch64"),
        (Device.cpu("riscv64", []), "no target of Gompute runs there"),
    ],
)
def test_explanation(device: Device, says: str) -> None:
    assert says in explain([code("sm_90"), code("x86-64-v3")], device)


def test_an_empty_set_says_so() -> None:
    with pytest.raises(ModuleLoadFailed, match="the set is empty"):
        choose([], gpu("8.9"))


def test_every_amd_target_runs_on_the_devices_it_names() -> None:
    for target in (target for target in all_targets() if target.backend == "hip"):
        pinned = "".join(f":{feature}" for feature in target.name.split(":")[1:])
        for arch in target.members or (target.arch,):
            assert why_not(Candidate(target, "hsaco"), Device.hip(arch + pinned)) is None
