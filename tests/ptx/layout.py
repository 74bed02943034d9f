"""Where things lie: variables of the module, local variables, parameters, and the special registers of some blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tests.ptx.faults import PtxError
from tests.ptx.memory import GlobalMemory, ParamBank, Region, Rows, aligned_zeros
from tests.ptx.syntax import Function, Module, Variable
from tests.ptx.threads import WARP, Array, State


def _placed(variables: Iterable[Variable], start: int = 0) -> tuple[dict[str, int], int]:
    """An offset for each, and where the last one ends."""
    offsets, end = {}, start
    for variable in variables:
        end = -(-end // variable.align) * variable.align
        offsets[variable.name] = end
        end += variable.size
    return offsets, end


class Layout:
    """The variables of a module. Global and constant ones become allocations of the memory."""

    def __init__(self, module: Module, memory: GlobalMemory) -> None:
        self.module = module
        self.memory = memory
        self.symbols: dict[str, tuple[str, int]] = {}
        for variable in module.variables.values():
            if variable.space in ("global", "const"):
                data = aligned_zeros(variable.size)
                data[:] = np.frombuffer(variable.data or bytes(variable.size), np.uint8)
                region = memory.add(Region(data.ctypes.data, data, variable.space))
                self.symbols[variable.name] = (variable.space, region.base)
            elif variable.space != "shared":
                raise PtxError(f"{variable.name}: a {variable.space} variable of a module")
        fixed = [each for each in module.variables.values() if each.space == "shared" and each.size]
        fixed += [each for function in module.functions.values() for each in function.variables.values() if each.space == "shared"]
        offsets, end = _placed(fixed)
        dynamic = [each for each in module.variables.values() if each.space == "shared" and not each.size]
        start = max([end, *(-(-end // each.align) * each.align for each in dynamic)])
        self.symbols |= {name: ("shared", offset) for name, offset in offsets.items()}
        self.symbols |= {each.name: ("shared", start) for each in dynamic}
        self.shared = start if dynamic else end

    def bank(self, function: Function, arguments: Sequence[bytes]) -> ParamBank:
        """The parameters of a launch."""
        offsets, end = _placed(function.parameters)
        if [len(each) for each in arguments] != [each.size for each in function.parameters]:
            raise PtxError(f"{function.name} takes parameters of {[each.size for each in function.parameters]} bytes")
        data = aligned_zeros(end)
        for offset, value in zip(offsets.values(), arguments, strict=True):
            data[offset : offset + len(value)] = np.frombuffer(value, np.uint8)
        return ParamBank(data)

    def locals_of(self, function: Function, start: int) -> dict[str, int]:
        """Addresses of a function's local variables, above those of its callers."""
        return _placed((each for each in function.variables.values() if each.space == "local"), -(-start // 16) * 16)[0]

    def end_of_locals(self, function: Function, offsets: dict[str, int]) -> int:
        return max((offset + function.variables[name].size for name, offset in offsets.items()), default=0)

    def most_local(self) -> int:
        """Bytes that are enough for every chain of calls, which does not come back to a function."""
        sizes = (_placed(each for each in f.variables.values() if each.space == "local")[1] for f in self.module.functions.values())
        return sum(-(-size // 16) * 16 for size in sizes)


def state_of(
    layout: Layout,
    function: Function,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    blocks: range,
    bank: ParamBank,
    shared: int,
) -> State:
    """The threads of these blocks, at the start of a kernel."""
    size = int(np.prod(block))
    count = size * len(blocks)
    block_of = np.repeat(np.arange(len(blocks)), size)
    linear = np.tile(np.arange(size), len(blocks))
    number = block_of + blocks.start
    specials: dict[str, Array] = {}

    def add(name: str, values: Array | int) -> None:
        specials[name] = np.broadcast_to(np.asarray(values), (count,)).astype(np.uint32)

    for axis, (letter, place) in enumerate(zip("xyz", ((1, 0), (block[0], 1), (block[0] * block[1], 2)), strict=True)):
        add(f"%tid.{letter}", linear // place[0] % block[axis])
        add(f"%ntid.{letter}", block[axis])
        add(f"%ctaid.{letter}", number // int(np.prod(grid[:axis])) % grid[axis])
        add(f"%nctaid.{letter}", grid[axis])
    lane = linear % WARP
    add("%laneid", lane)
    add("%warpid", linear // WARP)
    add("%nwarpid", -(-size // WARP))
    add("%dynamic_smem_size", shared)
    one = np.uint64(1)
    bit = one << lane.astype(np.uint64)
    add("%lanemask_eq", bit)
    add("%lanemask_lt", bit - one)
    add("%lanemask_le", (bit << one) - one)
    add("%lanemask_gt", ~((bit << one) - one) & np.uint64(0xFFFFFFFF))
    add("%lanemask_ge", ~(bit - one) & np.uint64(0xFFFFFFFF))
    specials["%warpsize"] = np.full(count, WARP, np.uint32)
    offsets, _ = _placed(function.parameters)
    symbols = layout.symbols | {name: ("param", offset) for name, offset in offsets.items()}
    return State(
        count=count,
        grid=grid,
        block=block,
        specials=specials,
        block_of=block_of,
        linear=linear,
        memory=layout.memory,
        shared=Rows("shared", len(blocks), layout.shared + shared),
        local=Rows("local", count, layout.most_local()),
        bank=bank,
        symbols=symbols,
        alive=np.ones(count, bool),
    )
