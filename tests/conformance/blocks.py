"""The conformance suite's root of kernels whose work-items meet: shared memory, barriers, atomic operations, warps, arrays with a shape."""

from typing import Any, TypeVar

import gompute as g
from gompute import array, bf16, f16, f32, f64, i8, i32, i64, ptr, u8, u16, u32, u64

TILE = 16

# ---- arrays with a shape ----


@g.kernel(block_size=(TILE, TILE))
def matmul(a: array[f32, 2], b: array[f32, 2], c: array[f32, 2]) -> None:
    left = g.shared(f32, (TILE, TILE))
    right = g.shared(f32, (TILE, TILE + 1))
    x, y = g.local_id(0), g.local_id(1)
    column, row = g.global_id(0), g.global_id(1)
    rows, inner = a.shape
    columns = b.shape[-1]
    total = f32(0)
    for first in range(0, inner, TILE):
        left[y, x] = a[row, first + x] if row < rows and first + x < inner else 0.0
        right[y, x] = b[first + y, column] if first + y < inner and column < columns else 0.0
        g.barrier()
        for k in range(TILE):
            total += left[y, k] * right[k, x]
        g.barrier()
    if row < rows and column < columns:
        c[row, column] = total


@g.kernel(block_size=(TILE, TILE))
def transpose(source: array[i32, 2], target: array[i32, 2]) -> None:
    tile = g.shared(i32, (TILE, TILE + 1))
    x, y = g.local_id(0), g.local_id(1)
    left, top = g.block_id(0) * TILE, g.block_id(1) * TILE
    if top + y < source.shape[0] and left + x < source.shape[1]:
        tile[y, x] = source[top + y, left + x]
    g.barrier()
    if left + y < target.shape[0] and top + x < target.shape[1]:
        target[left + y, top + x] = tile[x, y]


def at_or_zero(a: array[f32, 3], z: i64, y: i64, x: i64) -> f32:
    depth, height, width = i64(a.shape[0]), i64(a.shape[1]), i64(a.shape[2])
    if z < 0 or y < 0 or x < 0 or z >= depth or y >= height or x >= width:
        return 0.0
    return a[z, y, x]


@g.kernel(block_size=(8, 4, 2))
def stencil(a: array[f32, 3], out: array[f32, 3]) -> None:
    x, y, z = i64(g.global_id(0)), i64(g.global_id(1)), i64(g.global_id(2))
    if z < len(a) and y < a.shape[1] and x < a.shape[2]:
        total = at_or_zero(a, z, y, x) * 2.0
        for step in range(-1, 2, 2):
            total += at_or_zero(a, z + step, y, x) + at_or_zero(a, z, y + step, x) + at_or_zero(a, z, y, x + step)
        out[z, y, x] = total


@g.kernel
def views(a: array[f16, 1], flags: array[bool, 4], out: array[u64, 1]) -> None:
    i = g.global_id(0)
    if i < len(a):
        a[i] += 1.0
        flags[0, i, 1, 0] = not flags[0, i, 1, 0]
    if i == 0:
        out[0] = flags.shape[0] * 1000 + flags.shape[1] * 100 + flags.shape[2] * 10 + flags.shape[-1]
        out[1] = a.ndim + flags.ndim * 10 + len(flags.shape) * 100
        out[2] = len(out)


T = TypeVar("T", i32, f64)


def at(a: array[T, 2], row: u64) -> T:
    return a[row, 1]


@g.kernel
def second_column(a: array[T, 2], out: ptr[T]) -> None:
    i = g.global_id(0)
    if i < len(a):
        out[i] = at(a, i)


# ---- barriers ----


@g.kernel
def block_scan(data: ptr[i32], n: u64) -> None:
    """Running sums of each block, by doubling."""
    sums = g.shared(i32, 256)
    t, i = g.local_id(0), g.global_id(0)
    sums[t] = data[i] if i < n else 0
    g.barrier()
    distance = u64(1)
    while distance < g.block_dim(0):
        before = sums[t - distance] if t >= distance else 0
        g.barrier()
        sums[t] += before
        g.barrier()
        distance *= 2
    if i < n:
        data[i] = sums[t]


