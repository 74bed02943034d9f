"""The one door between the two halves: what the runtime side may ask of the compiler in its own process.

Its functions load what they need only when they are called, so that a program that runs artifacts never pays for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gompute.artifacts.entry import KernelEntry
from gompute.errors import BackendUnavailable, InvalidArgument, Unsupported
from gompute.lang import abi
from gompute.lang.math_function import MathFunction
from gompute.lang.spec import KernelSpec
from gompute.lang.types import ParamsType, ScalarType

if TYPE_CHECKING:
    from gompute.frontend import typed

__all__ = ["call_math", "call_on_host", "compile_for_cpu"]

# What `g.target` says in a host call: the meaning of a kernel does not depend on it, but a branch on it has to go one way.
_HOST_TARGET = "x86-64-v3"


def call_on_host(spec: KernelSpec, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Run a kernel's function once, on numbers, as one work-item of a device would.

    Args:
        arguments, keywords: numbers for scalar arguments, converted as a cast converts them; an instance of the params class.

    Raises CompileError for a faulty function, InvalidArgument for arguments that do not fit it, and Unsupported for a raw kernel with
    pointers, which needs a device's memory, and for an operation without a function.
    """
    from gompute.frontend import evaluate
    from gompute.frontend.recursion import deep_recursion

    if not spec.body:
        raise Unsupported(f"'{spec.name}' is a {spec.kind}, which has no function to call; run it through gompute.Kernel")
    spec.require_types()
    function = _checked(spec)
    names = [slot.name for slot in function.parameters]
    given = dict(zip(names, arguments, strict=False))
    for name, value in keywords.items():
        if name in given or name not in names:
            raise InvalidArgument(f"'{spec.name}': unexpected argument '{name}'; it takes ({', '.join(names)})")
        given[name] = value
    if len(arguments) > len(names) or len(given) < len(names):
        missing = [name for name in names if name not in given]
        problem = f"missing {', '.join(missing)}" if missing else f"{len(arguments)} given"
        raise InvalidArgument(f"'{spec.name}' takes ({', '.join(names)}): {problem}")
    values: list[Any] = []
    for slot in function.parameters:
        value = given[slot.name]
        if isinstance(slot.type, ParamsType):
            values.append(abi.pack(value, slot.type))
        elif isinstance(slot.type, ScalarType):
            try:
                values.append(slot.type(value))
            except TypeError as error:
                raise InvalidArgument(f"'{spec.name}': argument '{slot.name}' is {slot.type}, not {value!r}") from error
        else:
            raise Unsupported(f"'{spec.name}' takes a pointer ('{slot.name}'); launch it through gompute.RawKernel on a backend")
    if function.uses:
        needs = "coordinates such as global_id" if "index" in function.uses else "the other work-items of its block"
        raise Unsupported(f"'{spec.name}' asks for {needs}; launch it through gompute.RawKernel on a backend")
    with deep_recursion():
        result = evaluate.run(function, values)
    return None if result is None or function.result is None else function.result(result)


def call_math(function: MathFunction, arguments: Sequence[Any], out: Any = None) -> Any:
    """A function of `gompute.math` on the host: of numbers through the evaluator, of arrays through its CPU kernel.

    Raises as `MathFunction.__call__`.
    """
    if out is not None or any(hasattr(argument, "__array_interface__") or isinstance(argument, (list, tuple)) for argument in arguments):
        from gompute.handles.math_arrays import apply

        return apply(function, arguments, out)
    from gompute.frontend.math_values import value

    return value(function, arguments)


def compile_for_cpu(spec: KernelSpec) -> tuple[bytes, KernelEntry]:
    """Compile one kernel for this machine's processor: the shared object and its name table entry.

    Raises BackendUnavailable where the compiler is not installed or the processor runs none of our targets, CompileError for a faulty
    kernel.
    """
    from gompute.build.in_process_cpu import compile_for_target
    from gompute.runtime.processor import host_device
    from gompute.targets.cpu import cpu_targets

    device = host_device()
    runs = cpu_targets(device.arch, device.flags)
    if not runs:
        raise BackendUnavailable(f"this processor ({device.label}) runs none of the CPU targets; the oldest are x86-64-v3 and aarch64")
    return compile_for_target(spec, runs[-1])


def _checked(spec: KernelSpec) -> typed.Function:
    """The spec's function, checked on first use and kept with the spec."""
    from gompute.frontend.check.module import check_on_host
    from gompute.frontend.root import sources_of
    from gompute.targets import parse_target

    known: typed.Function | None = spec.host_function
    if known is None:
        known = spec.host_function = check_on_host(spec, sources_of(spec), parse_target(_HOST_TARGET))
    return known
