"""Philox 4x32-10 in Python's own integers, after the definition in the paper, and the numbers that `g.random` makes of it."""

from __future__ import annotations

Word = int


def block(counter: tuple[Word, Word, Word, Word], key: tuple[Word, Word]) -> tuple[Word, Word, Word, Word]:
    """Four words of 32 bits."""
    (a, b, c, d), (k, m) = counter, key
    for _ in range(10):
        high_a, low_a = divmod(a * 0xD2511F53, 2**32)
        high_c, low_c = divmod(c * 0xCD9E8D57, 2**32)
        a, b, c, d = high_c ^ b ^ k, low_c, high_a ^ d ^ m, low_a
        k, m = (k + 0x9E3779B9) % 2**32, (m + 0xBB67AE85) % 2**32
    return a, b, c, d


def bits(seed: int, index: int, draw: int) -> int:
    low, word = divmod(draw, 4)
    counter = index % 2**32, index >> 32, low % 2**32, low >> 32
    return block(counter, (seed % 2**32, seed >> 32))[word]


def bits64(seed: int, index: int, draw: int) -> int:
    first = 2 * draw % 2**64  # the numbers of a stream begin again
    return bits(seed, index, first) | bits(seed, index, first + 1) << 32
