"""What a decorator makes of a function: a kernel spec, which names an operation, its function, and the block size.

A spec is plain data on the host. Building compiles it; `gompute.Kernel` runs the compiled form; calling it computes one element on the
host with the numbers that a device would give.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, update_wrapper
from types import FrameType, FunctionType
from typing import Any, Literal

from gompute.errors import CompileError
from gompute.lang.params import params_type
from gompute.lang.types import BOOL, ParamsType, PointerType, ScalarType

__all__ = ["MAX_BLOCK", "REGISTRY", "Argument", "KernelInterface", "KernelSpec", "argument_type", "specs_of"]

MAX_BLOCK = 1024
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
# Names that are identifiers in C but not in PTX (tried with ptxas): one predefined constant, and the wildcard operand.
_PTX_RESERVED = frozenset({"WARP_SZ", "_"})
#: Where a module that is loaded as a root collects the specs that its top level makes.
REGISTRY = "__gompute_kernels__"

Kind = Literal["map", "kernel"]


@dataclass(frozen=True, slots=True)
class Argument:
    """One parameter of a kernel's function: its name and type."""

    name: str
    type: PointerType | ScalarType | ParamsType


@dataclass(frozen=True, slots=True)
class KernelInterface:
    """What the host must know of a kernel: the arguments of its function in order, what it returns, and its params type, if any."""

    arguments: tuple[Argument, ...]
    result: ScalarType | None
    params: ParamsType | None


def argument_type(annotation: object) -> PointerType | ScalarType | ParamsType | None:
    """The kernel type that an annotation stands for, or None. Raises `ParamsRejected` for a params class with bad fields."""
    if isinstance(annotation, (ScalarType, PointerType)):
        return annotation
    if annotation is bool:
        return BOOL
    return params_type(annotation)


class KernelSpec:
    """A kernel as its author declared it.

    Attributes:
        kind: the operation, or ``kernel`` for a raw kernel.
        name: the public name, a C identifier.
        block_size: work-items per block in x, y, z; exact for a generated kernel, the largest allowed for a raw one.
        function: the Python function of the body.
        module: name of the module whose top level made the spec; it decides which kernel root it belongs to.
        problems: what is wrong with the declaration itself, and what to write; the compiler reports them with the faults of the body.
    """

    def __init__(self, kind: Kind, function: Callable[..., Any], name: str | None, block_size: object) -> None:
        if not isinstance(function, FunctionType):
            raise CompileError(f"@{kind} decorates a function, not {function!r}; write @{kind} above a 'def' with annotated arguments")
        self.kind = kind
        self.function = function
        _resolve_in_place(function, sys._getframe(1))
        self.name = function.__name__ if name is None else name
        self.problems: list[tuple[str, str]] = []
        self.block_size = self._block(block_size)
        if not isinstance(self.name, str) or not _NAME.match(self.name) or self.name in _PTX_RESERVED:
            self.problems.append((f"{self.name!r} is no kernel name", 'write a C identifier such as name="scale_relu"'))
        update_wrapper(self, function)
        # The checked form for host calls, made by the compiler half on first use; opaque here.
        self.host_function: Any = None
        # Only a module that is being loaded as a root keeps a list: elsewhere it would keep alive every spec ever made.
        home = _home(sys._getframe(1), function)
        self.module: str = home["__name__"]
        home.get(REGISTRY, []).append(self)

    def _block(self, given: object) -> tuple[int, int, int]:
        dims = (given,) if isinstance(given, int) else given
        shape = "an int" if self.kind != "kernel" else "an int or a tuple of up to three"
        if (
            not isinstance(dims, tuple)
            or not 1 <= len(dims) <= (3 if self.kind == "kernel" else 1)
            or not all(isinstance(n, int) and not isinstance(n, bool) and n >= 1 for n in dims)
        ):
            self.problems.append((f"block_size={given!r} must be {shape} from 1", "write block_size=256"))
            return (256, 1, 1)
        x, y, z = (*dims, 1, 1)[:3]
        if x * y * z > MAX_BLOCK:
            problem = f"block_size={given!r} has {x * y * z} work-items; every target allows at most {MAX_BLOCK}"
            self.problems.append((problem, "write block_size=256"))
        return (x, y, z)

    @cached_property
    def interface(self) -> KernelInterface:
        """Arguments and result from the annotations. Raises CompileError when the declaration or an annotation is wrong."""
        if self.problems:
            raise CompileError(f"kernel '{self.name}': " + "; ".join(f"{what}; {fix}" for what, fix in self.problems))
        try:
            annotations = inspect.get_annotations(self.function, eval_str=True)
        except Exception as error:
            raise CompileError(f"kernel '{self.name}': an annotation cannot be resolved: {error}") from error
        arguments: list[Argument] = []
        for name in inspect.signature(self.function).parameters:
            kind = argument_type(annotations.get(name))
            if kind is None:
                raise CompileError(f"kernel '{self.name}': argument '{name}' needs a kernel type as its annotation; write '{name}: f32'")
            arguments.append(Argument(name, kind))
        result = annotations.get("return")
        result = BOOL if result is bool else result
        layouts = [argument.type for argument in arguments if isinstance(argument.type, ParamsType)]
        return KernelInterface(tuple(arguments), result if isinstance(result, ScalarType) else None, layouts[-1] if layouts else None)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Compute on the host what one work-item of the kernel computes, rounding and wrapping as a device does."""
        from gompute import in_process

        return in_process.call_on_host(self, arguments, keywords)

    def __repr__(self) -> str:
        return f"<{self.kind} kernel '{self.name}' of {self.module}>"


def specs_of(namespace: dict[str, Any]) -> tuple[KernelSpec, ...]:
    """Every spec that the top level of a root's module made, in the order of their making."""
    return tuple(namespace[REGISTRY])


def _resolve_in_place(function: FunctionType, frame: FrameType | None) -> None:
    """Replace annotations that are text (``from __future__ import annotations``) by what they name where the kernel stands: the types of
    a kernel made inside a function may be local to it, and are out of reach later. One that names nothing yet stays text."""
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "gompute":
        frame = frame.f_back
    if frame is None or not any(isinstance(annotation, str) for annotation in function.__annotations__.values()):
        return
    for name, annotation in function.__annotations__.items():
        if isinstance(annotation, str):
            with suppress(Exception):  # what the annotation's own code raises is reported when the kernel is used: it is evaluated again
                function.__annotations__[name] = eval(annotation, frame.f_globals, frame.f_locals)


def _home(frame: FrameType | None, function: FunctionType) -> dict[str, Any]:
    """Globals of the module whose top level is running: a factory in another module makes kernels for the module that calls it."""
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            return frame.f_globals
        frame = frame.f_back
    return function.__globals__