def block_sum(x: i64) -> i64:
    """The sum over the block, for every work-item of it."""
    sums = g.shared(i64, 256)
    t, step = g.local_id(0), g.block_dim(0) // 2
    sums[t] = x
    g.barrier()
    while True:
        if step == 0:
            total = sums[0]
            g.barrier()
            return total
        if t < step:
            sums[t] += sums[t + step]
        g.barrier()
        step //= 2


@g.kernel
def moments(data: ptr[i64], out: ptr[i64], n: u64) -> None:
    i = g.global_id(0)
    x = data[i] if i < n else 0
    half = block_sum(x) + block_sum(x * x) if g.block_id(0) % 2 == 0 else -block_sum(x)
    if g.local_id(0) == 0:
        out[g.block_id(0)] = half


def block_max(scratch: ptr[f32], x: f32) -> f32:
    t = g.local_id(0)
    scratch[t] = x
    g.barrier()
    step = g.block_dim(0) // 2
    while step > 0:
        if t < step:
            scratch[t] = max(scratch[t], scratch[t + step])
        g.barrier()
        step //= 2
    largest = scratch[0]
    g.barrier()
    return largest


@g.kernel(block_size=64)
def softmax(x: array[f32, 2], out: array[f32, 2]) -> None:
    scratch = g.shared(f32, 64)
    wide = g.shared(f64, 64)
    row, t = g.block_id(0), g.local_id(0)
    columns = x.shape[1]
    biggest = x[row, 0]
    for column in range(t, columns, 64):
        biggest = max(biggest, x[row, column])
    biggest = block_max(scratch, biggest)
    total = f64(0)
    for column in range(t, columns, 64):
        out[row, column] = g.math.exp(x[row, column] - biggest)
        total += out[row, column]
    wide[t] = total
    g.barrier()
    for bit in range(6):
        step = 32 >> bit
        if t < step:
            wide[t] += wide[t + step]
        g.barrier()
    for column in range(t, columns, 64):
        out[row, column] /= f32(wide[0])


@g.kernel(block_size=64)
def gravity(position: array[f32, 2], mass: ptr[f32], force: array[f32, 2]) -> None:
    tile = g.shared(f32, (64, 4))
    i, t, n = g.global_id(0), g.local_id(0), len(position)
    mine = g.local(f32, 3)
    total = g.local(f32, 3)
    if i < n:
        for d in range(3):
            mine[d] = position[i, d]
    for first in range(0, n, 64):
        if first + t < n:
            for d in range(3):
                tile[t, d] = position[first + t, d]
            tile[t, 3] = mass[first + t]
        g.barrier()
        for other in range(min(64, n - first)):
            away = g.local(f32, 3)
            squared = f32(0.001)
            for d in range(3):
                away[d] = tile[other, d] - mine[d]
                squared += away[d] ** 2
            inverse = g.math.rsqrt(squared)
            weight = tile[other, 3] * inverse * inverse * inverse
            for d in range(3):
                total[d] += weight * away[d]
        g.barrier()
    if i >= n:
        return
    for d in range(3):
        force[i, d] += total[d] * mass[i]


@g.kernel
def reverse(data: ptr[f32], n: u64) -> None:
    """Reverse the elements of each block, the last of which is not full."""
    tile = g.dynamic_shared(f32)
    i = g.global_id(0)
    if i >= n:
        return
    t = g.local_id(0)
    tile[t] = data[i]
    g.barrier()
    count = min(g.block_dim(0), n - g.block_id(0) * g.block_dim(0))
    data[i] = tile[count - 1 - t]


@g.kernel
def two_types(data: ptr[f64], out: ptr[f64]) -> None:
    """Dynamic shared memory behind static, as floats in the first half and as bytes in the second."""
    kept = g.shared(u8, 3)
    values = g.dynamic_shared(f64)
    marks = g.dynamic_shared(u8)
    t, n = g.local_id(0), g.block_dim(0)
    if t < 3:
        kept[t] = u8(t + 1)
    values[t] = data[t]
    marks[n * 8 + t] = u8(t % 3)
    g.barrier()
    other = n - 1 - t
    out[t] = values[other] + f64(marks[n * 8 + other]) * 100 + f64(kept[2]) * 1000


