"""The kernels of one root to a typed module: each kernel's form, its body, and the functions that it reaches."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator
from types import FunctionType

from gompute.frontend import typed
from gompute.frontend.check.function import Functions, head_of
from gompute.frontend.check.tiled import preset, tiled_kernel
from gompute.frontend.faults import Faults
from gompute.frontend.source import SourceFile, Sources
from gompute.lang.operation import Elementwise, Indirect, Raw
from gompute.lang.signature import Argument, Signature
from gompute.lang.spec import KernelSpec
from gompute.lang.tiled import Tiled
from gompute.lang.types import LocalArrayType, PointerType, SharedArrayType
from gompute.targets import FAST, Mode, Target

__all__ = ["check_module", "check_on_host"]


# What the function of an operation has not, with an example, and in one word.
_OF_RAW_KERNELS: dict[typed.Use, tuple[str, str]] = {
    "index": ("coordinates such as g.global_id", "coordinates"),
    "barrier": ("other work-items to wait for with g.barrier", "blocks"),
    "shared": ("block to share memory with through g.shared", "blocks"),
    "warp": ("warp to exchange values with", "warps"),
}


def check_module(
    root: str, specs: Iterable[KernelSpec], sources: Sources, target: Target, mode: Mode = FAST, kept: Container[str] = ()
) -> Iterator[typed.Module]:
    """Check every kernel of a root for a target, but for those whose names are in `kept`, which were found right before.

    Gives a module for each kernel, with what it reaches, in the order of their names, until the first fault. Raises CompileError that
    lists all faults at the end.
    """
    faults = Faults()
    by_way = {approximate: Functions(sources, faults, target, mode, approximate=approximate) for approximate in (False, True)}
    seen: set[str] = set()
    for spec in sorted(specs, key=lambda spec: spec.name):
        generic = spec.parameters
        for problem, fix in spec.problems:
            faults.add(*_place(spec, sources), problem, fix)
        if generic:
            continue  # its instances were asked for, but for one with such a problem
        if spec.name in seen:
            what = f"the root '{root}' has two kernels named '{spec.name}'"
            faults.add(*_place(spec, sources), what, 'give one another name: name="..."')
        seen.add(spec.name)
        if spec.name in kept:
            continue
        functions = by_way[spec.fast]
        parts = _parts(spec, functions)
        if parts is not None and isinstance(spec.operation, Raw):
            _check_shared(spec, parts[0], functions)
        if parts is not None and not len(faults):
            kernel = _kernel(spec, parts, functions)
            composed = {part for part in kernel if isinstance(part, typed.Function)}
            yield typed.Module(root, (kernel,), functions.reached_by(parts, composed))
    faults.raise_if_any()


def check_on_host(spec: KernelSpec, sources: Sources, target: Target) -> typed.Function:
    """Check the function of a kernel, or the composition of several, for a call on the host. Raises CompileError that lists all faults."""
    faults = Faults()
    functions = Functions(sources, faults, target, FAST)
    parts = _parts(spec, functions)
    faults.raise_if_any()
    assert parts, "a function without a fault was checked"
    return _body(spec, parts, functions)


def _place(spec: KernelSpec, sources: Sources) -> tuple[SourceFile, ast.AST]:
    """Where to show what is wrong with a declaration."""
    if spec.place is None:
        source, syntax = sources.of(spec.functions[0])
        return source, head_of(syntax)
    marker = ast.Name(spec.name, ast.Load())
    for field in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        setattr(marker, field, getattr(spec.place, field))
    return sources.read(spec.place.file), marker


def _parts(spec: KernelSpec, functions: Functions) -> list[typed.Function] | None:
    """The checked functions of a kernel, in the form that its operation needs; None where something is wrong, which is recorded."""
    sources, faults = functions.sources, functions.faults
    checked = [functions.instance(function, spec.bindings) for function in spec.functions]
    made = [part for part in checked if part is not None]
    if len(made) < len(checked):
        return None
    before = len(faults)
    fault = spec.operation.fault([_signature(*pair) for pair in zip(spec.functions, made, strict=True)], spec.given)
    if fault is not None:
        faults.add(*_place(spec, sources), *fault)
    elif not isinstance(spec.operation, Raw):
        for function, part in zip(spec.functions, made, strict=True):
            used = next((words for use, words in _OF_RAW_KERNELS.items() if use in part.uses), None)
            if used is not None:
                source, syntax = sources.of(function)
                what = f"the function of a {spec.kind} sees one element, and no {used[0]}"
                faults.add(source, head_of(syntax), what, f"write a raw kernel, @g.kernel, to work with {used[1]}")
    return made if len(faults) == before else None


def _check_shared(spec: KernelSpec, function: typed.Function, functions: Functions) -> None:
    arrays = [slot.type for slot in function.shared if isinstance(slot.type, SharedArrayType)]
    target, taken = functions.target, sum((array.length or 0) * array.element.size for array in arrays)
    if taken > target.max_static_shared:
        what = f"the shared arrays of '{spec.name}' take {taken} bytes, and {target.name} gives a kernel at most {target.max_static_shared}"
        fix = "use smaller ones, or g.dynamic_shared with launch(..., shared=bytes) where the device has more"
        functions.faults.add(*_place(spec, functions.sources), what, fix)


def _signature(function: FunctionType, checked: typed.Function) -> Signature:
    arguments = []
    for slot in checked.parameters:
        assert not isinstance(slot.type, (LocalArrayType, SharedArrayType)), "no parameter is a local or shared array"
        arguments.append(Argument(slot.name, slot.type))
    return Signature(function.__name__, tuple(arguments), checked.result)


def _kernel(spec: KernelSpec, parts: list[typed.Function], functions: Functions) -> typed.Kernel:
    operation = spec.operation
    if isinstance(operation, Raw):
        return typed.RawKernel(spec.name, parts[0], spec.block_size)
    if isinstance(operation, Indirect):
        element, index = spec.given.types
        move: typed.Move = "gather" if operation.bounded == "src" else "scatter_add" if operation.adds else "scatter"
        # No hardware adds such small elements in one step.
        add = preset(spec, "sum", element, functions) if operation.adds and element.bits < 32 else None
        return typed.IndirectKernel(spec.name, element, index, move, add, spec.block_size)
    if isinstance(operation, Tiled):
        return tiled_kernel(spec, operation, parts, functions)
    interface = operation.interface([_signature(*pair) for pair in zip(spec.functions, parts, strict=True)], spec.given)
    pointers = [(argument.name, argument.type) for argument in operation.launch(interface)]
    arrays = tuple(typed.Array(name, kind.element) for name, kind in pointers if isinstance(kind, PointerType))
    indexed = isinstance(operation, Elementwise) and operation.indexed
    return typed.ElementwiseKernel(spec.name, arrays, len(arrays) == 1, indexed, _body(spec, parts, functions), spec.block_size)


def _body(spec: KernelSpec, parts: list[typed.Function], functions: Functions) -> typed.Function:
    return parts[0] if len(spec.body) == 1 else functions.composed(spec.name, parts)
