"""What is done to one tile of a reduction or a scan, in the order that `gompute.lang.tiled` fixes: the same text for every backend, but for
how the work on a tile is shared out, which is a `Team`'s.
"""

from __future__ import annotations

from collections.abc import Callable

from gompute.frontend import typed
from gompute.frontend.dialects.dialect import Dialect
from gompute.frontend.dialects.reports import reporting
from gompute.frontend.dialects.team import Fetch, Team
from gompute.frontend.irtext.loops import counted
from gompute.frontend.irtext.text import FunctionText
from gompute.frontend.irtext.values import constant, element_address, load, store, value_type
from gompute.lang.tiled import LANES, RUN, TILE

__all__ = ["TileEmitter"]

_STEPS = [1 << power for power in range(LANES.bit_length() - 1)]
#: Fewer lanes than this are not worth a loop over vectors.
_WIDE = 32
_TILE_BITS = TILE.bit_length() - 1
_RUN_BITS = RUN.bit_length() - 1


class TileEmitter:
    """The work of one launch of a kernel, of which `launch` appends what comes before the first tile and `tile` that of one tile.

    The function's values %data or %in, %partials, %out, %len, %stage and %params are the kernel's arguments.
    """

    def __init__(self, text: FunctionText, kernel: typed.TiledKernel, team: Team, dialect: Dialect) -> None:
        self.text = text
        self._dialect = dialect
        self.kernel = kernel
        self.team = team
        self.result = kernel.result
        self.register = value_type(kernel.result)

    # ---- the launch ----

    def launch(self) -> str:
        """Find the level that the stage works on; gives the number of its tiles."""
        text = self.text
        last = self._last_level()
        if self.kernel.scan is None:
            level = self._least("%stage", last)
        else:
            twice = text.value(f"shl i64 {last}, 1")
            down = self._least(text.intrinsic("llvm.usub.sat.i64", "i64", ("i64", twice), ("i64", "%stage")), last)
            self._up = text.value(f"icmp ult i64 %stage, {last}")
            level = text.value(f"select i1 {self._up}, i64 %stage, i64 {down}")
        # The results of the levels lie one after the other in %partials.
        elements, source, target = (self._cell("i64", 8, name) for name in ("elements", "source", "target"))
        for cell, first in ((elements, "%len"), (source, "0"), (target, "0")):
            self._set(cell, "i64", first)

        def up_one_level(_: str) -> None:
            tiles = self._tiles(self._get(elements, "i64"))
            start = self._get(target, "i64")
            self._set(source, "i64", start)
            self._set(target, "i64", text.value(f"add i64 {start}, {tiles}"))
            self._set(elements, "i64", tiles)

        counted(text, "0", level, up_one_level, suffix=self.team.rolled)
        self._elements, self._source, self._target = (self._get(cell, "i64") for cell in (elements, source, target))
        self._at_elements = text.value(f"icmp eq i64 {level}, 0")
        tiles = self._tiles(self._elements)
        if self.kernel.scan is None:
            tiles = text.intrinsic("llvm.umax.i64", "i64", ("i64", tiles), ("i64", "1"))  # an empty array has a result
            self._alone = text.value(f"icmp eq i64 {tiles}, 1")
            self._lanes = self.team.array(text, "lanes", self.result, LANES)
        else:
            self._values = self.team.array(text, "values", self.result, self.team.tile_length)
            self._runs = [self.team.array(text, name, self.result, LANES) for name in ("runs", "others")]
        return tiles

    def _last_level(self) -> str:
        """The number of the level that is one tile."""
        text = self.text
        tiles, levels = self._cell("i64", 8, "tiles"), self._cell("i64", 8, "levels")
        self._set(tiles, "i64", self._tiles("%len"))
        self._set(levels, "i64", "0")
        head, more, done = (text.new_block(purpose) for purpose in ("levels", "level", "counted"))
        text.start(head)
        now = self._get(tiles, "i64")
        text.branch_if(text.value(f"icmp ugt i64 {now}, 1"), more, done)
        text.start(more)
        self._set(tiles, "i64", self._tiles(now))
        self._set(levels, "i64", text.value(f"add i64 {self._get(levels, 'i64')}, 1"))
        text.branch(head, self.team.rolled)
        text.start(done)
        return self._get(levels, "i64")

    def _tiles(self, elements: str) -> str:
        rounded = self.text.value(f"add i64 {elements}, {TILE - 1}")
        return self.text.value(f"lshr i64 {rounded}, {_TILE_BITS}")

    # ---- a tile ----

    def tile(self, number: str) -> None:
        """The work on the tile of that number."""
        text = self.text
        base = text.value(f"shl i64 {number}, {_TILE_BITS}")
        count = self._least(text.value(f"sub i64 {self._elements}, {base}"), str(TILE))
        if self.kernel.scan is None:
            self._reduce(number, base, count)
        else:
            self._scan(number, base, count)

    def _reduce(self, number: str, base: str, count: str) -> None:
        text, team = self.text, self.team
        whole, part, done = (text.new_block(purpose) for purpose in ("whole", "part", "reduced"))
        text.branch_if(self._is_whole(count), whole, part)
        text.start(whole)
        team.fold_whole(self, lambda index: self._element(base, index), self._lanes)
        team.barrier(text)
        self._halve(str(LANES), whole=True)
        text.branch(done)
        text.start(part)
        lanes = self._least(count, str(LANES))
        self._from_level(base, lambda fetch: team.fold_lanes(self, lanes, count, fetch, self._lanes))
        team.barrier(text)
        self._halve(lanes, whole=False)
        text.start(done)

        def give() -> None:
            empty = text.value(f"icmp eq i64 {count}, 0")
            identity = constant(self.result, self.kernel.identity.value)
            value = text.value(f"select i1 {empty}, {self.register} {identity}, {self.register} {self.own(self._lanes, '0')}")
            pointer = team.pointer
            place = text.value(f"add i64 {self._target}, {number}")
            partial = element_address(text, self.result, pointer, "%partials", place)
            store(text, self.result, value, pointer, text.value(f"select i1 {self._alone}, {pointer} %out, {pointer} {partial}"))

        team.once(text, give)

    def _halve(self, lanes: str, *, whole: bool) -> None:
        """Combine lane v with lane v + d, where there is one, for d from LANES/2 down to 1."""
        text, team = self.text, self.team

        def halve(step: str, pairs: str, wide: bool = False) -> None:
            def join(lane: str) -> None:
                other = text.value(f"add nuw i64 {lane}, {step}")
                self.put(self._lanes, lane, self.combine(self.own(self._lanes, lane), self.own(self._lanes, other)))

            team.each(text, "0", pairs, join, whole=wide)
            team.barrier(text)

        def rolled(power: str) -> None:
            step = text.value(f"lshr i64 {LANES // 2}, {power}")
            present = self._least(lanes, text.value(f"shl i64 {step}, 1"))
            halve(step, text.intrinsic("llvm.usub.sat.i64", "i64", ("i64", present), ("i64", step)))

        unrolled = [step for step in reversed(_STEPS) if step >= _WIDE] if whole and team.vectors else []
        for step in unrolled:
            halve(str(step), str(step), wide=True)
        counted(text, str(len(unrolled)), str(len(_STEPS)), rolled, suffix=team.rolled)

    def _scan(self, number: str, base: str, count: str) -> None:
        text, team = self.text, self.team
        whole, part, done = (text.new_block(purpose) for purpose in ("whole", "part", "scanned"))
        text.branch_if(self._is_whole(count), whole, part)
        for block, is_whole in ((whole, True), (part, False)):
            text.start(block)
            self._scan_tile(number, base, str(TILE) if is_whole else count, is_whole)
            text.branch(done)
        text.start(done)
        team.barrier(text)

    def _scan_tile(self, number: str, base: str, count: str, whole: bool) -> None:
        text, team = self.text, self.team

        def take(fetch: Fetch) -> None:
            team.each(text, "0", count, lambda index: self.put(self._values, self._spread(index), fetch(index)), whole=whole)

        if whole:
            take(lambda index: self._element(base, index))
        else:
            self._from_level(base, take)
        team.barrier(text)
        runs = str(LANES) if whole else text.value(f"lshr i64 {text.value(f'add nuw i64 {count}, {RUN - 1}')}, {_RUN_BITS}")
        team.each(text, "0", runs, lambda run: self._sum_up_run(run, None if whole else count), whole=whole)
        team.barrier(text)
        self._join_runs(runs, whole)
        up, down, done = (text.new_block(purpose) for purpose in ("up", "down", "scanned"))
        text.branch_if(self._up, up, down)
        text.start(up)

        def give() -> None:
            total = self.own(self._runs[0], text.value(f"sub i64 {runs}, 1"))
            place = text.value(f"add i64 {self._target}, {number}")
            store(text, self.result, total, team.pointer, element_address(text, self.result, team.pointer, "%partials", place))

        team.once(text, give)
        text.branch(done)
        text.start(down)
        self._finish(number, base, count, runs, whole)
        text.start(done)

    def _sum_up_run(self, run: str, count: str | None) -> None:
        """Replace the elements of a run by their sums from its start, and note the last; without `count` the run is whole."""
        text = self.text
        start = text.value(f"shl i64 {run}, {_RUN_BITS}")

        def add(index: str, total: str) -> str:
            place = self._spread(index)
            total = self.combine(total, self.own(self._values, place))
            self.put(self._values, place, total)
            return total

        total = self.own(self._values, self._spread(start))
        if count is None:
            for number in range(1, RUN):
                total = add(text.value(f"add nuw i64 {start}, {number}"), total)
        else:
            stop = self._least(text.value(f"add nuw i64 {start}, {RUN}"), count)
            total = self.fold(text.value(f"add nuw i64 {start}, 1"), stop, total, add)
        self.put(self._runs[0], run, total)

    def _join_runs(self, runs: str, whole: bool) -> None:
        """Every run becomes the combination of all up to it, back and forth between the two arrays: an even number of times."""
        text, team = self.text, self.team

        def join_at(step: str, before: str, after: str, wide: bool = False) -> None:
            def join(run: str) -> None:
                earlier = text.value(f"sub nuw i64 {run}, {step}")
                self.put(after, run, self.combine(self.own(before, earlier), self.own(before, run)))

            team.each(text, "0", self._least(runs, step), lambda run: self.put(after, run, self.own(before, run)), whole=wide)
            team.each(text, step, runs, join, whole=whole)
            team.barrier(text)

        def rolled(power: str) -> None:
            one, other = self._runs
            odd = text.value(f"trunc i64 {power} to i1")
            before, after = (
                text.value(f"select i1 {odd}, {team.own_pointer} {then}, {team.own_pointer} {otherwise}")
                for then, otherwise in ((other, one), (one, other))
            )
            join_at(text.value(f"shl i64 1, {power}"), before, after)

        if whole and team.vectors:
            for power, step in enumerate(_STEPS):
                join_at(str(step), self._runs[power % 2], self._runs[1 - power % 2], step >= _WIDE)
        else:
            counted(text, "0", str(len(_STEPS)), rolled, suffix=team.rolled)

    def _finish(self, number: str, base: str, count: str, runs: str, whole: bool) -> None:
        """Combine every element with all that is before its run, and write it."""
        text, team = self.text, self.team
        totals, carries = self._runs
        later, first, joined = (text.new_block(purpose) for purpose in ("following", "leading", "carried"))
        leading = text.value(f"icmp eq i64 {number}, 0")
        text.branch_if(leading, first, later)
        text.start(later)
        place = text.value(f"add i64 {self._target}, {text.value(f'sub i64 {number}, 1')}")
        before = load(text, self.result, team.pointer, element_address(text, self.result, team.pointer, "%partials", place))
        team.once(text, lambda: self.put(carries, "0", before))
        team.each(
            text, "1", runs, lambda run: self.put(carries, run, self.combine(before, self.own(totals, self._previous(run)))), whole=whole
        )
        text.branch(joined)
        text.start(first)
        team.each(text, "1", runs, lambda run: self.put(carries, run, self.own(totals, self._previous(run))), whole=whole)
        text.start(joined)
        team.barrier(text)

        pointer = team.pointer
        inner = element_address(text, self.result, pointer, "%partials", text.value(f"add i64 {self._source}, {base}"))
        outer = element_address(text, self.result, pointer, "%out", base)
        written = count
        if self.kernel.scan == "exclusive":
            outer = element_address(text, self.result, pointer, outer, "1")
            room = text.value(f"sub i64 {text.value(f'sub i64 %len, {base}')}, 1")
            written = text.value(f"select i1 {self._at_elements}, i64 {self._least(count, room)}, i64 {count}")
        to = text.value(f"select i1 {self._at_elements}, {pointer} {outer}, {pointer} {inner}")

        def write(index: str, value: str) -> None:
            store(text, self.result, value, pointer, element_address(text, self.result, pointer, to, index))

        alone = self._least(written, text.value(f"select i1 {leading}, i64 {RUN}, i64 0"))
        team.each(text, "0", alone, lambda i: write(i, self.own(self._values, self._spread(i))), whole=False)
        team.each_in_runs(
            text,
            alone,
            written,
            lambda i, run: write(i, self.combine(self.own(carries, run), self.own(self._values, self._spread(i)))),
            whole=whole,
        )
        if self.kernel.scan == "exclusive":
            begins, begun = text.new_block("begins"), text.new_block("begun")
            text.branch_if(text.value(f"and i1 {leading}, {self._at_elements}"), begins, begun)
            text.start(begins)
            identity = constant(self.result, self.kernel.identity.value)
            team.once(text, lambda: store(text, self.result, identity, pointer, "%out"))
            text.start(begun)

    def _previous(self, run: str) -> str:
        return self.text.value(f"sub nuw i64 {run}, 1")

    # ---- values ----

    def _from_level(self, base: str, use: Callable[[Fetch], None]) -> None:
        """`use` with the elements of the tile that starts at `base`: those of the array, or the results of the level below."""
        text = self.text
        array, results, done = (text.new_block(purpose) for purpose in ("array", "results", "fetched"))
        text.branch_if(self._at_elements, array, results)
        text.start(array)
        use(lambda index: self._element(base, index))
        text.branch(done)
        text.start(results)
        start = text.value(f"add i64 {self._source}, {base}")
        use(lambda index: self._partial(text.value(f"add nuw i64 {start}, {index}")))
        text.start(done)

    def _is_whole(self, count: str) -> str:
        """Whether the tile is a whole one of the array itself, of which there are many."""
        full = self.text.value(f"icmp eq i64 {count}, {TILE}")
        return self.text.value(f"and i1 {full}, {self._at_elements}")

    def _element(self, base: str, index: str) -> str:
        text, kernel, pointer = self.text, self.kernel, self.team.pointer
        place = text.value(f"add nuw i64 {base}, {index}")
        address = element_address(text, kernel.element, pointer, f"%{kernel.arrays[0].name}", place)
        value = load(text, kernel.element, pointer, address)
        if kernel.pre is None:
            return value
        params = [] if kernel.params is None else [f"{self.team.params_pointer} %params"]
        return self._call(kernel.pre, [f"{value_type(kernel.element)} {value}", *params])

    def _partial(self, place: str) -> str:
        return load(
            self.text, self.result, self.team.pointer, element_address(self.text, self.result, self.team.pointer, "%partials", place)
        )

    def combine(self, left: str, right: str) -> str:
        return self._call(self.kernel.combine, [f"{self.register} {left}", f"{self.register} {right}"])

    def _call(self, function: typed.Function, arguments: list[str]) -> str:
        """Call one of the author's functions. After a check has failed the others of the team are not left waiting: the work goes on."""
        symbol, first = reporting(self.text.module, self._dialect, function)
        return self.text.value(f"call {self.register} @{symbol}({', '.join([*first, *arguments])})")

    def own(self, array: str, place: str) -> str:
        """What the team's `array` holds at a place."""
        pointer = self.team.own_pointer
        return load(self.text, self.result, pointer, element_address(self.text, self.result, pointer, array, place))

    def put(self, array: str, place: str, value: str) -> None:
        """Store a value in the team's `array`."""
        pointer = self.team.own_pointer
        store(self.text, self.result, value, pointer, element_address(self.text, self.result, pointer, array, place))

    def _spread(self, index: str) -> str:
        return self.team.spread(self.text, index)

    def _least(self, one: str, other: str) -> str:
        return self.text.intrinsic("llvm.umin.i64", "i64", ("i64", one), ("i64", other))

    def _cell(self, register: str, align: int, name: str) -> str:
        return self.text.alloca(register, align, name)

    def _get(self, cell: str, register: str) -> str:
        return self.text.value(f"load {register}, {self.team.private_pointer} {cell}")

    def _set(self, cell: str, register: str, value: str) -> None:
        self.text.effect(f"store {register} {value}, {self.team.private_pointer} {cell}")

    def fold(self, start: str, stop: str, first: str, add: Callable[[str, str], str], step: str = "1") -> str:
        """A loop with one value carried along; see `Tile`."""
        total = self._cell(self.register, self.result.size, "total")
        self._set(total, self.register, first)
        counted(
            self.text,
            start,
            stop,
            lambda i: self._set(total, self.register, add(i, self._get(total, self.register))),
            step,
            self.team.rolled,
        )
        return self._get(total, self.register)
