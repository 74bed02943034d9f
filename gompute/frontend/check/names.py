"""From a name or attribute that is no local variable to the object behind it."""

from __future__ import annotations

import ast
import builtins
import difflib
import enum
from contextlib import suppress
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, TypeVar

from gompute.frontend.check.context import Context
from gompute.frontend.check.operands import Static, number_of, numpy_scalar_type
from gompute.frontend.faults import KernelFault
from gompute.lang import math_function
from gompute.lang.block import WarpSize
from gompute.lang.builtins import Table, TargetConstants
from gompute.lang.spec import KernelSpec
from gompute.lang.types import ScalarType, TableType

__all__ = ["attribute", "closure_values", "free_name", "instead_of", "nearest"]


def nearest(name: str, known: list[str]) -> str:
    """`` (did you mean 'x'?)`` for a name close to one of `known`, else nothing."""
    close = difflib.get_close_matches(name, known, 1)
    return f" (did you mean '{close[0]}'?)" if close else ""


def closure_values(function: FunctionType) -> dict[str, Any]:
    """What a function holds of the functions around it, by name; a variable that has no value yet is left out."""
    values: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # the cell is empty
            values[name] = cell.cell_contents
    return values


def free_name(context: Context, node: ast.Name) -> Static:
    """The object that a name outside the function's locals stands for: a closure's value, a global, or a builtin."""
    function, name = context.function, node.id
    closure = closure_values(function)
    thing = closure.get(name, function.__globals__.get(name))
    if isinstance(thing, TypeVar):
        if thing in context.bindings:
            return Static(context.bindings[thing])
        raise KernelFault(
            node, f"the type parameter '{name}' is in no argument of '{function.__name__}'", f"use it in an argument too: x: {name}"
        )
    if name in closure:
        return _known(context, closure[name], name, node)
    if name in function.__code__.co_freevars:
        raise KernelFault(node, f"'{name}' has no value yet in the enclosing function", "assign it before the kernel is made")
    if name in function.__globals__:
        return _known(context, function.__globals__[name], name, node)
    if hasattr(builtins, name):
        return Static(getattr(builtins, name))
    known = [*context.local_names, *context.places, *closure, *(n for n in function.__globals__ if not n.startswith("__"))]
    raise KernelFault(node, f"the name '{name}' is not known here{nearest(name, known)}", "define it at module level, or assign it first")


def _known(context: Context, thing: Any, name: str, node: ast.AST) -> Static:
    """An object by its name in the module or the closure; a constant of the target is its number."""
    if isinstance(thing, WarpSize):
        return Static(context.target.warp_size)
    return Static(checked(thing, name, node))


def checked(thing: Any, name: str, node: ast.AST) -> Any:
    """`thing`, where a kernel may read it: something that cannot change after the kernel was compiled."""
    if thing is None or isinstance(thing, (str, type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, KernelSpec, ScalarType)):
        return thing
    if number_of(thing) is not None or isinstance(thing, (Table, TargetConstants)):
        return thing
    if isinstance(thing, tuple):
        for element in thing:
            checked(element, name, node)
        return thing
    if hasattr(thing, "__array_interface__"):
        return _frozen_array(thing, name, node)
    if isinstance(thing, (list, dict, set, bytearray)):
        raise KernelFault(
            node,
            f"'{name}' is a mutable {type(thing).__name__}: a compiled kernel would not see it change",
            f"write a tuple, or {name} = g.table(f32, [...])",
        )
    if callable(thing) and getattr(thing, "__module__", "").split(".")[0] == "gompute":
        return thing
    if isinstance(thing, bytes):
        raise KernelFault(node, f"'{name}' is bytes, which a kernel cannot read", f"write {name} = g.table(u8, b'...')")
    if type(thing).__name__ == "ufunc":
        raise KernelFault(node, f"numpy.{thing.__name__} cannot be compiled for a device", instead_of(thing.__name__))
    raise KernelFault(
        node, f"'{name}' is a {type(thing).__name__}, which a kernel cannot read", "use numbers, tuples, g.table, enums or functions"
    )


_WRITTEN_OUT = {
    "isnan": "x != x",
    "isinf": "abs(x) == math.inf",
    "isfinite": "abs(x) < math.inf",
    **dict.fromkeys(("fabs", "absolute"), "abs(x)"),
    "minimum": "min(x, y)",
    "maximum": "max(x, y)",
    "power": "x ** y",
}


def instead_of(name: str) -> str:
    """What to write for a function of `math` or NumPy."""
    if name in _WRITTEN_OUT:
        return f"write {_WRITTEN_OUT[name]}"
    return f"write g.math.{name}" if name in math_function.NAMES else "write it with arithmetic, or as a function of your own"


def _frozen_array(array: Any, name: str, node: ast.AST) -> Table:
    """A read-only NumPy array of one dimension as a constant table."""
    element = numpy_scalar_type(array.dtype)
    if array.flags.writeable:
        raise KernelFault(
            node, f"the array '{name}' is writable: a compiled kernel would not see it change", f"write {name}.setflags(write=False)"
        )
    if element is None or array.ndim != 1 or array.size == 0:
        raise KernelFault(
            node,
            f"the array '{name}' ({array.ndim}-D, {array.dtype}) is no constant table",
            "use one dimension of a scalar type, with an element",
        )
    return Table(TableType(element, tuple(array.tolist())))


def attribute(context: Context, base: Any, node: ast.Attribute) -> Static:
    """``base.name`` of an object known at compile time."""
    name = node.attr
    if isinstance(base, TargetConstants):
        target = context.target
        constants = {"backend": target.backend, "arch": target.arch, "warp_size": target.warp_size, "optimize": context.mode.optimize}
        if name in constants:
            return Static(constants[name])
        raise KernelFault(node, f"g.target has no '{name}'{nearest(name, list(constants))}", f"it has {', '.join(constants)}")
    if isinstance(base, ModuleType):
        try:
            return _known(context, getattr(base, name), name, node)
        except (AttributeError, ImportError):
            raise KernelFault(node, f"the module {base.__name__} has no '{name}'{nearest(name, dir(base))}", "check the name") from None
    if isinstance(base, type) and issubclass(base, enum.Enum):
        if name in base.__members__:
            return Static(base[name])
        raise KernelFault(node, f"{base.__name__} has no member '{name}'{nearest(name, list(base.__members__))}", "check the name")
    if isinstance(base, enum.Enum) and name == "value":
        return Static(base.value)
    if isinstance(base, tuple) and name in getattr(base, "_fields", ()):
        return Static(checked(getattr(base, name), name, node))
    if isinstance(base, type) and name in vars(base):
        return Static(checked(vars(base)[name], name, node))
    raise KernelFault(
        node,
        f"'.{name}' of a {type(base).__name__} is not supported in a kernel",
        "only modules, enums, params and g.target have attributes",
    )
