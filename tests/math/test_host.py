"""`g.math` on the host: numbers through the evaluator, arrays through the CPU kernel, both with the bits of a kernel."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gompute as g
from gompute import f16, f32


def test_numbers_keep_their_type() -> None:
    assert g.math.sqrt(2.0) == math.sqrt(2.0) and type(g.math.sqrt(2.0)) is float
    assert g.math.sqrt(f32(2)) == float(np.sqrt(np.float32(2)))
    assert g.math.exp(f32(1)) == float(np.float32(math.e))
    assert g.math.exp(f16(1)) == float(np.float16(math.e))
    assert g.math.exp(np.float32(1)) == float(np.float32(math.e))
    assert g.math.fmod(f32(5), 3) == 2.0


def test_arrays_of_any_shape_type_and_layout() -> None:
    for dtype in (np.float16, np.float32):
        a = np.linspace(-4, 4, 24, dtype=dtype).reshape(2, 3, 4)
        wanted = np.exp(a.astype(np.float64)).astype(dtype)
        for array in (a, np.asfortranarray(a), a[:, ::2], a[0, 0, 0], a.T):
            got = g.math.exp(array)
            assert isinstance(got, np.ndarray) and got.dtype == dtype
            np.testing.assert_array_equal(got, np.exp(array.astype(np.float64)).astype(dtype))
        np.testing.assert_array_equal(g.math.exp(a), wanted)
    assert g.math.floor(np.empty((0, 3), np.float64)).shape == (0, 3)
    np.testing.assert_array_equal(g.math.floor([1.5, -1.5]), [1.0, -2.0])


def test_arguments_broadcast_and_promote() -> None:
    a, b = np.array([[5.5], [-7.25]], np.float32), np.array([2, 3, -4], np.float16)
    got = g.math.fmod(a, b)
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, np.fmod(a, b))
    np.testing.assert_array_equal(g.math.fmod(a, 2), np.fmod(a, np.float32(2)))
    assert g.math.fmod(a, 2.0).dtype == np.float32
    assert g.math.fma(a, b, 1.0).shape == (2, 3)


def test_out_takes_the_result_and_may_be_an_argument() -> None:
    a = np.linspace(0, 9, 10, dtype=np.float32)
    wanted = np.sqrt(a)
    out = np.zeros_like(a)
    assert g.math.sqrt(a, out=out) is out
    np.testing.assert_array_equal(out, wanted)
    shifted = np.concatenate([a, [np.float32(0)]])
    g.math.sqrt(shifted[:-1], out=shifted[1:])
    np.testing.assert_array_equal(shifted[1:], wanted)
    spread = np.zeros(20, np.float32)
    g.math.sqrt(a, out=spread[::2])
    np.testing.assert_array_equal(spread[::2], wanted)
    g.math.sqrt(a, out=a)
    np.testing.assert_array_equal(a, wanted)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: g.math.sqrt(1.0, 2.0), "g.math.sqrt takes 1 argument, and 2 are given"),
        (lambda: g.math.fmod(1.0), "g.math.fmod takes 2 arguments, and 1 are given"),
        (lambda: g.math.sqrt(g.i32(4)), "g.math.sqrt takes floats, and this is i32; write g.f32(...) or g.f64(...) around it"),
        (lambda: g.math.sqrt("4"), "g.math.sqrt takes floats, and this is '4'; write g.f32(...) or g.f64(...) around it"),
        (
            lambda: g.math.sqrt(np.arange(3)),
            "g.math.sqrt takes arrays of float16, float32 or float64, and this is int64; write a.astype(...)",
        ),
        (lambda: g.math.fmod(np.zeros(2), np.zeros(3)), "g.math.fmod: the shapes (2,) and (3,) do not broadcast"),
        (lambda: g.math.fmod(np.zeros(2)), "g.math.fmod takes 2 arguments, and 1 are given"),
        (
            lambda: g.math.sqrt(np.zeros(2), out=np.zeros(3)),
            "g.math.sqrt: out has to be a writable array of float64, (2,), and this is an array of float64, (3,)",
        ),
        (lambda: g.math.sqrt(np.zeros(2), out=3), "g.math.sqrt: out has to be a writable array of float64, (2,), and this is 3"),
    ],
)
def test_what_is_refused(call: object, words: str) -> None:
    assert callable(call)
    with pytest.raises(g.InvalidArgument) as caught:
        call()
    assert str(caught.value) == words


def test_arrays_without_the_compiler_say_so_and_numbers_need_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(spec: object) -> None:
        raise g.BackendUnavailable("install the compiler extra")

    monkeypatch.setattr("gompute.in_process.compile_for_cpu", missing)
    assert g.math.trunc(-2.5) == -2.0
    with pytest.raises(g.BackendUnavailable) as caught:
        g.math.trunc(np.zeros(2, np.float16))
    assert str(caught.value) == (
        "kernel 'trunc_f16' on cpu: it is compiled on first use\nand it cannot be compiled here: install the compiler extra"
    )
