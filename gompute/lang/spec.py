"""What a decorator makes of a function: a kernel spec, which names an operation, its function, and the block size.

A spec is plain data on the host. Building compiles it; `gompute.Kernel` runs the compiled form; calling it computes one element on the
host with the numbers that a device would give.
"""

from __future__ import annotations

import copy
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, update_wrapper
from itertools import islice
from types import FrameType, FunctionType
from typing import Any, TypeVar

from gompute.errors import CompileError
from gompute.lang.generic import Bindings, bind, choices, combinations, followed, no_types, parameters_of, suffix_of
from gompute.lang.operation import OPERATIONS, Fused, Operation
from gompute.lang.params import crossing_type
from gompute.lang.signature import Argument, Fault, Given, KernelInterface, Signature
from gompute.lang.tiled import Tiled
from gompute.lang.types import BOOL, ParamsType, PointerType, ScalarType, ViewType

__all__ = ["MAX_BLOCK", "REGISTRY", "KernelSpec", "Place", "argument_type", "specs_of"]

MAX_BLOCK = 1024
#: What an index takes; see `gompute.artifacts.names`.
_LONGEST_NAME = 255
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
# Names that are identifiers in C but not in PTX (tried with ptxas): one predefined constant, and the wildcard operand.
_PTX_RESERVED = frozenset({"WARP_SZ", "_"})
#: Where a module that is loaded as a root collects the specs that its top level makes.
REGISTRY = "__gompute_kernels__"


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a source file a kernel was declared by a call; lines count from 1, columns in bytes from 0, as in Python's syntax tree."""

    file: str
    lineno: int
    col_offset: int
    end_lineno: int
    end_col_offset: int


def argument_type(annotation: object) -> PointerType | ViewType | ScalarType | ParamsType | None:
    """The kernel type that an annotation stands for, or None. Raises `ParamsRejected` for a params class with bad fields."""
    if isinstance(annotation, (ScalarType, PointerType, ViewType)):
        return annotation
    if annotation is bool:
        return BOOL
    return crossing_type(annotation)


