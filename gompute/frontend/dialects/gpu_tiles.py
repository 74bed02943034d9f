"""Reductions and scans on a GPU: a block does a tile, and its work-items share the lanes and runs out among them."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING

from gompute.frontend import typed
from gompute.frontend.dialects.team import Fetch, Tile
from gompute.frontend.irtext.loops import counted
from gompute.frontend.irtext.text import FunctionText
from gompute.lang.tiled import LANES, RUN, TILE
from gompute.lang.types import ScalarType

if TYPE_CHECKING:
    from gompute.frontend.dialects.gpu import GpuDialect

__all__ = ["Block"]

_RUN_BITS = RUN.bit_length() - 1


class Block:
    """The work-items of a block: item k takes what is at k, k + block size and so on. The size is read from the launch; any is right.

    Args:
        text: of the kernel's function, at its start.
    """

    #: A place is left free after each run.
    tile_length = TILE + TILE // RUN
    vectors = False

    def __init__(self, dialect: GpuDialect, kernel: typed.TiledKernel, text: FunctionText) -> None:
        self.pointer = dialect.global_pointer
        self.params_pointer = dialect.params_pointer
        self.private_pointer = dialect.private_pointer
        self.own_pointer = dialect.shared_pointer
        self.rolled = dialect.rolled_loop
        self._dialect = dialect
        self._kernel = kernel.name
        self._item = dialect.index(text, "local_id", 0)
        self._size = dialect.index(text, "block_dim", 0)

    def array(self, text: FunctionText, name: str, element: ScalarType, length: int) -> str:
        """Shared memory."""
        return text.module.shared_array(f"{self._kernel}_{name}", element, length)

    def each(self, text: FunctionText, start: str, stop: str, body: Callable[[str], None], *, whole: bool) -> None:
        first = self._item if start == "0" else text.value(f"add nuw i64 {start}, {self._item}")
        counted(text, first, stop, body, self._size, self.rolled)

    def once(self, text: FunctionText, body: Callable[[], None]) -> None:
        only, everyone = text.new_block("only"), text.new_block("everyone")
        text.branch_if(text.value(f"icmp eq i64 {self._item}, 0"), only, everyone)
        text.start(only)
        body()
        text.start(everyone)

    def barrier(self, text: FunctionText) -> None:
        self._dialect.barrier(text)

    def fold_lanes(self, tile: Tile, lanes: str, count: str, fetch: Fetch, into: str) -> None:
        """Each lane from start to end, in a register; the lanes of a block read side by side."""
        text = tile.text

        def lane(number: str) -> None:
            second = text.value(f"add nuw i64 {number}, {LANES}")
            total = tile.fold(second, count, fetch(number), lambda index, total: tile.combine(total, fetch(index)), str(LANES))
            tile.put(into, number, total)

        self.each(text, "0", lanes, lane, whole=False)

    def fold_whole(self, tile: Tile, fetch: Fetch, into: str) -> None:
        """All elements of a lane are asked for before the first is needed."""
        text = tile.text

        def lane(number: str) -> None:
            first, *others = [fetch(text.value(f"add nuw i64 {number}, {start}")) for start in range(0, TILE, LANES)]
            tile.put(into, number, reduce(tile.combine, others, first))

        self.each(text, "0", str(LANES), lane, whole=True)

    def each_in_runs(self, text: FunctionText, start: str, stop: str, body: Callable[[str, str], None], *, whole: bool) -> None:
        self.each(text, start, stop, lambda index: body(index, text.value(f"lshr i64 {index}, {_RUN_BITS}")), whole=whole)

    def spread(self, text: FunctionText, index: str) -> str:
        """With a place left free after each run: work-items that each go through a run of their own then reach different banks."""
        return text.value(f"add nuw i64 {index}, {text.value(f'lshr i64 {index}, {_RUN_BITS}')}")
