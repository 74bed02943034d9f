"""Runs programs in the three ways and compares."""

from __future__ import annotations

import ast
import ctypes
import struct
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from gompute.backends.pipeline import compile_piece, join_pieces
from gompute.frontend import compile_root
from gompute.targets import parse_target
from tests.fuzz import together
from tests.fuzz.programs import CONSTANTS, FIELDS, TABLES, TAPS, Program, module
from tests.language import numbers, samples
from tests.language.interpreter import Function
from tests.language.values import Memory, Thing, Value
from tests.ptx.machine import Machine
from tests.ptx.memory import GlobalMemory
from tests.ptx.parse import parse

Array = np.ndarray[Any, Any]

ITEMS = 96
CPU, GPUS = "x86-64-v3", ("sm_75", "sm_90", "sm_120")
_SERIAL = count()

# ---- what kernels work on ----

_PARAMS = {"flag": 1, "small": -100, "scale": 0.1, "half": 2049.0, "brain": -0.3359375, "wide": 1e-3, "count": 2**63 + 5}
_TAPS = (-7, 300, 32767)


def inputs(kind: str, seed: int) -> Array:
    """Bits in memory: the edges of the type, mixed with others."""
    rng = np.random.default_rng([seed, numbers.TYPES.index(kind)])
    size = numbers.bits_of(kind) // 8
    edges = numbers.to_bits(samples.edges(kind), kind)
    wild = rng.integers(0, 2 if kind == "bool" else 256, (ITEMS, size), np.uint8).view(f"u{size}").reshape(-1)
    near = numbers.to_bits(numbers.cast(rng.normal(0, 50, ITEMS), "f64", kind), kind)
    chosen = rng.integers(0, 3, ITEMS)
    return np.where(chosen == 0, wild, np.where(chosen == 1, near, edges[rng.integers(0, edges.size, ITEMS)])).astype(f"u{size}")


