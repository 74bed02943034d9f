"""The operations of the kernel language. Of each: how its function is written, which arguments a launch takes, and what a launch does to
each array.

Authors, compiler and host code all read these descriptions; only the code of one element (the compiler's) is not here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import ascii_lowercase
from typing import Any, TypeAlias

from gompute.lang.signature import (
    READ,
    UPDATED,
    WRITTEN,
    Argument,
    Fault,
    Given,
    KernelInterface,
    Signature,
    Use,
    elements_of,
    example,
    params_argument,
    params_of,
    scalars,
    types_of,
)
from gompute.lang.tiled import TILED, Tiled
from gompute.lang.types import U64, PointerType

__all__ = ["OPERATIONS", "Elementwise", "Fused", "Indirect", "Operation", "Raw"]


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

    by_call = False
    counts = ("len",)

    def fault(self, functions: Sequence[Signature], given: Given) -> Fault | None:
        """What is wrong with the function."""
        (function,) = functions
        elements = elements_of(function, self.indexed)
        least, most = self.inputs
        if 1 < most < len(elements):
            return f"a {self.name} takes at most {most} arrays; this one takes {len(elements)}", "split it into two kernels"
        if not least <= len(elements) <= most:
            words, sample = self.takes
            what = f"the function of a {self.name} takes {words} and, if needed, params; this one takes ({types_of(function)})"
            return what, example(function.name, sample, self.returns)
        returned = "nothing" if function.result is None else str(function.result)
        if self.in_place and function.result != elements[0]:
            what = f"the function of a {self.name} returns its element's type {elements[0]}; this one returns {returned}"
            return what, f"write -> {elements[0]}"
        if function.result is None:
            return f"the function of a {self.name} returns the output's element; this one returns {returned}", "write -> f32"
        return None

    def interface(self, functions: Sequence[Signature], given: Given) -> KernelInterface:
        """Of a function without a fault."""
        (function,) = functions
        return KernelInterface(function.arguments, None if self.in_place else function.result, params_of(function.arguments))

    def launch(self, interface: KernelInterface) -> tuple[Argument, ...]:
        """``(data, len, params)``, ``(in, out, len, params)`` or ``(a, b, ..., out, len, params)``."""
        elements = scalars(interface.arguments)[: -1 if self.indexed else None]
        if self.in_place:
            arrays = [Argument("data", PointerType(elements[0]))]
        else:
            names = ["in"] if self.inputs == (1, 1) else ascii_lowercase
            arrays = [Argument(name, PointerType(element)) for name, element in zip(names, elements, strict=False)]
            assert interface.output is not None
            arrays.append(Argument("out", PointerType(interface.output)))
        return (*arrays, Argument("len", U64), *params_argument(interface))

    def uses(self, arrays: Sequence[str]) -> tuple[Use, ...]:
        """Of the arrays of these names; none where it has no such arrays."""
        if self.in_place:
            return (UPDATED,) if list(arrays) == ["data"] else ()
        return (*(READ for _ in arrays[1:]), WRITTEN) if len(arrays) > self.inputs[0] and arrays[-1] == "out" else ()


@dataclass(frozen=True, slots=True)
class Fused:
    """Functions applied one after the other to each element, in place."""

    name: str = "fused"

    by_call = True
    counts = ("len",)

    def joints(self, functions: Sequence[tuple[Any, Any]], given: Given) -> list[tuple[Any, Any]]:
        """Which annotations are of one type, of the first argument and the result of each part: what a part gives, the next one takes, and
        the first one what the last gives."""
        return [(before[1], after[0]) for before, after in zip(functions, (*functions[1:], *functions[:1]), strict=True)]

    def fault(self, functions: Sequence[Signature], given: Given) -> Fault | None:
        """What is wrong with the parts, or with what one gives to the next."""
        if not functions:
            return "a fused kernel without parts has no effect", 'write g.fused("both", scale, square)'
        for part in functions:
            if len(elements_of(part, indexed=False)) != 1 or part.result is None:
                returned = "nothing" if part.result is None else str(part.result)
                what = f"a part takes an element and, if needed, params, and returns an element; '{part.name}' takes ({types_of(part)})"
                return f"{what} and returns {returned}", example(part.name, "x: f32", "f32")
        for before, after in pairwise(functions):
            element = scalars(after.arguments)[0]
            if before.result != element:
                what = f"'{before.name}' gives {before.result}, and '{after.name}' after it takes {element}"
                return what, f"put a part between them that returns {element}(x)"
        first, last = functions[0], functions[-1]
        element = scalars(first.arguments)[0]
        if last.result != element:
            what = f"a fused kernel works in place: it starts with {element}, and its last part '{last.name}' gives {last.result}"
            return what, f"add a part that returns {element}(x)"
        taking = [part for part in functions if params_of(part.arguments) is not None]
        for part in taking[1:]:
            mine, others = params_of(part.arguments), params_of(taking[0].arguments)
            if mine != others:
                what = f"the parts of a fused kernel share one params type; '{taking[0].name}' takes {others}, and '{part.name}' {mine}"
                return what, "give them one @g.params class with the fields of both"
        return None

    def interface(self, functions: Sequence[Signature], given: Given) -> KernelInterface:
        """Of parts without a fault."""
        params = next((found for part in functions if (found := params_of(part.arguments)) is not None), None)
        element = Argument("x", scalars(functions[0].arguments)[0])
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
    of the array named `bounded`; nothing is done for the others. With `adds` it is ``out[idx[i]] += src[i]``, whole for each i."""

    name: str
    bounded: str
    adds: bool = False

    by_call = True
    counts = ("count", "bound")

    def fault(self, functions: Sequence[Signature], given: Given) -> Fault | None:
        """Nothing: there is no function, and the types were checked when it was declared."""
        return None

    def interface(self, functions: Sequence[Signature], given: Given) -> KernelInterface:
        """Of the types of an element and an index."""
        element, index = given.types
        return KernelInterface((Argument("src", element), Argument("idx", index)), None, None)

    def launch(self, interface: KernelInterface) -> tuple[Argument, ...]:
        """``(src, idx, out, count, bound)``."""
        element, index = scalars(interface.arguments)
        arrays = {"src": element, "idx": index, "out": element}
        return (*(Argument(name, PointerType(kind)) for name, kind in arrays.items()), Argument("count", U64), Argument("bound", U64))

    def uses(self, arrays: Sequence[str]) -> tuple[Use, ...]:
        """Of src, idx and out, where what is skipped in out stays; none of other arrays."""
        if list(arrays) != ["src", "idx", "out"]:
            return ()
        return Use(True, False, self.bounded == "src"), READ, Use(True, True, self.bounded == "out")