class KernelSpec:
    """A kernel as its author declared it.

    Attributes:
        kind: the operation's name, ``kernel`` for a raw kernel.
        operation: the operation.
        name: the public name, a C identifier.
        block_size: work-items per block in x, y, z; exact for a generated kernel, the largest allowed for a raw one.
        functions: the Python functions of the body: one, several or none, as the operation has it.
        given: what the declaration says beside them.
        fast: on GPUs functions of `gompute.math` are the hardware's own, where it has them: see `gompute.lang.approximation`.
        place: where it was declared, for an operation that does not decorate a function.
        module: name of the module whose top level made the spec; it decides which kernel root it belongs to.
        problems: what is wrong with the declaration itself, and what to write; the compiler reports them with the faults of the body.
    """

    def __init__(
        self,
        kind: str,
        functions: tuple[Callable[..., Any], ...],
        name: str | None,
        block_size: object,
        *,
        given: Given | None = None,
        fast: object = False,
        bindings: Bindings | None = None,
        problems: tuple[Fault, ...] = (),
    ) -> None:
        self.operation: Operation = OPERATIONS[kind]
        self.kind = kind
        self.functions: tuple[FunctionType, ...] = tuple(self._checked(function) for function in functions)
        caller = _caller(sys._getframe(1))
        for function in self.functions:
            _resolve_in_place(function, caller)
        self.given = Given() if given is None else given
        self._fixed: Bindings = {} if bindings is None else bindings
        self._instances: dict[tuple[ScalarType, ...], KernelSpec] = {}
        self.name = self.functions[0].__name__ if name is None else name
        self.problems = list(problems)
        self.block_size = self._block(block_size)
        self.fast = fast is True
        if not isinstance(fast, bool):
            self.problems.append((f"fast={fast!r} is neither True nor False", "write fast=True for the hardware's approximations"))
        fix = 'write a C identifier such as name="scale_relu"'
        if not isinstance(self.name, str):
            self.problems.append((f"name={self.name!r} is no text", fix))
            self.name = str(self.name)
        elif not _NAME.match(self.name) or self.name in _PTX_RESERVED:
            self.problems.append((f"{self.name!r} is no kernel name", fix))
        elif len(self.name) > _LONGEST_NAME:
            self.problems.append(
                (f"the kernel name {self.name[:20]}... has {len(self.name)} letters, and {_LONGEST_NAME} are allowed", fix)
            )
        self.place: Place | None = None
        if self.operation.by_call:
            self.place = _place(caller)
            self.__name__ = str(self.name)
        else:
            update_wrapper(self, self.functions[0])
        # The checked form for host calls, made by the compiler half on first use; opaque here.
        self.host_function: Any = None
        # Only a module that is being loaded as a root keeps a list: elsewhere it would keep alive every spec ever made.
        home = _home(caller, self.functions[0].__globals__ if self.functions else caller.f_globals)
        self.module: str = home["__name__"]
        home.get(REGISTRY, []).append(self)

    def _checked(self, function: object) -> FunctionType:
        if isinstance(function, FunctionType):
            return function
        if isinstance(self.operation, Fused):
            raise CompileError(f"g.fused takes functions and kernels of one element, not {function!r}; write a 'def' and pass its name")
        raise CompileError(
            f"@{self.kind} decorates a function, not {function!r}; write @{self.kind} above a 'def' with annotated arguments"
        )

    @property
    def body(self) -> tuple[FunctionType, ...]:
        """The functions that a call computes, one after the other; none where the operation has no function of its own."""
        if not isinstance(self.operation, Tiled):
            return self.functions
        return self.functions[:1] if self.operation.preset is None else ()

    @property
    def file(self) -> str:
        """The source file that it was declared in, or its function was."""
        return self.functions[0].__code__.co_filename if self.place is None else self.place.file

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
    def bindings(self) -> Bindings:
        """What the type parameters of the functions stand for, as instances fix it and as it follows from the functions beside them; a
        generic kernel leaves some open."""
        if not isinstance(self.operation, Fused | Tiled):
            return self._fixed
        ends: list[tuple[Any, Any]] = []
        for function in self.functions:
            try:
                own = inspect.get_annotations(function, eval_str=True)
            except Exception:  # as in `parameters`
                return self._fixed
            first = next(iter(inspect.signature(function).parameters), "")
            element, result = (BOOL if kind is bool else kind for kind in (own.get(first), own.get("return")))
            ends.append((element, result))
        return followed(self.operation.joints(ends, self.given), self._fixed)

    @cached_property
    def parameters(self) -> tuple[TypeVar, ...]:
        """The type parameters that are still open: a spec with any is generic, and only its instances are kernels."""
        annotations: list[Any] = []
        for function in self.functions:
            with suppress(Exception):  # whatever an annotation's own code raises: it is reported where the signature is read
                own = inspect.get_annotations(function, eval_str=True)
                annotations += [own[name] for name in own if name != "return"]
        open_ = tuple(parameter for parameter in parameters_of(annotations) if parameter not in self.bindings)
        self.problems += [no_types(parameter) for parameter in open_ if not choices(parameter)]
        return open_

    def __getitem__(self, types: Any) -> KernelSpec:
        """The instance of a generic kernel for a type, or for a tuple of types, one for each type parameter: ``axpy[f32]``.

        Raises CompileError where the kernel is not generic, or is not for these types.
        """
        given = tuple(BOOL if kind is bool else kind for kind in (types if isinstance(types, tuple) else (types,)))
        if not self.parameters:
            raise CompileError(f"the kernel '{self.name}' is not generic; write {self.name} alone")
        for parameter in self.parameters:
            if not choices(parameter):
                raise CompileError("; ".join(no_types(parameter)))
        if len(given) != len(self.parameters) or any(
            kind not in choices(parameter) for kind, parameter in zip(given, self.parameters, strict=True)
        ):
            over = self._choices()
            raise CompileError(f"the kernel '{self.name}' has no instance [{', '.join(map(_spelled, given))}]; it is generic over {over}")
        if given not in self._instances:
            self._instances[given] = self._instance(given)
        return self._instances[given]

    def _instance(self, types: tuple[ScalarType, ...]) -> KernelSpec:
        made = copy.copy(self)
        for kept in ("interface", "launch_arguments", "parameters"):
            vars(made).pop(kept, None)
        made.bindings = {**self.bindings, **dict(zip(self.parameters, types, strict=True))}
        made.name = made.__name__ = self.name + suffix_of(types)
        made.host_function = None
        made._instances = {}
        return made

    def _choices(self) -> str:
        """The type parameters with their types, in words."""
        return " and ".join(f"{parameter.__name__} ({', '.join(map(str, choices(parameter)))})" for parameter in self.parameters)

    def instances(self) -> Iterator[KernelSpec]:
        """The kernels that the spec stands for: itself, or every instance of a generic one, in the order of the parameters' types."""
        if not self.parameters or self.problems:
            yield self
            return
        for types in combinations(self.parameters):
            yield self[types]

    def require_types(self) -> None:
        """Raises CompileError for a generic kernel, of which only the instances can be run."""
        if self.parameters and not self.problems:
            example = ", ".join(str(choices(parameter)[0]) for parameter in self.parameters)
            raise CompileError(f"the kernel '{self.name}' is generic over {self._choices()}; choose an instance: {self.name}[{example}]")

    @cached_property
    def interface(self) -> KernelInterface:
        """Arguments and result from the annotations. Raises CompileError when the declaration or an annotation is wrong, and for a
        generic kernel."""
        self.require_types()
        if self.problems:
            raise CompileError(f"kernel '{self.name}': " + "; ".join(f"{what}; {fix}" for what, fix in self.problems))
        functions = [self._signature(function) for function in self.functions]
        fault = self.operation.fault(functions, self.given)
        if fault is not None:
            raise CompileError(f"kernel '{self.name}': {fault[0]}; {fault[1]}")
        return self.operation.interface(functions, self.given)

    def _signature(self, function: FunctionType) -> Signature:
        try:
            annotations = inspect.get_annotations(function, eval_str=True)
        except Exception as error:
            raise CompileError(f"kernel '{self.name}': an annotation cannot be resolved: {error}") from error
        arguments: list[Argument] = []
        for name in inspect.signature(function).parameters:
            kind = argument_type(bind(annotations.get(name), self.bindings))
            if kind is None:
                raise CompileError(f"kernel '{self.name}': argument '{name}' needs a kernel type as its annotation; write '{name}: f32'")
            arguments.append(Argument(name, kind))
        result = bind(annotations.get("return"), self.bindings)
        result = BOOL if result is bool else result
        return Signature(function.__name__, tuple(arguments), result if isinstance(result, ScalarType) else None)

    @cached_property
    def launch_arguments(self) -> tuple[Argument, ...]:
        """The arguments of a launch, in order. Raises CompileError as `interface`."""
        return self.operation.launch(self.interface)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Compute on the host what one work-item of the kernel computes, rounding and wrapping as a device does."""
        from gompute import in_process

        return in_process.call_on_host(self, arguments, keywords)

    def __repr__(self) -> str:
        return f"<{self.kind} kernel '{self.name}' of {self.module}>"


def specs_of(namespace: dict[str, Any]) -> tuple[KernelSpec, ...]:
    """Every kernel that the top level of a root's module made, in the order of their making; of a generic one every instance."""
    return tuple(instance for spec in namespace[REGISTRY] for instance in spec.instances())


