"""The nodes of the typed tree: what a checked kernel means, with every conversion written out.

The checker makes it from Python's syntax tree, the emitter turns it into LLVM IR, and the evaluator runs it on the host. All three agree
on one rule: no node converts anything by itself. Where Python's source mixes types, the tree holds an explicit `Cast`; weak literals have
become constants of the type they meet.

Nodes are named tuples: there are many kinds, and a dataclass of each would take longer to define than most kernels take to compile.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from gompute.frontend.vocabulary import ApproximateName as ApproximateName
from gompute.frontend.vocabulary import AtomicOp as AtomicOp
from gompute.frontend.vocabulary import BinaryOp as BinaryOp
from gompute.frontend.vocabulary import CompareOp as CompareOp
from gompute.frontend.vocabulary import IndexName as IndexName
from gompute.frontend.vocabulary import IntrinsicName as IntrinsicName
from gompute.frontend.vocabulary import Location as Location
from gompute.frontend.vocabulary import Move as Move
from gompute.frontend.vocabulary import Scan as Scan
from gompute.frontend.vocabulary import Scope as Scope
from gompute.frontend.vocabulary import Site as Site
from gompute.frontend.vocabulary import Slot as Slot
from gompute.frontend.vocabulary import UnaryOp as UnaryOp
from gompute.frontend.vocabulary import Use as Use
from gompute.frontend.vocabulary import WarpName as WarpName
from gompute.lang.types import ScalarType, TableType

# ---- expressions ----


class Constant(NamedTuple):
    """A value exactly representable in `type`: int, float or bool."""

    type: ScalarType
    value: float | bool


class ReadLocal(NamedTuple):
    """The value of a scalar variable or parameter."""

    type: ScalarType
    slot: Slot


class ReadParam(NamedTuple):
    """A scalar inside a params struct: `offset` bytes from its start, plus `at` times the element's size for a fixed array (`at` is of
    type u64 or i64, `length` that of the array)."""

    type: ScalarType
    slot: Slot
    offset: int
    at: Expression | None = None
    length: int | None = None


class Unary(NamedTuple):
    """`neg` and `invert` keep the type (integers wrap); `not` takes and gives bool."""

    type: ScalarType
    op: UnaryOp
    operand: Expression


class Binary(NamedTuple):
    """Both operands are of `type`. `truediv` is for floats; `and`, `or`, `xor` for integers and bool; `shl`, `shr` for integers. With a
    `site` a divisor of 0, or a shift that is negative or by the width or more, fails."""

    type: ScalarType
    op: BinaryOp
    left: Expression
    right: Expression
    site: Site | None = None


class Compare(NamedTuple):
    """Both operands are of one type; the result is bool. Float comparisons are ordered but for `ne`."""

    op: CompareOp
    left: Expression
    right: Expression
    type: ScalarType


class Logical(NamedTuple):
    """Short-circuit `and` / `or` of two bools; `type` is bool."""

    op: Literal["and", "or"]
    left: Expression
    right: Expression
    type: ScalarType


class Conditional(NamedTuple):
    """`then if condition else otherwise`; only the chosen side is evaluated."""

    type: ScalarType
    condition: Expression
    then: Expression
    otherwise: Expression


class Select(NamedTuple):
    """`then` where `condition` holds, else `otherwise`; both are evaluated, `then` first."""

    type: ScalarType
    condition: Expression
    then: Expression
    otherwise: Expression


class Cast(NamedTuple):
    """Conversion by value: wraps between integers, rounds once to floats, saturates from floats (NaN to 0), != 0 to bool."""

    type: ScalarType
    operand: Expression


class Intrinsic(NamedTuple):
    """`min`, `max` (two operands of `type`; NaN propagates, -0 < +0), `abs`, `round` (float, to nearest even), `bitcast` (same width), and
    of floats `sqrt`, `floor`, `ceil`, `trunc`, `copysign`, `fmod` and `fma`, each rounded once."""

    type: ScalarType
    name: IntrinsicName
    operands: tuple[Expression, ...]


class Approximate(NamedTuple):
    """A function as the GPU's own instruction gives it, in f32; see `gompute.lang.approximation`."""

    type: ScalarType
    name: ApproximateName
    operand: Expression


class Index(NamedTuple):
    """A coordinate of the running work-item; `dim` is 0, 1 or 2 (0 of `lane_id`); `type` is u64."""

    type: ScalarType
    name: IndexName
    dim: int


class Extent(NamedTuple):
    """The length of dimension `axis` of a view; `type` is u64."""

    type: ScalarType
    slot: Slot
    axis: int


class Load(NamedTuple):
    """An element of a pointer, a view, a local or shared array, or a constant table; `at`, of type u64 or i64, counts in C order."""

    type: ScalarType
    base: Slot | TableType
    at: Expression


class Bounded(NamedTuple):
    """`at`, an index of type u64 or i64, which fails where it is negative or not below `bound`, a u64."""

    type: ScalarType
    at: Expression
    bound: Constant | Extent
    site: Site