@g.kernel(block_size=(4, 3, 2))
def in_three_dimensions(out: ptr[u64]) -> None:
    """What a work-item knows of itself is still so behind a barrier."""
    seen = g.shared(u64, 24)
    t = g.local_id(0) + g.local_id(1) * 4 + g.local_id(2) * 12
    block = g.block_id(0) + g.block_id(1) * g.grid_dim(0) + g.block_id(2) * g.grid_dim(0) * g.grid_dim(1)
    seen[t] = block * 100 + t
    g.barrier()
    t = g.local_id(0) + g.local_id(1) * g.block_dim(0) + g.local_id(2) * g.block_dim(0) * g.block_dim(1)
    out[block * 24 + t] = seen[23 - t] + g.block_id(2) * 10000


@g.kernel
def rounds(data: ptr[i32], out: ptr[i32], n: u64) -> None:
    """Arrays of each iteration, loops that end early, and barriers among them."""
    last = g.shared(i32, 1)
    i = g.global_id(0)
    total = i32(0)
    for k in range(100):
        seen = g.local(i32, (2, 3))
        seen[k % 2, k % 3] += k + 1
        for row in range(2):
            for column in range(3):
                total += seen[row, column]
        g.barrier()
        if g.local_id(0) == 0:
            last[0] = k
        g.barrier()
        if last[0] == 9:
            break
        if k % 2 == 0:
            continue
        total += 1000
    if i < n:
        out[i] = data[i] + total


@g.kernel
def without_barriers(data: ptr[u32], n: u64) -> None:
    """Shared memory that each work-item has a part of."""
    own = g.shared(u32, 256)
    i = g.global_id(0)
    own[g.local_id(0)] = u32(i)
    if i < n:
        data[i] += own[g.local_id(0)] * 3


# ---- atomic operations ----


@g.kernel
def histogram(data: ptr[u8], bins: ptr[u32], n: u64) -> None:
    i = g.global_id(0)
    if i < n:
        g.atomic_add(bins, data[i], u32(1))


@g.kernel
def histogram_by_block(data: ptr[u8], bins: ptr[u32], n: u64) -> None:
    own = g.shared(u32, 256)
    i, t = g.global_id(0), g.local_id(0)
    own[t] = 0
    g.barrier()
    if i < n:
        g.atomic_add(own, data[i], 1)
    g.barrier()
    if own[t] > 0:
        g.atomic_add(bins, t, own[t])


@g.kernel
def largest(data: ptr[f32], out: ptr[f32], n: u64) -> None:
    """The maximum by compare and swap."""
    i = g.global_id(0)
    if i >= n:
        return
    x, seen = data[i], out[0]
    while x > seen:
        before = g.atomic_cas(out, 0, seen, x)
        if before == seen:
            break
        seen = before


def atomics_of(kind: Any, name: str) -> Any:
    """A kernel with every atomic operation on one type, by each work-item; the results do not depend on who comes first."""
    whole = kind not in (f32, f64)

    @g.kernel(name=f"atomics_{name}", block_size=64)
    def atomics(data: ptr[kind], out: array[kind, 2], winners: ptr[u32], n: u64) -> None:
        shared = g.shared(kind, 4)
        i = g.global_id(0)
        if g.local_id(0) < 4:
            shared[g.local_id(0)] = 0
        g.barrier()
        if i < n:
            x = data[i]
            g.atomic_add(out, (0, 0), x, scope="system")
            g.atomic_min(out, (0, 1), x)
            g.atomic_max(out, (0, 2), x)
            g.atomic_min(out, (1, 0), x, scope="system")
            g.atomic_max(out, (1, 1), x, scope="system")
            g.atomic_exchange(out, (1, 2), kind(7))
            if g.atomic_cas(out, (2, 0), 0, kind(1)) == 0:
                g.atomic_add(winners, 0, 1)
            if g.atomic_exchange(out, (2, 1), kind(1), scope="system") == 0:
                g.atomic_add(winners, 1, 1)
            g.atomic_add(shared, 0, x)
            g.atomic_max(shared, 1, x)
            if g.atomic_cas(shared, 2, 0, kind(1)) == 0:
                g.atomic_add(winners, 2, 1)
            if g.static(whole):
                g.atomic_and(out, (3, 0), x)
                g.atomic_or(out, (3, 1), x, scope="block")
                g.atomic_xor(out, (3, 2), x, scope="system")
                g.atomic_or(shared, 3, x)
        g.barrier()
        if g.local_id(0) == 0:
            g.atomic_add(out, (4, 0), shared[0])
            g.atomic_max(out, (4, 1), shared[1])
            if g.static(whole):
                g.atomic_or(out, (4, 2), shared[3])

    return atomics


