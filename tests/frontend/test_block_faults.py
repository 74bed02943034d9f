"""Faults in what work-items do together, and in arrays with a shape: the whole text of each."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.frontend.authoring import faults, only_fault

MODULE = """
from gompute import array

def meet(d: ptr[f32]) -> None:
    g.barrier()

def first(a: array[f32, 2]) -> f32:
    return a[0, 0]

def flat(a: array[f32, 1]) -> f32:
    return a[0]

def further(d: ptr[f32]) -> None:
    d[0] = flat(d)

def add_to(d: ptr[f32]) -> None:
    g.atomic_add(d, 0, 1.0)

def again(d: ptr[f32]) -> None:
    d = g.local(f32, 8)

@g.kernel
def k(d: ptr[f32], a: array[f32, 2], b: array[i32, 1], h: ptr[f16], n: u64, c: i32, x: f32):
"""

# A statement of that kernel, and what is said of it.
STATEMENTS: list[tuple[str, str, str]] = [
    # arrays with a shape
    ("y = a[0]", "an array[f32, 2] takes 2 indices, and one is given", "write a[i, j]"),
    ("a[n] = x", "an array[f32, 2] takes 2 indices, and one is given", "write a[i, j]"),
    ("y = a[0, 1, 2]", "an array[f32, 2] takes 2 indices, and 3 are given", "write a[i, j]"),
    ("y = b[0, 1]", "an array[i32, 1] takes one index, and 2 are given", "write b[i]"),
    ("y = a[0, x]", "an index is an integer, and this is f32", "write i64(...) around it"),
    ("y = a[0, -1]", "index -1 is out of range for dimension 1 of an array[f32, 2]", "an index counts from 0"),
    ("y = b[-1]", "index -1 is out of range for an array[i32, 1]", "an index counts from 0"),
    ("y = a.shape[2]", "index 2 is out of range for the shape of 'a'", "it has 2 elements"),
    ("y = a.shape[c]", "the dimension of a shape is a constant", "write a.shape[0]"),
    ("y = a.shape", "the shape of 'a' is no value to compute with", "use a number, a variable, or an element of an array"),
    ("i, j, l = a.shape", "2 values for 3 names", "give each name a value"),
    ("y = a.shap", "an array[f32, 2] has no attribute 'shap' (did you mean 'shape'?)", "it has shape, ndim"),
    ("y = a + 1", "an array[f32, 2] is no value to compute with", "use a number, a variable, or an element of an array"),
    ("a = x", "'a' is an array[f32, 2] and cannot be assigned", "use another name"),
    ("y = first(b)", "argument 'a' of 'first' is array[f32, 2], and this is an array[i32, 1]", "pass an argument of that type on"),
    ("b[0] = x", "the element is i32, and this is f32: the conversion could lose digits", "write i32(...) to convert it"),
    # shared arrays
    (
        "if x > 0:\n    t = g.shared(f32, 8)",
        "a shared array is made once for the block, outside branches and loops",
        "move this line to the start of the function",
    ),
    (
        "for i in range(2):\n    t = g.dynamic_shared(f32)",
        "a shared array is made once for the block, outside branches and loops",
        "move this line to the start of the function",
    ),
    ("t = g.shared(f32, 8)\nt = g.shared(f32, 8)", "'t' already names something else", "use another name"),
    ("t = g.shared(f32)", "'shared' takes an element type and a length or a shape", "write g.shared(f32, 256)"),
    ("t = g.dynamic_shared(f32, 8)", "'dynamic_shared' takes an element type", "write g.dynamic_shared(f32)"),
    ("t = g.shared(8, 8)", "the number 8 is no scalar type", "write g.shared(f32, 256)"),
    (
        "t = g.shared(f32, n)",
        "the length of a shared array is a constant from 1 to 1048576, or a tuple of such with a product in that range",
        "write g.shared(f32, 256)",
    ),
    (
        "t = g.shared(f32, (2, 0))",
        "the length of a shared array is a constant from 1 to 1048576, or a tuple of such with a product in that range",
        "write g.shared(f32, 256)",
    ),
    (
        "y = g.shared(f32, 8)[0]",
        "'shared' makes an array only as the whole right side of an assignment",
        "write tile = g.shared(f32, 256)",
    ),
    (
        "y, z = g.dynamic_shared(f32), x",
        "'dynamic_shared' makes an array only as the whole right side of an assignment",
        "write tile = g.dynamic_shared(f32)",
    ),
    ("s = t = g.shared(f32, 8)", "a shared array needs one name", "write tile = g.shared(f32, 256)"),
    ("t = g.shared(f32, (4, 8))\ny = t[3]", "a shared array of 4 x 8 f32 takes 2 indices, and one is given", "write t[i, j]"),
    (
        "t = g.shared(f32, (4, 8))\nt[0, 8] = x",
        "index 8 is out of range for dimension 1 of a shared array of 4 x 8 f32",
        "it has 8 elements",
    ),
    (
        "t = g.dynamic_shared(f32)\ny = t[1, 2]",
        "a shared array of dynamic size, f32 takes one index",
        "compute the position: data[row * width + column]",
    ),
    (
        "t = g.dynamic_shared(f32)\ny = len(t)",
        "a shared array of dynamic size, f32 has no length in a kernel",
        "pass the length as an argument",
    ),
    # arrays as arguments
    (
        "t = g.shared(f64, 8)\nmeet(t)",
        "argument 'd' of 'meet' is ptr[f32], and this is a shared array of 8 f64",
        "pass an argument of that type on",
    ),
    (
        "t = g.local(f32, 8)\ny = first(t)",
        "argument 'a' of 'first' is array[f32, 2], and this is a local array of 8 f32",
        "pass an argument of that type on",
    ),
    (
        "t = g.dynamic_shared(f32)\ny = flat(t)",
        "argument 'a' of 'flat' is array[f32, 1], and this is a shared array of dynamic size, f32",
        "pass an argument of that type on",
    ),
    ("y = first(d)", "argument 'a' of 'first' is array[f32, 2], and this is a ptr[f32]", "pass an argument of that type on"),
    (
        "t = g.shared(f32, (2, 8))\ny = first(t)\nfurther(t)",
        "argument 'a' of 'flat' is array[f32, 1], and this is a ptr[f32] to a shared array",
        "pass an argument of that type on",
    ),
    (
        "t = g.local(f32, 8)\nadd_to(t)",
        "an atomic operation on a ptr[f32] to a local array has no purpose",
        "write 'd[...] = ...': no other work-item sees it",
    ),
    ("t = g.local(f32, 8)\nagain(t)", "'d' already names something else", "use another name"),
    (
        "t = g.shared(f32, 8)\nmeet(g.shared)",
        "argument 'd' of 'meet' is ptr[f32], and this is 'shared'",
        "pass an argument of that type on",
    ),
    # barriers
    ("y = g.barrier()", "'g.barrier' returns nothing", "call it on a line of its own"),
    ("g.barrier(0)", "'barrier' takes no arguments", "write g.barrier()"),
    (
        "if g.local_id(0) < 32:\n    g.barrier()",
        "not every work-item of the block reaches this barrier: the branch around it depends on the work-item",
        "move the barrier out of the branch, and keep the work in it",
    ),
    (
        "i = g.global_id(0)\nif x > 0:\n    pass\nelif i % 2 == 0 and n > 3:\n    meet(d)",
        "not every work-item of the block reaches this barrier: the branch around it depends on the work-item",
        "move the barrier out of the branch, and keep the work in it",
    ),
    (
        "for i in range(g.local_id(0), n, g.block_dim(0)):\n    g.barrier()",
        "not every work-item of the block reaches this barrier: the loop around it depends on the work-item",
        "move the barrier out of the loop, and keep the work in it",
    ),
    (
        "i = g.lane_id()\nwhile i < n:\n    g.barrier()\n    i += 1",
        "not every work-item of the block reaches this barrier: the loop around it depends on the work-item",
        "move the barrier out of the loop, and keep the work in it",
    ),
    # atomic operations
    (
        "v = g.local(f32, 4)\ng.atomic_add(v, 0, x)",
        "an atomic operation on a local array of 4 f32 has no purpose",
        "write 'v[...] = ...': no other work-item sees it",
    ),
    (
        "g.atomic_add(x, 0, x)",
        "'atomic_add' works on an element of memory, and this is f32",
        "write g.atomic_add(data, i, value) with a ptr, an array or a shared array",
    ),
    ("g.atomic_max(h, 0, f16(1.0))", "no target has atomic operations on f16", "use one of i32, u32, i64, u64, f32, f64"),
    ("g.atomic_or(d, 0, 1)", "'atomic_or' works on integers, and these are f32", "use an integer array, and g.bitcast"),
    (
        "g.atomic_add(b, 0, x)",
        "argument 'value' of 'atomic_add' is i32, and this is f32: the conversion could lose digits",
        "write i32(...) to convert it",
    ),
    (
        "g.atomic_cas(b, 0, 0.5, 1)",
        "argument 'expected' of 'atomic_cas' is i32, and this is the number 0.5",
        "write i32(...) to convert it",
    ),
    ("g.atomic_add(a, 0, x)", "an array[f32, 2] takes 2 indices, and one is given", "write a[i, j]"),
    ("g.atomic_add(d, x, x)", "an index is an integer, and this is f32", "write i64(...) around it"),
    (
        "g.atomic_add(d, 0)",
        "'atomic_add' takes (place, index, value, scope=...), and (..., ...) is given",
        "write g.atomic_add(place, index, value)",
    ),
    (
        "g.atomic_cas(d, 0, x, order=1)",
        "'atomic_cas' takes (place, index, expected, value, scope=...), and (..., ..., ..., order=...) is given",
        "write g.atomic_cas(place, index, expected, value)",
    ),
    (
        "g.atomic_add(d, 0, x, scope='grid')",
        'the scope of \'atomic_add\' is "block" or "device" or "system", and a constant',
        'write scope="device"',
    ),
    # warps
    ("y = g.shuffle(1.0, 0)", "'shuffle' exchanges values of a declared type, and this is the number 1.0", "write f32(...) around it"),
    ("y = g.shuffle_up(x, x)", "argument 'delta' of 'shuffle_up' is an integer, and this is f32", "write u32(...) around it"),
    ("y = g.ballot(x > 0, mask=x)", "the mask of 'ballot' is an integer, and this is f32", "write u64(...) around it"),
    ("y = g.shuffle(x)", "'shuffle' takes (value, lane, mask=...), and (...) is given", "write g.shuffle(value, lane)"),
    ("y = g.lane_id(0)", "'lane_id' takes no arguments", "write g.lane_id()"),
    ("g.warp_size = 3", "a kernel cannot assign to an attribute: params are read-only", "use a local variable"),
]


@pytest.mark.parametrize(("statement", "what", "fix"), STATEMENTS, ids=[statement for statement, _, _ in STATEMENTS])
def test_statement(tmp_path: Path, statement: str, what: str, fix: str) -> None:
    assert only_fault(tmp_path, MODULE + textwrap.indent(statement, "    ") + "\n") == (what, fix)


@pytest.mark.parametrize(
    ("body", "no", "work_with"),
    [
        ("g.barrier()\n    return x", "other work-items to wait for with g.barrier", "blocks"),
        ("t = g.shared(f32, 8)\n    return x + t[0]", "block to share memory with through g.shared", "blocks"),
        ("return g.shuffle(x, 0)", "warp to exchange values with", "warps"),
        ("return x + g.lane_id()", "warp to exchange values with", "warps"),
    ],
)
def test_the_function_of_a_map_sees_no_block(tmp_path: Path, body: str, no: str, work_with: str) -> None:
    assert only_fault(tmp_path, f"@g.map\ndef k(x: f64) -> f64:\n    {body.replace('f32', 'f64')}\n") == (
        f"the function of a map sees one element, and no {no}",
        f"write a raw kernel, @g.kernel, to work with {work_with}",
    )


LARGE = "@g.kernel\ndef k(d: ptr[f32]):\n    a = g.shared(f32, 8192)\n    b = g.shared(f64, 8192)\n    d[0] = a[0] + f32(b[0])\n"


@pytest.mark.parametrize(("target", "limit"), [("sm_90", 49152), ("gfx1100", 65536)])
def test_the_limit_of_shared_memory(tmp_path: Path, target: str, limit: int) -> None:
    assert only_fault(tmp_path, LARGE, target) == (
        f"the shared arrays of 'k' take 98304 bytes, and {target} gives a kernel at most {limit}",
        "use smaller ones, or g.dynamic_shared with launch(..., shared=bytes) where the device has more",
    )


def test_the_limit_of_the_cpu(tmp_path: Path) -> None:
    assert only_fault(tmp_path, LARGE.replace("8192", "32768")) == (
        "the shared arrays of 'k' take 393216 bytes, and x86-64-v3 gives a kernel at most 327680",
        "use smaller ones, or g.dynamic_shared with launch(..., shared=bytes) where the device has more",
    )


def test_architectures_without_an_operation(tmp_path: Path) -> None:
    head = "@g.kernel\ndef k(d: ptr[f32]):\n"
    assert only_fault(tmp_path, f"{head}    d[0] = g.shuffle(d[0], 0)\n", "sm_61") == (
        "sm_61 has no 'shuffle' that waits for its warp; the first that has is sm_70",
        "leave out the target, or exchange through g.shared with barriers",
    )
    assert only_fault(tmp_path, f'{head}    g.atomic_add(d, 0, f32(1), scope="system")\n', "sm_52") == (
        'sm_52 has no atomic operations of the scope "system"; the first that has is sm_60',
        'leave out the target, or write scope="device"',
    )


def test_a_barrier_that_all_reach_is_none_of_these(tmp_path: Path) -> None:
    """Branches on the block, differences and quotients that the block shares, and early returns are the author's to get right."""
    from tests.frontend.authoring import compiled, write

    body = """
    i = g.global_id(0)
    if i >= n:
        return
    first = i - g.local_id(0)
    while first < n:
        g.barrier()
        first += 1024
    if g.block_id(0) == 0 or n > 5 or d[i] > 0:
        g.barrier()
    """
    file = write(tmp_path, MODULE + textwrap.indent(textwrap.dedent(body), "    "))
    assert "coro.suspend" in compiled(file).ir


@pytest.mark.parametrize("written", ["array[f32]", "array[f32, 0]", "array[f32, 9]", "array[3, 2]", "array[f32, True]"])
def test_an_array_type_that_is_none(tmp_path: Path, written: str) -> None:
    text = faults(tmp_path, f"from gompute import array\n\n@g.kernel\ndef k(a: {written}):\n    a[0] = 1\n")
    assert "is no array type; write array[f32, 2]: a scalar type and 1 to 8 dimensions" in text
