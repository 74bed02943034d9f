"""The suite leaves nothing out: what the language has is read from the compiler, what the suite uses from its trees."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import gompute as g
from gompute.frontend import root, typed
from gompute.frontend.check import calls, expressions
from gompute.frontend.check.statements import Block
from gompute.frontend.loader import load_root
from gompute.frontend.source import Sources
from gompute.lang import block, builtins, promotion
from gompute.lang.operation import OPERATIONS
from gompute.lang.types import BOOL, SCALARS, ParamsType, PointerType, ScalarType
from gompute.targets import parse_target
from tests.conformance import matrix
from tests.conformance.loading import FAST, FOLDER
from tests.conformance.sets import ROOTS

#: Its specs, and a typed tree for each of its kernels.
Root: TypeAlias = tuple[tuple[Any, ...], list[typed.Module]]


@cache
def _matrix(folder: Path) -> Path:
    made = folder / "matrix.py"
    made.write_text(matrix.source())
    return made


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> list[Root]:
    """The specs and the typed trees of each root."""
    found = []
    for source in (*ROOTS, FAST, _matrix(tmp_path_factory.mktemp("matrix"))):
        sources = Sources(source.parent, str(source.parent))
        specs, _ = load_root(source, source.stem, None, sources)
        found.append((specs, list(root.check_module(source.stem, specs, sources, parse_target("sm_75")))))
    return found


def _nodes(thing: Any) -> Iterator[Any]:
    """Every node of a typed tree, but not the functions that are called: they are in the module themselves."""
    if isinstance(thing, typed.Function):
        for statement in thing.body:
            yield from _below(statement)
    else:
        yield from _below(thing)


def _below(node: Any) -> Iterator[Any]:
    if isinstance(node, (typed.Function, ScalarType, PointerType, ParamsType)):
        return
    if isinstance(node, tuple):
        if hasattr(node, "_fields"):
            yield node
        for part in node:
            yield from _below(part)


@pytest.fixture(scope="module")
def nodes(roots: list[Root]) -> list[Any]:
    functions = {id(function): function for _, modules in roots for module in modules for function in module.functions}
    return [node for function in functions.values() for node in _nodes(function)]


def _allowed(op: str, kind: ScalarType) -> bool:
    """Whether both operands and the result of an operation can have this type."""
    try:
        return promotion.operation_type(op, kind, kind) == kind
    except promotion.PromotionRefused:
        return False


def test_every_operation_has_a_kernel(roots: list[Root]) -> None:
    assert {spec.kind for specs, _ in roots for spec in specs} >= set(OPERATIONS)


def test_every_type_is_an_element_an_argument_and_a_field(roots: list[Root]) -> None:
    elements, scalars = set(), set()
    for specs, _ in roots:
        for spec in specs:
            for argument in spec.launch_arguments if hasattr(spec, "launch_arguments") else spec.interface.arguments:
                kind = argument.type
                if isinstance(kind, PointerType):
                    elements.add(kind.element)
                elif isinstance(kind, ScalarType):
                    scalars.add(kind)
    assert elements | scalars >= set(SCALARS.values())


def test_every_operator_of_every_type(nodes: list[Any]) -> None:
    found = {(node.op, node.type) for node in nodes if isinstance(node, typed.Binary)}
    wanted = {(op, kind) for op in typed.BinaryOp.__args__ for kind in SCALARS.values() if _allowed(op, kind)}  # type: ignore[attr-defined]
    assert not wanted - found


def test_every_sign_complement_and_comparison_of_every_type(nodes: list[Any]) -> None:
    found = {(node.op, node.type) for node in nodes if isinstance(node, typed.Unary)}
    wanted = {("not", BOOL), ("invert", BOOL)}
    for kind in SCALARS.values():
        if kind != BOOL:
            wanted |= {("neg", kind)} | (set() if kind.is_float else {("invert", kind)})
    assert not wanted - found
    compared = {(node.op, node.left.type) for node in nodes if isinstance(node, typed.Compare)}
    assert not {(op, kind) for op in typed.CompareOp.__args__ for kind in SCALARS.values()} - compared  # type: ignore[attr-defined]
    assert {node.op for node in nodes if isinstance(node, typed.Logical)} == {"and", "or"}


def test_every_conversion(nodes: list[Any]) -> None:
    found = {(node.operand.type, node.type) for node in nodes if isinstance(node, typed.Cast)}
    assert not {(a, b) for a in SCALARS.values() for b in SCALARS.values() if a != b} - found


def test_every_function_of_every_type(nodes: list[Any]) -> None:
    """min, max, abs, round; and bitcast between every two types of one width."""
    calls_ = {(node.name, node.type) for node in nodes if isinstance(node, typed.Intrinsic)}
    numbers = [kind for kind in SCALARS.values() if kind != BOOL]
    assert not {(name, kind) for name in ("min", "max", "abs") for kind in numbers} - calls_
    assert not {("round", kind) for kind in numbers if kind.is_float} - calls_
    casts = {(node.operands[0].type, node.type) for node in nodes if isinstance(node, typed.Intrinsic) and node.name == "bitcast"}
    assert not {(a, b) for a in numbers for b in numbers if a != b and a.bits == b.bits} - casts
    assert {node.name for node in nodes if isinstance(node, typed.Intrinsic)} >= set(typed.IntrinsicName.__args__)  # type: ignore[attr-defined]


def test_every_coordinate_in_every_dimension(nodes: list[Any]) -> None:
    found = {(node.name, node.dim) for node in nodes if isinstance(node, typed.Index)}
    assert {name for name, _ in found} == set(typed.IndexName.__args__)  # type: ignore[attr-defined]
    assert {dim for _, dim in found} == {0, 1, 2}


def test_every_kind_of_node_and_statement(nodes: list[Any]) -> None:
    found = {type(node) for node in nodes}
    found |= {typed.Bounded, typed.At}  # of builds with checks and with line tables: `tests/checked` and `tests/backends/test_lines.py`
    missing = [kind for kind in (*typed.Expression.__args__, *typed.Statement.__args__) if kind not in found]  # type: ignore[attr-defined]
    assert not missing


def _sources() -> list[ast.AST]:
    files = (*ROOTS, FOLDER / "conformance_shared.py")
    texts = [*(file.read_text() for file in files), matrix.source()]
    return [node for text in texts for node in ast.walk(ast.parse(text))]


def test_every_piece_of_syntax_and_every_builtin() -> None:
    nodes = _sources()
    kinds = {type(node) for node in nodes}
    assert not {kind for kind in (*Block._HANDLERS, *expressions._HANDLERS) if kind not in kinds}
    named = {node.attr for node in nodes if isinstance(node, ast.Attribute)} | {node.id for node in nodes if isinstance(node, ast.Name)}
    public = {name for part in (builtins, block) for name in part.__all__ if name in g.__all__ and not inspect.isclass(getattr(part, name))}
    assert len(public) > 20
    assert not public - named
    assert not {getattr(function, "__name__", "") for function in calls._HANDLERS} - named
