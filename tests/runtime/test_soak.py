"""Many threads, and many rounds; checks/soak does both for longer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gompute.handles.kernel_set import KernelSet
from tests.driver.control import VENDORS, Driver, Vendor
from tests.driver.fresh import fresh
from tests.runtime.soak import stress


def test_eight_threads_leave_the_driver_silent_and_balanced(gpu: Driver, kernel_set: KernelSet) -> None:
    """The fixture looks at the driver's problems and at every count of handles afterwards."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        assert stress(gpu, kernel_set, seconds=5) > 8
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("vendor", VENDORS.values(), ids=list(VENDORS))
def test_the_driver_of_these_tests_bears_calls_of_many_threads_at_once(vendor: Vendor, driver_paths: dict[str, Path]) -> None:
    """In a process of its own: what they would break is its heap."""
    fresh(f"from tests.driver.crowd import crowd\ncrowd({vendor.backend!r}, {str(driver_paths[vendor.backend])!r}, laps=1000)")


ROUNDS = """
from pathlib import Path
from gompute.handles.kernel_set import load
from tests.driver.control import VENDORS, Driver
from tests.runtime.soak import rounds

gpu = Driver(VENDORS[{backend!r}], Path({driver!r}))
gpu.reset(Path({kernels!r}))
print(rounds(gpu, load({kernel_set!r}), count=600, first=200))
assert gpu.problems == []
"""


@pytest.mark.parametrize("vendor", VENDORS.values(), ids=list(VENDORS))
def test_rounds_of_load_launch_and_close_keep_no_memory(
    vendor: Vendor, driver_paths: dict[str, Path], kernels_so: Path, set_path: Path
) -> None:
    pytest.importorskip({"cuda": "cuda.bindings.driver", "hip": "rocm.bindings.hip"}[vendor.backend])
    driver = driver_paths[vendor.backend]
    code = ROUNDS.format(backend=vendor.backend, driver=str(driver), kernels=str(kernels_so), kernel_set=str(set_path))
    assert int(fresh(code, **{vendor.variable: driver})) <= 1 << 20
