"""The conformance root, imported on the host as plain Python."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).parent
SOURCE = FOLDER / "kernels.py"
BLOCKS = FOLDER / "blocks.py"
FAST = FOLDER / "fast.py"


@cache
def root() -> ModuleType:
    """The module of the kernels. It imports its sibling by a bare name, as a root does."""
    return _imported("conformance_kernels", SOURCE)


@cache
def blocks() -> ModuleType:
    """The module of the kernels whose work-items meet."""
    return _imported("conformance_blocks", BLOCKS)


def _imported(name: str, source: Path) -> ModuleType:
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location(name, source)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


def spec(name: str) -> Any:
    """The kernel of that name."""
    module = vars(root())
    declared = (*module.values(), *module["MOVED"], *module["ADDED"])
    return next(kernel for found in declared if hasattr(found, "instances") for kernel in found.instances() if kernel.name == name)
