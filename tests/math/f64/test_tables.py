"""The committed tables are what their generator writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import gmpy2
import pytest
from gmpy2 import mpfr

from gompute.math.f64.coefficients import circular, logarithmic
from tests.math.f64.checks import FOLDER, generate


def test_the_generator_writes_the_committed_tables(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(FOLDER / "generate_f64.py"), str(tmp_path)], check=True)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    committed = {path.name: path.read_bytes() for path in generate.FOLDER.glob("*.py")}
    assert written == committed


def test_the_residue_of_a_logarithm_is_exact() -> None:
    """At the ends of every interval z * reciprocal - 1 has at most 53 bits, and neighbours of 1 have the reciprocal 1."""
    for i, reciprocal in enumerate(logarithmic.RECIPROCALS):
        low, width = ((352 + i) / 512, 2.0**-9) if i < 160 else (1 + (i - 160) / 256, 2.0**-8)
        for z in (low, low + width - (2.0**-53 if i < 160 else 2.0**-52)):
            with gmpy2.context(precision=200):
                residue = mpfr(z) * mpfr(reciprocal) - 1
                assert mpfr(float(residue)) == residue
                assert abs(residue) <= 2.0**-8
    assert logarithmic.RECIPROCALS[159] == logarithmic.RECIPROCALS[160] == 1.0


@pytest.mark.parametrize("order", [-27, 0, 40, 600, 1023])
def test_two_over_pi_serves_every_order(order: int) -> None:
    """The four pieces of a row make up 2 / pi, but for whole multiples of 4 quarter turns at that order."""
    group = (order + 1023) // 16
    with gmpy2.context(precision=2400):
        pieces = sum(mpfr(part) for part in circular.TWO_OVER_PI[(group - 62) * 4 : (group - 62) * 4 + 4])
        x = mpfr(2) ** order * 3 / 2
        kept = pieces * x * mpfr(2) ** (1023 - 16 * group)
        turns = (x * 2 / gmpy2.const_pi() - kept) / 4
        assert abs(turns - gmpy2.rint(turns)) < mpfr(2) ** -136
