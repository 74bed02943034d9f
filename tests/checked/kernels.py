"""Kernels in which a check of every kind fails, at the line that says so."""

import gompute as g
from gompute import array, bf16, f32, f64, i32, i64, u8, u32, u64

STEPS = g.table(f32, [0.5, 1.0, 1.5])


@g.params
class Params:
    weights: g.fixed[f32, 4]
    at: i32


def inverse(x: i32) -> i32:
    return 1000 // x  # fails: divided


@g.map
def divided(x: i32) -> i32:
    return inverse(x) + 1


@g.map
def remainder(x: u8) -> u8:
    return u8(200) % x  # fails: remainder


@g.map_to
def shifted(x: i64) -> i64:
    return i64(1) << x  # fails: shifted


@g.zip
def shifted_down(a: u32, b: u32) -> u32:
    return a >> b  # fails: shifted_down


@g.map_indexed
def stepped(x: f32, i: u64) -> f32:
    return x + STEPS[i]  # fails: stepped


@g.map
def weighed(x: f32, p: Params) -> f32:
    return (
        x * p.weights[p.at]  # fails: weighed
    )


@g.map
def positive(x: f32) -> f32:
    assert x > 0, "it is positive"  # fails: positive
    return x


@g.map
def small(x: f64) -> f64:
    assert x < 1.0 and x > -1.0  # fails: small
    return x


@g.map
def narrow(x: bf16) -> bf16:
    assert x != 2  # fails: narrow
    return x


@g.reduce(identity=0)
def bounded_sum(a: i32, b: i32) -> i32:
    assert a + b <= 10_000, "the sum fits"  # fails: bounded_sum
    return a + b


@g.scan(identity=1)
def running(a: i32, b: i32) -> i32:
    return a // b + b  # fails: running


@g.kernel(block_size=64)
def rows(a: array[f32, 2], i: i32, j: i32) -> None:
    if g.global_id(0) == 1:
        a[i, j] = 1.0  # fails: rows


@g.kernel(block_size=64)
def added(counts: array[u32, 1], i: i64) -> None:
    g.atomic_add(counts, i, 1)  # fails: added


@g.kernel(block_size=(8, 4))
def kept(data: g.ptr[u32], n: u64) -> None:
    own = g.local(u32, 6)
    for k in range(n):
        own[k] = u32(k)  # fails: kept
    data[g.local_id(1) * 8 + g.local_id(0)] = own[5]


def read(x: f32, n: u64) -> f32:
    g.barrier()
    assert n < 50  # fails: waited
    return x


@g.kernel(block_size=64)
def waited(data: g.ptr[f32], n: u64) -> None:
    shared = g.shared(f32, 64)
    i = g.local_id(0)
    shared[i] = data[i]
    g.barrier()
    got = shared[i + n]  # fails: shared
    g.barrier()
    data[i] = read(got, n if i == 3 else 0)


def third(x: i32) -> i32:
    return x - x % 3


@g.kernel(block_size=32)
def straight(data: g.ptr[i32], bits: u64) -> None:
    """The check in the line of each number fails where that bit is set; nothing else happens between them."""
    own = g.local(i32, 4)
    one = i32(1)
    assert bits & 1 == 0, "bit 0"  # fails: straight 0
    a = third(700) // (one - i32(bits >> 1 & 1))  # fails: straight 1
    b = 700 % (one - i32(bits >> 2 & 1))  # fails: straight 2
    c = one << (a - a + i32(bits >> 3 & 1) * 32)  # fails: straight 3
    d = one >> (b + i32(bits >> 4 & 1) * 40)  # fails: straight 4
    e = STEPS[2 + i64(bits >> 5 & 1)]  # fails: straight 5
    f = own[3 - i64(bits >> 6 & 1) * 5]  # fails: straight 6
    assert f32(c) * e > 0 and bits >> 7 & 1 == 0, "bit 7"  # fails: straight 7
    h = f + 8 // (one - i32(bits >> 8 & 1))  # fails: straight 8
    assert h < 9 + i32(bits >> 8) * 100 and bits >> 9 & 1 == 0, "bit 9"  # fails: straight 9
    k = 4 % (one - i32(bits >> 10 & 1))  # fails: straight 10
    data[0] = a + b + c + d + h + k


@g.kernel(block_size=32)
def stored(data: g.ptr[u32], bits: u64) -> None:
    """What comes before a check that fails has happened, and nothing of what comes after."""
    data[0] = 1
    assert bits & 1 == 0  # fails: stored 0
    data[1] = 1
    a = 5 // (u32(1) - u32(bits >> 1 & 1))  # fails: stored 1
    g.atomic_add(data, 2, a)
    assert bits >> 2 & 1 == 0  # fails: stored 2
    data[3] = data[2]
    assert bits >> 3 & 1 == 0  # fails: stored 3
    data[4] = 1
