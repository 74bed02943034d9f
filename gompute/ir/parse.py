"""From LLVM IR text to a module that LLVM itself holds to be well formed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from llvmlite import binding as llvm

from gompute.artifacts.names import describe_unit
from gompute.errors import CompileError

if TYPE_CHECKING:
    from gompute.targets import Target

__all__ = ["indented", "parsed"]


@contextmanager
def parsed(ir: str, kernels: Sequence[str], target: Target, data_layout: str) -> Iterator[llvm.ModuleRef]:
    """Parse and check a module, and free it at the end.

    It lives in a context of its own: in a shared one, the names of types would depend on what the process had parsed before. A context must
    outlive its modules, and the order in which the garbage collector finds them is not that, hence the end is explicit.

    Args:
        ir: LLVM IR text, complete with triple and data layout.
        kernels: names of its kernels, for messages.
        data_layout: what LLVM's code generator for `target` demands.

    Raises:
        CompileError: LLVM cannot read the text, its verifier refuses the module, or it was made for another target.
    """
    unit = describe_unit(kernels, target)
    context = llvm.create_context()
    try:
        try:
            module = llvm.parse_assembly(ir, context)
        except RuntimeError as error:
            raise CompileError(f"{unit}: LLVM cannot read the module\n{indented(error)}") from None
        with closing(module):
            try:
                module.verify()
            except RuntimeError as error:
                raise CompileError(f"{unit}: LLVM's verifier refuses the module\n{indented(error)}") from None
            for what, found, wanted in (("triple", module.triple, target.triple), ("datalayout", module.data_layout, data_layout)):
                if found != wanted:
                    raise CompileError(f"{unit}: the module was made for another target: its {what} is {found!r}, not {wanted!r}")
            yield module
    finally:
        context.close()


def indented(error: RuntimeError) -> str:
    """What LLVM said, set in."""
    return "\n".join(f"  {line}" for line in str(error).strip().splitlines())
