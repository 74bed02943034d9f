"""One module: all kernels of a root, for one target."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gompute.frontend import typed
from gompute.frontend.dialects import dialect_for
from gompute.frontend.dialects.dialect import FUNCTION_ATTRIBUTES
from gompute.frontend.emit.function import emit_function
from gompute.frontend.irtext.text import ModuleText

if TYPE_CHECKING:
    from gompute.targets import Target

_DEEPEST = 100_000
"""Frames for nested expressions: the emitter takes two a level, and generated sources nest deeply (a sum of a thousand terms)."""


def emit(module: typed.Module, target: Target) -> str:
    """The LLVM IR of a module for a target: a complete module in text form, the same for equal input.

    Raises:
        InternalError: the tree breaks a promise of `gompute.frontend.typed`.
    """
    dialect = dialect_for(target)
    symbols = [kernel.name for kernel in module.kernels] + [function.symbol for function in module.functions]
    text = ModuleText(symbols, dialect.table_space)
    with _deep_recursion():
        for function in module.functions:
            emit_function(text, dialect, function)
    for kernel in module.kernels:
        if isinstance(kernel, typed.MapKernel):
            dialect.map_kernel(text, kernel)
        else:
            dialect.raw_kernel(text, kernel)
    header = f'target datalayout = "{dialect.data_layout}"\ntarget triple = "{dialect.triple}"'
    footer = f"attributes #0 = {{ {FUNCTION_ATTRIBUTES} }}\nattributes #1 = {{ alwaysinline {FUNCTION_ATTRIBUTES} }}"
    if dialect.module_metadata:
        footer += f"\n\n{dialect.module_metadata}"
    return text.render(header, footer)


@contextmanager
def _deep_recursion() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
