from __future__ import annotations

import platform

from gompute.runtime.processor import host_device, parse_cpuinfo
from gompute.targets.cpu import cpu_targets

V3 = "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3 avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"
V4 = V3 + " avx512f avx512bw avx512cd avx512dq avx512vl"


def described(machine: str, *cores: str, key: str = "flags") -> list[str]:
    text = "".join(f"processor\t: {i}\nmodel name\t: Some CPU @ 2.0GHz: odd\n{key}\t\t: fpu {flags}\n\n" for i, flags in enumerate(cores))
    device = parse_cpuinfo(machine, text)
    assert device.backend == "cpu"
    assert device.label.startswith("Some CPU @ 2.0GHz: odd (")
    return [target.name for target in cpu_targets(device.arch, device.flags)]


def test_levels_of_x86_64() -> None:
    assert described("x86_64", V3) == ["x86-64-v3"]
    assert described("x86_64", V4) == ["x86-64-v3", "x86-64-v4"]
    assert described("x86_64", V3.replace("fma", "")) == []


def test_what_one_core_lacks_the_machine_lacks() -> None:
    assert described("x86_64", V4, V3) == ["x86-64-v3"]


def test_aarch64() -> None:
    assert described("aarch64", "fp asimd evtstrm", key="Features") == ["aarch64"]


def test_a_machine_that_says_nothing_runs_nothing() -> None:
    device = parse_cpuinfo("x86_64", "")
    assert cpu_targets(device.arch, device.flags) == ()


def test_this_machine() -> None:
    assert host_device().arch == platform.machine()
    assert host_device() is host_device()
