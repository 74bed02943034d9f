"""What drivers say of a device, read."""

from __future__ import annotations

import pytest

from gompute.targets.device import Device
from gompute.targets.nvidia import max_ptx


@pytest.mark.parametrize(
    ("version", "driver", "ptx"),
    [
        (12080, (12, 8), (8, 7)),
        (12060, (12, 6), (8, 5)),
        (12020, (12, 2), (8, 2)),
        (11040, (11, 4), (7, 4)),
        (11080, (11, 8), (7, 8)),
        (10020, (10, 2), (6, 5)),
        (13000, (13, 0), (9, 0)),
        (13050, (13, 5), (9, 5)),
        # Newer than the table: at least what the table ends with.
        (14010, (14, 1), (9, 5)),
        # Older than the table: no PTX that a target has.
        (5000, (5, 0), (0, 0)),
    ],
)
def test_cuda_driver(version: int, driver: tuple[int, int], ptx: tuple[int, int]) -> None:
    device = Device.cuda((8, 9), version, name="NVIDIA L4")
    assert (device.driver, device.max_ptx) == (driver, ptx)
    assert (device.arch, device.label) == ("sm_89", "NVIDIA L4 (sm_89)")


def test_ptx_versions_only_grow() -> None:
    versions = [max_ptx((major, minor)) for major in range(6, 15) for minor in range(10)]
    assert None not in versions
    assert versions == sorted(versions)  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("name", "arch", "sramecc", "xnack"),
    [
        ("gfx90a:sramecc+:xnack-", "gfx90a", True, False),
        ("gfx942:sramecc+:xnack+", "gfx942", True, True),
        ("gfx1100", "gfx1100", None, None),
        ("gfx1010:xnack-", "gfx1010", None, False),
        ("gfx90a:", "gfx90a", None, None),
    ],
)
def test_gcn_arch_name(name: str, arch: str, sramecc: bool | None, xnack: bool | None) -> None:
    device = Device.hip(name)
    assert (device.arch, device.sramecc, device.xnack) == (arch, sramecc, xnack)
    assert device.label == name


@pytest.mark.parametrize(("version", "newest"), [(60342134, 6), (60443484, 6), (70051831, 6), (60241134, 5), (50731921, 5), (None, None)])
def test_hip_driver(version: int | None, newest: int | None) -> None:
    assert Device.hip("gfx1100", version).max_code_object == newest


def test_cpu_is_called_by_its_best_target() -> None:
    assert Device.cpu("aarch64", ["fp", "asimd"]).label == "aarch64"
    assert Device.cpu("x86_64", ["sse2"], name="Old").label == "Old (x86_64)"
