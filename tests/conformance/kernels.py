"""The kernel root of the conformance suite: every statement and kind of expression of the language, each in a kernel of its own.

Raw kernels take their inputs and an output, one work-item per element; maps work in place.
"""

# The semantics of Python's operators are the subject here, so an expression may look odd.
# ruff: noqa: RET505

import enum
from typing import TypeVar

import conformance_shared as shared

import gompute as g
from gompute import bf16, f16, f32, f64, fixed, i8, i16, i32, i64, ptr, u8, u16, u32, u64, vec

THREE = 3
HALF = f32(0.5)
WEIGHTS = (0.25, 0.5, 0.25)
TABLE = g.table(i16, [5, -7, 11, -13])


class Mode(enum.IntEnum):
    KEEP = 0
    NEGATE = 1
    HALVE = 2


@g.params
class Inner:
    low: i8
    high: f64


@g.params
class Params:
    flag: bool
    scale: f32
    mode: Mode
    inner: Inner
    taps: fixed[f32, 3]
    count: u16


# ---- generic kernels: one source, several types ----

T = TypeVar("T", f16, f32, i8, u64)
F = TypeVar("F", f32, f64)


def twice(x: T) -> T:
    return x + x


@g.map
def double_plus(x: T) -> T:
    return twice(x) + T(3)


@g.kernel
def accumulate(a: F, x: ptr[F], y: ptr[F], counts: ptr[T], n: u64):
    i = g.global_id(0)
    if i < n:
        held = g.local(F, 2)
        held[0] = a * x[i]
        y[i] += held[0]
        counts[i] = twice(counts[i])


@g.map
def by_instances(x: f32) -> f32:
    return double_plus[f32](x) + double_plus(x) + f32(double_plus(u64(7)))


# ---- random numbers and vectors ----


@g.params
class Draw:
    seed: u64
    draw: u64
    by: vec[f32, 3]


@g.map_indexed
def noise(x: f32, i: u64, p: Draw) -> f32:
    return x * p.by[2] + g.random.uniform_f32(p.seed, i, p.draw) - p.by[0]


@g.kernel
def random_numbers(bits: ptr[u32], pairs: ptr[u64], doubles: ptr[f64], n: u64, seed: u64):
    i = g.global_id(0)
    if i < n:
        for draw in range(u64(6)):
            bits[i * 6 + draw] = g.random.bits(seed, i, draw)
        pairs[i] = g.random.bits64(seed, i << 30, u64(1) << 40)
        doubles[i] = g.random.uniform_f64(seed, i)


# ---- powers ----


@g.map
def powers(x: i16) -> i16:
    y = x**3
    y **= 2
    return y - i16(x**0) + (x + 1) ** 5


@g.zip
def power_of(x: u32, y: u8) -> u32:
    return x**y + 3**y + y**2


@g.map
def squares(x: f32) -> f32:
    return (x + 1) ** 2 + x**1


# ---- maps ----


@g.map
def scale_relu(x: f32, p: Params) -> f32:
    y = x * p.scale
    return y if y > 0 else 0.0


@g.map(block_size=64)
def no_params(x: i32) -> i32:
    return x * 3 - 1


@g.map
def by_mode(x: f64, p: Params) -> f64:
    if p.mode == Mode.NEGATE:
        return -x
    elif p.mode == Mode.HALVE:
        return x / 2
    return x


@g.map
def nested_params(x: f64, p: Params) -> f64:
    if not p.flag:
        return x
    return min(max(x, p.inner.low), p.inner.high) + p.count


@g.map
def taps(x: f32, p: Params) -> f32:
    total = 0.0
    for k in range(3):
        total += x * p.taps[k]
    return total


@g.map
def halves(x: f16) -> f16:
    return x * 1.5 + 0.25


@g.map
def brains(x: bf16) -> bf16:
    return x * x - 1.0


@g.map
def negated(x: bool) -> bool:
    return not x


@g.map
def fnv(x: u64) -> u64:
    start = 14695981039346656037
    return (start ^ x) * 1099511628211 + max(x, 0x8000000000000000)


def make_adder(amount: int):
    @g.map(name=f"add_{amount}")
    def add(x: i32) -> i32:
        return x + amount

    return add


add_1 = make_adder(1)
add_40 = make_adder(40)
doubled, tripled = g.map(name="doubled")(shared.twice), g.map(name="tripled")(shared.thrice)


# ---- other operations ----


@g.map_to
def widen(x: f32, p: Params) -> f64:
    return f64(x) * p.inner.high


@g.map_to(block_size=96)
def is_even(x: i64) -> bool:
    return x % 2 == 0


@g.map_to
def same_type(x: u8) -> u8:
    return ~x


@g.zip
def axpy(x: f32, y: f32, p: Params) -> f32:
    return p.scale * x + y


@g.zip
def blend(x: f16, y: i8, keep: bool, w: f64) -> f64:
    return x * w + y if keep else -w


@g.map_indexed
def place(x: u32, i: u64) -> u32:
    return x + u32(i * 3)


