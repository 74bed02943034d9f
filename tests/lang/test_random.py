"""Random numbers: the published test vectors of the generator, and its numbers on the host and in a host call."""

from __future__ import annotations

import numpy as np
import pytest

import gompute as g
from gompute import f32, u64
from tests.conformance import philox

# Of Random123 1.14.0, tests/kat_vectors, "philox4x32 10": counter, key, block.
VECTORS = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def _words(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]


@pytest.mark.parametrize(("counter", "key", "block"), VECTORS)
def test_the_published_vectors(counter: str, key: str, block: str) -> None:
    given = [*_words(counter), *_words(key)]
    assert [g.random.philox4x32(*given, word) for word in range(4)] == _words(block)
    a, b, c, d, k, m = given
    assert list(philox.block((a, b, c, d), (k, m))) == _words(block)


@g.map_indexed
def draws(x: f32, i: u64) -> f32:
    return x + g.random.uniform_f32(7, i, 3)


def test_a_call_on_the_host_gives_a_kernels_numbers() -> None:
    for index in (0, 1, 2**40):
        assert draws(0.0, index) == g.random.uniform_f32(7, index, 3) == (philox.bits(7, index, 3) >> 8) * 2.0**-24
    for seed, index, draw in ((2**64 - 1, 2**33, 2**35 + 1), (0, 0, 0), (12345, 2**64 - 1, 5)):
        assert g.random.bits(seed, index, draw) == philox.bits(seed, index, draw)
        assert g.random.bits64(seed, index, draw) == philox.bits64(seed, index, draw)
        assert g.random.uniform_f64(seed, index, draw) == (philox.bits64(seed, index, draw) >> 11) * 2.0**-53


def test_uniform_numbers_are_spread_evenly() -> None:
    sample = np.array([g.random.uniform_f64(3, i) for i in range(4000)])
    assert sample.min() >= 0
    assert sample.max() < 1
    counts = np.histogram(sample, 20, (0, 1))[0]
    assert ((counts - 200) ** 2 / 200).sum() < 45  # chi square with 19 degrees of freedom, 1 in 1000