ATOMICS = [atomics_of(kind, str(kind)) for kind in (i32, u32, i64, u64, f32, f64)]

# ---- warps: results that do not depend on the size of one ----


@g.kernel
def sum_by_warps(data: ptr[i64], out: ptr[i64], n: u64) -> None:
    i = g.global_id(0)
    x = data[i] if i < n else 0
    step = g.warp_size // 2
    while step > 0:
        x += g.shuffle_down(x, step)
        step //= 2
    if g.lane_id() == 0:
        g.atomic_add(out, 0, x)


def doubled_back(x: u16) -> u16:
    return g.shuffle_xor(g.shuffle_xor(x, 1), 1)


@g.kernel
def exchanges(data: ptr[f64], out: ptr[f64], n: u64) -> None:
    """Every type, through exchanges that give back what came in; the block is a whole number of warps."""
    i = g.global_id(0)
    x = data[i]
    own, last = u32(g.lane_id()), g.warp_size - 1
    back = g.shuffle(f32(x), own) + f64(g.shuffle(f16(x), own)) + f64(g.shuffle(bf16(x), own)) + g.shuffle(x, own)
    back += f64(g.shuffle(i8(x), own)) + f64(g.shuffle(i64(x), own)) + f64(doubled_back(u16(x)))
    back += 1000.0 if g.shuffle(x > 0, own) else 2000.0
    first = g.shuffle_up(x, g.lane_id()) == g.shuffle(x, 0)
    end = g.shuffle_down(i32(x), last - own) == g.shuffle(i32(x), last)
    out[i] = back + (10000.0 if first and end else 0.0)


@g.kernel
def votes(data: ptr[i32], out: ptr[u32], n: u64) -> None:
    i = g.global_id(0)
    x = data[i] if i < n else 0
    found = g.ballot(x % 2 != 0)
    count = u32(0)
    while found != 0:
        found &= found - 1
        count += 1
    nobody = not g.warp_any(x > 1000) and g.warp_all(x <= 1000) and g.ballot(x > 1000) == 0
    if g.lane_id() == 0:
        only_first = g.ballot(True, mask=1) == 1 and g.warp_any(True, mask=1)
        g.atomic_add(out, 0, count)
        if nobody and only_first:
            g.atomic_add(out, 1, g.warp_size)


# ---- arrays as arguments: one function, whatever memory is behind them ----


def folded(values: ptr[T], first: u64, count: u64) -> T:
    total = values[first]
    for i in range(first + 1, first + count):
        total = total * 3 + values[i]
    return total


def diagonal(a: array[T, 2]) -> T:
    total = a[0, 0]
    for i in range(1, min(len(a), a.shape[1])):
        total += a[i, i]
    return total


def turned(tile: array[T, 2], row: u64, column: u64, x: T) -> T:
    """What the work-item across the diagonal puts in."""
    tile[row, column] = x
    g.barrier()
    there = tile[column, row]
    g.barrier()
    return there * 2 + folded(tile, row * tile.shape[1], tile.shape[1])


def count_one(bins: ptr[u32], at: u64) -> u32:
    return g.atomic_add(bins, at, 1)


@g.params
class Left:
    scale: i32


@g.params
class Right:
    offset: i64
    scale: i32


@g.kernel(block_size=(8, 8))
def passed_on(data: array[T, 2], out: ptr[T], counts: ptr[u32], p: Left, n: u64, q: Right) -> None:
    tile = g.shared(T, (8, 8))
    bins = g.shared(u32, 2)
    spare = g.dynamic_shared(T)
    own = g.local(T, (3, 4))
    x, y = g.local_id(0), g.local_id(1)
    item = y * 8 + x
    spare[item] = data[y, x]
    bins[x % 2] = 0
    for i in range(3):
        for j in range(4):
            own[i, j] = data[i, j] * T(p.scale)
    result = turned(tile, y, x, data[y, x]) + diagonal(own) + diagonal(tile)
    result += folded(own, 4, 4) + folded(spare, 8 * y, 8) + folded(data, 8 * x, 2)
    count_one(bins, x % 2)
    g.barrier()
    if item < n:
        out[item] = result * T(q.scale) + T(q.offset)
        count_one(counts, u64(bins[0]) % 4)
