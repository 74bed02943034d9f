"""Reductions and scans: how they are written and launched, and the order in which they combine, which depends on the length alone.

**Tiles.** An array of n elements is cut into tiles of `TILE`; the last may be shorter. The results of the tiles, in their order, are an
array again, the next *level*, and are cut in the same way, until one tile is left: `tile_counts`. Each `pre` is applied once, to an element
of the array itself. Only values that exist are combined: one element alone is its own result, and the identity is the result of none. Every
value is kept in the type that the combining function takes and gives, f16 and bf16 included.

**A reduction** works on a tile in `LANES` lanes. Lane v combines the tile's elements v, v + LANES, v + 2 LANES, ... as far as there are
any, in that order from the left. Then, for d = LANES/2, LANES/4, ..., 1, every lane v < d becomes ``combine(lane v, lane v + d)`` where
that other lane has an element. Lane 0 is the tile's result. So elements change places: the function has to commute as well as associate,
but for rounding.

**A scan** keeps the order of elements, and its function need only associate, but for rounding. A tile is cut into runs of `RUN` elements,
and each run is summed up from the left: s[i] is the run's elements up to i. For d = 1, 2, 4, ..., LANES/2 every run v >= d then becomes
``combine(run v - d, run v)`` of the values before the step, where run v starts as its last s; so run v holds all of the tile up to its end,
and the last run the tile's result. The next level is scanned in the same way. With c the value of run v - 1, or what the next level's scan
gives for the tile before, or ``combine(that tile's, run v - 1)`` where there are both, element i of run v is ``combine(c, s[i])``, and s[i]
where there is neither. An exclusive scan gives the inclusive one's elements moved up by one, after the identity.

**Launches.** A kernel has the arguments ``(data, partials, out, len, stage, params)``, `in` in the place of data for a scan, and blocks of
its `block_size`; one block does one tile. With L the number of levels but the last, ``len(tile_counts(n)) - 1``, `partials` has room for
`scratch_elements` results. A reduction is launched for the stages 0 to L, stage s in ``tile_counts(n)[s]`` blocks, and leaves its result in
``out[0]``. A scan is launched for the stages 0 to 2 L, stage s in as many blocks as level ``s`` has tiles, or ``2 L - s`` from L on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from gompute.lang import numeric, promotion
from gompute.lang.numeric import Number
from gompute.lang.promotion import PromotionRefused
from gompute.lang.signature import (
    READ,
    WRITTEN,
    Argument,
    Fault,
    Given,
    KernelInterface,
    Signature,
    Use,
    elements_of,
    example,
    params_argument,
    params_of,
    scalars,
    types_of,
)
from gompute.lang.types import BOOL, U64, PointerType, ScalarType

__all__ = ["LANES", "RUN", "TILE", "TILED", "Tiled", "scratch_elements", "stage_tiles", "tile_counts"]

_F = TypeVar("_F")

LANES = 256
RUN = 16
TILE = LANES * RUN


def tile_counts(n: int) -> list[int]:
    """The tiles of every level of an array of `n` elements; the last is 1, also where n is 0."""
    counts = [max(1, -(-n // TILE))]
    while counts[-1] > 1:
        counts.append(-(-counts[-1] // TILE))
    return counts


def scratch_elements(n: int) -> int:
    """How many results of tiles are kept from one launch to the next."""
    return sum(tile_counts(n)[:-1])


def stage_tiles(n: int, scan: bool) -> list[int]:
    """The blocks of every launch, by its stage."""
    counts = tile_counts(n)
    return [*counts[:-1], *reversed(counts)] if scan else counts


@dataclass(frozen=True, slots=True)
class Tiled:
    """A reduction to one value, or a scan: ``out[i]`` is the combination of all elements up to i, or with `exclusive` of those before i.

    Its functions are the one that combines, where that is no preset, and then perhaps `pre`, which is applied to each element before.

    Attributes:
        preset: what combines where it is not the author's: ``sum``, ``min``, ``max``, ``any`` or ``all``.
    """

    name: str
    scan: bool = False
    exclusive: bool = False
    preset: str | None = None

    counts: ClassVar[tuple[str, ...]] = ("len", "stage")

    @property
    def by_call(self) -> bool:
        return self.preset is not None

    def roles(self, functions: Sequence[_F]) -> tuple[_F | None, _F | None]:
        """What combines, None for a preset; and `pre`, None where there is none."""
        both = [None, *functions, None] if self.preset is not None else [*functions, None]
        return both[0], both[1]

    def joints(self, functions: Sequence[tuple[Any, Any]], given: Given) -> list[tuple[Any, Any]]:
        """Which annotations are of one type, of the first argument and the result of each function: what is combined, what `pre` gives
        for it, and the elements of a preset."""
        combine, pre = self.roles(functions)
        if combine is None:
            return [] if pre is None else [(given.types[0], pre[0])]
        return [combine] if pre is None else [combine, (pre[1], combine[0])]

    def fault(self, functions: Sequence[Signature], given: Given) -> Fault | None:
        """What is wrong with the functions, or with what is given beside them."""
        combine, pre = self.roles(functions)
        found = None if combine is None else self._combine_fault(combine)
        found = found or (None if pre is None else self._pre_fault(combine, pre, given))
        if found is not None:
            return found
        if given.params is not None and (pre is None or params_of(pre.arguments) is None):
            return f"params of the type {given.params} are given, and no function takes them", "remove them, or pass pre=f with f(x, p)"
        if combine is not None:
            return self._identity_fault(_result(combine), given.identity)
        kind = given.types[0] if pre is None else _result(pre)
        if self.preset == "sum" and kind == BOOL:
            return (
                f"a {self.name} adds numbers, and these are bool",
                "pass pre=f with a function f(x: bool) -> u64 that counts, or use g.any",
            )
        if self.preset in ("any", "all") and kind.is_float:
            return f"{self.preset} works on integers and bool, and these are {kind}", f"pass pre=f with a comparison: f(x: {kind}) -> bool"
        return None

    def _combine_fault(self, combine: Signature) -> Fault | None:
        kinds = {argument.type for argument in combine.arguments}
        element = next(iter(kinds), None)
        if len(combine.arguments) != 2 or len(kinds) != 1 or not isinstance(element, ScalarType):
            what = f"the function of a {self.name} combines two values of one type; this one takes ({types_of(combine)})"
            return what, f"write def {combine.name}(a: f32, b: f32) -> f32; params go to pre=f"
        if combine.result != element:
            given = "nothing" if combine.result is None else str(combine.result)
            return (
                f"the function of a {self.name} returns the type that it combines, {element}; this one returns {given}",
                f"write -> {element}",
            )
        return None

    def _pre_fault(self, combine: Signature | None, pre: Signature, given: Given) -> Fault | None:
        sample = given.types[0] if combine is None else "f32"
        elements = elements_of(pre, indexed=False)
        if len(elements) != 1 or pre.result is None:
            returned = "nothing" if pre.result is None else str(pre.result)
            what = f"pre takes an element and, if needed, params, and returns a value; '{pre.name}' takes ({types_of(pre)})"
            return f"{what} and returns {returned}", example(pre.name, f"x: {sample}", "f32" if combine is None else str(combine.result))
        if combine is not None and pre.result != combine.result:
            what = f"'{pre.name}' gives {pre.result}, and '{combine.name}' combines {combine.result}"
            return what, f"write def {pre.name}(...) -> {combine.result}"
        if combine is None and elements[0] != given.types[0]:
            what = f"the elements are {given.types[0]}, and '{pre.name}' takes {elements[0]}"
            return what, f"declare the {self.name} of {elements[0]}, or write def {pre.name}(x: {given.types[0]}, ...)"
        mine = params_of(pre.arguments)
        if given.params is not None and mine is not None and mine != given.params:
            return f"params of the type {given.params} are given, and '{pre.name}' takes {mine}", f"pass {mine}, or nothing"
        return None

    def _identity_fault(self, element: ScalarType, identity: object) -> Fault | None:
        if identity is None:
            if self.scan and not self.exclusive:
                return None  # an inclusive scan of nothing is nothing
            if self.scan:
                return "an exclusive scan needs an identity, its first element", "write @g.scan(exclusive=True, identity=0)"
            return "a reduce needs an identity, the result of an empty array", "write @g.reduce(identity=0)"
        if not isinstance(identity, (int, float)):
            return f"identity={identity!r} is no number", f"write a number that is a value of {element}"
        try:
            promotion.literal(identity, element)
        except PromotionRefused as refused:
            return f"identity={promotion.spelled(identity)}: {refused.reason}", f"write a number that is a value of {element}"
        return None

    def interface(self, functions: Sequence[Signature], given: Given) -> KernelInterface:
        """Of functions without a fault."""
        combine, pre = self.roles(functions)
        result = given.types[0] if combine is None else _result(combine)
        element, params = result, None
        if pre is not None:
            element, params = scalars(pre.arguments)[0], params_of(pre.arguments)
            result = _result(pre)
        if self.preset in ("any", "all"):
            result = BOOL
        data = Argument("in" if self.scan else "data", element)
        return KernelInterface((data,) if params is None else (data, Argument("p", params)), result, params)

    def launch(self, interface: KernelInterface) -> tuple[Argument, ...]:
        """``(data, partials, out, len, stage, params)``, and `in` in the place of data for a scan."""
        (data,) = (argument for argument in interface.arguments if isinstance(argument.type, ScalarType))
        assert isinstance(data.type, ScalarType) and interface.output is not None
        arrays = {data.name: data.type, "partials": interface.output, "out": interface.output}
        pointers = (Argument(name, PointerType(kind)) for name, kind in arrays.items())
        return (*pointers, *(Argument(count, U64) for count in self.counts), *params_argument(interface))

    def uses(self, arrays: Sequence[str]) -> tuple[Use, ...]:
        """Of the array, the results of tiles and the output; none of other arrays."""
        if list(arrays) != ["in" if self.scan else "data", "partials", "out"]:
            return ()
        return READ, Use(True, True, scratch=True), WRITTEN if self.scan else Use(False, True, single=True)

    def identity(self, result: ScalarType, given: object) -> Number:
        """The result of no element, as a value of `result`: what a declaration without a fault gives, or the preset's own."""
        if self.preset is None:
            return numeric.convert(given if isinstance(given, (int, float)) else 0, result)
        low, high = (-math.inf, math.inf) if result.is_float else numeric.limits(result)
        own = {"sum": 0, "min": high, "max": low, "any": 0, "all": 1}
        return numeric.convert(own[self.preset], result)


def _result(function: Signature) -> ScalarType:
    assert function.result is not None, "its form was checked"
    return function.result


TILED = (
    Tiled("reduce"),
    *(Tiled(preset, preset=preset) for preset in ("sum", "min", "max", "any", "all")),
    Tiled("scan", scan=True),
    Tiled("exclusive_scan", scan=True, exclusive=True),
    Tiled("sum_scan", scan=True, preset="sum"),
    Tiled("exclusive_sum_scan", scan=True, exclusive=True, preset="sum"),
)
