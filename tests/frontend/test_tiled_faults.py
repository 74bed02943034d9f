"""Each kind of fault in a declaration of a reduction, a scan or an addition by index: its message and its fix, word for word."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontend.authoring import compiled, only_fault, write

MODULE = """
@g.params
class Params:
    a: f32

@g.params
class Others:
    b: f32

def square(x: f32, p: Params) -> f32:
    return x * x * p.a

def wide(x: i8) -> i64:
    return i64(x)

def nothing(x: f32) -> None:
    return

def two(x: f32, y: f32) -> f32:
    return x

def plus(a: f32, b: f32) -> f32:
    return a + b

"""

#: A declaration and what is said of it.
DECLARATIONS: list[tuple[str, str, str]] = [
    (
        "@g.reduce\ndef f(a: f32, b: f32) -> f32:\n    return a",
        "a reduce needs an identity, the result of an empty array",
        "write @g.reduce(identity=0)",
    ),
    (
        "@g.scan(exclusive=True)\ndef f(a: f32, b: f32) -> f32:\n    return a",
        "an exclusive scan needs an identity, its first element",
        "write @g.scan(exclusive=True, identity=0)",
    ),
    (
        "@g.reduce(identity=0)\ndef f(a: f32) -> f32:\n    return a",
        "the function of a reduce combines two values of one type; this one takes (f32)",
        "write def f(a: f32, b: f32) -> f32; params go to pre=f",
    ),
    (
        "@g.reduce(identity=0)\ndef f(a: f32, b: i32) -> f32:\n    return a",
        "the function of a reduce combines two values of one type; this one takes (f32, i32)",
        "write def f(a: f32, b: f32) -> f32; params go to pre=f",
    ),
    (
        "@g.scan\ndef f(a: f32, b: f32, p: Params) -> f32:\n    return a",
        "the function of a scan combines two values of one type; this one takes (f32, f32, Params)",
        "write def f(a: f32, b: f32) -> f32; params go to pre=f",
    ),
    (
        "@g.reduce(identity=0)\ndef f(a: ptr[f32], b: ptr[f32]) -> f32:\n    return a[0]",
        "the function of a reduce combines two values of one type; this one takes (ptr[f32], ptr[f32])",
        "write def f(a: f32, b: f32) -> f32; params go to pre=f",
    ),
    (
        "@g.reduce(identity=0)\ndef f(a: f32, b: f32) -> f64:\n    return a",
        "the function of a reduce returns the type that it combines, f32; this one returns f64",
        "write -> f32",
    ),
    (
        "@g.scan\ndef f(a: i8, b: i8):\n    return",
        "the function of a scan returns the type that it combines, i8; this one returns nothing",
        "write -> i8",
    ),
    (
        "@g.reduce(identity=300)\ndef f(a: u8, b: u8) -> u8:\n    return a",
        "identity=300: 300 is out of range for u8 (0 to 255)",
        "write a number that is a value of u8",
    ),
    (
        "@g.reduce(identity=0.0)\ndef f(a: i32, b: i32) -> i32:\n    return a",
        "identity=0.0: 0.0 is a float, and i32 is not a float type",
        "write a number that is a value of i32",
    ),
    (
        "@g.scan(identity='0')\ndef f(a: i32, b: i32) -> i32:\n    return a",
        "identity='0' is no number",
        "write a number that is a value of i32",
    ),
    (
        "@g.reduce(identity=0, pre=wide)\ndef f(a: i32, b: i32) -> i32:\n    return a",
        "'wide' gives i64, and 'f' combines i32",
        "write def wide(...) -> i32",
    ),
    (
        "@g.reduce(identity=0, pre=two)\ndef f(a: f32, b: f32) -> f32:\n    return a",
        "pre takes an element and, if needed, params, and returns a value; 'two' takes (f32, f32) and returns f32",
        "write def two(x: f32) -> f32, or with a params struct: (x: f32, p: Params) -> f32",
    ),
    (
        'total = g.sum("total", f32, pre=nothing)',
        "pre takes an element and, if needed, params, and returns a value; 'nothing' takes (f32) and returns nothing",
        "write def nothing(x: f32) -> f32, or with a params struct: (x: f32, p: Params) -> f32",
    ),
    (
        'total = g.sum("total", f64, Params, pre=square)',
        "the elements are f64, and 'square' takes f32",
        "declare the sum of f32, or write def square(x: f64, ...)",
    ),
    (
        'total = g.sum("total", f32, Others, pre=square)',
        "params of the type Others are given, and 'square' takes Params",
        "pass Params, or nothing",
    ),
    (
        'total = g.sum("total", f32, Params)',
        "params of the type Params are given, and no function takes them",
        "remove them, or pass pre=f with f(x, p)",
    ),
    (
        'low = g.min("low", i8, Params, pre=wide)',
        "params of the type Params are given, and no function takes them",
        "remove them, or pass pre=f with f(x, p)",
    ),
    (
        'total = g.sum("total", bool)',
        "a sum adds numbers, and these are bool",
        "pass pre=f with a function f(x: bool) -> u64 that counts, or use g.any",
    ),
    (
        'some = g.any("some", f32, Params, pre=square)',
        "any works on integers and bool, and these are f32",
        "pass pre=f with a comparison: f(x: f32) -> bool",
    ),
    (
        'every = g.all("every", bf16)',
        "all works on integers and bool, and these are bf16",
        "pass pre=f with a comparison: f(x: bf16) -> bool",
    ),
    ('top = g.max("a b", f32)', "'a b' is no kernel name", 'write a C identifier such as name="scale_relu"'),
    (
        'top = g.max("top", f32, block_size=2000)',
        "block_size=2000 has 2000 work-items; every target allows at most 1024",
        "write block_size=256",
    ),
    (
        'total = g.sum("total", f32, pre=square)\n\n@g.map\ndef f(x: f32) -> f32:\n    return total(x)',
        "'total' is a sum kernel, which has no function of its own",
        "index the array: data[i]",
    ),
    (
        "def at(x: u64) -> u64:\n    return g.local_id(0)\n\n@g.reduce(identity=0, pre=at)\ndef f(a: u64, b: u64) -> u64:\n    return a",
        "the function of a reduce sees one element, and no coordinates such as g.global_id",
        "write a raw kernel, @g.kernel, to work with coordinates",
    ),
    (
        'hist = g.scatter_add("hist", bool, u32)',
        "a scatter_add adds numbers, and these are bool",
        'write g.scatter_add("hist", u8, u32)',
    ),
    (
        'hist = g.scatter_add("hist", f32, f32)',
        "the index of a scatter_add is an integer, and this is f32",
        'write g.scatter_add("hist", f32, u32)',
    ),
]


@pytest.mark.parametrize(("declaration", "what", "fix"), DECLARATIONS, ids=[what for _, what, _ in DECLARATIONS])
def test_a_declaration_is_refused_in_these_words(tmp_path: Path, declaration: str, what: str, fix: str) -> None:
    assert only_fault(tmp_path, MODULE + declaration + "\n") == (what, fix)


def test_what_is_accepted(tmp_path: Path) -> None:
    """Every way to write one; a kernel's function serves as `pre`, and a reduction's own function can be called."""
    body = MODULE + (
        "@g.map\ndef halve(x: f32) -> f32:\n    return x * 0.5\n\n"
        "@g.reduce(identity=0, pre=halve)\ndef a(x: f32, y: f32) -> f32:\n    return plus(x, y)\n\n"
        "b = g.reduce(identity=f32(0.0), name='b', block_size=1)(plus)\n\n"
        "@g.scan\ndef c(x: bool, y: bool) -> bool:\n    return x ^ y\n\n"
        "d = g.sum('d', i8, pre=wide)\ne = g.all('e', i8, pre=wide)\nh = g.sum_scan('h', f32, Params, pre=square, exclusive=True)\n\n"
        "@g.map\ndef k(x: f32) -> f32:\n    return a(x, 1.0)\n"
    )
    root = compiled(write(tmp_path, body), "sm_75")
    params = "Params{a: f32 @0; size 4, align 4}"
    assert [(kernel.name, kernel.signature) for kernel in root.kernels if kernel.kind not in ("map",)] == [
        ("a", "reduce(data: ptr[f32], partials: ptr[f32], out: ptr[f32], len: u64, stage: u64) block=256,1,1"),
        ("b", "reduce(data: ptr[f32], partials: ptr[f32], out: ptr[f32], len: u64, stage: u64) block=1,1,1"),
        ("c", "scan(in: ptr[bool], partials: ptr[bool], out: ptr[bool], len: u64, stage: u64) block=256,1,1"),
        ("d", "sum(data: ptr[i8], partials: ptr[i64], out: ptr[i64], len: u64, stage: u64) block=256,1,1"),
        ("e", "all(data: ptr[i8], partials: ptr[bool], out: ptr[bool], len: u64, stage: u64) block=256,1,1"),
        ("h", f"exclusive_sum_scan(in: ptr[f32], partials: ptr[f32], out: ptr[f32], len: u64, stage: u64, params: {params}) block=256,1,1"),
    ]
