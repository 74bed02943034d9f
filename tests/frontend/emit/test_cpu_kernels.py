"""CPU entry points: arguments, element and block ranges, coordinates, memory."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from gompute.errors import InternalError
from gompute.frontend import typed
from gompute.frontend.emit import emit
from gompute.frontend.typed import Slot
from gompute.lang.types import (
    BF16,
    BOOL,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U64,
    LocalArrayType,
    ParamsField,
    ParamsType,
    PointerType,
    ScalarType,
    TableType,
)
from tests.frontend.emit.compiled import CPU, Loaded, machine, optimise, parse
from tests.frontend.emit.trees import binary, compare, constant, element, function, index, map_kernel, map_over, module, read, scale_relu


def test_a_map_takes_its_elements_and_no_others() -> None:
    loaded = Loaded(module([scale_relu()]))
    for length, begin, end in ((1000, 0, 2**64 - 1), (1000, 3, 998), (7, 0, 7), (1000, 500, 500), (1000, 1000, 2000), (0, 0, 5)):
        data = np.linspace(-3, 3, 1000, dtype=np.float32)
        expected = data.copy()
        part = slice(begin, min(end, length))
        scaled = expected[part] * np.float32(1.7)
        expected[part] = np.where(scaled > 0, scaled, np.float32(0))
        loaded.run("scale_relu", data, np.uint64(length), np.float32(1.7), begin=begin, end=end)
        np.testing.assert_array_equal(data, expected)


def test_maps_of_every_memory_type() -> None:
    """A bool is a byte of 0 or 1 in memory, whatever byte was there before."""
    kernels = [
        map_kernel("flip", BOOL, lambda x: typed.Unary(BOOL, "not", x)),
        map_kernel("double", I8, lambda x: binary("add", x, x)),
        map_kernel("brain", BF16, lambda x: binary("mul", x, constant(BF16, 0.5))),
    ]
    loaded = Loaded(module(kernels))
    flags = np.array([0, 1, 2, 255, 128], np.uint8)
    loaded.run("flip", flags, np.uint64(5))
    assert flags.tolist() == [1, 0, 0, 0, 0]
    small = np.array([1, -128, 127], np.int8)
    loaded.run("double", small, np.uint64(3))
    assert small.tolist() == [2, 0, -2]
    brain = np.array([0x3F80, 0x7F80, 0x0001], np.uint16)
    loaded.run("brain", brain, np.uint64(3))
    assert brain.tolist() == [0x3F00, 0x7F80, 0x0000]


def coordinates_kernel() -> typed.RawKernel:
    """Item number n (over the whole launch, x fastest) writes its twelve coordinates and its three global numbers to out[15 * n]."""
    out = Slot("out", PointerType(U64))
    at = Slot("at", U64)

    def flat(names: tuple[typed.IndexName, typed.IndexName]) -> typed.Expression:
        place, size = names
        row = binary("add", binary("mul", index(place, 2), index(size, 1)), index(place, 1))
        return binary("add", binary("mul", row, index(size, 0)), index(place, 0))

    items = binary("mul", binary("mul", index("block_dim", 0), index("block_dim", 1)), index("block_dim", 2))
    number = binary("add", binary("mul", flat(("block_id", "grid_dim")), items), flat(("local_id", "block_dim")))
    names: tuple[typed.IndexName, ...] = ("block_id", "local_id", "block_dim", "grid_dim", "global_id")
    stores = [
        typed.Store(out, binary("add", read(at), constant(U64, 3 * n + dim)), index(name, dim))
        for n, name in enumerate(names)
        for dim in range(3)
    ]
    assign = typed.Assign(at, binary("mul", number, constant(U64, 15)))
    made = function("where_body", (out,), None, assign, *stores, variables=(at,), uses_index=True)
    return typed.RawKernel("where", made, (4, 4, 4))


@pytest.mark.parametrize(
    ("grid", "block"), [((3, 2, 4), (2, 3, 2)), ((1, 1, 1), (5, 1, 1)), ((7, 1, 1), (1, 1, 1)), ((1, 5, 2), (1, 4, 1))]
)
def test_every_item_of_every_block_knows_its_place(grid: tuple[int, int, int], block: tuple[int, int, int]) -> None:
    loaded = Loaded(module([coordinates_kernel()]))
    blocks, items = int(np.prod(grid)), int(np.prod(block))
    expected = [
        [bx, by, bz, x, y, z, *block, *grid, bx * block[0] + x, by * block[1] + y, bz * block[2] + z]
        for bz in range(grid[2])
        for by in range(grid[1])
        for bx in range(grid[0])
        for z in range(block[2])
        for y in range(block[1])
        for x in range(block[0])
    ]
    whole = np.full((blocks * items, 15), 99, np.uint64)
    loaded.run("where", whole, grid=grid, block=block)
    assert whole.tolist() == expected
    begin, end = blocks // 3, blocks - blocks // 4
    part = np.full((blocks * items, 15), 99, np.uint64)
    loaded.run("where", part, grid=grid, block=block, begin=begin, end=end)
    untouched = [[99] * 15] * (blocks * items)
    assert part.tolist() == untouched[: begin * items] + expected[begin * items : end * items] + untouched[end * items :]


@pytest.mark.parametrize(
    ("grid", "block"), [((0, 1, 1), (1, 1, 1)), ((2, 0, 2), (1, 1, 1)), ((1, 1, 1), (0, 1, 1)), ((1, 1, 1), (1, 1, 0))]
)
def test_an_empty_launch_does_nothing(grid: tuple[int, int, int], block: tuple[int, int, int]) -> None:
    out = np.zeros(15, np.uint64)
    Loaded(module([coordinates_kernel()])).run("where", out, grid=grid, block=block)
    assert not out.any()


INNER = ParamsType("Inner", (ParamsField("w", F64, 0), ParamsField("on", BOOL, 8)), 16, 8)
OUTER = ParamsType(
    "Outer",
    (ParamsField("small", I16, 0), ParamsField("inner", INNER, 8), ParamsField("table", I32, 24, count=3)),
    40,
    8,
)


def params_module(chosen: ScalarType) -> typed.Module:
    """Reads every leaf of OUTER through a device function that is passed the struct, and every kind of scalar argument."""
    p, flag, out, at = Slot("p", OUTER), Slot("flag", BOOL), Slot("out", PointerType(F64)), Slot("at", chosen)
    inner, k = Slot("q", OUTER), Slot("k", chosen)
    leaf = typed.ReadParam(I32, inner, 24, read(k), 3)
    total = binary("add", typed.Cast(F64, typed.ReadParam(I16, inner, 0)), typed.ReadParam(F64, inner, 8))
    gate = typed.Conditional(F64, typed.ReadParam(BOOL, inner, 16), binary("add", total, typed.Cast(F64, leaf)), constant(F64, -1.0))
    callee = function("leaves", (inner, k), F64, typed.Return(gate))
    call = typed.Call(F64, callee, (p, read(at)))
    value = typed.Conditional(F64, read(flag), call, constant(F64, 0.25))
    made = function("params_body", (p, flag, out, at), None, typed.Store(out, constant(U64, 1), value))
    return module([typed.RawKernel("params", made, (1, 1, 1))], callee)


@pytest.mark.parametrize("chosen", [I64, U64], ids=str)
def test_params_and_scalars(chosen: ScalarType) -> None:
    loaded = Loaded(params_module(chosen))
    for on, flag, at, expected in ((1, 1, 2, -5 + 0.5 + 30), (2, 1, 0, -5 + 0.5 + 10), (0, 1, 0, -1.0), (1, 0, 0, 0.25)):
        packed = struct.pack("<h6xdB7x3i4x", -5, 0.5, on, 10, 20, 30)
        out = np.zeros(3)
        loaded.run("params", packed, np.uint8(flag), out, np.int64(at))
        assert out.tolist() == [0, expected, 0]


def test_pointers_of_a_raw_kernel_may_alias() -> None:
    """out[i + 1] = out[i] + a[i] with out and a the same memory: each item sees what the one before it wrote."""
    a, out, n = Slot("a", PointerType(I32)), Slot("out", PointerType(I32)), Slot("n", U64)
    following = binary("add", index(), constant(U64, 1))
    value = binary("add", element(out, index()), element(a, index()))
    body = typed.If(compare("lt", index(), read(n)), (typed.Store(out, following, value),), ())
    made = function("chain_body", (a, out, n), None, body, uses_index=True)
    data = np.ones(65, np.int32)
    Loaded(module([typed.RawKernel("chain", made, (64, 1, 1))])).run("chain", data, data, np.uint64(20), block=(64, 1, 1))
    assert data.tolist() == [2**k for k in range(21)] + [1] * 44


def test_a_device_function_gets_pointers_and_coordinates() -> None:
    """A callee that reads its coordinate and writes through the pointer that it is passed."""
    out, inner, by = Slot("out", PointerType(I32)), Slot("where", PointerType(I32)), Slot("by", I32)
    store = typed.Store(inner, index(), binary("mul", typed.Cast(I32, index()), read(by)))
    callee = function("fill", (inner, by), None, store, uses_index=True)
    call = typed.Evaluate(typed.Call(None, callee, (out, constant(I32, 3))))
    made = function("filled_body", (out,), None, call, uses_index=True)
    data = np.zeros(12, np.int32)
    Loaded(module([typed.RawKernel("filled", made, (4, 1, 1))], callee)).run("filled", data, grid=(3, 1, 1), block=(4, 1, 1))
    assert data.tolist() == [3 * k for k in range(12)]


@pytest.mark.parametrize("length", [3, 200])
def test_local_arrays_start_zeroed_for_every_item(length: int) -> None:
    """Each item adds 1 to one place of its array and stores the sum over all: always 1, whatever the last item left on the stack."""
    out, local = Slot("out", PointerType(U8)), Slot("local", LocalArrayType(U8, length))
    k, total = Slot("k", U64), Slot("total", U8)
    place = binary("mod", index(), constant(U64, length))
    sum_up = typed.Assign(total, binary("add", read(total), typed.Load(U8, local, read(k))))
    body = (
        typed.Clear(local),
        typed.Store(local, place, binary("add", typed.Load(U8, local, place), constant(U8, 1))),
        typed.ForRange(k, constant(U64, 0), constant(U64, length), constant(U64, 1), (sum_up,)),
        typed.Store(out, index(), read(total)),
    )
    made = function("local_body", (out,), None, *body, variables=(local, k, total), uses_index=True)
    data = np.zeros(500, np.uint8)
    Loaded(module([typed.RawKernel("local", made, (500, 1, 1))])).run("local", data, block=(500, 1, 1))
    assert data.tolist() == [1] * 500


def test_tables_share_equal_bits_only() -> None:
    """Zeros of either sign are two tables; an equal table made a second time is the first."""
    tables = [TableType(F32, (0.0, 1.5)), TableType(F32, (-0.0, 1.5)), TableType(F32, (0.0, 1.5)), TableType(BOOL, (True, False))]
    out = Slot("out", PointerType(F32))
    stores = [typed.Store(out, constant(U64, n), typed.Load(F32, table, index())) for n, table in enumerate(tables[:3])]
    chosen = typed.Conditional(F32, typed.Load(BOOL, tables[3], index()), constant(F32, 7.0), constant(F32, 8.0))
    made = function("tables_body", (out,), None, *stores, typed.Store(out, constant(U64, 3), chosen), uses_index=True)
    tree = module([typed.RawKernel("tables", made, (1, 1, 1))])
    text = emit(tree, CPU)
    assert text.count("private unnamed_addr constant") == 3
    data = np.full(4, 9, np.float32)
    Loaded(tree).run("tables", data)
    assert data.tolist() == [0.0, 0.0, 0.0, 7.0]
    assert np.signbit(data).tolist() == [False, True, False, False]


def test_scale_relu_is_vectorised_without_a_check_of_aliasing() -> None:
    parsed = parse(emit(module([scale_relu()]), CPU))
    optimise(parsed, machine(CPU))
    text = str(parsed)
    assert "fmul <8 x float>" in text or "fmul <4 x float>" in text
    assert "memcheck" not in text


def test_a_map_that_reads_a_coordinate_is_a_fault_of_the_checker() -> None:
    x = Slot("x", U64)
    body = function("place_body", (x,), U64, typed.Return(index()), uses_index=True)
    with pytest.raises(InternalError, match="place"):
        emit(module([map_over("place", U64, body)]), CPU)
