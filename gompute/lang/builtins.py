"""Functions and constants that exist inside kernels.

The compiler knows them by identity. On the host those that concern plain numbers compute them; those that need a running kernel refuse.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from gompute.errors import CompileError, Unsupported
from gompute.lang import numeric, promotion
from gompute.lang.types import BOOL, ScalarType, TableType

if TYPE_CHECKING:
    from gompute.lang.names import array

__all__ = [
    "Table",
    "TargetConstants",
    "bitcast",
    "block_dim",
    "block_id",
    "cast",
    "global_id",
    "grid_dim",
    "local",
    "local_id",
    "only_in_a_kernel",
    "select",
    "static",
    "table",
    "target",
]

T = TypeVar("T")


def only_in_a_kernel(name: str) -> NoReturn:
    """Refuse a call on the host."""
    raise Unsupported(f"{name} has a value only inside a running kernel; call it from a function under @g.kernel")


def global_id(dim: int) -> int:
    """Index of this work-item in the whole grid along `dim` (0, 1 or 2; a constant), as u64: ``block_id * block_dim + local_id``."""
    only_in_a_kernel("global_id")


def local_id(dim: int) -> int:
    """Index of this work-item in its block along `dim`, as u64."""
    only_in_a_kernel("local_id")


def block_id(dim: int) -> int:
    """Index of this work-item's block in the grid along `dim`, as u64."""
    only_in_a_kernel("block_id")


def block_dim(dim: int) -> int:
    """Work-items per block along `dim`, as launched, as u64."""
    only_in_a_kernel("block_dim")


def grid_dim(dim: int) -> int:
    """Blocks in the grid along `dim`, as launched, as u64."""
    only_in_a_kernel("grid_dim")


def cast(value: float, kind: type[T]) -> T:
    """`value` converted to a scalar type: integers wrap, floats round once, a float to an integer saturates and NaN gives 0."""
    wanted: Any = BOOL if kind is bool else kind
    if not isinstance(wanted, ScalarType):
        raise CompileError(f"cast(x, {kind!r}): the second argument is a scalar type; write cast(x, i32)")
    converted: Any = wanted(value)
    return converted  # type: ignore[no-any-return]


def select(condition: bool, then: T, otherwise: T) -> T:
    """`then` where `condition` holds, else `otherwise`. Both are evaluated, so an element that either reads has to be there; in return it
    is no branch, and a loop over it vectorises however dear the sides are."""
    return then if condition else otherwise


def bitcast(value: float, kind: type[T]) -> T:
    """The bits of a typed value read as another scalar type of the same width. On the host `value` is made by a type: ``f32(1.0)``."""
    source = getattr(value, "dtype", None)
    if not isinstance(kind, ScalarType) or not isinstance(source, ScalarType) or source.bits != kind.bits:
        raise CompileError(f"bitcast({value!r}, {kind!r}): needs a typed value and a type of the same width; write bitcast(f32(1.0), u32)")
    return kind(numeric.intrinsic("bitcast", (value,), kind, source))


def static(condition: bool) -> bool:
    """A condition known when the kernel is compiled; the branch not taken is not even checked."""
    return bool(condition)


class TargetConstants:
    """``g.target``: what a kernel may know of the target that it is compiled for.

    ``backend`` ("cuda", "hip" or "cpu"), ``arch`` ("sm_89", "gfx1100", ...), ``warp_size`` (1 on the CPU) and ``optimize`` ("fast", "safe"
    or "debug").
    """

    names = ("backend", "arch", "warp_size", "optimize")

    def __getattr__(self, name: str) -> Any:
        if name in self.names:
            raise Unsupported(f"target.{name} is known only while a kernel is compiled; read it inside a kernel")
        raise AttributeError(name)


target = TargetConstants()


def local(element: type[T], shape: int | tuple[int, ...]) -> array[T, Any]:
    """An array private to the work-item, of a length or a shape in constants: ``acc = g.local(f32, 8)``. Its elements are 0 each time the
    line runs."""
    only_in_a_kernel("local")


class Table(Sequence[Any]):
    """A constant table with a scalar type; kernels index it, the host reads it like a tuple."""

    def __init__(self, kind: TableType) -> None:
        self.type = kind

    def __getitem__(self, index: Any) -> Any:
        return self.type.values[index]

    def __len__(self) -> int:
        return len(self.type.values)

    def __repr__(self) -> str:
        return f"table({self.type.element}, {list(self.type.values)!r})"


def table(element: type[T], values: Iterable[float]) -> Sequence[T]:
    """Freeze numbers into a table that kernels can index: ``WEIGHTS = g.table(f32, [0.25, 0.5, 0.25])``.

    Floats round once; CompileError for a number that does not fit `element`, as for a literal in a kernel.
    """
    kind: Any = BOOL if element is bool else element
    if not isinstance(kind, ScalarType):
        raise CompileError(f"table({element!r}, ...): the first argument is a scalar type; write table(f32, values)")
    converted = tuple(_entry(value, position, kind) for position, value in enumerate(values))
    if not converted:
        raise CompileError("a table needs at least one value")
    return Table(TableType(kind, converted))


def _entry(value: float, position: int, element: ScalarType) -> float:
    try:
        return promotion.literal(value, element)
    except promotion.PromotionRefused as refused:
        raise CompileError(f"table({element}, ...): value {position}: {refused.reason}; {' or '.join(refused.fixes)}") from None
