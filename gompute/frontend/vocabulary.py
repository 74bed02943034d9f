"""The words of the typed tree: places in the source, variables, and the names of operations. `gompute.frontend.typed` has all of them."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from gompute.artifacts.checks import CheckKind
from gompute.lang.types import LocalArrayType, ParamsType, PointerType, ScalarType, SharedArrayType, ViewType

BinaryOp: TypeAlias = Literal["add", "sub", "mul", "truediv", "floordiv", "mod", "and", "or", "xor", "shl", "shr"]
UnaryOp: TypeAlias = Literal["neg", "invert", "not"]
CompareOp: TypeAlias = Literal["eq", "ne", "lt", "le", "gt", "ge"]
IntrinsicName: TypeAlias = Literal["min", "max", "abs", "round", "bitcast", "sqrt", "floor", "ceil", "trunc", "copysign", "fmod", "fma"]
ApproximateName: TypeAlias = Literal["exp2", "log2", "sqrt", "rsqrt", "sin", "cos", "tanh"]
IndexName: TypeAlias = Literal["global_id", "local_id", "block_id", "block_dim", "grid_dim", "lane_id"]
WarpName: TypeAlias = Literal["shuffle", "shuffle_up", "shuffle_down", "shuffle_xor", "ballot", "any", "all"]
AtomicOp: TypeAlias = Literal["add", "min", "max", "and", "or", "xor", "exchange", "cas"]
Move: TypeAlias = Literal["gather", "scatter", "scatter_add"]
Scan: TypeAlias = Literal["inclusive", "exclusive"]
Scope: TypeAlias = Literal["block", "device", "system"]
Use: TypeAlias = Literal["index", "shared", "barrier", "warp", "check"]
"""What a function needs that only a raw kernel has: coordinates, shared arrays, barriers, exchanges within a warp; or, of any kernel, that
someone hears of a failed check."""


class Location(NamedTuple):
    """A place in a source file: path relative to the root's folder, line from 1, column from 1."""

    path: str
    line: int
    column: int


class Site(NamedTuple):
    """A check in the source.

    Attributes:
        what: of an index what is indexed, of a division its operator, of an assert its message.
    """

    kind: CheckKind
    what: str
    line: int


class Slot:
    """A local variable or a parameter of a function. Identity is the object; `name` is for reading."""

    __slots__ = ("name", "type")

    def __init__(self, name: str, type: ScalarType | PointerType | ViewType | ParamsType | LocalArrayType | SharedArrayType) -> None:
        self.name = name
        self.type = type
