"""One module: all kernels of a root, for one target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gompute.frontend import typed
from gompute.frontend.dialects import dialect_for
from gompute.frontend.dialects.dialect import FUNCTION_ATTRIBUTES
from gompute.frontend.emit.function import emit_function
from gompute.frontend.irtext.text import ModuleText
from gompute.frontend.recursion import deep_recursion
from gompute.targets import FAST, Mode

if TYPE_CHECKING:
    from gompute.targets import Target


def emit(module: typed.Module, target: Target, mode: Mode = FAST) -> str:
    """The LLVM IR of a module for a target: a complete module in text form, the same for equal input.

    Raises:
        InternalError: the tree breaks a promise of `gompute.frontend.typed`.
    """
    dialect = dialect_for(target)
    symbols = [kernel.name for kernel in module.kernels] + [function.symbol for function in module.functions]
    text = ModuleText(symbols, dialect.table_space)
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
    return text.render(header, footer)