def _spelled(kind: object) -> str:
    return str(getattr(kind, "__name__", kind))


def _caller(frame: FrameType) -> FrameType:
    """The frame of the code that declares a kernel: the first outside this package."""
    while frame.f_globals.get("__name__", "").startswith("gompute.lang.") and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _place(caller: FrameType) -> Place:
    """The call that is running there."""
    positions = next(islice(caller.f_code.co_positions(), caller.f_lasti // 2, None))
    line, end_line, column, end_column = (number if number is not None else 0 for number in positions)
    return Place(caller.f_code.co_filename, line or caller.f_lineno, column, end_line or caller.f_lineno, end_column)


def _resolve_in_place(function: FunctionType, caller: FrameType) -> None:
    """Replace annotations that are text (``from __future__ import annotations``) by what they name where the kernel stands: the types of
    a kernel made inside a function may be local to it, and are out of reach later. One that names nothing yet stays text."""
    for name, annotation in function.__annotations__.items():
        if isinstance(annotation, str):
            with suppress(Exception):  # what the annotation's own code raises is reported when the kernel is used: it is evaluated again
                function.__annotations__[name] = eval(annotation, caller.f_globals, caller.f_locals)


def _home(caller: FrameType, otherwise: dict[str, Any]) -> dict[str, Any]:
    """Globals of the module whose top level is running: a factory in another module makes kernels for the module that calls it."""
    frame: FrameType | None = caller
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            return frame.f_globals
        frame = frame.f_back
    return otherwise
