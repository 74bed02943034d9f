"""The kernels of one root to a typed module: each kernel's form, its body, and the functions that it reaches."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gompute.frontend import typed
from gompute.frontend.check.function import Functions, head_of
from gompute.frontend.faults import Faults
from gompute.frontend.source import Sources
from gompute.lang.spec import KernelSpec
from gompute.lang.types import ParamsType, ScalarType
from gompute.targets import Target

__all__ = ["check_module", "check_on_host"]


def check_module(root: str, specs: Iterable[KernelSpec], sources: Sources, target: Target) -> typed.Module:
    """Check every kernel of a root for a target. Raises CompileError that lists all faults."""
    faults = Faults()
    functions = Functions(sources, faults, target)
    kernels: list[typed.Kernel] = []
    seen: set[str] = set()
    for spec in sorted(specs, key=lambda spec: spec.name):
        source, syntax = sources.of(spec.function)
        place = head_of(syntax)
        for problem, fix in spec.problems:
            faults.add(source, place, problem, fix)
        if spec.name in seen:
            faults.add(source, place, f"the root '{root}' has two kernels named '{spec.name}'", 'give one another name: name="..."')
        seen.add(spec.name)
        function = functions.instance(spec.function)
        if function is not None and _form(spec, function, faults, sources):
            kernels.append(_kernel(spec, function))
    faults.raise_if_any()
    return typed.Module(root, tuple(kernels), tuple(functions.checked))


def check_on_host(spec: KernelSpec, sources: Sources, target: Target) -> typed.Function:
    """Check one kernel's function for a call on the host. Raises CompileError that lists all faults."""
    faults = Faults()
    function = Functions(sources, faults, target).instance(spec.function)
    if function is not None:
        _form(spec, function, faults, sources)
    faults.raise_if_any()
    assert function is not None, "a function without a fault was checked"
    return function


def _form(spec: KernelSpec, function: typed.Function, faults: Faults, sources: Sources) -> bool:
    """Whether the function has the parameters and result that the operation needs; what is wrong is recorded."""
    source, syntax = sources.of(spec.function)
    before = len(faults)
    place: ast.AST = head_of(syntax)
    kinds = [slot.type for slot in function.parameters]
    if spec.kind == "kernel":
        if function.result is not None:
            faults.add(source, place, "a raw kernel returns nothing", "write results to a ptr argument, and remove the result type")
        if not kinds:
            faults.add(source, place, "a raw kernel without arguments has no effect", "give it a ptr argument to write to")
        return len(faults) == before
    element = kinds[0] if kinds else None
    if not isinstance(element, ScalarType) or len(kinds) > 2 or (len(kinds) == 2 and not isinstance(kinds[1], ParamsType)):
        written = ", ".join(str(kind) for kind in kinds)
        fix = f"write def {spec.function.__name__}(x: f32) -> f32, or with a params struct: (x: f32, p: Params) -> f32"
        faults.add(source, place, f"the function of a map takes an element and, if needed, params; this one takes ({written})", fix)
    elif function.uses_index:
        fix = "write a raw kernel, @g.kernel, to work with coordinates"
        faults.add(source, place, "the function of a map sees one element, and no coordinates such as g.global_id", fix)
    elif function.result != element:
        given = "nothing" if function.result is None else str(function.result)
        faults.add(
            source, place, f"the function of a map returns its element's type {element}; this one returns {given}", f"write -> {element}"
        )
    return len(faults) == before


def _kernel(spec: KernelSpec, function: typed.Function) -> typed.Kernel:
    if spec.kind == "kernel":
        return typed.RawKernel(spec.name, function, spec.block_size)
    element, *rest = (slot.type for slot in function.parameters)
    params = rest[0] if rest else None
    assert isinstance(element, ScalarType) and (params is None or isinstance(params, ParamsType)), "the form was checked"
    return typed.MapKernel(spec.name, element, params, function, spec.block_size)
