"""Reductions and scans on a CPU: a loop does tile after tile, and the loops inside, over lanes, are those that the vectoriser takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from gompute.frontend.dialects.team import Fetch, Tile
from gompute.frontend.irtext.loops import counted
from gompute.frontend.irtext.text import FunctionText
from gompute.frontend.irtext.values import memory_type
from gompute.lang.tiled import LANES, RUN, TILE
from gompute.lang.types import ScalarType

__all__ = ["Loops"]

_RUN_BITS = RUN.bit_length() - 1
#: Rows of lanes that are combined before the sums go back to memory.
_ROWS = 8


class Loops:
    """One thread: everything in its order, in arrays on its stack."""

    pointer = params_pointer = private_pointer = own_pointer = "ptr"
    tile_length = TILE
    vectors = True

    def __init__(self, rolled: str) -> None:
        self.rolled = rolled

    def array(self, text: FunctionText, name: str, element: ScalarType, length: int) -> str:
        return text.alloca(f"[{length} x {memory_type(element)}]", 64, name)  # as wide as any vector

    def each(self, text: FunctionText, start: str, stop: str, body: Callable[[str], None], *, whole: bool) -> None:
        counted(text, start, stop, body, suffix="" if whole else self.rolled)

    def once(self, text: FunctionText, body: Callable[[], None]) -> None:
        body()

    def barrier(self, text: FunctionText) -> None:
        """Nothing to wait for."""

    def fold_lanes(self, tile: Tile, lanes: str, count: str, fetch: Fetch, into: str) -> None:
        """Row after row, as the elements lie in memory."""
        text = tile.text
        self.each(text, "0", lanes, lambda lane: tile.put(into, lane, fetch(lane)), whole=False)

        def add(index: str) -> None:
            lane = text.value(f"and i64 {index}, {LANES - 1}")
            tile.put(into, lane, tile.combine(tile.own(into, lane), fetch(index)))

        counted(text, str(LANES), count, add, suffix=self.rolled)

    def fold_whole(self, tile: Tile, fetch: Fetch, into: str) -> None:
        """Some rows at a time, the lanes of a row as vectors."""
        text = tile.text

        def rows(start: str, lane: str) -> list[str]:
            first = text.value(f"add nuw i64 {start}, {lane}")
            return [fetch(text.value(f"add nuw i64 {first}, {row * LANES}")) for row in range(_ROWS)]

        def begin(lane: str) -> None:
            tile.put(into, lane, reduce(tile.combine, rows("0", lane)))

        def go_on(start: str) -> None:
            self.each(
                text,
                "0",
                str(LANES),
                lambda lane: tile.put(into, lane, reduce(tile.combine, rows(start, lane), tile.own(into, lane))),
                whole=True,
            )

        self.each(text, "0", str(LANES), begin, whole=True)
        counted(text, str(_ROWS * LANES), str(TILE), go_on, str(_ROWS * LANES), self.rolled)

    def each_in_runs(self, text: FunctionText, start: str, stop: str, body: Callable[[str, str], None], *, whole: bool) -> None:
        """Run after run, so that what belongs to a run is read once."""

        def within(run: str) -> None:
            first = text.value(f"shl i64 {run}, {_RUN_BITS}")
            last = text.intrinsic("llvm.umin.i64", "i64", ("i64", text.value(f"add nuw i64 {first}, {RUN}")), ("i64", stop))
            self.each(text, first, last, lambda index: body(index, run), whole=whole)

        counted(text, self._runs(text, start), self._runs(text, stop), within, suffix=self.rolled)

    def spread(self, text: FunctionText, index: str) -> str:
        return index

    def _runs(self, text: FunctionText, elements: str) -> str:
        return text.value(f"lshr i64 {text.value(f'add nuw i64 {elements}, {RUN - 1}')}, {_RUN_BITS}")
