"""How the work on one tile of a reduction or a scan is shared out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from gompute.frontend.irtext.text import FunctionText
from gompute.lang.types import ScalarType

__all__ = ["Fetch", "Team", "Tile"]

#: From the place of an element in its tile to its value.
Fetch: TypeAlias = Callable[[str], str]


class Tile(Protocol):
    """What a team may ask of the tile that it works on.

    Attributes:
        text: where the work is written to.
    """

    @property
    def text(self) -> FunctionText: ...

    def combine(self, left: str, right: str) -> str:
        """The combination of two values."""
        ...

    def own(self, array: str, place: str) -> str:
        """What the team's `array` holds at a place."""
        ...

    def put(self, array: str, place: str, value: str) -> None:
        """Store a value in the team's `array`."""
        ...

    def fold(self, start: str, stop: str, first: str, add: Callable[[str, str], str], step: str = "1") -> str:
        """``add(i, total)`` as the new total for i from `start` by `step` to below `stop`, starting with `first`; gives the last."""
        ...


class Team(Protocol):
    """Who works on a tile: a loop on a CPU, the work-items of a block on a GPU.

    Attributes:
        pointer: the type of a pointer to an array of the kernel.
        params_pointer: the type of the address of params.
        private_pointer: the type of the address of an alloca.
        own_pointer: the type of the address of an array that the team works in.
        tile_length: the length of such an array for a whole tile; see `spread`.
        vectors: loops over the lanes of a whole tile are worth a copy each, with constant bounds.
        rolled: metadata that keeps a loop as small as it is written.
    """

    pointer: str
    params_pointer: str
    private_pointer: str
    own_pointer: str
    vectors: bool
    rolled: str

    @property
    def tile_length(self) -> int: ...

    def array(self, text: FunctionText, name: str, element: ScalarType, length: int) -> str:
        """An array that the whole team sees; what it holds is lost from one tile to the next."""
        ...

    def each(self, text: FunctionText, start: str, stop: str, body: Callable[[str], None], *, whole: bool) -> None:
        """``body(i)`` for every i from `start` to below `stop`, by anyone and in any order; `whole` where the tile is whole."""
        ...

    def once(self, text: FunctionText, body: Callable[[], None]) -> None:
        """``body()`` by one of the team."""
        ...

    def barrier(self, text: FunctionText) -> None:
        """What anyone wrote before is seen by all afterwards."""
        ...

    def fold_lanes(self, tile: Tile, lanes: str, count: str, fetch: Fetch, into: str) -> None:
        """Store every lane's combination of the tile's elements v, v + LANES, ... below `count` for v < `lanes` in the array `into`."""
        ...

    def fold_whole(self, tile: Tile, fetch: Fetch, into: str) -> None:
        """The same for a whole tile."""
        ...

    def each_in_runs(self, text: FunctionText, start: str, stop: str, body: Callable[[str, str], None], *, whole: bool) -> None:
        """``body(i, i // RUN)`` as `each`, for a `start` that is a multiple of RUN, or else not below `stop`."""
        ...

    def spread(self, text: FunctionText, index: str) -> str:
        """Where an element of a tile lies in an array of `tile_length`."""
        ...
