"""CPU levels from feature flags."""

from __future__ import annotations

import pytest

from gompute.targets import find_target
from gompute.targets.cpu import cpu_targets, missing_flags

# /proc/cpuinfo of a Haswell, of which the kernel names LZCNT `abm`, and the flags that a Skylake server adds.
HASWELL = """
    fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 ss ht syscall nx pdpe1gb rdtscp lm
    constant_tsc rep_good nopl xtopology cpuid pni pclmulqdq ssse3 fma cx16 pcid sse4_1 sse4_2 x2apic movbe popcnt aes xsave avx f16c
    rdrand hypervisor lahf_lm abm fsgsbase bmi1 avx2 smep bmi2 erms invpcid xsaveopt
""".split()
AVX512 = "avx512f avx512dq avx512cd avx512bw avx512vl".split()


@pytest.mark.parametrize(
    ("machine", "flags", "runs"),
    [
        ("x86_64", HASWELL, ["x86-64-v3"]),
        ("AMD64", HASWELL, ["x86-64-v3"]),
        ("x86_64", HASWELL + AVX512, ["x86-64-v3", "x86-64-v4"]),
        ("x86_64", HASWELL + AVX512[:4], ["x86-64-v3"]),
        ("x86_64", [flag for flag in HASWELL if flag != "f16c"], []),
        ("x86_64", [], []),
        ("aarch64", ["fp", "asimd", "crc32"], ["aarch64"]),
        ("arm64", ["fp", "asimd"], ["aarch64"]),
        ("aarch64", ["fp"], []),
        ("riscv64", HASWELL, []),
    ],
)
def test_targets_of_a_machine(machine: str, flags: list[str], runs: list[str]) -> None:
    assert [target.name for target in cpu_targets(machine, flags)] == runs


def test_what_is_missing_is_named() -> None:
    v4 = find_target("x86-64-v4")
    assert v4 is not None
    assert missing_flags(v4, "x86_64", HASWELL) == tuple(sorted(AVX512))
    assert missing_flags(v4, "aarch64", HASWELL) is None
