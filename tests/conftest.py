"""Fixtures that more than one package of tests uses: one build of the driver libraries serves a whole process, whose bindings load one."""

from collections.abc import Iterator

import pytest

from tests.driver.fixtures import _libraries, amd, driver_paths, gpu, kernel_set, kernels_so, nvidia, set_path, zig_cache

__all__ = ["_libraries", "amd", "driver_paths", "gpu", "kernel_set", "kernels_so", "nvidia", "set_path", "zig_cache"]


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test, and no program that one starts, reads or fills the cache of who runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield
