"""The operations of the kernel language. Of each: how its function is written, which arguments a launch takes, and what a launch does to
each array.

Authors, compiler and host code all read these descriptions; only the code of one element (the compiler's) is not here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import ascii_lowercase
from typing import TypeAlias

from gompute.lang.types import U64, ParamsType, PointerType, ScalarType, ViewType

__all__ = [
    "OPERATIONS",
    "Argument",
    "Elementwise",
    "Fault",
    "Fused",
    "Indirect",
    "KernelInterface",
    "Operation",
    "Raw",
    "Signature",
    "Use",
]

#: What is wrong, and what to write.
Fault: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Argument:
    """One parameter of a kernel or of its function: its name and type."""

    name: str
    type: PointerType | ViewType | ScalarType | ParamsType


@dataclass(frozen=True, slots=True)
class Signature:
    """A function as its author wrote it; `result` is None where it returns nothing."""

    name: str
    arguments: tuple[Argument, ...]
    result: ScalarType | None


@dataclass(frozen=True, slots=True)
class KernelInterface:
    """What the host must know of a kernel.

    Attributes:
        arguments: those of its function in order; of an operation without one, its arrays as scalars.
        output: the element of an array that is not among them and takes the function's results.
        params: the params type, if any.
    """

    arguments: tuple[Argument, ...]
    output: ScalarType | None
    params: ParamsType | None


@dataclass(frozen=True, slots=True)
class Use:
    """What a launch does to one of its arrays.

    Attributes:
        reads: what the array holds before matters (for an output: elements may be skipped).
        writes: it holds something else afterwards.
        bounded: its elements are reached by index; every other array has one element a work-item.
    """

    reads: bool
    writes: bool
    bounded: bool = False


_READ, _WRITTEN, _UPDATED = Use(True, False), Use(False, True), Use(True, True)


@dataclass(frozen=True, slots=True)
class Elementwise:
    """``written[i] = function(read[i], ..., i, params)`` for every i < len.

    Attributes:
        takes: the function's arguments but params, in words and as an example.
        returns: an example of its result.
        inputs: the least and the most elements it takes.
        in_place: its one input is also its output.
        indexed: it takes i, a u64, after its elements.
    """

    name: str
    takes: tuple[str, str]
    returns: str = "f32"
    inputs: tuple[int, int] = (1, 1)
    in_place: bool = False
    indexed: bool = False

    def fault(self, functions: Sequence[Signature]) -> Fault | None:
        """What is wrong with the function."""
        (function,) = functions
        elements = _elements(function, self.indexed)
        least, most = self.inputs
        if 1 < most < len(elements):
            return f"a {self.name} takes at most {most} arrays; this one takes {len(elements)}", "split it into two kernels"
        if not least <= len(elements) <= most:
            words, example = self.takes
            what = f"the function of a {self.name} takes {words} and, if needed, params; this one takes ({_types(function)})"
            return what, _example(function.name, example, self.returns)
        given = "nothing" if function.result is None else str(function.result)
        if self.in_place and function.result != elements[0]:
            what = f"the function of a {self.name} returns its element's type {elements[0]}; this one returns {given}"
            return what, f"write -> {elements[0]}"
        if function.result is None:
            return f"the function of a {self.name} returns the output's element; this one returns {given}", "write -> f32"
        return None

    def interface(self, functions: Sequence[Signature], types: Sequence[ScalarType]) -> KernelInterface:
        """Of a function without a fault."""
        (function,) = functions
        return KernelInterface(function.arguments, None if self.in_place else function.result, _params_of(function.arguments))

    def launch(self, interface: KernelInterface) -> tuple[Argument, ...]:
        """``(data, len, params)``, ``(in, out, len, params)`` or ``(a, b, ..., out, len, params)``."""
        elements = _scalars(interface.arguments)[: -1 if self.indexed else None]
        if self.in_place:
            arrays = [Argument("data", PointerType(elements[0]))]
        else:
            names = ["in"] if self.inputs == (1, 1) else ascii_lowercase
            arrays = [Argument(name, PointerType(element)) for name, element in zip(names, elements, strict=False)]
            assert interface.output is not None
            arrays.append(Argument("out", PointerType(interface.output)))
        return (*arrays, Argument("len", U64), *_params_argument(interface))

    def uses(self, arrays: Sequence[str]) -> tuple[Use, ...]:
        """Of the arrays of these names; none where it has no such arrays."""
        if self.in_place:
            return (_UPDATED,) if list(arrays) == ["data"] else ()
        return (*(_READ for _ in arrays[1:]), _WRITTEN) if len(arrays) > self.inputs[0] and arrays[-1] == "out" else ()


@dataclass(frozen=True, slots=True)
class Fused:
    """Functions applied one after the other to each element, in place."""

    name: str = "fused"

    def fault(self, functions: Sequence[Signature]) -> Fault | None:
        """What is wrong with the parts, or with what one gives to the next."""
        if not functions:
            return "a fused kernel without parts has no effect", 'write g.fused("both", scale, square)'
        for part in functions:
            if len(_elements(part, indexed=False)) != 1 or part.result is None:
                given = "nothing" if part.result is None else str(part.result)
                what = f"a part takes an element and, if needed, params, and returns an element; '{part.name}' takes ({_types(part)})"
                return f"{what} and returns {given}", _example(part.name, "x: f32", "f32")
        for before, after in pairwise(functions):
            element = _scalars(after.arguments)[0]
            if before.result != element:
                what = f"'{before.name}' gives {before.result}, and '{after.name}' after it takes {element}"
                return what, f"put a part between them that returns {element}(x)"
        first, last = functions[0], functions[-1]
        element = _scalars(first.arguments)[0]
        if last.result != element:
            what = f"a fused kernel works in place: it starts with {element}, and its last part '{last.name}' gives {last.result}"
            return what, f"add a part that returns {element}(x)"
        taking = [part for part in functions if _params_of(part.arguments) is not None]
        for part in taking[1:]:
            mine, others = _params_of(part.arguments), _params_of(taking[0].arguments)
            if mine != others:
                what = f"the parts of a fused kernel share one params type; '{taking[0].name}' takes {others}, and '{part.name}' {mine}"
                return what, "give them one @g.params class with the fields of both"
        return None

    def interface(self, functions: Sequence[Signature], types: Sequence[ScalarType]) -> KernelInterface:
        """Of parts without a fault."""
        params = next((found for part in functions if (found := _params_of(part.arguments)) is not None), None)
        element = Argument("x", _scalars(functions[0].arguments)[0])
        return KernelInterface((element,) if params is None else (element, Argument("p", params)), None, params)

    def launch(self, interface: KernelInterface) -> tuple[Argument, ...]:
        """``(data, len, params)``."""
        return MAP.launch(interface)

    def uses(self, arrays: Sequence[str]) -> tuple[Use, ...]:
        """Of the one array; none where it is not its own."""
        return MAP.uses(arrays)


@dataclass(frozen=True, slots=True)
class Indirect:
    """``out[i] = src[idx[i]]`` or ``out[idx[i]] = src[i]`` for every i < count whose index is at least 0 and less than bound, the length
    of the array named `bounded`; nothing is done for the others."""

    name: str
    bounded: str

    def fault(self, functions: Sequence[Signature]) -> Fault | None:
        """Nothing: there is no function, and the types were checked when it was declared."""
        return None

    def interface(self, functions: Sequence[Signature], types: Sequence[ScalarType]) -> KernelInterface:
        """Of the types of an element and an index."""
        element, index = types
        return KernelInterface((Argument("src", element), Argument("idx", index)), None, None)

    def launch(self, interface: KernelInterface) -> tuple[Argument, ...]:
        """``(src, idx, out, count, bound)``."""
        element, index = _scalars(interface.arguments)
        arrays = {"src": element, "idx": index, "out": element}
        return (*(Argument(name, PointerType(kind)) for name, kind in arrays.items()), Argument("count", U64), Argument("bound", U64))

    def uses(self, arrays: Sequence[str]) -> tuple[Use, ...]:
        """Of src, idx and out, where what is skipped in out stays; none of other arrays."""
        if list(arrays) != ["src", "idx", "out"]:
            return ()
        return Use(True, False, self.bounded == "src"), _READ, Use(True, True, self.bounded == "out")


@dataclass(frozen=True, slots=True)
class Raw:
    """A kernel whose arguments are its author's: what it does with them only its author knows."""

    name: str = "kernel"

    def fault(self, functions: Sequence[Signature]) -> Fault | None:
        """What is wrong with the function."""
        (function,) = functions
        if function.result is not None:
            return "a raw kernel returns nothing", "write results to a ptr argument, and remove the result type"
        if not function.arguments:
            return "a raw kernel without arguments has no effect", "give it a ptr argument to write to"
        params = [argument for argument in function.arguments if isinstance(argument.type, ParamsType)]
        if len(params) > 1:
            what = f"a raw kernel takes one params struct, and '{params[0].name}' and '{params[1].name}' are two"
            return what, "make them fields of one @g.params class"
        return None

    def interface(self, functions: Sequence[Signature], types: Sequence[ScalarType]) -> KernelInterface:
        """Of a function without a fault."""
        (function,) = functions
        return KernelInterface(function.arguments, None, _params_of(function.arguments))

    def launch(self, interface: KernelInterface) -> tuple[Argument, ...]:
        """The function's own."""
        return interface.arguments


Operation: TypeAlias = Elementwise | Fused | Indirect | Raw

MAP = Elementwise("map", ("an element", "x: f32"), in_place=True)
OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        MAP,
        Elementwise("map_to", ("an element", "x: f32"), returns="f64"),
        Elementwise("zip", ("two or more elements", "x: f32, y: f32"), inputs=(2, len(ascii_lowercase))),
        Elementwise("map_indexed", ("an element, its index (u64)", "x: f32, i: u64"), in_place=True, indexed=True),
        Indirect("gather", bounded="src"),
        Indirect("scatter", bounded="out"),
        Fused(),
        Raw(),
    )
}


def _elements(function: Signature, indexed: bool) -> list[ScalarType]:
    """The types of its elements, when its arguments are elements, then the index where there is one, then perhaps params; else none."""
    kinds = [argument.type for argument in function.arguments]
    if kinds and isinstance(kinds[-1], ParamsType):
        kinds.pop()
    if indexed and (not kinds or kinds.pop() != U64):
        return []
    elements = [kind for kind in kinds if isinstance(kind, ScalarType)]
    return elements if len(elements) == len(kinds) else []


def _scalars(arguments: Sequence[Argument]) -> list[ScalarType]:
    return [argument.type for argument in arguments if isinstance(argument.type, ScalarType)]


def _params_of(arguments: Sequence[Argument]) -> ParamsType | None:
    """The last, where there are several."""
    return next((argument.type for argument in reversed(arguments) if isinstance(argument.type, ParamsType)), None)


def _params_argument(interface: KernelInterface) -> tuple[Argument, ...]:
    return () if interface.params is None else (Argument("params", interface.params),)


def _example(name: str, takes: str, returns: str) -> str:
    return f"write def {name}({takes}) -> {returns}, or with a params struct: ({takes}, p: Params) -> {returns}"


def _types(function: Signature) -> str:
    return ", ".join(str(argument.type) for argument in function.arguments)
