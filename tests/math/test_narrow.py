"""f32, f16 and bf16: every result is correctly rounded, and what was run in full was run on what is there now."""

from __future__ import annotations

import random
import struct
import subprocess
import sys

import numpy as np
import pytest

import gompute as g
from gompute.lang import numeric
from gompute.lang.math_function import MathFunction
from gompute.lang.types import BF16, F16, F32, F64, SCALARS
from gompute.math.f32 import finer_rows, rows
from tests.math.f64.checks import FOLDER

import fingerprint  # isort: skip
import generate  # isort: skip
import mpfr  # isort: skip
import pairs  # isort: skip
import results  # isort: skip

NAMES = results.unary_and_binary()
RESULTS = results.read()


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("name", NAMES)
def test_the_last_run_was_on_this_source_and_found_nothing_wrong(name: str, kind: str) -> None:
    entry = RESULTS[kind][name]
    again = f"the function has changed since: run python checks/math/exhaustive.py {name} --type {kind}"
    assert entry["source"] == fingerprint.fingerprint(getattr(g.math, name), SCALARS[kind]), again
    assert entry["wrong"] == 0
    assert entry["inputs"] >= {"f32": 2**24, "f16": 2**16, "bf16": 2**16}[kind]


def test_the_published_counts_are_those_of_the_runs() -> None:
    assert results.MEASURED.read_text() == results.measured(), "run python checks/math/results.py"
    text = results.README.read_text()
    assert text == results.in_readme(text, results.table()), "run python checks/math/results.py"
    for kind, entries in RESULTS.items():
        for name, entry in entries.items():
            assert g.math.max_ulp[name][kind] == g.math.Bound(0.5, entry["inputs"])
    assert {name for name in NAMES if "f64" in g.math.max_ulp[name]} == set(NAMES)


def test_a_comment_does_not_change_the_hash_and_a_coefficient_does() -> None:
    names = ("plain", "commented", "constant", "coefficient", "order")
    plain, commented, *others = (
        fingerprint.fingerprint(MathFunction(name, 1, "", narrow=f"tests.math.marked:{name}"), F32) for name in names
    )
    assert plain == commented
    assert len({plain, *others}) == 4


def check(name: str, arguments: list[list[float]]) -> None:
    columns = [np.array(column, np.float32) for column in zip(*arguments, strict=True)]
    got = getattr(g.math, name)(*columns)
    for at, result in zip(arguments, got.tolist(), strict=True):
        wanted = mpfr.correct(name, at, "f32")
        same = (result != result and wanted != wanted) or struct.pack("<f", result) == struct.pack("<f", wanted)
        assert same, f"{name}{tuple(map(float.hex, at))} is {wanted.hex()}, not {result.hex()}"


@pytest.mark.parametrize("name", NAMES)
def test_special_and_boundary_values(name: str) -> None:
    values = pairs.boundary_values()
    if getattr(g.math, name).arity == 1:
        check(name, [[x] for x in values])
    else:
        check(name, [[x, y] for x in values[::3] for y in values[1::2]])


@pytest.mark.parametrize("name", NAMES)
def test_a_slice_of_the_run_that_nobody_chose(name: str) -> None:
    """Other inputs each time: a failure names them."""
    draw = random.Random()
    starts = [draw.getrandbits(32) for _ in range(60)]
    values = [float(numeric.from_bits((start + step) % 2**32, F32)) for start in starts for step in range(20)]
    if getattr(g.math, name).arity == 1:
        check(name, [[x] for x in values])
    else:
        check(name, [list(pair) for pair in zip(values, reversed(values), strict=True)])


#: Results that lie within half a last place of f64 of a tie, so that the nearest double is that tie.
TIES = {
    "exp2": "0x1.853a6ep-9 -0x1.e7526ep-6",
    "sinh": "0x1.250bfep-11 -0x1.250bfep-11",
    "acos": "0x1.110b46p-26 0x1.04c444p-12",
    "atan": "0x1.1ad646p-4 -0x1.1ad646p-4",
    "erfc": "-0x1.d93ec4p-17",
    "cos": "0x1.3170fp+63 -0x1.3170fp+63 0x1.2b9622p+67 -0x1.2b9622p+67",
    "log": "0x1.827a74p-7 0x1.b121a6p+76 0x1.bacb4ap+25",
    "log10": "0x1.fddcf4p-98 0x1.5cf1a6p-88",
}