class Atomic(NamedTuple):
    """Update an element with nothing in between; gives what it held before. `type` is one of i32, u32, i64, u64, f32 and f64, floats have
    no `and`, `or` and `xor`. The operands, of `type`, are the value; of `cas` the expected value, then the new one. `base` is a pointer, a
    view or a shared array, of which the scope is `block`."""

    type: ScalarType
    op: AtomicOp
    base: Slot
    at: Expression
    operands: tuple[Expression, ...]
    scope: Scope


class Warp(NamedTuple):
    """An exchange within the warp. Operands: of a shuffle the value, of `type`, and the lane or distance, a u32 taken modulo the warp size;
    of the others a bool. `ballot` gives a u64, `any` and `all` give a bool. `mask` is a u64 with a bit for each lane that takes part, None
    for all that have not returned."""

    type: ScalarType
    name: WarpName
    operands: tuple[Expression, ...]
    mask: Expression | None


class Call(NamedTuple):
    """A call of a device function. A scalar argument is an expression; a pointer, view, array or params argument is the slot passed on,
    to a parameter of its type, a view also to a pointer.
    `type` is None when the function returns nothing (then it is used as a statement only)."""

    type: ScalarType | None
    function: Function
    arguments: tuple[Expression | Slot, ...]


class Sequence(NamedTuple):
    """Assign `value` to `slot`, which is read in `result` alone, then give `result`; how a chained comparison evaluates its middle operand
    once."""

    type: ScalarType
    slot: Slot
    value: Expression
    result: Expression


_Leaf: TypeAlias = Constant | ReadLocal | ReadParam | Index | Extent | Load | Bounded
_Operation: TypeAlias = Unary | Binary | Compare | Logical | Conditional | Select | Cast | Intrinsic | Approximate | Atomic | Warp
Expression: TypeAlias = _Leaf | _Operation | Call | Sequence

# ---- statements ----


class Assign(NamedTuple):
    slot: Slot
    value: Expression


class Store(NamedTuple):
    """`base[at] = value`; `at`, of type u64 or i64, counts in C order."""

    base: Slot
    at: Expression
    value: Expression


class If(NamedTuple):
    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


class While(NamedTuple):
    condition: Expression
    body: tuple[Statement, ...]


class ForRange(NamedTuple):
    """`for slot in range(start, stop, step)`, all of the slot's type and evaluated once, before the loop. A step of 0 runs no iteration
    (Python raises; the checker refuses a constant 0). The counter never wraps past `stop`: range(250, 255, 10) of u8 runs once.
    As in Python the slot keeps its last value after the loop, and an assignment to it in the body does not change the next iteration."""

    slot: Slot
    start: Expression
    stop: Expression
    step: Expression
    body: tuple[Statement, ...]


class Break(NamedTuple):
    """Leave the innermost loop."""


class Continue(NamedTuple):
    """Go on with the innermost loop's next iteration."""


class Return(NamedTuple):
    value: Expression | None


class Assert(NamedTuple):
    """Checked builds stop when `condition` is false; others neither evaluate it nor the message. The host does too."""

    condition: Expression
    message: str
    location: Location


class Evaluate(NamedTuple):
    """A call, or an operation that does what a call may do, made for its effect."""

    call: Call | Atomic | Warp


class Clear(NamedTuple):
    """Set every element of a local array to 0."""

    slot: Slot


class Barrier(NamedTuple):
    """Wait for the block."""


class At(NamedTuple):
    """What follows is of this line of the function's file."""

    line: int


Statement: TypeAlias = Assign | Store | If | While | ForRange | Break | Continue | Return | Assert | Evaluate | Clear | Barrier | At


# ---- functions and kernels ----


class Function:
    """A device function. `body` is filled after the header, so that a call can name a function whose body is still being checked.

    Attributes:
        symbol: unique in the module and safe in every assembler (letters, digits, underscore).
        result: None when nothing is returned. Every path of a function with a result ends in `Return`.
        locals: all slots but the parameters and shared arrays. A scalar has no value before it is assigned, on every path (the checker
            refuses to read it there), local arrays are cleared by `Clear`.
        uses: what the body, or a function that it calls, needs of the launch.
        shared: the shared arrays of the body, and of every function that it calls, each once.
        inline: its code goes wherever it is called, so that loops over it vectorise.
    """

    __slots__ = ("body", "inline", "locals", "location", "parameters", "result", "shared", "symbol", "uses")

    def __init__(
        self,
        symbol: str,
        parameters: tuple[Slot, ...],
        result: ScalarType | None,
        location: Location,
        locals: list[Slot] | None = None,
        body: tuple[Statement, ...] = (),
        uses: frozenset[Use] = frozenset(),
        shared: tuple[Slot, ...] = (),
        inline: bool = False,
    ) -> None:
        self.symbol = symbol
        self.parameters = parameters
        self.result = result
        self.location = location
        self.locals: list[Slot] = [] if locals is None else locals
        self.body = body
        self.uses = uses
        self.shared = shared
        self.inline = inline

    @property
    def needs_context(self) -> bool:
        """Whether it must be told of the launch where the hardware does not keep that."""
        return not self.uses.isdisjoint(("index", "shared")) or self.uses.issuperset(("barrier", "check"))

    @property
    def together(self) -> bool:
        """Whether work-items meet in it, so that it must not be moved into or out of a branch."""
        return not self.uses.isdisjoint(("barrier", "warp"))