@dataclass(frozen=True, slots=True)
class Raw:
    """A kernel whose arguments are its author's: what it does with them only its author knows."""

    name: str = "kernel"

    by_call = False

    def fault(self, functions: Sequence[Signature], given: Given) -> Fault | None:
        """What is wrong with the function."""
        (function,) = functions
        if function.result is not None:
            return "a raw kernel returns nothing", "write results to a ptr argument, and remove the result type"
        if not function.arguments:
            return "a raw kernel without arguments has no effect", "give it a ptr argument to write to"
        return None

    def interface(self, functions: Sequence[Signature], given: Given) -> KernelInterface:
        """Of a function without a fault."""
        (function,) = functions
        return KernelInterface(function.arguments, None, None)

    def launch(self, interface: KernelInterface) -> tuple[Argument, ...]:
        """The function's own."""
        return interface.arguments


Operation: TypeAlias = Elementwise | Fused | Indirect | Tiled | Raw

MAP = Elementwise("map", ("an element", "x: f32"), in_place=True)
_ALL: tuple[Operation, ...] = (
    MAP,
    Elementwise("map_to", ("an element", "x: f32"), returns="f64"),
    Elementwise("zip", ("two or more elements", "x: f32, y: f32"), inputs=(2, len(ascii_lowercase))),
    Elementwise("map_indexed", ("an element, its index (u64)", "x: f32, i: u64"), in_place=True, indexed=True),
    Indirect("gather", bounded="src"),
    Indirect("scatter", bounded="out"),
    Indirect("scatter_add", bounded="out", adds=True),
    Fused(),
    *TILED,
    Raw(),
)
OPERATIONS = {operation.name: operation for operation in _ALL}
