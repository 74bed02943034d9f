"""Fixtures that more than one package of tests uses: one build of the driver libraries serves a whole process, whose bindings load one."""

from tests.driver.fixtures import _libraries, amd, driver_paths, gpu, kernel_set, kernels_so, nvidia, set_path, zig_cache

__all__ = ["_libraries", "amd", "driver_paths", "gpu", "kernel_set", "kernels_so", "nvidia", "set_path", "zig_cache"]
