"""What one work-item of an operation's kernel does: the same on every backend, but for the types of pointers."""

from __future__ import annotations

from gompute.errors import InternalError
from gompute.frontend import typed
from gompute.frontend.dialects.atomics import converted
from gompute.frontend.dialects.dialect import Dialect
from gompute.frontend.dialects.reports import call_or_report
from gompute.frontend.irtext.text import FunctionText
from gompute.frontend.irtext.values import element_address, load, store, value_type
from gompute.lang.types import U64, ScalarType

__all__ = ["emit_element", "memory_attributes"]


def emit_element(text: FunctionText, dialect: Dialect, kernel: typed.GeneratedKernel, index: str, suffix: str = "") -> None:
    """Append the work for element `index`; the kernel's arguments are values of their own names.

    Args:
        suffix: metadata to attach to each access of an array.

    Where a check fails, it goes to the block "done".
    """
    if isinstance(kernel, typed.IndirectKernel):
        _moved_element(text, dialect, kernel, index)
        return
    pointer = dialect.global_pointer
    if more := kernel.function.uses - {"check"}:
        raise InternalError(f"the function of the kernel {kernel.name!r} uses {', '.join(sorted(more))}")
    passed = []
    for array in kernel.inputs:
        address = element_address(text, array.element, pointer, f"%{array.name}", index)
        passed.append(f"{value_type(array.element)} {load(text, array.element, pointer, address, suffix)}")
    if kernel.indexed:
        passed.append(f"{value_type(U64)} {index}")
    if kernel.params is not None:
        passed.append(f"{dialect.params_pointer} %params")
    output = kernel.output
    result = call_or_report(text, dialect, kernel.function, passed, (index, "0", "0"), "done")
    store(text, output.element, result, pointer, element_address(text, output.element, pointer, f"%{output.name}", index), suffix)


def _moved_element(text: FunctionText, dialect: Dialect, kernel: typed.IndirectKernel, index: str) -> None:
    """The block "inside" moves an element; what follows is in the block "beyond"."""
    pointer = dialect.global_pointer
    kind = kernel.index_type
    place = load(text, kind, pointer, element_address(text, kind, pointer, "%idx", index))
    if kind.bits < 64:
        place = text.value(f"{'sext' if kind.kind == 'int' else 'zext'} {value_type(kind)} {place} to i64")
    # A negative index is a huge unsigned number, and no array is that long.
    text.branch_if(text.value(f"icmp ult i64 {place}, %bound"), "inside", "beyond")
    text.start("inside")
    source, target = (place, index) if kernel.move == "gather" else (index, place)
    value = load(text, kernel.element, pointer, element_address(text, kernel.element, pointer, "%src", source))
    address = element_address(text, kernel.element, pointer, "%out", target)
    if kernel.move != "scatter_add":
        store(text, kernel.element, value, pointer, address)
    elif kernel.add is None:
        dialect.atomic(text, "add", kernel.element, pointer, address, (value,), "device")
    else:
        _add_small(text, dialect, kernel.element, kernel.add, address, value)
    text.start("beyond")


def _add_small(text: FunctionText, dialect: Dialect, element: ScalarType, add: typed.Function, address: str, value: str) -> None:
    """Add to an element, tried until nobody came between; floats are compared by their bits, so that a NaN ends it too."""
    register, word = value_type(element), f"i{element.bits}"
    first = text.value(f"load atomic {word}, {dialect.global_pointer} {address} monotonic, align {element.size}")
    before, again, done = text.block, text.new_block("again"), text.new_block("added")
    text.start(again)
    held = text.value(f"phi {word} [ {first}, %{before} ], [ %{again}.seen, %{again} ]")
    old = converted(text, held, word, register)
    sum_ = text.value(f"call {register} @{add.symbol}({register} {old}, {register} {value})")
    seen = dialect.atomic(text, "cas", element, dialect.global_pointer, address, (old, sum_), "device")
    text.effect(f"%{again}.seen = bitcast {register} {seen} to {word}")
    text.branch_if(text.value(f"icmp eq {word} %{again}.seen, {held}"), done, again)
    text.start(done)


def memory_attributes(kernel: typed.GeneratedKernel | typed.TiledKernel, array: typed.Array) -> str:
    """What is known of the memory behind an array, with a blank before it. The output of an elementwise kernel may be one of its inputs,
    so neither is `noalias`; each element is read before it is written, so this costs nothing. That of an inclusive scan may be too."""
    if isinstance(kernel, typed.TiledKernel):
        apart = " noalias" if array.name == "partials" or kernel.scan != "inclusive" else ""
        return f"{apart} readonly" if array.name in ("data", "in") else apart
    if isinstance(kernel, typed.ElementwiseKernel):
        if kernel.in_place:
            return " noalias"
        return "" if array is kernel.output else " readonly"
    return " noalias" if array.name == "out" else " noalias readonly"
