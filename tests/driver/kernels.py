"""The kernels of these tests, as an author declares them; kernels.c has their CPU builds."""

from __future__ import annotations

from gompute.lang.names import array, bf16, f16, f32, f64, fixed, i8, i16, i32, i64, ptr, u8, u16, u32, u64
from gompute.lang.operations import fused, gather, kernel, map, map_indexed, map_to, scatter, zip
from gompute.lang.params import params
from gompute.lang.reductions import sum
from gompute.lang.spec import KernelSpec


@params
class Params:
    scale: f32


@params
class Inner:
    weights: fixed[f32, 3]
    flag: bool


@params
class Mixed:
    count: u64
    inner: Inner
    ratio: f64


@map
def scale_relu(x: f32, p: Params) -> f32:
    y = x * p.scale
    return y if y > 0 else 0.0


@map
def weigh(x: f32, p: Inner) -> f32:
    return x * p.weights[0]


@map(block_size=128)
def negate(x: i32) -> i32:
    return -x


@map
def flip_bf16(x: bf16) -> bf16:
    return -x


@map_to
def widen(x: f32, p: Params) -> f64:
    return f64(x) * p.scale


@zip
def add(a: f32, b: f32) -> f32:
    return a + b


@zip(block_size=64)
def add_three(a: i32, b: i16, c: i8) -> i32:
    return a + b + c


@map_indexed
def count_up(x: u64, i: u64) -> u64:
    return x + i


relu_twice = fused("relu_twice", scale_relu, scale_relu)
pick = gather("pick", f64, i32)
put = scatter("put", f64, u8)


@map
def mark_ends(x: u8) -> u8:
    return x + 1


def widened(x: u8) -> u64:
    return u64(x)


far = gather("far", u8, i64)
count_tiles = sum("count_tiles", u8, pre=widened)


@kernel(block_size=256)
def raw_add(data: ptr[f32], n: u64):
    data[0] += 1.0


@kernel(block_size=(8, 8, 2))
def where(out: ptr[u64]):
    out[0] = 0


@kernel
def view_ends(a: array[u8, 2]):
    a[0, 0] = 1


@kernel
def every_type(
    out: ptr[u64],
    a: bool,
    b: i8,
    c: i16,
    d: i32,
    e: i64,
    f: u8,
    g: u16,
    h: u32,
    i: u64,
    j: f16,
    k: bf16,
    m: f32,
    n: f64,
):
    out[0] = 0


@kernel
def params_to(out: ptr[u8], p: Mixed):
    out[0] = 0


MAPS = (scale_relu, weigh, negate, flip_bf16)
OTHERS = (widen, add, add_three, count_up, relu_twice, pick, put)
LARGE = (mark_ends, far, count_tiles, view_ends)
SPECS: tuple[KernelSpec, ...] = (*MAPS, *OTHERS, *LARGE, raw_add, where, every_type, params_to)
