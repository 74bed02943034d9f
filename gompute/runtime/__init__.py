"""Drivers, devices, memory and loaded code: `cuda`, `hip` and `cpu`, each a module with a `Context`, and `dynamic` for any of them.

Nothing here is loaded before it is used: importing this package touches no driver and no binding.
"""

from __future__ import annotations

import importlib
from types import ModuleType

__all__ = ["cpu", "cuda", "dynamic", "hip"]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