@pytest.mark.parametrize("name", TIES)
def test_results_that_a_double_cannot_tell_from_a_tie(name: str) -> None:
    check(name, [[float.fromhex(x)] for x in TIES[name].split()])


@pytest.mark.parametrize("name", ["log", "log2", "log10", "pow"])
def test_no_fall_from_row_to_row(name: str) -> None:
    """The logarithm's rows, in octaves near and far: neighbours on both sides of each place where another row begins."""
    rows, shift, first = (512, 43, generate.POW_START) if name == "pow" else (128, 45, generate.LOG_START)
    starts = (np.arange(rows, dtype=np.uint64) << np.uint64(shift)) + np.uint64(first)
    for octave in (-120, -1, 0, 1, 60):
        places = (starts.view(np.float64) * 2.0**octave).astype(np.float32).view(np.int32)
        values = (places[:, None] + np.arange(-8, 9, dtype=np.int32)).view(np.float32)
        results = getattr(g.math, name)(values) if name != "pow" else g.math.pow(values, np.float32(0.7))
        assert (np.diff(results, axis=1) >= 0).all()


def test_powers_that_are_ties() -> None:
    """x = (odd b)**q * 2**(s * q) and y = n / q make b**n * 2**(s * n): of 25 digits, or an odd multiple of half of the smallest number."""
    cases = [
        [base**root * 2.0 ** (order * root), n / root]
        for root in (1, 2, 4, 8)
        for n in range(1, 16)
        for base in range(3, 4097, 2)
        for order in (0, -3, 7, -150 // n)
        if (base**root < 2**24 and 2**24 <= base**n < 2**25) or (order * n == -150 and base**n < 2**16)
    ]
    draw = random.Random(25)
    halves = [[2.0**k, tie / k] for k in range(-149, 128) if k for tie in (-150, -151, -149) if float(np.float32(tie / k)) == tie / k]
    kept = [case for case in cases if float(np.float32(case[0])) == case[0]]
    check("pow", [*halves, *draw.sample(kept, min(len(kept), 4000)), *([-x, y] for x, y in halves)])


def test_what_pow_takes_from_its_tables_is_exact() -> None:
    """c times an f32 less 1 has at most 53 digits; sums and multiples of the high parts are below 2**8 and multiples of 2**-45."""
    for row, inverse in enumerate(finer_rows.POW_INVERSE):
        low, high = (float(numeric.from_bits(generate.POW_START + (row + side) * 2**43, F64)) for side in (0, 1))
        assert low * 2**24 % 1 == high * 2**24 % 1 == inverse * 2**20 % 1 == 0
        # A multiple of 2**-44 below 2**-9.
        assert max(abs(inverse * low - 1), abs(inverse * high - 1)) < 2.0**-9
        assert (inverse == 1.0) == (low < 1.0 < high)
    heads = (*finer_rows.POW_LOG_HEAD, finer_rows.POW_LN2_HIGH, rows.POW_STEP_HIGH)
    assert all(head * 2**45 % 1 == 0 for head in heads)
    # Steps up to 2**16, so that they and the high part have 53 digits together.
    assert rows.POW_STEP_HIGH * 2**45 < 2**37
    assert 104 * rows.POW_STEPS < 2**16


@pytest.mark.parametrize("name", NAMES)
def test_narrow_types_on_the_host_and_in_arrays(name: str) -> None:
    function, draw = getattr(g.math, name), random.Random(name)
    for kind in (F16, BF16):
        for _ in range(12):
            at = [float(kind(draw.uniform(-3, 3))) for _ in range(function.arity)]
            wanted, got = mpfr.correct(name, at, kind.name), function(*(kind(x) for x in at))
            assert got == wanted or (got != got and wanted != wanted), (name, at, got, wanted)
            if kind == F16:
                array = function(*(np.array([x], np.float16) for x in at))
                assert array[0] == wanted or (wanted != wanted and np.isnan(array[0]))


def test_the_coefficients_are_what_the_generator_writes() -> None:
    done = subprocess.run([sys.executable, str(FOLDER / "generate.py"), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