@g.map_indexed
def ramp(x: f32, i: u64, p: Params) -> f32:
    return x + f32(i) * p.scale


@g.map
def halve(x: f32) -> f32:
    return x * 0.5


def to_int(x: f32) -> i32:
    return i32(x)


def to_float(x: i32) -> f32:
    return f32(x)


both = g.fused("both", scale_relu, halve)
through_ints = g.fused("through_ints", both, to_int, no_params, to_float, block_size=64)
renamed = g.unary("renamed", halve)
clipped = g.unary("clipped", shared.clip)
# The types of a generic part follow from what stands beside it.
doubled_back = g.fused("doubled_back", halve, twice)

MOVES = (
    ("f32", f32, u32),
    ("f64", f64, i64),
    ("bool", bool, i8),
    ("u8", u8, u8),
    ("bf16", bf16, i16),
    ("i16", i16, u16),
    ("f16", f16, i32),
)
MOVED = [
    declare(f"{declare.__name__}_{name}", element, index, block_size=128)
    for declare in (g.gather, g.scatter)
    for name, element, index in (*MOVES, ("u64", u64, u64))
]


# ---- reductions and scans ----


def scaled_square(x: f32, p: Params) -> f32:
    return x * x * p.scale


def widened(x: i8) -> i64:
    return i64(x)


energy = g.sum("energy", f32, Params, pre=scaled_square)
counted = g.sum("counted", i8, pre=widened, block_size=32)
half_sum = g.sum("half_sum", f16)
sum_of_twice = g.sum("sum_of_twice", u64, pre=twice)
least = g.min("least", f64, block_size=64)
greatest = g.max("greatest", bf16)
some = g.any("some", i16, pre=shared.odd)
every = g.all("every", bool)


@g.reduce(identity=1, block_size=100)
def product(a: u64, b: u64) -> u64:
    return a * b


@g.scan(identity=-2147483648, exclusive=True, block_size=192)
def highest_before(a: i32, b: i32) -> i32:
    return max(a, b)


@g.scan(identity=1)
def products(a: u32, b: u32) -> u32:
    return a * b


running = g.sum_scan("running", f32)
before = g.sum_scan("before", i64, exclusive=True)

SUMS = (("f32", f32, u32), ("f64", f64, i64), ("i32", i32, i8), ("u64", u64, u8), ("bf16", bf16, i16), ("f16", f16, i32), ("i8", i8, u16))
ADDED = [g.scatter_add(f"scatter_add_{name}", element, index, block_size=128) for name, element, index in SUMS]


# ---- statements, one work-item per element ----


@g.kernel
def collatz(data: ptr[u32], out: ptr[i32], n: u64):
    i = g.global_id(0)
    if i >= n:
        return
    x = data[i]
    steps = i32(0)
    while x > 1:
        if x % 2 == 0:
            x //= 2
        else:
            x = 3 * x + 1
        steps += 1
    out[i] = steps


@g.kernel
def first_divisor(data: ptr[i32], out: ptr[i32], n: u64):
    i = g.global_id(0)
    if i < n:
        found = data[i]
        for d in range(2, data[i]):
            if data[i] % d != 0:
                continue
            found = d
            break
        out[i] = found


@g.kernel
def swap_and_chain(a: ptr[f32], b: ptr[f32], n: u64):
    i = g.global_id(0)
    if i < n:
        x, y = a[i], b[i]
        x, y = y, x
        if 0.0 < x <= y < 10.0:
            x = y = 1.0
        a[i] = x
        b[i] = y


@g.kernel
def sort_four(data: ptr[i16], n: u64):
    i = g.global_id(0)
    if i < n:
        v = g.local(i16, 4)
        for k in range(4):
            v[k] = data[i * 4 + k]
        for end in range(3, 0, -1):
            for k in range(end):
                if v[k] > v[k + 1]:
                    v[k], v[k + 1] = v[k + 1], v[k]
        for k in range(4):
            data[i * 4 + k] = v[k]


@g.kernel
def smooth(data: ptr[f32], out: ptr[f32], n: u64):
    i = g.global_id(0)
    if i < n:
        total = 0.0
        for k in range(len(WEIGHTS)):
            j = i + k
            if j > 0 and j <= n:
                total = total + data[j - 1] * WEIGHTS[k]
        out[i] = total


class Field(enum.IntEnum):
    NUMBER = 0
    EMPTY = 1
    BAD = 2


@g.kernel
def parse_fields(text: ptr[u8], starts: ptr[u32], values: ptr[i64], kinds: ptr[u8], n: u64):
    i = g.global_id(0)
    if i >= n:
        return
    at, end = starts[i], starts[i + 1]
    if at == end:
        kinds[i] = Field.EMPTY
        return
    negative = text[at] == ord("-")
    if negative:
        at += 1
    value, kind = i64(0), Field.NUMBER
    while at < end:
        digit = text[at]
        if digit == ord(";"):
            break
        if not ord("0") <= digit <= ord("9"):
            kind = Field.BAD
            break
        value = value * 10 + (digit - ord("0"))
        at += 1
    values[i] = -value if negative else value
    kinds[i] = kind


