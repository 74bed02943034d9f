"""The evaluator on trees made by hand."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

from gompute.errors import InternalError, InvalidArgument
from gompute.frontend import typed
from gompute.frontend.evaluate import run
from gompute.frontend.typed import Expression, Function, Location, Slot, Statement
from gompute.lang.types import (
    BF16,
    BOOL,
    F32,
    F64,
    I16,
    I32,
    I64,
    U8,
    U32,
    U64,
    LocalArrayType,
    ParamsField,
    ParamsType,
    PointerType,
    ScalarType,
    TableType,
)
from tests.frontend.emit.trees import zeros

HERE = Location("kernels.py", 12, 5)


def constant(value: float, dtype: ScalarType = I32) -> typed.Constant:
    return typed.Constant(dtype, value)


def read(slot: Slot) -> typed.ReadLocal:
    assert isinstance(slot.type, ScalarType)
    return typed.ReadLocal(slot.type, slot)


def add(left: Expression, right: Expression, dtype: ScalarType = I32) -> typed.Binary:
    return typed.Binary(dtype, "add", left, right)


def compare(op: typed.CompareOp, left: Expression, right: Expression) -> typed.Compare:
    return typed.Compare(op, left, right, BOOL)


def function(
    *body: Statement,
    parameters: tuple[Slot, ...] = (),
    variables: tuple[Slot, ...] = (),
    result: ScalarType | None = I32,
    symbol: str = "f",
) -> Function:
    return Function(symbol, parameters, result, HERE, list(variables), (*zeros(variables), *body))


def value_of(expression: Expression, *variables: Slot) -> float:
    """What a function without parameters returns, which is `expression`."""
    result = run(function(typed.Return(expression), variables=variables, result=expression.type), ())
    assert result is not None
    return result


def fault(dtype: ScalarType = BOOL) -> typed.Load:
    """An expression that fails when it is evaluated: it reads an empty table."""
    return typed.Load(dtype, TableType(dtype, ()), constant(0, U64))


# ---- expressions ----


def test_arguments_are_converted_as_a_cast_converts() -> None:
    x = Slot("x", U8)
    identity = function(typed.Return(read(x)), parameters=(x,), result=U8)
    assert run(identity, (300,)) == 44
    assert run(identity, (-2.5,)) == 0
    y = Slot("y", BF16)
    assert run(function(typed.Return(read(y)), parameters=(y,), result=BF16), (1 + 2.0**-8 + 2.0**-40,)) == 1 + 2.0**-7


def test_scale_relu_rounds_as_f32() -> None:
    x, p = Slot("x", F32), Slot("p", ParamsType("Params", (ParamsField("scale", F32, 0),), 4, 4))
    y = Slot("y", F32)
    body = (
        typed.Assign(y, typed.Binary(F32, "mul", read(x), typed.ReadParam(F32, p, 0))),
        typed.Return(typed.Conditional(F32, compare("gt", read(y), constant(0.0, F32)), read(y), constant(0.0, F32))),
    )
    scale_relu = function(*body, parameters=(x, p), variables=(y,), result=F32)
    packed = struct.pack("<f", 0.1)
    for number in (0.3, -7.0, 1e38, math.nan):
        wanted = np.float32(number) * np.float32(0.1)
        assert run(scale_relu, (number, packed)) == (float(wanted) if wanted > 0 else 0.0)


def test_operators_have_the_meaning_of_the_language() -> None:
    low = constant(-(2**31))
    assert value_of(typed.Binary(I32, "floordiv", low, constant(-1))) == -(2**31)
    assert value_of(typed.Binary(I32, "mod", constant(-7), constant(3))) == 2
    assert value_of(typed.Unary(I32, "neg", low)) == -(2**31)
    assert value_of(typed.Unary(BOOL, "not", constant(True, BOOL))) is False
    assert value_of(typed.Cast(U8, constant(-1))) == 255
    assert value_of(typed.Cast(I32, constant(math.nan, F64))) == 0
    assert value_of(compare("ne", constant(math.nan, F64), constant(math.nan, F64))) is True
    assert value_of(typed.Intrinsic(F32, "min", (constant(0.0, F32), constant(-0.0, F32)))) == 0.0
    assert value_of(typed.Intrinsic(F32, "round", (constant(2.5, F32),))) == 2.0
    assert value_of(typed.Intrinsic(U32, "bitcast", (constant(1.0, F32),))) == 0x3F800000


def test_only_the_chosen_side_of_a_conditional_is_evaluated() -> None:
    for chosen, wanted in ((True, 1), (False, 2)):
        sides = (constant(1), fault(I32)) if chosen else (fault(I32), constant(2))
        assert value_of(typed.Conditional(I32, constant(chosen, BOOL), *sides)) == wanted


def test_both_sides_of_a_select_are_evaluated() -> None:
    for chosen, wanted in ((True, 1), (False, 2)):
        assert value_of(typed.Select(I32, constant(chosen, BOOL), constant(1), constant(2))) == wanted
        for sides in ((fault(I32), constant(2)), (constant(1), fault(I32))):
            with pytest.raises(InvalidArgument, match="index 0 is outside"):
                value_of(typed.Select(I32, constant(chosen, BOOL), *sides))


def test_and_and_or_stop_at_the_deciding_operand() -> None:
    true, false = constant(True, BOOL), constant(False, BOOL)
    assert value_of(typed.Logical("and", false, fault(), BOOL)) is False
    assert value_of(typed.Logical("or", true, fault(), BOOL)) is True
    assert value_of(typed.Logical("and", true, false, BOOL)) is False
    assert value_of(typed.Logical("or", false, true, BOOL)) is True
    # (false and fault) or true; (true or fault) and false
    assert value_of(typed.Logical("or", typed.Logical("and", false, fault(), BOOL), true, BOOL)) is True
    assert value_of(typed.Logical("and", typed.Logical("or", true, fault(), BOOL), false, BOOL)) is False
    with pytest.raises(InvalidArgument):
        value_of(typed.Logical("and", true, fault(), BOOL))


def test_a_chained_comparison_evaluates_its_middle_once() -> None:
    count, middle = Slot("count", I32), Slot("middle", I32)
    counting = typed.Sequence(I32, count, add(read(count), constant(1)), constant(5))  # counts, and gives 5
    chain = typed.Sequence(
        BOOL,
        middle,
        counting,
        typed.Logical("and", compare("lt", constant(1), read(middle)), compare("lt", read(middle), constant(9)), BOOL),
    )
    both = add(typed.Cast(I32, chain), typed.Binary(I32, "mul", read(count), constant(10)))
    assert value_of(both, count, middle) == 11


def test_long_expressions_and_chains_of_branches_do_not_exhaust_pythons_stack() -> None:
    total: Expression = constant(0)
    truth: Expression = constant(True, BOOL)
    choice: Expression = constant(3)
    x = Slot("x", I32)
    chain: tuple[Statement, ...] = (typed.Return(constant(7)),)
    for _ in range(3000):
        total = add(total, constant(2))
        truth = typed.Logical("and", truth, constant(True, BOOL), BOOL)
        choice = typed.Conditional(I32, constant(False, BOOL), constant(0), choice)
        chain = (typed.If(compare("eq", read(x), constant(1)), (), chain),)
    assert value_of(total) == 6000
    assert value_of(truth) is True
    assert value_of(choice) == 3
    assert run(function(*chain, variables=(x,)), ()) == 7
    many = (typed.Assign(x, add(read(x), constant(1))),) * 5000
    assert run(function(*many, typed.Return(read(x)), variables=(x,)), ()) == 5000


# ---- loops ----


def counted(dtype: ScalarType, start: int, stop: int, step: int, *inside: Statement) -> tuple[int, int]:
    """How many times a range loop runs, and its counter after it."""
    i, rounds = Slot("i", dtype), Slot("rounds", I64)
    body = (typed.Assign(rounds, add(read(rounds), constant(1, I64), I64)), *inside)
    loop = typed.ForRange(i, constant(start, dtype), constant(stop, dtype), constant(step, dtype), body)
    after = add(typed.Binary(I64, "mul", read(rounds), constant(2**40, I64)), typed.Cast(I64, read(i)), I64)
    result = run(function(typed.Assign(i, constant(77, dtype)), loop, typed.Return(after), variables=(i, rounds), result=I64), ())
    assert isinstance(result, int)
    return divmod(result, 2**40)


def test_a_range_runs_as_pythons_and_its_counter_does_not_wrap() -> None:
    assert counted(U8, 250, 255, 10) == (1, 250)
    assert counted(U8, 0, 255, 1) == (255, 254)
    assert counted(I32, 2**31 - 3, 2**31 - 1, 3) == (1, 2**31 - 3)
    assert counted(I32, 5, 0, -2) == (3, 1)
    assert counted(I32, 3, 3, 1) == (0, 77)
    assert counted(I32, 0, 9, -1) == (0, 77)
    assert counted(I32, 0, 9, 0) == (0, 77)


def test_an_assignment_to_the_counter_lasts_until_the_next_round() -> None:
    i, seen = Slot("i", I32), Slot("seen", I32)
    body = (typed.Assign(i, add(read(i), constant(100))), typed.Assign(seen, add(read(seen), read(i))))
    loop = typed.ForRange(i, constant(0), constant(3), constant(1), body)
    assert run(function(loop, typed.Return(read(seen)), variables=(i, seen)), ()) == 303
    assert run(function(loop, typed.Return(read(i)), variables=(i, seen)), ()) == 102


def test_the_bounds_of_a_range_are_evaluated_once() -> None:
    i, n = Slot("i", I32), Slot("n", I32)
    loop = typed.ForRange(i, constant(0), read(n), constant(1), (typed.Assign(n, add(read(n), constant(1))),))
    assert run(function(typed.Assign(n, constant(4)), loop, typed.Return(read(n)), variables=(i, n)), ()) == 8


def test_break_and_continue_act_on_the_innermost_loop() -> None:
    i, j, total = Slot("i", I32), Slot("j", I32), Slot("total", I32)
    inner = typed.ForRange(
        j,
        constant(0),
        constant(10),
        constant(1),
        (
            typed.If(compare("eq", read(j), constant(1)), (typed.Continue(),), ()),
            typed.If(compare("eq", read(j), constant(4)), (typed.If(constant(True, BOOL), (typed.Break(),), ()),), ()),
            typed.Assign(total, add(read(total), read(j))),
        ),
    )
    outer = typed.While(
        compare("lt", read(i), constant(3)),
        (typed.Assign(i, add(read(i), constant(1))), typed.If(compare("eq", read(i), constant(2)), (typed.Continue(),), ()), inner),
    )
    assert run(function(outer, typed.Return(read(total)), variables=(i, j, total)), ()) == 2 * (0 + 2 + 3)


def test_return_leaves_all_loops() -> None:
    i = Slot("i", I32)
    forever = typed.While(constant(True, BOOL), (typed.Assign(i, add(read(i), constant(1))), typed.Return(read(i))))
    assert run(function(typed.While(constant(True, BOOL), (forever,)), variables=(i,)), ()) == 1


def test_a_while_loop_may_run_no_time() -> None:
    i = Slot("i", I32)
    loop = typed.While(constant(False, BOOL), (typed.Assign(i, constant(9)),))
    assert run(function(loop, typed.Return(read(i)), variables=(i,)), ()) == 0


# ---- arrays, tables, params ----


def test_a_local_array_starts_at_zero_and_is_new_in_each_call() -> None:
    a = Slot("acc", LocalArrayType(F32, 3))
    bump = typed.Store(a, constant(1, U64), add(typed.Load(F32, a, constant(1, U64)), constant(2.5, F32), F32))
    again = typed.Return(typed.Load(F32, a, constant(1, I64)))
    f = function(typed.Clear(a), bump, typed.Clear(a), bump, bump, again, variables=(a,), result=F32)
    assert run(f, ()) == 5.0
    assert run(f, ()) == 5.0


@pytest.mark.parametrize("index", [3, -1, 2**63 - 1])
def test_an_index_outside_names_the_array_the_index_and_the_place(index: int) -> None:
    a = Slot("acc", LocalArrayType(F32, 3))
    message = rf"index {index} is outside local array 'acc', which has 3 elements \(in f, kernels.py:12:5\)"
    load = function(typed.Clear(a), typed.Return(typed.Load(F32, a, constant(index, I64))), variables=(a,), result=F32)
    store = function(typed.Clear(a), typed.Store(a, constant(index, I64), constant(1.0, F32)), variables=(a,), result=None)
    for f in (load, store):
        with pytest.raises(InvalidArgument, match=message):
            run(f, ())


def test_a_constant_table() -> None:
    table = TableType(I16, (10, 20, 30))
    assert value_of(typed.Load(I16, table, constant(2, U64))) == 30
    with pytest.raises(InvalidArgument, match="index 3 is outside a constant table of i16, which has 3 elements"):
        value_of(typed.Load(I16, table, constant(3, U64)))


def test_params_are_read_from_packed_bytes() -> None:
    fields = (
        ParamsField("flag", BOOL, 0),
        ParamsField("half", BF16, 2),
        ParamsField("count", I32, 4),
        ParamsField("taps", F64, 8, count=3),
        ParamsField("big", U64, 32),
    )
    p = Slot("p", ParamsType("Params", fields, 40, 8))
    packed = struct.pack("<BxHi3dQ", 2, 0x3FC0, -5, 0.5, -1.25, 7.0, 2**64 - 1)

    def field(expression: Expression) -> float | None:
        return run(function(typed.Return(expression), parameters=(p,), result=expression.type), (packed,))

    assert field(typed.ReadParam(BOOL, p, 0)) is True
    assert field(typed.ReadParam(BF16, p, 2)) == 1.5
    assert field(typed.ReadParam(I32, p, 4)) == -5
    assert field(typed.ReadParam(F64, p, 8, constant(1, U64), 3)) == -1.25
    assert field(typed.ReadParam(U64, p, 32)) == 2**64 - 1
    for index in (3, -1):
        with pytest.raises(InvalidArgument, match=f"index {index} is outside the array in 'p' at byte 8, which has 3 elements"):
            field(typed.ReadParam(F64, p, 8, constant(index, I64), 3))


# ---- calls ----


def test_a_call_has_variables_of_its_own() -> None:
    params = ParamsType("Params", (ParamsField("k", I32, 0),), 4, 4)
    a, inner_p, local = Slot("a", I32), Slot("q", params), Slot("x", I32)
    inner = function(
        typed.Assign(local, add(read(local), read(a))),
        typed.Assign(a, constant(0)),
        typed.Return(add(read(local), typed.ReadParam(I32, inner_p, 0))),
        parameters=(a, inner_p),
        variables=(local,),
        symbol="inner",
    )
    x, p = Slot("x", I32), Slot("p", params)
    call = typed.Call(I32, inner, (add(read(x), constant(1)), p))
    outer = function(typed.Return(add(add(call, call), read(x))), parameters=(x, p))
    assert run(outer, (10, struct.pack("<i", 100))) == 2 * (11 + 100) + 10


def test_a_call_for_its_effect() -> None:
    check = function(typed.Assert(constant(False, BOOL), "no", Location("other.py", 3, 1)), result=None, symbol="check")
    assert run(function(result=None), ()) is None
    assert run(function(typed.Return(None), result=None), ()) is None
    with pytest.raises(AssertionError, match=r"^other\.py:3:1: no$"):
        run(function(typed.Evaluate(typed.Call(None, check, ())), typed.Return(constant(1))), ())


def test_an_assertion_is_checked() -> None:
    x = Slot("x", I32)
    f = function(typed.Assert(compare("gt", read(x), constant(0)), "", HERE), typed.Return(read(x)), parameters=(x,))
    assert run(f, (1,)) == 1
    with pytest.raises(AssertionError, match=r"^kernels\.py:12:5: assertion failed$"):
        run(f, (0,))


# ---- what has no meaning on the host ----


def test_coordinates_and_pointers_are_not_for_the_host() -> None:
    with pytest.raises(InternalError, match="Index"):
        value_of(typed.Index(U64, "global_id", 0))
    data = Slot("data", PointerType(F32))
    with pytest.raises(InternalError, match=r"'data' of f is a ptr\[f32\]"):
        run(function(parameters=(data,), result=None), (0,))
    with pytest.raises(InternalError, match=r"memory behind a pointer.*Load"):
        value_of(typed.Load(F32, data, constant(0, U64)))
    with pytest.raises(InternalError, match=r"memory behind a pointer.*Store"):
        run(function(typed.Store(data, constant(0, U64), constant(0.0, F32)), result=None), ())
    inner = function(parameters=(data,), result=None, symbol="inner")
    with pytest.raises(InternalError, match=r"passes 'data' to inner: a ptr\[f32\]"):
        run(function(typed.Evaluate(typed.Call(None, inner, (data,))), result=None), ())


def test_wrong_arguments_are_named() -> None:
    x, p = Slot("x", F32), Slot("p", ParamsType("Params", (ParamsField("k", I32, 0),), 4, 4))
    f = function(typed.Return(read(x)), parameters=(x, p), result=F32, symbol="scale")
    with pytest.raises(InvalidArgument, match="scale takes 2 arguments, not 1"):
        run(f, (1.0,))
    with pytest.raises(InvalidArgument, match="'p' of scale: a Params has 4 bytes, not 3"):
        run(f, (1.0, b"abc"))
    with pytest.raises(InvalidArgument, match=r"'p' of scale is a Params, packed in bytes, not 2\.0"):
        run(f, (1.0, 2.0))
    with pytest.raises(InvalidArgument, match="'x' of scale is a f32, not bytes"):
        run(f, (b"abcd", b"abcd"))


def test_a_tree_that_contradicts_itself_is_our_bug() -> None:
    x = Slot("x", I32)
    with pytest.raises(InternalError, match="f ended without the i32"):
        run(function(typed.Assign(x, constant(1)), variables=(x,)), ())
    with pytest.raises(InternalError, match="'x' is no variable of f"):
        value_of(read(x))
    nothing = function(result=None, symbol="nothing")
    with pytest.raises(InternalError, match="nothing returns nothing, but f uses its value"):
        run(function(typed.Return(typed.Call(None, nothing, ()))), ())
    with pytest.raises(InternalError, match="'x' is no params argument of f"):
        value_of(typed.ReadParam(I32, x, 0))
