"""The state of one function while it is checked, and what the parts of the checker ask of each other."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FunctionType, MappingProxyType

from gompute.artifacts.checks import CheckKind
from gompute.frontend import typed
from gompute.frontend.check.assigned import Assigned
from gompute.frontend.check.convert import Kind
from gompute.frontend.check.operands import ArrayArgument, Operand
from gompute.frontend.faults import KernelFault, raise_together
from gompute.frontend.source import SourceFile
from gompute.lang.generic import Bindings
from gompute.lang.types import ScalarType
from gompute.targets import Mode, Target

__all__ = ["NO_ARRAYS", "Context", "Variable"]

NO_ARRAYS: Mapping[str, ArrayArgument] = MappingProxyType({})


@dataclass(slots=True)
class Variable:
    """A local scalar: the slot of this pass, its kind so far, and whether an annotation fixed it."""

    slot: typed.Slot
    kind: Kind
    declared: bool = False


@dataclass(eq=False)
class Context(ABC):
    """One function being checked.

    Attributes:
        approximate: functions of `gompute.math` are the hardware's own, where it has them.
        bindings: what the function's type parameters stand for.
        assigned: names that hold a value on every path to here.
        locals: slots made in this pass.
        poisoned: names whose only assignments had faults; reading one is no fault of its own.
        uses: what the function needs of a launch.
        shared: its shared arrays and those of the functions that it calls.
        barriers: where it waits for the block, itself or in a function that it calls.
        divergent: names of variables that may differ between the work-items of a block by how they are computed.
    """

    function: FunctionType
    source: SourceFile
    target: Target
    mode: Mode
    header: typed.Function
    bindings: Bindings
    approximate: bool = False
    places: dict[str, Operand] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    local_names: frozenset[str] = frozenset()
    assigned: Assigned = field(default_factory=Assigned)
    poisoned: set[str] = field(default_factory=set)
    locals: list[typed.Slot] = field(default_factory=list)
    uses: set[typed.Use] = field(default_factory=set)
    shared: list[typed.Slot] = field(default_factory=list)
    barriers: list[ast.AST] = field(default_factory=list)
    divergent: set[str] = field(default_factory=set)

    def temporary(self, kind: ScalarType) -> typed.Slot:
        """A slot that no name of the source refers to."""
        slot = typed.Slot(f"t{len(self.locals)}", kind)
        self.locals.append(slot)
        return slot

    @property
    def checked(self) -> bool:
        """Whether the function checks itself as it runs. Gompute's own are right as they are."""
        return self.mode.checks and not self.function.__module__.startswith("gompute.")

    def site(self, kind: CheckKind, what: str, node: ast.AST) -> typed.Site:
        """A check that belongs to `node`."""
        self.uses.add("check")
        return typed.Site(kind, what, getattr(node, "lineno", 1))

    def location(self, node: ast.AST) -> typed.Location:
        return typed.Location(self.source.relative, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)

    def expressions(self, *nodes: ast.expr) -> list[Operand]:
        """Check several operands; the faults of all of them are raised together."""
        operands: list[Operand] = []
        found: list[KernelFault] = []
        for node in nodes:
            try:
                operands.append(self.expression(node))
            except KernelFault as fault:
                found.append(fault)
        raise_together(found)
        return operands

    @abstractmethod
    def expression(self, node: ast.expr) -> Operand:
        """Check an expression. Raises KernelFault."""

    @abstractmethod
    def instance(
        self, function: FunctionType, bindings: Bindings, node: ast.AST, arrays: Mapping[str, ArrayArgument] = NO_ARRAYS
    ) -> typed.Function:
        """The checked form of a device function that `node` calls, with these arrays for parameters of such names."""
