"""Reductions and scans in NumPy, in the order that the documentation of `gompute.lang.tiled` gives, and written from that text alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

#: Of two arrays of one shape, element by element.
Combine: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]

LANES, RUN = 256, 16
TILE = LANES * RUN


def reduced(x: np.ndarray, combine: Combine, identity: object) -> np.ndarray:
    """The value of a reduction, as an array of one element."""
    if x.size == 0:
        return np.array([identity]).astype(x.dtype)
    while True:
        whole = x[: x.size // TILE * TILE].reshape(-1, TILE)
        parts = [_tile(whole, combine)] if len(whole) else []
        if x.size % TILE:
            parts.append(_tile(x[whole.size :].reshape(1, -1), combine))
        x = np.concatenate(parts)
        if x.size == 1:
            return x


def _tile(tiles: np.ndarray, combine: Combine) -> np.ndarray:
    """Of tiles of one length, a row each."""
    lanes = tiles[:, :LANES].copy()
    for start in range(LANES, tiles.shape[1], LANES):
        row = tiles[:, start : start + LANES]
        lanes[:, : row.shape[1]] = combine(lanes[:, : row.shape[1]], row)
    d = LANES // 2
    while d:
        others = lanes[:, d : 2 * d]
        lanes[:, : others.shape[1]] = combine(lanes[:, : others.shape[1]], others)
        lanes = lanes[:, :d]
        d //= 2
    return lanes[:, 0]


def scanned(x: np.ndarray, combine: Combine, identity: object = None) -> np.ndarray:
    """A scan, exclusive where there is an identity."""
    inclusive = _scan(x, combine)
    if identity is None or x.size == 0:
        return inclusive
    return np.concatenate([np.array([identity]).astype(x.dtype), inclusive[:-1]])


def _scan(x: np.ndarray, combine: Combine) -> np.ndarray:
    if x.size == 0:
        return x.copy()
    whole = x[: x.size // TILE * TILE].reshape(-1, TILE)
    rest = x[whole.size :].reshape(1, -1)
    shapes = [tiles for tiles in (whole, rest) if tiles.size]
    sums = [_within_runs(tiles, combine) for tiles in shapes]
    runs = [_over_runs(tiles, combine) for tiles in sums]
    totals = np.concatenate([values[:, -1] for values in runs])
    before = _scan(totals, combine) if totals.size > 1 else totals
    made, tile = [], 0
    for tiles, values in zip(sums, runs, strict=True):
        out = tiles.copy()
        for row in range(len(tiles)):
            for run in range(values.shape[1]):
                part = slice(run * RUN, (run + 1) * RUN)
                carry = values[row, run - 1 : run] if run else None
                if tile:
                    above = before[tile - 1 : tile]
                    carry = above if carry is None else combine(above, carry)
                if carry is not None:
                    out[row, part] = combine(np.broadcast_to(carry, out[row, part].shape), out[row, part])
            tile += 1
        made.append(out.reshape(-1))
    return np.concatenate(made)


def _within_runs(tiles: np.ndarray, combine: Combine) -> np.ndarray:
    """Of every element the combination of its run up to it, from the left."""
    sums = tiles.copy()
    for place in range(tiles.shape[1]):
        if place % RUN:
            sums[:, place] = combine(sums[:, place - 1], sums[:, place])
    return sums


def _over_runs(sums: np.ndarray, combine: Combine) -> np.ndarray:
    """Of every run the combination of all up to its end."""
    count = -(-sums.shape[1] // RUN)
    values = sums[:, [min((run + 1) * RUN, sums.shape[1]) - 1 for run in range(count)]]
    d = 1
    while d < LANES:
        after = values.copy()
        after[:, d:] = combine(values[:, :-d], values[:, d:]) if d < count else values[:, d:]
        values = after
        d *= 2
    return values
