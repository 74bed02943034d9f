"""Kernel specs on the host: what a decorator records, and what a host call gives."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import gompute as g
from gompute.artifacts.describe import entry_of
from gompute.lang.operation import OPERATIONS


@g.params
class Params:
    scale: g.f32


@g.map
def plain(x: g.f32) -> g.f32:
    return x * 0.1


@g.map(name="other", block_size=128)
def named(x: g.f32, p: Params) -> g.f32:
    return x * p.scale


@g.kernel(block_size=(8, 4))
def raw(data: g.ptr[g.f32], n: g.u64, p: Params) -> None:
    i = g.global_id(0)
    if i < n:
        data[i] = p.scale


def test_the_entry_of_a_map_has_the_launch_arguments_of_the_operation() -> None:
    entry = entry_of(named)  # type: ignore[arg-type]
    assert (entry.name, entry.symbol, entry.kind, entry.block_size) == ("other", "other", "map", (128, 1, 1))
    assert [(a.name, a.kind, a.dtype, a.size, a.align) for a in entry.arguments] == [
        ("data", "pointer", "f32", 8, 8),
        ("len", "scalar", "u64", 8, 8),
        ("params", "params", "Params", 4, 4),
    ]
    assert entry.signature == "map(data: ptr[f32], len: u64, params: Params{scale: f32 @0; size 4, align 4}) block=128,1,1"


def test_the_entry_of_a_raw_kernel_has_its_own_arguments() -> None:
    entry = entry_of(raw)  # type: ignore[arg-type]
    assert [(a.name, a.kind, a.dtype) for a in entry.arguments] == [
        ("data", "pointer", "f32"),
        ("n", "scalar", "u64"),
        ("p", "params", "Params"),
    ]
    assert entry.block_size == (8, 4, 1)
    assert entry.signature == "kernel(data: ptr[f32], n: u64, p: Params{scale: f32 @0; size 4, align 4}) block<=8,4,1"


def test_a_host_call_rounds_as_a_device_does() -> None:
    assert plain(3.0) == 0.30000001192092896
    assert named(3.0, Params(0.1)) == 0.30000001192092896
    assert named(3.0, p=Params(0.1)) == 0.30000001192092896


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        ((), {}, "'other' takes (x, p): missing x, p"),
        ((1.0,), {}, "'other' takes (x, p): missing p"),
        ((1.0, Params(1.0), 3), {}, "'other' takes (x, p): 3 given"),
        ((1.0,), {"q": 1}, "'other': unexpected argument 'q'; it takes (x, p)"),
        (("a", Params(1.0)), {}, "'other': argument 'x' is f32, not 'a'"),
        ((1.0, 2.0), {}, "expected an instance of Params, not float"),
    ],
)
def test_a_wrong_host_call_names_the_argument(arguments: tuple[Any, ...], keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(g.InvalidArgument) as caught:
        named(*arguments, **keywords)
    assert str(caught.value) == message


def test_a_raw_kernel_with_pointers_has_no_host_call() -> None:
    with pytest.raises(g.Unsupported, match=r"'raw' takes a pointer \('data'\); launch it through gompute.RawKernel on a backend"):
        raw([1.0], 1, Params(1.0))  # type: ignore[arg-type]


def test_a_kernel_that_asks_for_coordinates_has_no_host_call() -> None:
    @g.kernel
    def where(n: g.u64) -> None:
        assert g.global_id(0) < n

    with pytest.raises(g.Unsupported, match="'where' asks for coordinates such as global_id"):
        where(1)


def test_a_failed_assert_stops_a_host_call() -> None:
    @g.map
    def positive(x: g.f32) -> g.f32:
        assert x > 0, "x is positive"
        return x

    assert positive(1.0) == 1.0
    with pytest.raises(AssertionError, match="x is positive"):
        positive(-1.0)


def test_a_kernel_made_in_a_function_may_use_params_local_to_it() -> None:
    @g.params
    class Local:
        by: g.f32

    @g.map
    def scaled(x: g.f32, p: Local) -> g.f32:
        return x * p.by

    assert scaled(2.0, Local(1.5)) == 3.0
    assert all(not isinstance(annotation, str) for annotation in scaled.__annotations__.values())


def test_types_convert_on_the_host_and_keep_their_type() -> None:
    assert g.u8(300) == 44
    assert g.i32(float("nan")) == 0
    assert g.f32(0.1) == 0.10000000149011612
    assert g.f32(0.1).dtype is g.f32  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["global_id", "local_id", "block_id", "block_dim", "grid_dim"])
def test_a_coordinate_exists_only_in_a_kernel(name: str) -> None:
    with pytest.raises(g.Unsupported, match=f"{name} has a value only inside a running kernel"):
        getattr(g, name)(0)


def test_decorating_something_else_says_what_to_write() -> None:
    with pytest.raises(g.CompileError, match="@map decorates a function"):
        g.map(3)  # type: ignore[call-overload]
    with pytest.raises(g.CompileError, match="@params decorates a class"):
        g.params(3)  # type: ignore[type-var]


# ---- operations ----


@g.map_to
def widen(x: g.f32, p: Params) -> g.f64:
    return g.f64(x) * p.scale


@g.zip(name="mix")
def three(a: g.f32, b: g.i8, c: bool, p: Params) -> g.f32:
    return a + b * p.scale if c else a


@g.map_indexed
def ramp(x: g.i32, i: g.u64) -> g.i32:
    return x + g.i32(i)


def square(x: g.f32) -> g.f32:
    return x * x


both = g.fused("both", named, square, block_size=64)
again = g.fused("again", both, square)
renamed = g.unary("renamed", square)
pick = g.gather("pick", g.f32, g.i16)
put = g.scatter("put", bool, g.u64, block_size=32)

PARAMS = "Params{scale: f32 @0; size 4, align 4}"


@pytest.mark.parametrize(
    ("spec", "arguments", "head"),
    [
        (widen, f"in: ptr[f32], out: ptr[f64], len: u64, params: {PARAMS}", "map_to 256"),
        (three, f"a: ptr[f32], b: ptr[i8], c: ptr[bool], out: ptr[f32], len: u64, params: {PARAMS}", "zip 256"),
        (ramp, "data: ptr[i32], len: u64", "map_indexed 256"),
        (both, f"data: ptr[f32], len: u64, params: {PARAMS}", "fused 64"),
        (again, f"data: ptr[f32], len: u64, params: {PARAMS}", "fused 256"),
        (renamed, "data: ptr[f32], len: u64", "map 256"),
        (pick, "src: ptr[f32], idx: ptr[i16], out: ptr[f32], count: u64, bound: u64", "gather 256"),
        (put, "src: ptr[bool], idx: ptr[u64], out: ptr[bool], count: u64, bound: u64", "scatter 32"),
    ],
)
def test_the_entry_of_each_operation(spec: Any, arguments: str, head: str) -> None:
    entry = entry_of(spec)
    kind, block = head.split()
    assert entry.signature == f"{kind}({arguments}) block={block},1,1"
    assert (entry.kind, entry.name) == (kind, spec.name)


def test_every_operation_is_public() -> None:
    names = {name.removeprefix("exclusive_") for name in OPERATIONS} | {"unary"}
    assert names <= set(g.__all__)


def test_host_calls_of_each_operation() -> None:
    p = Params(0.1)
    assert widen(3.0, p) == 3.0 * 0.10000000149011612
    assert three(1.0, 3, True, p) == 1.2999999523162842
    assert three(1.0, c=False, b=3, p=p) == 1.0
    assert ramp(5, 7) == 12
    assert both(3.0, p) == 0.09000000357627869
    assert again(2.0, Params(1.0)) == 16.0
    assert renamed(3.0) == 9.0


def test_an_operation_without_a_function_has_no_host_call() -> None:
    for spec in (pick, put):
        message = f"'{spec.name}' is a {spec.kind}, which has no function to call; run it through gompute.Kernel"
        with pytest.raises(g.Unsupported) as caught:
            spec([1.0], 0, [0.0])
        assert str(caught.value) == message


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: g.map_to(3), "@map_to decorates a function, not 3; write @map_to above a 'def' with annotated arguments"),  # type: ignore[call-overload]
        (lambda: g.zip(3), "@zip decorates a function, not 3; write @zip above a 'def' with annotated arguments"),  # type: ignore[call-overload]
        (lambda: g.map_indexed(3), "@map_indexed decorates a function, not 3; write @map_indexed above a 'def' with annotated arguments"),  # type: ignore[call-overload]
        (
            lambda: g.fused("f", len),
            "g.fused takes functions and kernels of one element, not <built-in function len>; write a 'def' and pass its name",
        ),
        (
            lambda: g.fused("f", square, raw),
            "g.fused: 'raw' is a raw kernel, which has no function of one element; pass a function f(x, p)",
        ),
        (lambda: g.fused("f", pick), "g.fused: 'pick' is a gather, which has no function of one element; pass a function f(x, p)"),
        (lambda: g.unary("f", put), "g.unary: 'put' is a scatter, which has no function of one element; pass a function f(x, p)"),
        (lambda: g.unary("f", both), "g.unary: 'both' is fused of 2 functions; write g.fused"),
        (
            lambda: g.gather("f", float, g.u32),
            "g.gather: the type of an element is a scalar type, not <class 'float'>; write g.gather(\"gather\", f32, u32)",
        ),
        (
            lambda: g.scatter("f", g.f32, "u32"),
            "g.scatter: the type of an index is a scalar type, not 'u32'; write g.scatter(\"scatter\", f32, u32)",
        ),
    ],
)
def test_a_declaration_that_is_refused_at_once(declare: Any, message: str) -> None:
    with pytest.raises(g.CompileError) as caught:
        declare()
    assert str(caught.value) == message


def test_a_wrong_declaration_is_told_on_the_host_too() -> None:
    @g.zip
    def lonely(x: g.f32) -> g.f32:
        return x

    with pytest.raises(g.CompileError, match="kernel 'lonely': the function of a zip takes two or more elements and, if needed, params; "):
        entry_of(lonely)  # type: ignore[arg-type]
    with pytest.raises(g.CompileError, match="kernel 'pick': the index of a gather is an integer, and this is f32; write "):
        entry_of(g.gather("pick", g.f32, g.f32))


def test_a_kernel_module_loads_neither_compiler_nor_driver_nor_numpy() -> None:
    source = "import sys, gompute as g\n@g.map\ndef f(x: g.f32) -> g.f32:\n    return x\n"
    check = "print(sorted({'llvmlite', 'numpy', 'cuda', 'hip', 'click', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", source + check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
