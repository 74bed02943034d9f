"""Assignments: to variables, whose kind they decide, to elements, and of local arrays."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from gompute.frontend import typed
from gompute.frontend.check import arithmetic
from gompute.frontend.check.arrays import array_maker, declare
from gompute.frontend.check.context import Context, Variable
from gompute.frontend.check.convert import Kind, coerce, join, kind_of, to_value, weak_to
from gompute.frontend.check.operands import Operand, ShapePlace, Static, Value, describe
from gompute.frontend.check.places import Memory, element_at, place_of
from gompute.frontend.check.together import depends_on_item
from gompute.frontend.faults import Faults, KernelFault
from gompute.frontend.source import statements_in
from gompute.lang.spec import argument_type
from gompute.lang.types import I64, ScalarType

__all__ = ["Assignments", "Breaks", "assigned_names"]


def assigned_names(body: Iterable[ast.stmt]) -> dict[str, ast.AST]:
    """Every name that a function body assigns, with the first place: in Python those are local throughout.

    Expressions are not searched: a name that is assigned inside one (``:=``) is refused where it stands.
    """
    found: dict[str, ast.AST] = {}
    for statement in statements_in(body):
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        for target in targets:
            for node in ast.walk(target) if target is not None else ():
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    found.setdefault(node.id, node)
    return found


class Breaks(NamedTuple):
    """The ways out of a loop that is being checked.

    Attributes:
        depth: of `Context.assigned` before its body.
        assigned: for each `break` what was assigned since.
    """

    depth: int
    assigned: list[set[str]]


class Assignments:
    """The part of a block that gives variables and elements their values.

    Attributes:
        kinds: what is known of each variable's kind, over all passes.
        changed: a variable needs another kind than it had when it was read before; the body has to be checked again.
    """

    def __init__(self, context: Context, faults: Faults, kinds: dict[str, Kind]) -> None:
        self.context = context
        self.faults = faults
        self.kinds = kinds
        self.changed = False
        self._breaks: list[Breaks] = []
        self._branches = 0
        self._live = True

    def assign(self, node: ast.Assign) -> list[typed.Statement]:
        maker = array_maker(self.context, node.value)
        if maker is not None:
            assert isinstance(node.value, ast.Call)
            return declare(self.context, maker, node.targets, node.value, nested=bool(self._breaks or self._branches))
        first, *more = node.targets
        if isinstance(first, (ast.Tuple, ast.List)):
            if more:
                raise KernelFault(node, "a tuple and another target in one assignment are not supported", "write two assignments")
            return self._tuple_assign(first, node.value)
        operand = self.context.expression(node.value)
        if more:
            # One value for several names: evaluated once.
            out: list[typed.Statement] = []
            held = self._held(operand, node.value, out)
            for target in node.targets:
                out += self._store(target, held, node.value)
            return out
        return self._store(first, operand, node.value)

    def _tuple_assign(self, target: ast.Tuple | ast.List, source: ast.expr) -> list[typed.Statement]:
        for name in target.elts:
            if isinstance(name, ast.Starred):
                raise KernelFault(name, "'*' unpacking is not supported in a kernel", "give each value a name")
        if not isinstance(source, ast.Tuple):
            operands: list[tuple[Operand, ast.expr]] = [(element, source) for element in self._elements(source)]
        else:
            operands = list(zip(self.context.expressions(*source.elts), source.elts, strict=True))
        if len(operands) != len(target.elts):
            raise KernelFault(target, f"{len(operands)} values for {len(target.elts)} names", "give each name a value")
        out: list[typed.Statement] = []
        held = [self._held(operand, place, out) for operand, place in operands]
        for name, operand, (_, place) in zip(target.elts, held, operands, strict=True):
            out += self._store(name, operand, place)
        return out

    def _elements(self, source: ast.expr) -> list[Operand]:
        """What a constant tuple or a shape holds."""
        operand = self.context.expression(source)
        if isinstance(operand, ShapePlace):
            return list(operand.extents)
        if isinstance(operand, Static) and isinstance(operand.object, tuple):
            return [Static(element) for element in operand.object]
        raise KernelFault(source, f"{describe(operand)} cannot be unpacked", "write as many values as there are names: a, b = x, y")

    def _held(self, operand: Operand, place: ast.expr, out: list[typed.Statement]) -> Operand:
        """The operand as it is now: a constant itself, a value in a slot that `out` assigns."""
        if isinstance(operand, Static):
            return operand
        value = to_value(operand, place)
        slot = self.context.temporary(value.type)
        out.append(typed.Assign(slot, value.node))
        return Value(typed.ReadLocal(value.type, slot), value.weak)

    def _element(self, target: ast.Subscript) -> tuple[Memory, typed.Expression]:
        """The memory and the index that ``place[index]`` writes to."""
        place = place_of(self.context, target.value)
        return place, element_at(self.context, place, target)

    def _store(self, target: ast.expr, operand: Operand, source: ast.expr) -> list[typed.Statement]:
        if isinstance(target, ast.Name):
            return [self.set_variable(target, operand, source)]
        if isinstance(target, ast.Subscript):
            place, index = self._element(target)
            return [typed.Store(place.slot, index, coerce(operand, place.element, source, "the element").node)]
        if isinstance(target, ast.Attribute):
            raise KernelFault(target, "a kernel cannot assign to an attribute: params are read-only", "use a local variable")
        raise KernelFault(target, "this cannot be assigned to", "assign to a name or to an element: data[i] = x")

    def set_variable(self, target: ast.Name, operand: Operand, source: ast.expr) -> typed.Statement:
        """Assign to a variable, whose kind is joined with that of the value."""
        name = target.id
        if name in self.context.places:
            raise KernelFault(target, f"'{name}' is {describe(self.context.places[name])} and cannot be assigned", "use another name")
        new = kind_of(operand, source)
        variable = self.context.variables.get(name)
        if variable is None:
            kind = self.kinds.setdefault(name, new)
            slot = typed.Slot(name, kind[0])
            self.context.locals.append(slot)
            variable = self.context.variables[name] = Variable(slot, kind)
        self.context.assigned.add(name)
        if isinstance(operand, Value) and depends_on_item(operand.node, self.context):
            self.context.divergent.add(name)
        if variable.declared:
            return typed.Assign(variable.slot, coerce(operand, variable.kind[0], source, f"'{name}'").node)
        # Joined with what all passes know, which is at least what this one began with: a kind only ever grows, so the passes end.
        joined = join(self.kinds[name], new)
        if joined is None:
            held, given = self.kinds[name][0], describe(operand)
            raise KernelFault(
                source, f"'{name}' is {held} elsewhere in this function, and {given} here", f"write {held}(...), or use another name"
            )
        if joined != self.kinds[name]:
            self.kinds[name] = joined
            self.changed = True
        value = weak_to(operand, variable.kind[0], source) if new[1] else to_value(operand, source)
        return typed.Assign(variable.slot, value.node)

    def annotated(self, node: ast.AnnAssign) -> list[typed.Statement]:
        if not isinstance(node.target, ast.Name):
            raise KernelFault(node, "an annotation belongs to a name", "write the assignment without it")
        annotation = self.context.expression(node.annotation)
        kind = argument_type(annotation.object) if isinstance(annotation, Static) else None
        if not isinstance(kind, ScalarType):
            raise KernelFault(node.annotation, f"{describe(annotation)} is no scalar type", "write a scalar type such as f32")
        if node.value is None:
            raise KernelFault(node, "a declaration needs a value", f"write {node.target.id}: {kind} = ...")
        operand = self.context.expression(node.value)
        name = node.target.id
        known = self.context.variables.get(name)
        if name in self.context.places or (known is not None and known.kind != (kind, False)):
            raise KernelFault(node, f"'{name}' already has another type", "use another name")
        if known is None:
            slot = typed.Slot(name, kind)
            self.context.locals.append(slot)
            self.context.variables[name] = known = Variable(slot, (kind, False))
            self.kinds[name] = (kind, False)
        known.declared = True
        return self._store(node.target, operand, node.value)

    def augmented(self, node: ast.AugAssign) -> list[typed.Statement]:
        target = node.target
        if isinstance(target, ast.Name):
            current = self.context.expression(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            operand = arithmetic.binary(self.context, node, node.op, current, self.context.expression(node.value))
            return [self.set_variable(target, operand, node.value)]
        if not isinstance(target, ast.Subscript):
            return self._store(target, Static(0), node.value)  # refuses in the words of a plain assignment
        place, index = self._element(target)
        out: list[typed.Statement] = []
        if not isinstance(index, (typed.Constant, typed.ReadLocal)):
            slot = self.context.temporary(index.type or I64)  # an index may call a function: it is evaluated once
            out.append(typed.Assign(slot, index))
            index = typed.ReadLocal(slot.type if isinstance(slot.type, ScalarType) else I64, slot)
        current = Value(typed.Load(place.element, place.slot, index))
        operand = arithmetic.binary(self.context, node, node.op, current, self.context.expression(node.value))
        value = coerce(operand, place.element, node, "the element")
        return [*out, typed.Store(place.slot, index, value.node)]
