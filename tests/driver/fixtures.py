"""Fixtures for tests of what stands on a driver; each package's conftest.py imports them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gompute.handles.kernel_set import KernelSet, load
from gompute.runtime import cuda, hip, status
from tests.driver import sets
from tests.driver.build import SOURCES, build_driver, build_kernels
from tests.driver.control import NOTHING, VENDORS, Driver


@pytest.fixture(scope="session")
def zig_cache(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Kept from run to run where pytest keeps anything: a cold start of zig's C compiler takes ten seconds."""
    cache: pytest.Cache | None = getattr(pytestconfig, "cache", None)
    return tmp_path_factory.mktemp("zig") if cache is None else Path(cache.mkdir("zig"))


@pytest.fixture(scope="session")
def kernels_so(tmp_path_factory: pytest.TempPathFactory, zig_cache: Path) -> Path:
    """The CPU builds of the tests' kernels."""
    return build_kernels(SOURCES / "kernels.c", tmp_path_factory.mktemp("kernels"), zig_cache)


@pytest.fixture(scope="session")
def driver_paths(tmp_path_factory: pytest.TempPathFactory, zig_cache: Path) -> dict[str, Path]:
    """The driver library of each vendor."""
    folder = tmp_path_factory.mktemp("driver")
    return {vendor: build_driver(vendor, folder, zig_cache) for vendor in VENDORS}


@pytest.fixture(scope="session")
def set_path(tmp_path_factory: pytest.TempPathFactory, kernels_so: Path) -> Path:
    """A kernel set for one target of each vendor and for this machine's processor."""
    folder = tmp_path_factory.mktemp("sets") / "all"
    return sets.write(folder, kernels_so, [sets.CUDA_TARGET, sets.HIP_TARGET, sets.host_target()])


@pytest.fixture
def kernel_set(set_path: Path) -> KernelSet:
    return load(set_path)


@pytest.fixture(scope="session")
def _libraries(driver_paths: dict[str, Path]) -> dict[str, Driver]:
    """The drivers of this process: a binding loads its library once, so they stay."""
    return {name: Driver(vendor, driver_paths[name]) for name, vendor in VENDORS.items()}


def _lent(driver: Driver, kernels_so: Path) -> Iterator[Driver]:
    runtime = {"cuda": cuda, "hip": hip}[driver.vendor.backend]
    driver.reset(kernels_so)
    status.clear()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(driver.vendor.variable, str(driver.path))
        yield driver
    runtime.shutdown()
    problems, held = driver.problems, driver.held
    driver.reset()
    # Other tests of this process shall find a machine without a device.
    driver.devices(0)
    assert problems == []
    assert held == NOTHING


@pytest.fixture(params=list(VENDORS))
def gpu(request: pytest.FixtureRequest, _libraries: dict[str, Driver], kernels_so: Path) -> Iterator[Driver]:
    """Each vendor's driver in turn, with one device; a test that leaves memory, modules or contexts behind fails."""
    pytest.importorskip({"cuda": "cuda.bindings.driver", "hip": "rocm.bindings.hip"}[request.param])
    yield from _lent(_libraries[request.param], kernels_so)


@pytest.fixture
def nvidia(_libraries: dict[str, Driver], kernels_so: Path) -> Iterator[Driver]:
    """The CUDA driver alone."""
    pytest.importorskip("cuda.bindings.driver")
    yield from _lent(_libraries["cuda"], kernels_so)


@pytest.fixture
def amd(_libraries: dict[str, Driver], kernels_so: Path) -> Iterator[Driver]:
    """The HIP runtime alone."""
    pytest.importorskip("rocm.bindings.hip")
    yield from _lent(_libraries["hip"], kernels_so)
