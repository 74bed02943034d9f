"""The typed tree: its nodes, which `gompute.frontend.nodes` describes, and the kernels and modules that are made of them."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from gompute.frontend.nodes import Approximate as Approximate
from gompute.frontend.nodes import ApproximateName as ApproximateName
from gompute.frontend.nodes import Assert as Assert
from gompute.frontend.nodes import Assign as Assign
from gompute.frontend.nodes import At as At
from gompute.frontend.nodes import Atomic as Atomic
from gompute.frontend.nodes import AtomicOp as AtomicOp
from gompute.frontend.nodes import Barrier as Barrier
from gompute.frontend.nodes import Binary as Binary
from gompute.frontend.nodes import BinaryOp as BinaryOp
from gompute.frontend.nodes import Bounded as Bounded
from gompute.frontend.nodes import Break as Break
from gompute.frontend.nodes import Call as Call
from gompute.frontend.nodes import Cast as Cast
from gompute.frontend.nodes import Clear as Clear
from gompute.frontend.nodes import Compare as Compare
from gompute.frontend.nodes import CompareOp as CompareOp
from gompute.frontend.nodes import Conditional as Conditional
from gompute.frontend.nodes import Constant as Constant
from gompute.frontend.nodes import Continue as Continue
from gompute.frontend.nodes import Evaluate as Evaluate
from gompute.frontend.nodes import Expression as Expression
from gompute.frontend.nodes import Extent as Extent
from gompute.frontend.nodes import ForRange as ForRange
from gompute.frontend.nodes import Function as Function
from gompute.frontend.nodes import If as If
from gompute.frontend.nodes import Index as Index
from gompute.frontend.nodes import IndexName as IndexName
from gompute.frontend.nodes import Intrinsic as Intrinsic
from gompute.frontend.nodes import IntrinsicName as IntrinsicName
from gompute.frontend.nodes import Load as Load
from gompute.frontend.nodes import Location as Location
from gompute.frontend.nodes import Logical as Logical
from gompute.frontend.nodes import Move as Move
from gompute.frontend.nodes import ReadLocal as ReadLocal
from gompute.frontend.nodes import ReadParam as ReadParam
from gompute.frontend.nodes import Return as Return
from gompute.frontend.nodes import Scan as Scan
from gompute.frontend.nodes import Scope as Scope
from gompute.frontend.nodes import Select as Select
from gompute.frontend.nodes import Sequence as Sequence
from gompute.frontend.nodes import Site as Site
from gompute.frontend.nodes import Slot as Slot
from gompute.frontend.nodes import Statement as Statement
from gompute.frontend.nodes import Store as Store
from gompute.frontend.nodes import Unary as Unary
from gompute.frontend.nodes import UnaryOp as UnaryOp
from gompute.frontend.nodes import Use as Use
from gompute.frontend.nodes import Warp as Warp
from gompute.frontend.nodes import WarpName as WarpName
from gompute.frontend.nodes import While as While
from gompute.lang.types import ParamsType, ScalarType


class Array(NamedTuple):
    """A pointer argument of a generated kernel."""

    name: str
    element: ScalarType


class ElementwiseKernel(NamedTuple):
    """``out[i] = function(in[i], ..., params)`` for every i < len, with the launch arguments (arrays, len, params).

    Attributes:
        arrays: those that are read, then the one that is written; with `in_place` there is one, which is both. The one that is written may
            be one of the others.
        indexed: the function takes i, a u64, after its elements.
    """

    name: str
    arrays: tuple[Array, ...]
    in_place: bool
    indexed: bool
    function: Function
    block_size: tuple[int, int, int]

    @property
    def inputs(self) -> tuple[Array, ...]:
        return self.arrays if self.in_place else self.arrays[:-1]

    @property
    def output(self) -> Array:
        return self.arrays[-1]

    @property
    def counts(self) -> tuple[str, ...]:
        """The scalar arguments, all u64; the first is the number of work-items that have work."""
        return ("len",)

    @property
    def params(self) -> ParamsType | None:
        last = self.function.parameters[-1].type
        return last if isinstance(last, ParamsType) else None

    @property
    def checked(self) -> bool:
        """Whether a check may fail in it."""
        return "check" in self.function.uses


class IndirectKernel(NamedTuple):
    """``out[i] = src[idx[i]]``, ``out[idx[i]] = src[i]`` or ``out[idx[i]] += src[i]`` for every i < count with 0 <= idx[i] < bound. The
    launch arguments are (src, idx, out, count, bound); no two of the arrays overlap. `add` is the sum of two elements, for a `scatter_add`
    of less than 32 bits; None for every other."""

    name: str
    element: ScalarType
    index_type: ScalarType
    move: Move
    add: Function | None
    block_size: tuple[int, int, int]

    @property
    def arrays(self) -> tuple[Array, ...]:
        return (Array("src", self.element), Array("idx", self.index_type), Array("out", self.element))

    @property
    def counts(self) -> tuple[str, ...]:
        """The scalar arguments, all u64; the first is the number of work-items that have work."""
        return ("count", "bound")

    @property
    def params(self) -> None:
        return None

    @property
    def checked(self) -> bool:
        """Whether a check may fail in it."""
        return False


class TiledKernel(NamedTuple):
    """A reduction, or with `scan` a scan, as `gompute.lang.tiled` describes it: ``combine`` of what ``pre`` gives for each element, or of
    the elements. `element` is the type of the array's elements; `combine` takes and gives values of the type of `identity`."""

    name: str
    element: ScalarType
    pre: Function | None
    combine: Function
    identity: Constant
    scan: Scan | None
    block_size: tuple[int, int, int]

    @property
    def result(self) -> ScalarType:
        return self.identity.type

    @property
    def arrays(self) -> tuple[Array, ...]:
        return (Array("data" if self.scan is None else "in", self.element), Array("partials", self.result), Array("out", self.result))

    @property
    def counts(self) -> tuple[str, ...]:
        """The scalar arguments, all u64."""
        return ("len", "stage")

    @property
    def params(self) -> ParamsType | None:
        last = None if self.pre is None else self.pre.parameters[-1].type
        return last if isinstance(last, ParamsType) else None

    @property
    def checked(self) -> bool:
        """Whether a check may fail in it."""
        return any("check" in function.uses for function in (self.pre, self.combine) if function is not None)


class RawKernel(NamedTuple):
    """A function whose parameters are the kernel's arguments: pointers, views, scalars and params, in order. `block_size` is the largest
    block."""

    name: str
    function: Function
    block_size: tuple[int, int, int]

    @property
    def checked(self) -> bool:
        """Whether a check may fail in it."""
        return "check" in self.function.uses


GeneratedKernel: TypeAlias = ElementwiseKernel | IndirectKernel
Kernel: TypeAlias = GeneratedKernel | TiledKernel | RawKernel


class Module(NamedTuple):
    """All that one root compiles to for one target: its kernels, sorted by name, and every function that they reach, callees first."""

    root: str
    kernels: tuple[Kernel, ...]
    functions: tuple[Function, ...]