def packed_params() -> bytes:
    """By the rules of C: each field at a multiple of its size."""
    data = b""
    for name, kind in FIELDS.items():
        size = numbers.bits_of(kind) // 8
        data = data.ljust(-(-len(data) // size) * size, b"\0")
        value = _PARAMS[name]
        bits = numbers.to_bits(numbers.literal(value, kind, 1) if kind != "bool" else np.array([bool(value)]), kind)
        data += bits.tobytes()
    data += struct.pack("<3h", *_TAPS)
    return data.ljust(-(-len(data) // 8) * 8, b"\0")


def _names() -> dict[str, Any]:
    """What the names of a module mean to the interpreter."""
    language: dict[str, Any] = {word: word for word in ("cast", "bitcast", "select")} | {"local": "local"}
    language["random"] = {"bits": "bits", "bits64": "bits64"}
    found: dict[str, Any] = {kind: kind for kind in numbers.TYPES} | {word: word for word in ("min", "max", "abs", "round", "len")}
    found["g"] = language
    constants = {"SEVEN": 7, "THIRD": 1 / 3, "BELOW": -128}
    for name, kind in CONSTANTS.items():
        found[name] = Value(kind, numbers.literal(constants[name], kind, 1))
    tables = {"SQUARES": [0, 1, 4, 9, 16], "WAVE": [0.5, -0.25, 65504.0], "DEEP": [-(2**63), -1, 2**63 - 1, 3, 12345]}
    for name, (kind, _) in TABLES.items():
        found[name] = Memory(kind, np.array(tables[name], numbers.dtype_of(kind)), own=False)
    return found


def _params() -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, kind in FIELDS.items():
        value = _PARAMS[name]
        data = np.array([bool(value)]) if kind == "bool" else numbers.literal(value, kind, 1)
        fields[name] = Value(kind, data)
    fields["taps"] = Memory(TAPS[0], np.array(_TAPS, np.int16), own=False)
    return fields


def interpreted(program: Program, arrays: Sequence[Array]) -> Array:
    """The result's bits, by the interpreter of the source."""
    tree = ast.parse(program.text)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if program.meeting is not None:
        data = numbers.from_bits(arrays[0], program.inputs[0])
        with np.errstate(all="ignore"):
            return together.expected(int(program.name[1:]), program.meeting, functions, _names() | functions, data, program.result)
    own = functions[program.name if program.operation != "kernel" else f"f{program.name[1:]}_k"]
    names = _names() | functions
    arguments: dict[str, Any] = {
        f"x{i}": Value(kind, numbers.from_bits(bits, kind)) for i, (kind, bits) in enumerate(zip(program.inputs, arrays, strict=True))
    }
    if program.operation == "map_indexed":
        arguments["x1"] = Value("u64", np.arange(ITEMS, dtype=np.uint64))
    if program.params:
        arguments["p"] = Thing(_params())
    with np.errstate(all="ignore"):
        ended = Function.run(own, names, ITEMS, np.ones(ITEMS, bool), arguments, {})
        assert ended.result is not None
        return numbers.to_bits(np.ascontiguousarray(ended.result), program.result)


# ---- compiled code ----


@dataclass(frozen=True)
class Compiled:
    cpu: ctypes.CDLL
    ptx: dict[str, str]


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="fuzz"))


def compiled(programs: Sequence[Program], gpus: Sequence[str]) -> Compiled:
    """One root of all of them, for the CPU and for these GPUs."""
    serial = next(_SERIAL)
    source = _folder() / f"root{serial}.py"
    source.write_text(module(programs))
    blobs = {}
    for name in (CPU, *gpus):
        target = parse_target(name)
        root = compile_root(source, name=source.stem, imports=None, target=target)
        pieces = [compile_piece(unit.ir, unit.kernels, target, emit=frozenset()) for unit in root.units]
        blobs[name] = join_pieces(pieces, target, emit=frozenset()).blobs[0].data
    library = _folder() / f"root{serial}.so"
    library.write_bytes(blobs[CPU])
    return Compiled(ctypes.CDLL(str(library)), {name: blobs[name].decode() for name in gpus})


def _block(program: Program) -> int:
    """As the program declares it; a raw kernel is launched with less than it may be."""
    if program.operation == "kernel":
        return 48
    if program.meeting is not None:
        return together.BLOCK if program.meeting.way == "block" else 64
    return int(program.functions[-1].partition("block_size=")[2].partition(")")[0])


def _launch_arguments(program: Program, arrays: Sequence[Array], out: Array) -> tuple[list[bytes], list[Array]]:
    """The bytes of each argument, and the arrays that they point to."""
    if program.meeting is not None:
        return together.arguments(program.meeting, arrays[0], out, ITEMS)
    held = [out] if program.operation in ("map", "map_indexed") else [*arrays, out]
    values = [array.ctypes.data.to_bytes(8, "little") for array in held] + [ITEMS.to_bytes(8, "little")]
    return values + ([packed_params()] if program.params else []), held


def _fresh(program: Program, arrays: Sequence[Array]) -> Array:
    if program.operation in ("map", "map_indexed"):
        return arrays[0].copy()
    items = 1 if program.meeting is not None and program.meeting.way in ("sum", "min", "max") else ITEMS
    return np.full(items, 0xA5, np.uint8).repeat(numbers.bits_of(program.result) // 8).view(f"u{numbers.bits_of(program.result) // 8}")


class _Launch(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint64 * 3),
        ("block", ctypes.c_uint64 * 3),
        ("shared", ctypes.c_uint64),
        ("scratch", ctypes.c_void_p),
        ("scratch_size", ctypes.c_uint64),
        ("scratch_needed", ctypes.c_uint64),
    ]


#: More than the work-items of a block keep.
_SCRATCH = 1 << 20


def _grid(program: Program) -> tuple[int, int]:
    """The number of blocks and their size: a tile is one block."""
    block = _block(program)
    tiled = program.meeting is not None and program.meeting.way != "block"
    return (1 if tiled else -(-ITEMS // block)), block


def on_cpu(program: Program, library: ctypes.CDLL, arrays: Sequence[Array]) -> Array:
    out = _fresh(program, arrays)
    values, _held = _launch_arguments(program, arrays, out)
    buffers = [ctypes.create_string_buffer(value, len(value)) for value in values]
    pointers = (ctypes.c_void_p * len(buffers))(*(ctypes.addressof(buffer) for buffer in buffers))
    grid, block = _grid(program)
    scratch = ctypes.create_string_buffer(_SCRATCH + 64)
    start = -(-ctypes.addressof(scratch) // 64) * 64
    shared = 0 if program.meeting is None else program.meeting.dynamic
    launch = _Launch((grid, 1, 1), (block, 1, 1), shared, start, _SCRATCH, 0)
    entry = library[program.name]
    entry.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
    entry.restype = None
    entry(pointers, ctypes.addressof(launch), 0, 2**64 - 1)
    assert launch.scratch_needed == 0, "the scratch memory is too small"
    return out


def on_ptx(program: Program, machine: Machine, arrays: Sequence[Array]) -> Array:
    out = _fresh(program, arrays)
    values, held = _launch_arguments(program, arrays, out)
    memory = machine.memory
    kept = list(memory.regions)
    for array in held:
        memory.add_array(array)
    try:
        grid, block = _grid(program)
        shared = 0 if program.meeting is None else program.meeting.dynamic
        machine.launch(program.name, (grid, 1, 1), (block, 1, 1), values, shared)
    finally:
        memory.keep(kept)
    return out


def machine_of(text: str) -> Machine:
    return Machine(parse(text), GlobalMemory())


def differs(kind: str, got: Array, wanted: Array) -> Array:
    """Where the bits differ; a NaN equals any NaN."""
    different = got != wanted
    if kind in numbers.FLOATS:
        different &= ~(np.isnan(numbers.from_bits(got, kind)) & np.isnan(numbers.from_bits(wanted, kind)))
    return different
