"""The text itself: deterministic, quick to write, complete, and honest about trees that break their promises."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable

import numpy as np
import pytest

from gompute.errors import InternalError
from gompute.frontend import typed
from gompute.frontend.emit import emit
from gompute.frontend.typed import Expression, Function, Slot, Statement
from gompute.lang.types import BF16, BOOL, F16, F32, F64, I32, I64, U8, U64, PointerType, ScalarType
from gompute.targets import parse_target
from tests.frontend.emit.compiled import CPU, Loaded, assembly, machine, optimise, parse
from tests.frontend.emit.programs import Program
from tests.frontend.emit.trees import (
    HERE,
    binary,
    compare,
    constant,
    element,
    elementwise,
    function,
    index,
    map_kernel,
    map_over,
    module,
    read,
    scale_relu,
)

CUDA, HIP = parse_target("sm_90"), parse_target("gfx1100")


def body_of(*body: Statement, variables: tuple[Slot, ...] = (), result: ScalarType | None = I32) -> typed.Module:
    """A map kernel over i32 whose function has this body, with its parameter called x."""
    made = function("f", (Slot("x", I32),), result, *body, variables=variables)
    return module([map_over("k", I32, made)])


def test_equal_trees_give_equal_text() -> None:
    def tree() -> typed.Module:
        program = Program(3, (I32, F32, U8), F64).function
        call = elementwise("call", (I32, F32, U8), [lambda *operands: typed.Call(F64, program, operands)])
        return module([call, scale_relu()], program)

    for target in (CPU, CUDA, HIP):
        assert emit(tree(), target) == emit(tree(), target)


def test_a_long_function_is_written_in_a_moment() -> None:
    slots = [Slot(f"v{position}", F32) for position in range(50)]
    x = Slot("x", F32)
    body: list[Statement] = []
    for step in range(50_000):
        operands = read(slots[step * 7 % 50]), read(slots[step * 13 % 50]) if step % 5 else read(x)
        body.append(typed.Assign(slots[step % 50], binary("add" if step % 2 else "mul", *operands)))
    made = function("f", (x,), F32, *body, typed.Return(read(slots[0])), variables=slots)
    tree = module([map_over("k", F32, made)])
    start = time.process_time()
    text = emit(tree, CUDA)
    assert time.process_time() - start < 1.0
    assert text.count("fadd") == text.count("fmul") == 25_000
    assert text.count("load float") == 1  # of the element: within a block every variable's value is known


def test_deep_expressions_and_long_chains() -> None:
    deep: Expression = constant(I32, 0)
    for _ in range(5000):
        deep = binary("add", binary("mul", constant(I32, 1), deep), constant(I32, 1))
    chain: tuple[Statement, ...] = (typed.Return(constant(I32, -1)),)
    x = Slot("x", I32)
    for number in range(600):
        chain = (typed.If(compare("eq", read(x), constant(I32, number)), (typed.Return(constant(I32, number * 2)),), chain),)
    first = typed.If(compare("lt", read(x), constant(I32, 0)), (typed.Return(deep),), ())
    made = function("f", (x,), I32, first, *chain)
    data = np.array([-5, 0, 17, 599, 600], np.int32)
    Loaded(module([map_over("k", I32, made)]), level=1).run("k", data, np.uint64(5))
    assert data.tolist() == [5000, 0, 34, 1198, -1]


def test_names_that_the_text_uses_itself_or_cannot_spell() -> None:
    """Variables named like blocks and values of the emitted text, and one that is not ASCII."""
    names = ["entry", "end", "then", "else", "body", "step", "for", "next", "begin", "data", "größe", "gr__e", "x"]
    slots = [Slot(name, I32) for name in names]
    body: list[Statement] = [typed.Assign(slot, constant(I32, position)) for position, slot in enumerate(slots)]
    total = Slot("total", I32)
    loop = [typed.Assign(total, binary("add", read(total), read(slot))) for slot in slots]
    body.append(typed.ForRange(slots[6], constant(I32, 0), constant(I32, 2), constant(I32, 1), tuple(loop)))
    data = np.zeros(1, np.int32)
    Loaded(body_of(*body, typed.Return(read(total)), variables=(*slots, total))).run("k", data, np.uint64(1))
    others = sum(range(len(names))) - 6
    assert data.tolist() == [2 * others + 0 + 1]

    pointers = [Slot(name, PointerType(I32)) for name in names]
    stores = [typed.Store(pointer, constant(U64, 0), constant(I32, 1)) for pointer in pointers]
    tree = module([typed.RawKernel("named", function("named_body", pointers, None, *stores), (1, 1, 1))])
    for target in (CPU, CUDA, HIP):
        parse(emit(tree, target))


def test_endless_loops_and_code_after_a_return() -> None:
    x, n = Slot("x", I32), Slot("n", I32)
    step = typed.Assign(n, binary("add", read(n), constant(I32, 1)))
    leave = typed.If(compare("ge", read(n), constant(I32, 9)), (typed.Return(read(n)), typed.Assign(n, constant(I32, 0))), ())
    skip = typed.If(constant(BOOL, True), (typed.Continue(),), ())
    forever = typed.While(constant(BOOL, True), (step, leave, skip, typed.Break()))
    never = typed.While(constant(BOOL, False), (typed.Return(constant(I32, -1)),))
    made = function("f", (x,), I32, never, forever, variables=(n,))
    data = np.zeros(1, np.int32)
    Loaded(module([map_over("k", I32, made)])).run("k", data, np.uint64(1))
    assert data.tolist() == [9]


def test_only_the_chosen_side_is_evaluated() -> None:
    """Both sides of a conditional, and the right sides of `and` and `or`, call a function that counts its calls in memory."""
    counts, which, k = Slot("counts", PointerType(I32)), Slot("memory", PointerType(I32)), Slot("k", U64)
    add = typed.Store(which, read(k), binary("add", element(which, read(k)), constant(I32, 1)))
    callee = function("count", (which, k), I32, add, typed.Return(constant(I32, 1)))

    def call(place: int) -> Expression:
        return typed.Call(I32, callee, (counts, constant(U64, place)))

    def truth(place: int) -> Expression:
        return compare("eq", call(place), constant(I32, 1))

    odd = compare("eq", binary("and", index("local_id"), constant(U64, 1)), constant(U64, 1))
    values: list[Expression] = [
        typed.Conditional(I32, odd, call(0), call(1)),
        typed.Cast(I32, typed.Logical("and", odd, truth(2), BOOL)),
        typed.Cast(I32, typed.Logical("or", odd, truth(3), BOOL)),
    ]
    stores = [typed.Store(counts, constant(U64, 4 + n), value) for n, value in enumerate(values)]
    made = function("choose_body", (counts,), None, *stores, uses_index=True)
    data = np.zeros(7, np.int32)
    Loaded(module([typed.RawKernel("choose", made, (7, 1, 1))], callee)).run("choose", data, block=(7, 1, 1))
    assert data[:4].tolist() == [3, 4, 3, 4]  # items 0 to 6: three are odd
    assert data[4:].tolist() == [1, 0, 1]  # of the last item, 6


def test_asserts_are_not_evaluated() -> None:
    x = Slot("x", I32)
    check = typed.Assert(compare("lt", binary("floordiv", read(x), constant(I32, 7)), constant(I32, 0)), "negative", HERE)
    made = function("f", (x,), I32, check, typed.Return(read(x)))
    text = emit(module([map_over("k", I32, made)]), CPU)
    assert "sdiv" not in text
    assert "icmp slt" not in text


@pytest.mark.parametrize(
    ("name", "scalar", "make"),
    [
        ("saturate", F32, lambda x: typed.Cast(F32, typed.Cast(I32, x))),
        ("shift", I32, lambda x: binary("shl", x, x)),
        ("modulo", I32, lambda x: binary("mod", x, constant(I32, 10))),
        ("extreme", F64, lambda x: typed.Intrinsic(F64, "min", (x, constant(F64, 0.0)))),
        ("half", F16, lambda x: binary("mul", x, constant(F16, 1.5))),
        ("brain", BF16, lambda x: binary("mul", x, constant(BF16, 1.5))),
        ("narrow", F64, lambda x: typed.Cast(F64, typed.Cast(F16, x))),
        ("choose", F32, lambda x: typed.Conditional(F32, compare("gt", x, constant(F32, 0)), x, binary("mul", x, x))),
    ],
)
def test_guards_do_not_stop_vectorisation(name: str, scalar: ScalarType, make: Callable[[Expression], Expression]) -> None:
    parsed = parse(emit(module([map_kernel(name, scalar, make)]), CPU))
    optimise(parsed, machine(CPU))
    assert re.search(r"load <\d+ x ", str(parsed))


def test_scale_relu_on_gpus() -> None:
    """One load and one store of the element, no stack, the block size stated, nothing but rounded multiplication."""
    _, ptx = assembly(module([scale_relu()]), CUDA)
    assert ptx.count("ld.global") == ptx.count("st.global") == 1
    assert ".reqntid 256" in ptx
    assert "mul.rn.f32" in ptx
    assert ".local" not in ptx
    _, gcn = assembly(module([scale_relu()]), HIP)
    assert gcn.count("global_load") == gcn.count("global_store") == 1
    assert ".max_flat_workgroup_size: 256" in gcn
    assert ".private_segment_fixed_size: 0" in gcn
    assert re.findall(r"\.name: +(\w+)", gcn) == ["data", "len", "params", "scale_relu"]


@pytest.mark.parametrize("target", [CUDA, HIP], ids=str)
def test_products_and_sums_are_not_fused(target: object) -> None:
    """a * a + c with a constant c, in every float format: two roundings."""
    for scalar in (F16, F32, F64):
        tree = map_kernel("fuse", scalar, lambda x, s=scalar: binary("add", binary("mul", x, x), constant(s, -1.5)))  # type: ignore[misc]
        _, text = assembly(module([tree]), target)  # type: ignore[arg-type]
        assert not re.search(r"\bfma|\bv_(pk_)?fma|\bv_(fmac|mad|mac)_f", text)
        if target is CUDA:
            assert re.search(rf"mul\.rn\.{scalar}", text)
            assert re.search(rf"add\.rn\.{scalar}", text)


def test_pointers_of_raw_kernels_are_not_promised_to_be_apart() -> None:
    tree = module([elementwise("copy", (I32,), [lambda x: x])])
    for target in (CPU, CUDA, HIP):
        assert not [line for line in emit(tree, target).splitlines() if "noalias" in line and "@copy" in line]
    assert "noalias" in emit(module([scale_relu()]), CUDA)


# ---- faults of the tree ----


def test_a_path_without_a_value() -> None:
    x = Slot("x", I32)
    made = function("f", (x,), I32, typed.If(compare("gt", read(x), constant(I32, 0)), (typed.Return(read(x)),), ()))
    with pytest.raises(InternalError, match="'f' ends without a value"):
        emit(module([map_over("k", I32, made)]), CPU)


def test_a_variable_of_no_function() -> None:
    with pytest.raises(InternalError, match="'stray' is read where it has no value"):
        emit(body_of(typed.Return(read(Slot("stray", I32)))), CPU)


def test_a_variable_that_only_some_paths_assign() -> None:
    """One side of a branch, the right side of `and`, a loop that may not run: what they assign has no value behind them."""
    x, y = Slot("x", I32), Slot("y", I32)
    assign, truth = typed.Assign(y, constant(I32, 1)), compare("lt", read(x), constant(I32, 3))
    sequence = typed.Sequence(BOOL, y, constant(I32, 1), truth)
    once = typed.ForRange(y, constant(I32, 0), read(x), constant(I32, 1), (typed.Break(),))
    heads: list[Statement] = [
        typed.If(truth, (assign,), ()),
        typed.If(truth, (), (assign,)),
        typed.While(truth, (assign, typed.Break())),
        typed.Assign(x, typed.Cast(I32, typed.Logical("and", truth, sequence, BOOL))),
        once,
    ]
    for head in heads:
        made = Function("f", (x,), I32, HERE, [y], (head, typed.Return(read(y))))
        with pytest.raises(InternalError, match="'y' is read where it has no value"):
            emit(module([map_over("k", I32, made)]), CPU)


def test_where_paths_meet_a_value_is_chosen_once() -> None:
    """A phi is made for what the paths gave different values, and for what a loop carries."""
    x, y, z = Slot("x", I32), Slot("y", I32), Slot("z", I32)
    truth = compare("lt", read(x), constant(I32, 3))
    same = typed.If(truth, (typed.Assign(z, constant(I32, 7)),), (typed.Assign(z, constant(I32, 7)), typed.Assign(y, read(z))))
    loop = typed.While(truth, (typed.Assign(x, binary("add", read(x), read(y))),))
    made = function("f", (x,), I32, same, loop, typed.Return(read(x)), variables=(y, z))
    text = emit(module([map_over("k", I32, made)]), CUDA)
    body = text[text.index("@f(") : text.index("\n}", text.index("@f("))]
    assert body.count(" phi ") == 2
    assert "alloca" not in body
    parse(text)


def test_two_functions_of_one_name() -> None:
    with pytest.raises(InternalError, match="two .* 'k'"):
        emit(module([map_kernel("k", I32, lambda x: x)], function("k", (), None)), CPU)


def test_coordinates_in_a_function_that_is_not_marked() -> None:
    out = Slot("out", PointerType(U64))
    made = function("f", (out,), None, typed.Store(out, constant(U64, 0), index()))
    with pytest.raises(InternalError, match="'f' reads global_id"):
        emit(module([typed.RawKernel("k", made, (1, 1, 1))]), CPU)
    inner = function("inner", (), U64, typed.Return(index()), uses_index=True)
    call = function("f", (out,), None, typed.Store(out, constant(U64, 0), typed.Call(U64, inner, ())))
    with pytest.raises(InternalError, match="'inner'"):
        emit(module([typed.RawKernel("k", call, (1, 1, 1))], inner), CPU)


def test_operations_that_a_type_does_not_have() -> None:
    x = Slot("x", I32)
    wrong: list[Expression] = [
        typed.Binary(I32, "truediv", read(x), read(x)),
        typed.Intrinsic(I64, "bitcast", (read(x),)),
        typed.Cast(I32, typed.Binary(F32, "and", constant(F32, 1.0), constant(F32, math.nan))),
    ]
    for expression in wrong:
        made = function("f", (x,), I32, typed.Return(typed.Cast(I32, expression)))
        with pytest.raises(InternalError):
            emit(module([map_over("k", I32, made)]), CPU)