@g.params
class Window:
    width: u32
    height: u32
    left: f64
    top: f64
    size: f64
    limit: u32


@g.map_indexed
def mandelbrot(old: u32, i: u64, p: Window) -> u32:
    cx = p.left + p.size * (i % p.width) / p.width
    cy = p.top + p.size * (i // p.width) / p.height
    x = y = 0.0
    for k in range(p.limit):
        if x * x + y * y > 4:
            return k
        x, y = x * x - y * y + cx, 2 * x * y + cy
    return p.limit


@g.kernel
def table_lookup(data: ptr[u8], out: ptr[i16], n: u64):
    i = g.global_id(0)
    if i < n:
        out[i] = TABLE[data[i] & 3] + TABLE[-1]


@g.kernel(block_size=(8, 8, 2))
def coordinates(out: ptr[u64], width: u64, height: u64, depth: u64):
    x, y, z = g.global_id(0), g.global_id(1), g.global_id(2)
    if x < width and y < height and z < depth:
        at = (z * height + y) * width + x
        inside = g.local_id(0) + g.local_id(1) * g.block_dim(0) + g.local_id(2) * g.block_dim(0) * g.block_dim(1)
        block = g.block_id(0) + g.block_id(1) * g.grid_dim(0) + g.block_id(2) * g.grid_dim(0) * g.grid_dim(1)
        out[at] = block * 1000 + inside


@g.kernel
def select_and_static(data: ptr[f32], out: ptr[f32], n: u64, negate: bool):
    i = g.global_id(0)
    if i < n:
        x = g.select(negate, -data[i], data[i])
        if g.static(g.target.backend == "nothing"):
            x = g.this_name_does_not_exist(x)
        assert x == x, "not a number"
        out[i] = shared.clamp(x, high=HALF) if not negate or x > -1.0 else f32(g.cast(x, i32))


@g.kernel
def bits(data: ptr[f32], out: ptr[u32], n: u64):
    i = g.global_id(0)
    if i < n:
        out[i] = g.bitcast(data[i], u32) ^ 0x80000000


# ---- mixed types: NumPy's promotion ----


@g.kernel
def mixed(a: ptr[i8], b: ptr[u8], c: ptr[i32], d: ptr[f32], out: ptr[f64], n: u64):
    i = g.global_id(0)
    if i < n:
        small = a[i] + b[i]  # i16
        medium = small * c[i]  # i32
        out[i] = medium / THREE + d[i] * a[i]  # f64 + f32


@g.kernel
def integer_meaning(a: ptr[i32], b: ptr[i32], out: ptr[i32], n: u64):
    i = g.global_id(0)
    if i < n:
        x, y = a[i], b[i]
        out[i * 6] = x // y
        out[i * 6 + 1] = x % y
        out[i * 6 + 2] = x << y
        out[i * 6 + 3] = x >> y
        out[i * 6 + 4] = abs(x) - (-x)
        out[i * 6 + 5] = x * y ^ ~x


@g.kernel
def float_meaning(a: ptr[f32], b: ptr[f32], out: ptr[f32], n: u64):
    i = g.global_id(0)
    if i < n:
        x, y = a[i], b[i]
        out[i * 6] = x // y
        out[i * 6 + 1] = x % y
        out[i * 6 + 2] = min(x, y)
        out[i * 6 + 3] = max(x, y)
        out[i * 6 + 4] = round(x)
        out[i * 6 + 5] = x * x + y


@g.kernel
def saturate(data: ptr[f32], as_i32: ptr[i32], as_u8: ptr[u8], as_i64: ptr[i64], n: u64):
    i = g.global_id(0)
    if i < n:
        as_i32[i] = i32(data[i])
        as_u8[i] = u8(data[i])
        as_i64[i] = i64(data[i])


@g.kernel
def narrow(data: ptr[f64], whole: ptr[i64], half: ptr[f16], half_of_whole: ptr[f16], n: u64):
    i = g.global_id(0)
    if i < n:
        half[i] = f16(data[i])
        half_of_whole[i] = f16(whole[i])


@g.kernel
def unsigned_against_signed(a: ptr[u64], b: ptr[i64], out: ptr[u8], n: u64):
    i = g.global_id(0)
    if i < n:
        code = u8(0)
        if a[i] < b[i]:
            code += 1
        if a[i] == b[i]:
            code += 2
        if b[i] >= a[i]:
            code += 4
        out[i] = code


@g.kernel
def folded(out: ptr[i32]):
    if g.global_id(0) == 0:
        out[0] = i32(-7) // 2
        out[1] = i32(-1) // 2
        out[2] = i32(5) // i32(0)
        out[3] = i32(5) % i32(0)
        out[4] = i32(-2147483648) // i32(-1)
        out[5] = i32(-6) % 5
        out[6] = i32(6) % -5
        out[7] = i32(-7) % 2
        out[8] = i32(2147483647) + 1
        out[9] = i32(f32(0.0) / f32(0.0))
        out[10] = i32(f32(3e9))
        out[11] = i32(f32(-3e9))
