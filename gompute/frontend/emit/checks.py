"""The checks of a checked build: an index against its bound, the divisor, the distance of a shift, an assert."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gompute.artifacts.checks import Check
from gompute.frontend import typed
from gompute.frontend.emit import arithmetic
from gompute.frontend.emit.conversion import cast
from gompute.frontend.irtext.failing import Failure
from gompute.frontend.irtext.text import FunctionText
from gompute.frontend.irtext.values import value_type
from gompute.lang.types import F64, ScalarType

if TYPE_CHECKING:
    from gompute.frontend.emit.expression import ExpressionEmitter

__all__ = ["check_assert", "check_binary", "check_index"]

_LONGEST = 200
_SYMBOLS: dict[typed.CompareOp, str] = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def check_index(emitter: ExpressionEmitter, node: typed.Bounded, index: str, bound: str) -> str:
    """A negative index is a huge unsigned number, and no array is that long. Gives the index: 0 for a wrong one, where that always is one,
    so that other checks may come before the work-item leaves."""
    passed = emitter.text.value(f"icmp ult i64 {index}, {bound}")
    _leave_unless(emitter, passed, node.site, node.type, index, bound)
    return index if isinstance(node.bound, typed.Extent) else emitter.text.value(f"select i1 {passed}, i64 {index}, i64 0")


def check_binary(emitter: ExpressionEmitter, node: typed.Binary, site: typed.Site, left: str, right: str) -> None:
    """A divisor that is not 0, or a distance from 0 to below the width."""
    text, register = emitter.text, value_type(node.type)
    if site.kind == "division":
        passed, value, bound = text.value(f"icmp ne {register} {right}, 0"), left, "0"
    else:
        passed, value, bound = text.value(f"icmp ult {register} {right}, {node.type.bits}"), right, str(node.type.bits)
    _leave_unless(emitter, passed, site, node.type, _word(text, node.type, value), bound)


def check_assert(emitter: ExpressionEmitter, node: typed.Assert) -> None:
    """What was compared, where the condition is one comparison, goes into the report."""
    text, condition = emitter.text, node.condition
    site = typed.Site("assert", "", node.location.line)
    if not isinstance(condition, typed.Compare) or condition.left.type is None:
        _leave_unless(emitter, emitter.expression(condition), site, None, "0", "0", node.message)
        return
    kind = condition.left.type
    left, right = emitter.expression(condition.left), emitter.expression(condition.right)
    passed = arithmetic.compare(text, kind, condition.op, left, right)
    site = site._replace(what=_SYMBOLS[condition.op])
    _leave_unless(emitter, passed, site, kind, _word(text, kind, left), _word(text, kind, right), node.message)


def _leave_unless(
    emitter: ExpressionEmitter, passed: str, site: typed.Site, kind: ScalarType | None, value: str, bound: str, message: str = ""
) -> None:
    name = "" if kind is None else kind.name
    check = Check(site.kind, emitter.function.location.path, site.line, _plain(site.what), name, _plain(message))
    emitter.failures.leave_unless(emitter.text, passed, Failure(emitter.text.module.check(check), value, bound))


def _plain(text: str) -> str:
    """A text as it can stand in the index: short, and without what does not print."""
    return "".join(character if character.isprintable() else " " for character in text[:_LONGEST])


def _word(text: FunctionText, kind: ScalarType, value: str) -> str:
    """A number in 64 bits: an integer with its sign, a float as the bits of its f64."""
    if kind.kind == "float":
        value = value if kind.bits == 64 else cast(text, kind, F64, value)
        return text.value(f"bitcast double {value} to i64")
    register = value_type(kind)
    if register == "i64":
        return value
    return text.value(f"{'sext' if kind.kind == 'int' else 'zext'} {register} {value} to i64")
