"""What one work-item of an operation's kernel does: the same on every backend, but for the types of pointers."""

from __future__ import annotations

from gompute.errors import InternalError
from gompute.frontend import typed
from gompute.frontend.irtext.text import FunctionText
from gompute.frontend.irtext.values import element_address, load, store, value_type
from gompute.lang.types import U64

__all__ = ["emit_element", "memory_attributes"]


def emit_element(
    text: FunctionText, kernel: typed.GeneratedKernel, index: str, pointer: str, params_pointer: str, suffix: str = ""
) -> None:
    """Append the work for element `index`; the kernel's arguments are values of their own names.

    Args:
        pointer: the type of a pointer to global memory.
        params_pointer: the type of the address of params.
        suffix: metadata to attach to each access of an array.
    """
    if isinstance(kernel, typed.IndirectKernel):
        _moved_element(text, kernel, index, pointer)
        return
    if kernel.function.uses:
        raise InternalError(f"the function of the kernel {kernel.name!r} uses {', '.join(sorted(kernel.function.uses))}")
    passed = []
    for array in kernel.inputs:
        address = element_address(text, array.element, pointer, f"%{array.name}", index)
        passed.append(f"{value_type(array.element)} {load(text, array.element, pointer, address, suffix)}")
    if kernel.indexed:
        passed.append(f"{value_type(U64)} {index}")
    if kernel.params is not None:
        passed.append(f"{params_pointer} %params")
    output = kernel.output
    result = text.value(f"call {value_type(output.element)} @{kernel.function.symbol}({', '.join(passed)})")
    store(text, output.element, result, pointer, element_address(text, output.element, pointer, f"%{output.name}", index), suffix)


def _moved_element(text: FunctionText, kernel: typed.IndirectKernel, index: str, pointer: str) -> None:
    """The block "inside" moves an element; what follows is in the block "beyond"."""
    kind = kernel.index_type
    place = load(text, kind, pointer, element_address(text, kind, pointer, "%idx", index))
    if kind.bits < 64:
        place = text.value(f"{'sext' if kind.kind == 'int' else 'zext'} {value_type(kind)} {place} to i64")
    # A negative index is a huge unsigned number, and no array is that long.
    text.branch_if(text.value(f"icmp ult i64 {place}, %bound"), "inside", "beyond")
    text.start("inside")
    source, target = (index, place) if kernel.scatter else (place, index)
    value = load(text, kernel.element, pointer, element_address(text, kernel.element, pointer, "%src", source))
    store(text, kernel.element, value, pointer, element_address(text, kernel.element, pointer, "%out", target))
    text.start("beyond")


def memory_attributes(kernel: typed.GeneratedKernel, array: typed.Array) -> str:
    """What is known of the memory behind an array, with a blank before it. The output of an elementwise kernel may be one of its inputs,
    so neither is `noalias`; each element is read before it is written, so this costs nothing."""
    if isinstance(kernel, typed.ElementwiseKernel):
        if kernel.in_place:
            return " noalias"
        return "" if array is kernel.output else " readonly"
    return " noalias" if array.name == "out" else " noalias readonly"
