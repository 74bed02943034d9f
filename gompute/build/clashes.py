"""Kernel names are unique across the roots of a kernel set."""

from __future__ import annotations

from collections.abc import Iterable

from gompute.build.outcome import Compiled
from gompute.build.roots import KernelRoot
from gompute.errors import CompileError

__all__ = ["check_kernel_names"]


def check_kernel_names(compiled: Iterable[Compiled], roots: Iterable[KernelRoot]) -> None:
    """Raises:
    CompileError: a kernel is defined by two roots; every such kernel is named, each with its roots and their files.
    """
    sources = {root.name: root.source for root in roots}
    owners: dict[str, set[str]] = {}
    for unit in compiled:
        for kernel in unit.kernels:
            owners.setdefault(kernel.name, set()).add(unit.job.root_name)
    clashes = [
        f"kernel {name!r} is defined by " + " and by ".join(f"root {root} ({sources[root]})" for root in sorted(defining))
        for name, defining in sorted(owners.items())
        if len(defining) > 1
    ]
    if clashes:
        raise CompileError("\n".join(clashes) + '\n  A name is unique in a kernel set: rename one of them (name="...").')
