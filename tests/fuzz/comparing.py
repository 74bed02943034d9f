"""One batch: programs compiled together, each compared in all ways; and a program made small that still differs."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from gompute.errors import CompileError
from tests.fuzz import running
from tests.fuzz.programs import Program, module, program
from tests.language import numbers
from tests.language.values import Misunderstood
from tests.ptx.faults import PtxError


@dataclass(frozen=True)
class Difference:
    """A program on which two ways do not agree.

    Attributes:
        what: in words: which way, and the first work-item with other bits.
    """

    program: Program
    what: str

    def __str__(self) -> str:
        return f"{self.what}\n\n{module([self.program])}"


def programs(seed: int, first: int, number: int) -> list[Program]:
    """Those of a seed by their numbers: each is made by its number alone."""
    return [program(Random(f"{seed}/{each}"), each) for each in range(first, first + number)]


def compare(batch: Sequence[Program], seed: int, gpus: Sequence[str] = running.GPUS) -> list[Difference]:
    """The programs of a batch that differ."""
    try:
        code = running.compiled(batch, gpus)
    except CompileError as error:
        if len(batch) == 1:
            return [Difference(batch[0], f"the compiler refuses it: {error}")]
        return [found for each in batch for found in compare([each], seed, gpus)]
    machines = {name: running.machine_of(text) for name, text in code.ptx.items()}
    found = []
    for each in batch:
        arrays = [running.inputs(kind, seed + place) for place, kind in enumerate(each.inputs)]
        try:
            wanted = running.interpreted(each, arrays)
        except Misunderstood as error:
            found.append(Difference(each, f"the interpreter of the source does not understand it: {error}"))
            continue
        ways: dict[str, Callable[[], np.ndarray]] = {running.CPU: lambda each=each, arrays=arrays: running.on_cpu(each, code.cpu, arrays)}
        ways |= {
            name: lambda each=each, machine=machine, arrays=arrays: running.on_ptx(each, machine, arrays)
            for name, machine in machines.items()
        }
        for name, run in ways.items():
            what = _compared(each, name, run, wanted, arrays)
            if what:
                found.append(Difference(each, what))
                break
    return found


def _compared(each: Program, name: str, run: Callable[[], np.ndarray], wanted: np.ndarray, arrays: list[np.ndarray]) -> str:
    try:
        got = run()
    except PtxError as error:
        return f"{name}: {type(error).__name__}: {error}"
    different = np.flatnonzero(running.differs(each.result, got, wanted))
    if not different.size:
        return ""
    at = int(different[0])
    shown = ", ".join(repr(numbers.from_bits(array, kind)[at].item()) for array, kind in zip(arrays, each.inputs, strict=True))
    values = [numbers.from_bits(bits, each.result)[at].item() for bits in (got, wanted)]
    return f"{name}: work-item {at} of inputs ({shown}) gives {values[0]!r}, by the source it is {values[1]!r}; {different.size} differ"


# ---- smaller ----


def smallest(difference: Difference, seed: int, gpus: Sequence[str], tries: int = 400) -> Difference:
    """A program that differs in the same way (refused, faulty, or other bits), with as much taken out as can be."""
    way = difference.what.split(":")[0]
    best = difference
    again = True
    while again and tries > 0:
        again = False
        for candidate in _simpler(best.program):
            tries -= 1
            try:
                found = compare([candidate], seed, gpus)
            except Exception:  # noqa: S112 - what is taken out may leave nonsense behind, which either side may choke on
                continue
            if found and found[0].what.split(":")[0] == way and len(candidate.text) < len(best.program.text):
                best, again = found[0], True
                break
            if tries <= 0:
                break
    return best


def _simpler(whole: Program) -> Iterator[Program]:
    for place, text in enumerate(whole.functions):
        if place < len(whole.functions) - 1 and not any(f"{_name(text)}(" in other for other in whole.functions[place + 1 :]):
            yield replace(whole, functions=whole.functions[:place] + whole.functions[place + 1 :])
        for smaller in _smaller_texts(text):
            yield replace(whole, functions=(*whole.functions[:place], smaller, *whole.functions[place + 1 :]))


def _name(text: str) -> str:
    return text.partition("def ")[2].partition("(")[0]


def _smaller_texts(text: str) -> Iterator[str]:
    """A function's text with a statement left out, or an expression replaced by a part of it."""
    tree = ast.parse(text)
    places = [(node, field) for node in ast.walk(tree) for field in node._fields]
    for number, (node, field) in enumerate(places):
        value = getattr(node, field)
        if isinstance(value, list) and value and all(isinstance(each, ast.stmt) for each in value) and not isinstance(node, ast.Module):
            for index, each in enumerate(value):
                inner = [part for name in ("body", "orelse") for part in getattr(each, name, [])]
                for put in ([], inner) if inner else ([],):
                    yield _changed(tree, number, field, value[:index] + put + value[index + 1 :] or [ast.Pass()])
        elif isinstance(value, ast.expr) and field not in ("annotation", "returns", "func", "target"):
            parts = [part for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr)]
            for part in parts:
                yield _changed(tree, number, field, part)


def _changed(tree: ast.Module, number: int, field: str, value: object) -> str:
    made = copy.deepcopy(tree)
    node = [(each, name) for each in ast.walk(made) for name in each._fields][number][0]
    setattr(node, field, copy.deepcopy(value))
    return ast.unparse(ast.fix_missing_locations(made))
