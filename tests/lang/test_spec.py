"""Kernel specs on the host: what a decorator records, and what a host call gives."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import gompute as g
from gompute.artifacts.describe import entry_of
from gompute.lang import abi


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
    assert entry.signature == "map(f32, Params{scale: f32 @0; size 4, align 4}) block=128,1,1"
    assert entry.fingerprint == abi.fingerprint(entry.signature)
    assert len(entry.fingerprint) == 16


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


def test_a_kernel_module_loads_neither_compiler_nor_driver_nor_numpy() -> None:
    source = "import sys, gompute as g\n@g.map\ndef f(x: g.f32) -> g.f32:\n    return x\n"
    check = "print(sorted({'llvmlite', 'numpy', 'cuda', 'hip', 'click', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", source + check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
