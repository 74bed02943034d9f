"""The bytes of arguments, against ctypes' own layout and `abi.pack`."""

from __future__ import annotations

import ctypes
import itertools
import random

import pytest

from gompute.artifacts.describe import entry_of
from gompute.artifacts.entry import ArgumentEntry
from gompute.handles.packing import Frame, Packing
from gompute.handles.parameters import ParamsReader
from gompute.lang import abi
from gompute.lang.names import bf16, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64
from gompute.lang.operations import map
from gompute.lang.params import params
from gompute.lang.types import SCALARS

SIZES = {name: scalar.size for name, scalar in SCALARS.items()}


@pytest.mark.parametrize("seed", range(20))
def test_every_argument_lies_aligned_in_its_own_place(seed: int) -> None:
    chance = random.Random(seed)
    arguments, values = [], []
    for number in range(chance.randint(0, 12)):
        kind = chance.choice(["pointer", "scalar", "scalar", "params"])
        if kind == "pointer":
            arguments.append(ArgumentEntry(f"a{number}", "pointer", "f32", 8, 8))
            values.append(chance.getrandbits(64))
        elif kind == "params":
            align = chance.choice([1, 2, 4, 8])
            size = align * chance.randint(1, 9)
            arguments.append(ArgumentEntry(f"a{number}", "params", "P", size, align))
            values.append(chance.randbytes(size))
        else:
            dtype = chance.choice([name for name in SIZES if name not in ("f16", "f32", "f64", "bool") and name[0] == "u"])
            arguments.append(ArgumentEntry(f"a{number}", "scalar", dtype, SIZES[dtype], SIZES[dtype]))
            values.append(chance.getrandbits(8 * SIZES[dtype]))
    packing = Packing(arguments)
    frame = Frame(packing)
    packing.pack(frame.storage, 0, *values)
    pointers = (ctypes.c_void_p * max(1, len(arguments))).from_address(frame.address)
    spans = []
    for argument, value, pointer in zip(arguments, values, pointers, strict=False):
        assert pointer is not None and pointer % argument.align == 0
        data = ctypes.string_at(pointer, argument.size)
        assert data == (value if isinstance(value, bytes) else value.to_bytes(argument.size, "little"))
        spans.append((pointer, pointer + argument.size))
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(spans))


@params
class Everything:
    a: bool
    b: i16
    c: f64
    d: i8
    e: u32
    f: f16
    g: bf16
    h: u8
    i: i64
    j: f32
    k: u16
    m: i32
    n: u64
    o: bool


@map
def takes_everything(x: f32, p: Everything) -> f32:
    return x


def test_a_flat_struct_is_packed_as_abi_packs_it() -> None:
    entry = entry_of(takes_everything)
    layout = entry.arguments[-1].layout
    assert layout is not None
    reader = ParamsReader("params", layout)
    chance = random.Random(1)
    for _ in range(200):
        value = Everything(
            a=chance.random() < 0.5,
            b=chance.randint(-(2**15), 2**15 - 1),
            c=chance.uniform(-1e9, 1e9),
            d=chance.randint(-128, 127),
            e=chance.getrandbits(32),
            f=chance.uniform(-70000, 70000),
            g=chance.uniform(-10, 10),
            h=chance.getrandbits(8),
            i=chance.randint(-(2**63), 2**63 - 1),
            j=chance.choice([chance.uniform(-1, 1), 1e300, float("inf"), 3, float("-0.0")]),
            k=chance.getrandbits(16),
            m=chance.randint(-(2**31), 2**31 - 1),
            n=chance.getrandbits(64),
            o=True,
        )
        assert reader(value) == abi.pack(value)
