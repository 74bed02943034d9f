"""``g.random``: random numbers that are a function of a seed and a position, the same in every kernel, on every backend and on the host.

    @g.map_indexed
    def jitter(x: f32, i: u64) -> f32:
        return x + 0.1 * g.random.uniform_f32(SEED, i)

There is no state to keep or to share between work-items: number `draw` of stream `index` under `seed` is always the same. The generator is
Philox 4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw: "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011), which passes BigCrush.

The functions are ordinary device functions: every step is written with its type, so that a call on the host wraps as a device does.
"""

from __future__ import annotations

from gompute.lang.names import f32, f64, u32, u64

__all__ = ["bits", "bits64", "philox4x32", "uniform_f32", "uniform_f64"]


def philox4x32(c0: u32, c1: u32, c2: u32, c3: u32, k0: u32, k1: u32, word: u32) -> u32:
    """One word of the block that a counter and a key give.

    Args:
        c0, c1, c2, c3: the counter.
        k0, k1: the key.
        word: which of the four words of the block, 0 to 3.
    """
    for _ in range(10):
        left = u64(0xD2511F53) * u64(c0)
        right = u64(0xCD9E8D57) * u64(c2)
        c0 = u32(right >> 32) ^ u32(c1) ^ u32(k0)
        c2 = u32(left >> 32) ^ u32(c3) ^ u32(k1)
        c1 = u32(right)
        c3 = u32(left)
        k0 = u32(k0 + 0x9E3779B9)
        k1 = u32(k1 + 0xBB67AE85)
    if word == 0:
        return u32(c0)
    if word == 1:
        return c1
    return u32(c2) if word == 2 else c3


def bits(seed: u64, index: u64, draw: u64 = 0) -> u32:
    """32 random bits.

    Args:
        seed: of the whole sequence.
        index: of a stream, such as a work-item's place.
        draw: which number of the stream. Four in a row come from one block and cost little more than one.
    """
    block = u64(draw) >> u64(2)
    word = u32(draw) & u32(3)
    low, high = u32(index), u32(u64(index) >> u64(32))
    return philox4x32(low, high, u32(block), u32(block >> u64(32)), u32(seed), u32(u64(seed) >> u64(32)), word)


def bits64(seed: u64, index: u64, draw: u64 = 0) -> u64:
    """64 random bits, those of two draws of `bits`, the first one low: of ``2 * draw`` and ``2 * draw + 1``."""
    first = u64(draw) << u64(1)
    return u64(bits(seed, index, u64(first))) | (u64(bits(seed, index, u64(first) | u64(1))) << u64(32))


def uniform_f32(seed: u64, index: u64, draw: u64 = 0) -> f32:
    """A multiple of 2^-24 in [0, 1), each as likely: the high 24 of `bits`."""
    return f32(bits(seed, index, draw) >> u32(8)) * f32(2.0**-24)


def uniform_f64(seed: u64, index: u64, draw: u64 = 0) -> f64:
    """A multiple of 2^-53 in [0, 1), each as likely: the high 53 of `bits64`."""
    return f64(bits64(seed, index, draw) >> u64(11)) * f64(2.0**-53)
