"""What is said of faults in generic functions and in calls of them, word for word."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontend.authoring import only_fault

GENERIC = """
from typing import TypeVar
T = TypeVar("T", f32, f64)
S = TypeVar("S", i32, u8)
FREE = TypeVar("FREE")

def add(x: T, y: T) -> T:
    return x + y

def first(data: ptr[S], at: u64) -> S:
    return data[at]

def result_only(x: f32) -> T:
    return x

def inside_only(x: f32) -> f32:
    return T(x)

def open_ended(x: FREE) -> f32:
    return f32(x)

def again(x: T) -> T:
    return again(x)

@g.map
def whole(x: S) -> S:
    return x

@g.map
def plain(x: f32) -> f32:
    return x
"""

# The value of a statement in a raw kernel with d: ptr[f32], k: i32, x: f32, n: u64, and what is said of it.
ADD = "'add' is generic over T (f32, f64)"
CALLS = [
    (
        "add(x, f64(x))",
        f"{ADD}, and this call makes it f32 by 'x' and f64 by 'y'",
        "convert one of the arguments",
    ),
    ("add(x, k)", f"{ADD}, and this call makes it f32 by 'x' and i32 by 'y'", "convert one of the arguments"),
    ("add(k, 1)", f"{ADD}, and this call makes it i32 by 'x'", "convert it: f32(...)"),
    ("add(1, 2)", f"{ADD}, and no argument of this call says which", "convert one: f32(...)"),
    ("add(d, 2)", f"{ADD}, and no argument of this call says which", "convert one: f32(...)"),
    ("add(x)", "'add': missing a required argument: 'y'", "its arguments are (x: ~T, y: ~T) -> ~T"),
    ("first(d, n)", "'first' is generic over S (i32, u8), and this call makes it f32 by 'data'", "convert it: i32(...)"),
    ("first(x, n)", "'first' is generic over S (i32, u8), and no argument of this call says which", "convert one: i32(...)"),
    ("result_only(x)", "the result type is T, which is no scalar type", "use the type parameter in an argument too: a call fixes it there"),
    ("inside_only(x)", "the type parameter 'T' is in no argument of 'inside_only'", "use it in an argument too: x: T"),
    ("open_ended(x)", "the type parameter FREE names no scalar types", 'write FREE = TypeVar("FREE", f32, f64)'),
    ("again(x)", "recursion is not supported in a kernel: again -> again", "write a loop"),
    ("whole[f32](x)", "the kernel 'whole' has no instance [f32]", "it is generic over S (i32, u8)"),
    ("whole[x](x)", "f32 is no scalar type", "write whole[f32]"),
    ("plain[f32](x)", "the kernel 'plain' is not generic", "write plain alone"),
    ("whole(x)", "'whole' is generic over S (i32, u8), and this call makes it f32 by 'x'", "convert it: i32(...)"),
]


@pytest.mark.parametrize(("call", "what", "fix"), CALLS, ids=[call for call, _, _ in CALLS])
def test_a_faulty_call_of_a_generic_function(tmp_path: Path, call: str, what: str, fix: str) -> None:
    kernel = f"@g.kernel\ndef k(d: ptr[f32], k: i32, x: f32, n: u64):\n    d[0] = f32({call})\n"
    assert only_fault(tmp_path, GENERIC + kernel) == (what, fix)


def test_a_generic_kernel_without_types_is_one_fault(tmp_path: Path) -> None:
    body = "from typing import TypeVar\nFREE = TypeVar('FREE')\n@g.map\ndef k(x: FREE) -> FREE:\n    return x\n"
    assert only_fault(tmp_path, body) == ("the type parameter FREE names no scalar types", 'write FREE = TypeVar("FREE", f32, f64)')


def test_a_fault_of_one_instance_says_the_type(tmp_path: Path) -> None:
    body = "from typing import TypeVar\nT = TypeVar('T', i32, f32)\n@g.map\ndef k(x: T) -> T:\n    return x << 1\n"
    assert only_fault(tmp_path, body) == (
        "`<<` works on integers, not on f32",
        "write i32(...) or another integer type around the f32 operand",
    )


def test_an_instance_that_takes_the_name_of_another_kernel_is_refused(tmp_path: Path) -> None:
    body = (
        "from typing import TypeVar\nT = TypeVar('T', i32, f32)\n@g.map\ndef k(x: T) -> T:\n    return x\n"
        "@g.map\ndef k_f32(x: f32) -> f32:\n    return x\n"
    )
    assert only_fault(tmp_path, body) == ("the root 'root' has two kernels named 'k_f32'", 'give one another name: name="..."')
