"""One module: all kernels of a root, for one target."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gompute.artifacts.checks import Check
from gompute.frontend import typed
from gompute.frontend.dialects import dialect_for
from gompute.frontend.dialects.dialect import FUNCTION_ATTRIBUTES
from gompute.frontend.emit.function import emit_function
from gompute.frontend.irtext.failing import WEIGHTS
from gompute.frontend.irtext.lines import Lines
from gompute.frontend.irtext.text import ModuleText
from gompute.frontend.recursion import deep_recursion
from gompute.targets import FAST, Mode

if TYPE_CHECKING:
    from gompute.targets import Target


class Emitted(NamedTuple):
    """The LLVM IR of a module: complete, in text form, the same for equal input; and the checks that it makes, in the order of their
    numbers."""

    ir: str
    checks: tuple[Check, ...]


def emit(module: typed.Module, target: Target) -> str:
    """The LLVM IR of a module for a target, without checks and line tables."""
    return emitted(module, target, FAST).ir


def emitted(module: typed.Module, target: Target, mode: Mode) -> Emitted:
    """The LLVM IR of a module for a target.

    Raises:
        InternalError: the tree breaks a promise of `gompute.frontend.typed`.
    """
    dialect = dialect_for(target)
    symbols = [kernel.name for kernel in module.kernels] + [function.symbol for function in module.functions]
    lines = Lines(directives=target.backend == "cuda", optimized=mode.optimize != "debug") if mode.lines else None
    text = ModuleText(symbols, dialect.table_space, lines)
    bodies = {kernel.function for kernel in module.kernels if isinstance(kernel, typed.RawKernel)}
    with deep_recursion():
        for function in module.functions:
            emit_function(text, dialect, function, is_kernel=function in bodies)
    for kernel in module.kernels:
        if isinstance(kernel, typed.RawKernel):
            dialect.raw_kernel(text, kernel)
        elif isinstance(kernel, typed.TiledKernel):
            dialect.tiled_kernel(text, kernel)
        else:
            dialect.generated_kernel(text, kernel)
    header = f'target datalayout = "{dialect.data_layout}"\ntarget triple = "{dialect.triple}"'
    footer = f"attributes #0 = {{ {FUNCTION_ATTRIBUTES} }}\nattributes #1 = {{ alwaysinline {FUNCTION_ATTRIBUTES} }}"
    if dialect.module_metadata:
        footer += f"\n\n{dialect.module_metadata}"
    if text.checks:
        footer += f"\n\n{WEIGHTS}"
    if lines is not None:
        footer += f"\n\n{lines.render()}"
    return Emitted(text.render(header, footer), tuple(text.checks))
