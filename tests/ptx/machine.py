"""Launches: all threads of some blocks at once, which part at branches and meet again.

Of the threads that wait to go on, those deepest in calls are taken first, and of these those at the lowest place in the text; threads at
one place go on together. LLVM lays out a loop before what follows it and both sides of an `if` before their join, so that threads which
have parted meet again at the first place that both pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tests.ptx.control import Action, Barrier, Branch, Call, Exit, Indexed, Plain, Return, Trap, action
from tests.ptx.faults import Deadlock, PtxError, Trapped, Undefined
from tests.ptx.layout import Layout, state_of
from tests.ptx.memory import GlobalMemory
from tests.ptx.syntax import Function, Module
from tests.ptx.threads import WARP, Array, Frame, Reader, State, Threads
from tests.ptx.warps import missing

#: Threads that are executed at once; a larger launch runs in parts of whole blocks.
MOST_THREADS = 1 << 15
#: Instructions that a part may execute: more is a loop that does not end.
MOST_STEPS = 20_000_000


@dataclass(frozen=True)
class Decoded:
    action: Action
    guard: tuple[Reader, bool] | None


class Machine:
    """A module and the memory that it works on."""

    def __init__(self, module: Module, memory: GlobalMemory | None = None) -> None:
        self.module = module
        self.memory = GlobalMemory() if memory is None else memory
        self.layout = Layout(module, self.memory)
        self._decoded: dict[str, list[Decoded]] = {}

    def launch(
        self, kernel: str, grid: tuple[int, int, int], block: tuple[int, int, int], arguments: Sequence[bytes], shared: int = 0
    ) -> None:
        """Runs a kernel to its end.

        Args:
            arguments: the bytes of each.
            shared: bytes of dynamic shared memory.
        """
        function = self.module.functions.get(kernel)
        if function is None or not function.entry:
            raise PtxError(f"there is no kernel {kernel}")
        self._check(function, block)
        bank = self.layout.bank(function, arguments)
        self.memory.begin()
        blocks, size = int(np.prod(grid)), int(np.prod(block))
        at_once = max(1, MOST_THREADS // size)
        with np.errstate(all="ignore"):
            for first in range(0, blocks, at_once):
                state = state_of(self.layout, function, grid, block, range(first, min(blocks, first + at_once)), bank, shared)
                _Run(self, state, function).go()

    def _check(self, function: Function, block: tuple[int, int, int]) -> None:
        for name, limit in function.limits.items():
            if (name == "reqntid" and block != limit) or np.prod(block) > np.prod(limit):
                raise PtxError(f"a block of {block}, where .{name} says {limit}")

    def decoded(self, function: Function) -> list[Decoded]:
        """A function's instructions, decoded once; all of them, so that one which is not known is found even where it is not reached."""
        if function.name not in self._decoded:
            made = []
            for instruction in function.instructions:
                guard = None
                if instruction.guard is not None:
                    name, wanted = instruction.guard
                    if function.registers.get(name) != 1:
                        raise PtxError(f"{instruction}: the guard {name} is no predicate")
                    guard = (_reader(name), wanted)
                made.append(Decoded(action(self.module, function, instruction), guard))
            self._decoded[function.name] = made
        return self._decoded[function.name]


def _reader(name: str) -> Reader:
    return lambda threads: threads.read(name)


class _Run:
    """One part of a launch.

    Attributes:
        waiting: threads that can go on, by frame and place.
        parked: threads at an instruction of a warp, whose others have not come.
        stopped: threads at a barrier.
    """

    def __init__(self, machine: Machine, state: State, function: Function) -> None:
        self.machine = machine
        self.state = state
        frame = Frame(function, local=machine.layout.locals_of(function, 0))
        self.waiting: dict[tuple[Frame, int], Array] = {(frame, 0): np.arange(state.count)}
        self.parked: dict[tuple[Frame, int], Array] = {}
        self.stopped: dict[tuple[Frame, int], Array] = {}
        self.steps = 0

    def go(self) -> None:
        while self.waiting or self.parked or self.stopped:
            if not self.waiting and not self._release():
                where = [str(frame.function.instructions[at]) for frame, at in (*self.parked, *self.stopped)]
                raise Deadlock(f"threads wait at {', '.join(where)} for others that do not come")
            if self.waiting:
                frame, at = min(self.waiting, key=lambda key: (-key[0].depth, key[1]))
                self._run(frame, at, self.waiting.pop((frame, at)))

    def _add(self, frame: Frame, at: int, places: Array) -> None:
        """Lets threads go on at a place, with those that wait there."""
        if places.size:
            known = self.waiting.get((frame, at))
            self.waiting[frame, at] = places if known is None else np.sort(np.concatenate([known, places]))

    def _run(self, frame: Frame, at: int, places: Array) -> None:
        """Runs threads up to where they part, or meet others."""
        code = self.machine.decoded(frame.function)
        meeting = min((place for other, place in self.waiting if other is frame and place > at), default=len(code))
        threads = Threads(self.state, frame, places)
        while True:
            if at >= len(code):
                raise PtxError(f"{frame.function.name} runs past its end")
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise Deadlock("too many instructions: a loop does not end")
            decoded = code[at]
            try:
                at = self._step(threads, decoded, at)
            except PtxError as error:
                raise type(error)(f"{frame.function.name}, {frame.function.instructions[at]}: {error}") from error
            if at < 0:
                return
            if at >= meeting or (frame, at) in self.waiting:
                self._add(frame, at, places)
                return

    def _step(self, threads: Threads, decoded: Decoded, at: int) -> int:
        """Executes an instruction; where all of the threads go on, or -1 where they were put away."""
        todo = decoded.action
        chosen = threads
        if decoded.guard is not None:
            read, wanted = decoded.guard
            holds = read(threads) == wanted
            if not holds.any():
                return at + 1
            if not holds.all():
                if not isinstance(todo, Plain) or todo.mask is not None:
                    self._add(threads.frame, at + 1, threads.places[~holds])
                    self._act(threads.subset(holds), todo, at)
                    return -1
                chosen = threads.subset(holds)
        if isinstance(todo, Plain) and todo.mask is None:
            todo.step(chosen)
            return at + 1
        if isinstance(todo, Branch) and not any(frame is threads.frame for frame, _ in self.waiting):
            return todo.target  # where others wait, these or they may be first
        self._act(chosen, todo, at)
        return -1

    def _act(self, threads: Threads, todo: Action, at: int) -> None:
        frame, places = threads.frame, threads.places
        if isinstance(todo, Plain):
            self._meet(threads, todo, at)
        elif isinstance(todo, Branch):
            self._add(frame, todo.target, places)
        elif isinstance(todo, Indexed):
            index = np.broadcast_to(todo.index(threads), places.shape)
            if (index >= len(todo.targets)).any():
                raise Undefined("a branch index past the end of its table")
            for number, target in enumerate(todo.targets):
                self._add(frame, target, places[index == number])
        elif isinstance(todo, Call):
            self._call(threads, todo, at)
        elif isinstance(todo, Return) and frame.parent is not None:
            self._add(frame.parent, frame.resume, places)
        elif isinstance(todo, (Return, Exit)):
            self.state.alive[places] = False
        elif isinstance(todo, Trap):
            raise Trapped("trap")
        else:
            assert isinstance(todo, Barrier)
            known = self.stopped.get((frame, at))
            self.stopped[frame, at] = places if known is None else np.sort(np.concatenate([known, places]))

    def _call(self, threads: Threads, call: Call, at: int) -> None:
        frame = threads.frame
        top = max([self.machine.layout.end_of_locals(frame.function, frame.local), *frame.local.values()], default=0)
        made = Frame(call.function, frame.depth + 1, frame, at + 1, local=self.machine.layout.locals_of(call.function, top))
        for formal, actual in zip(call.function.parameters, call.given, strict=True):
            made.params[formal.name] = frame.params[actual]
        for formal, actual in zip(call.function.results, call.taken, strict=True):
            made.params[formal.name] = frame.params.setdefault(actual, np.full((self.state.count, formal.size), 0xA5, np.uint8))
        self._add(made, 0, threads.places)

    # ---- warps ----

    def _meet(self, threads: Threads, todo: Plain, at: int) -> None:
        """Executes an instruction of a warp for those warps whose threads are all here; the others wait for theirs."""
        assert todo.mask is not None
        frame = threads.frame
        earlier = self.parked.pop((frame, at), None)
        if earlier is not None:
            threads = Threads(self.state, frame, np.sort(np.concatenate([earlier, threads.places])))
        absent = missing(threads, todo.mask(threads))
        if absent.any():
            self.parked[frame, at] = threads.places[absent]
            threads = threads.subset(~absent)
        if threads.places.size:
            todo.step(threads)
            self._add(frame, at + 1, threads.places)

    # ---- barriers ----

    def _release(self) -> bool:
        """Lets those go on whose wait is over, when nobody else can: whether there were any."""
        for (frame, at), places in list(self.parked.items()):
            todo = self.machine.decoded(frame.function)[at].action
            assert isinstance(todo, Plain)
            before = places.size
            del self.parked[frame, at]
            self._meet(Threads(self.state, frame, places), todo, at)
            if self.parked.get((frame, at), places[:0]).size < before:
                return True
        return self._release_blocks()

    def _release_blocks(self) -> bool:
        """Blocks of which every thread that has not exited stands at the same barrier."""
        state = self.state
        blocks = int(state.block_of.max()) + 1
        alive = np.bincount(state.block_of[state.alive], minlength=blocks)
        by_number: dict[int, list[tuple[Frame, int, Array, Barrier]]] = {}
        for (frame, at), places in self.stopped.items():
            todo = self.machine.decoded(frame.function)[at].action
            assert isinstance(todo, Barrier)
            by_number.setdefault(todo.number, []).append((frame, at, places, todo))
        released = False
        for group in by_number.values():
            arrived = sum(np.bincount(state.block_of[places], minlength=blocks) for *_, places, _ in group)
            free = (arrived == alive) & (arrived > 0)
            if not free.any():
                continue
            released = True
            self._check_aligned(group, free)
            for frame, at, places, todo in group:
                gone = free[state.block_of[places]]
                if todo.combine is not None:
                    self._combine(Threads(state, frame, places[gone]), todo)
                del self.stopped[frame, at]
                if not gone.all():
                    self.stopped[frame, at] = places[~gone]
                self._add(frame, at + 1, places[gone])
        return released

    def _check_aligned(self, group: list[tuple[Frame, int, Array, Barrier]], free: Array) -> None:
        """The threads of a warp execute an aligned barrier as one."""
        if len(group) == 1 or not any(todo.aligned for *_, todo in group):
            return
        state = self.state
        seen: dict[int, tuple[Frame, int]] = {}
        for frame, at, places, _ in group:
            for warp in np.unique(state.warp_of[places[free[state.block_of[places]]]]).tolist():
                if seen.setdefault(warp, (frame, at)) != (frame, at):
                    raise Undefined(f"the {WARP} threads of a warp stand at different instructions of one aligned barrier")

    def _combine(self, threads: Threads, todo: Barrier) -> None:
        assert todo.value is not None and todo.write is not None and todo.combine is not None
        values = np.broadcast_to(todo.value(threads), threads.places.shape)
        block = threads.of(self.state.block_of)
        results = np.zeros(values.shape, np.uint32)
        for each in np.unique(block):
            results[block == each] = todo.combine(values[block == each])
        todo.write(threads, results)
