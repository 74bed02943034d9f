"""Write the tables and polynomials of ``gompute/math/f64`` with MPFR: ``python checks/math/generate_f64.py [FOLDER]``.

Deterministic: every number is computed at 400 bits (the reduction constants at 3000) and rounded once, so a rerun gives the same bytes; a
test runs it again and compares. FOLDER is where the modules go, by default the package's own folder.

Polynomials are interpolated at Chebyshev nodes, which comes within a small factor of the minimax polynomial, or are Taylor polynomials
where the interval is so short that one more term costs less than anything cleverer. Every function's docstring says which interval it
uses.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

import gmpy2
from gmpy2 import mpfr

FOLDER = Path(__file__).resolve().parents[2] / "gompute/math/f64/coefficients"
PRECISION = 400


def high(value: mpfr) -> float:
    """The nearest double."""
    return float(value)


def fixed(value: mpfr, bits: int) -> float:
    """The nearest multiple of 2**-bits, which must be a double."""
    rounded = gmpy2.rint(value * mpfr(2) ** bits) / mpfr(2) ** bits
    assert mpfr(float(rounded)) == rounded
    return float(rounded)


def pair(value: mpfr) -> tuple[float, float]:
    """`value` as the unevaluated sum of two doubles."""
    first = high(value)
    return first, high(value - mpfr(first))


def fixed_pair(value: mpfr, bits: int) -> tuple[float, float]:
    """`value` as a multiple of 2**-bits and a double for the rest."""
    first = fixed(value, bits)
    return first, high(value - mpfr(first))


def solve(rows: list[list[mpfr]], right: list[mpfr]) -> list[mpfr]:
    """The solution of a linear system, by elimination with pivots."""
    size = len(right)
    augmented = [[*row, value] for row, value in zip(rows, right, strict=True)]
    for column in range(size):
        best = max(range(column, size), key=lambda row: abs(augmented[row][column]))
        augmented[column], augmented[best] = augmented[best], augmented[column]
        pivot = augmented[column][column]
        augmented[column] = [value / pivot for value in augmented[column]]
        for row in range(size):
            if row != column and augmented[row][column] != 0:
                factor = augmented[row][column]
                augmented[row] = [a - factor * b for a, b in zip(augmented[row], augmented[column], strict=True)]
    return [row[size] for row in augmented]


def interpolate(function: Callable[[mpfr], mpfr], low: mpfr, up: mpfr, degree: int) -> list[mpfr]:
    """Coefficients, constant first, of the polynomial that meets `function` at the Chebyshev nodes of [low, up]."""
    count = degree + 1
    nodes = [(low + up) / 2 + (up - low) / 2 * gmpy2.cos(gmpy2.const_pi() * (2 * n + 1) / (2 * count)) for n in range(count)]
    return solve([[node**power for power in range(count)] for node in nodes], [function(node) for node in nodes])


# ---- what each module holds ----


def exponential() -> dict[str, Sequence[float]]:
    """2**(j / 128) for j = 0..127, each as high and low part; steps of ln(2) / 128."""
    step = gmpy2.const_log2() / 128
    powers = [part for j in range(128) for part in pair(gmpy2.exp2(mpfr(j) / 128))]
    two = [high(gmpy2.const_log2() ** n / gmpy2.fac(n)) for n in range(2, 7)]
    return {
        "POWERS": powers,
        "STEP": [high(1 / step), *pair(step)],
        "LN2": [high(gmpy2.const_log2())],
        "EXP": [high(1 / mpfr(gmpy2.fac(n))) for n in range(2, 7)],
        "EXP2": two,
    }


def reciprocals() -> list[float]:
    """For each of 256 intervals of [0.6875, 1.375) the short reciprocal of its middle that `logarithm` multiplies with.

    Multiples of 2**-8 below 1 and of 2**-9 from 1 on, so that fma(z, reciprocal, -1) is exact; 1 on both sides of 1.
    """
    found = []
    for i in range(256):
        if i < 160:
            low, width, unit = mpfr(352 + i) / 512, mpfr(1) / 512, 8
        else:
            low, width, unit = 1 + mpfr(i - 160) / 256, mpfr(1) / 256, 9
        reciprocal = mpfr(1) if i in (159, 160) else mpfr(fixed(1 / (low + width / 2), unit))
        # The largest residue keeps 53 bits, and does not outweigh the logarithm of the reciprocal.
        residues = [abs(low * reciprocal - 1), abs((low + width) * reciprocal - 1)]
        assert max(residues) <= mpfr(2) ** -8, (i, residues)
        assert reciprocal == 1 or max(residues) <= abs(gmpy2.log(reciprocal)), i
        found.append(high(reciprocal))
    return found


def logarithmic() -> dict[str, Sequence[float]]:
    """Reciprocals and their negative logarithms to the bases e, 2 and 10; the high parts are multiples of 2**-42, so that they and
    whole multiples of the logarithm of 2 add without rounding."""
    short = reciprocals()
    ln2, ln10 = gmpy2.const_log2(), gmpy2.log(mpfr(10))

    def logs(scale: mpfr) -> list[float]:
        rows: list[float] = []
        for value in short:
            first, rest = fixed_pair(-gmpy2.log(mpfr(value)) * scale, 42)
            rows += [first, rest]
        return rows

    signs = [(mpfr(-1) ** (n + 1)) / n for n in range(2, 10)]
    return {
        "RECIPROCALS": short,
        "LN": logs(mpfr(1)),
        "LOG2": logs(1 / ln2),
        "LOG10": logs(1 / ln10),
        "LN_OF_2": fixed_pair(ln2, 42),
        "LOG10_OF_2": fixed_pair(ln2 / ln10, 42),
        "INVERSE_LN2": pair(1 / ln2),
        "INVERSE_LN10": pair(1 / ln10),
        "THIRD": pair(mpfr(1) / 3),
        "SERIES": [high(value) for value in signs],
        "SERIES2": [high(value / ln2) for value in signs],
        "SERIES10": [high(value / ln10) for value in signs],
    }


def circular() -> dict[str, Sequence[float]]:
    """2 / pi in pieces for every sixteenth binary order, and polynomials for sine and cosine on [-pi/4, pi/4]."""
    with gmpy2.context(precision=3000):
        turns = 2 / gmpy2.const_pi()
        pieces: list[float] = []
        for group in range(62, 128):
            # What weighs 4 quarter turns or more for every argument of the group is dropped; the rest goes with the argument's scale.
            modulus = mpfr(2) ** (1077 - 16 * group)
            rest = (turns - gmpy2.floor(turns / modulus) * modulus) * mpfr(2) ** (16 * group - 1023)
            for _ in range(4):
                pieces.append(high(rest))
                rest -= mpfr(pieces[-1])
    end = (gmpy2.const_pi() / 4 * mpfr("1.0001")) ** 2
    start = mpfr(10) ** -30

    def sine(z: mpfr) -> mpfr:
        y = gmpy2.sqrt(z)
        return ((gmpy2.sin(y) - y) / y**3 + mpfr(1) / 6) / z

    def cosine(z: mpfr) -> mpfr:
        return (gmpy2.cos(gmpy2.sqrt(z)) - 1 + z / 2 - z**2 / 24) / z**3

    return {
        "TWO_OVER_PI": pieces,
        "QUARTER": pair(gmpy2.const_pi() / 2),
        "SIXTH": pair(mpfr(-1) / 6),
        "TWENTY_FOURTH": pair(mpfr(1) / 24),
        "SINE": [high(value) for value in interpolate(sine, start, end, 5)],
        "COSINE": [high(value) for value in interpolate(cosine, start, end, 5)],
    }


def inverse() -> dict[str, Sequence[float]]:
    """The angle that `arc` starts from: for each half-plane and octant (4 of them, 128 rows each) and i = 0..64 what atan(i / 64) is
    there."""
    pi = gmpy2.const_pi()
    angles: list[float] = []
    for place in range(4):
        for i in range(128):
            angle = gmpy2.atan(mpfr(min(i, 64)) / 64)
            steep = pi / 2 - angle if place & 1 else angle
            angles += pair(pi - steep if place & 2 else steep)
    return {"ANGLES": angles, "ARC": [high((mpfr(-1) ** n) / (2 * n + 1)) for n in range(1, 5)]}


def roots() -> dict[str, Sequence[float]]:
    """z**(-1/3) on [1, 2], and the cube roots of 1/2 and 1/4."""
    third = mpfr(1) / 3
    return {
        "START": [high(value) for value in interpolate(lambda z: z**-third, mpfr(1), mpfr(2), 5)],
        "THIRDS": [1.0, high(mpfr(2) ** -third), high(mpfr(4) ** -third)],
    }


def erfcx(x: mpfr) -> mpfr:
    return gmpy2.exp(x * x) * gmpy2.erfc(x)


def error() -> dict[str, Sequence[float]]:
    """erf and its slope at multiples of 1/32."""
    near: list[float] = []
    for i in range(193):
        c = mpfr(i) / 32
        near += [*pair(gmpy2.erf(c)), *pair(2 / gmpy2.sqrt(gmpy2.const_pi()) * gmpy2.exp(-c * c))]
    return {"NEAR": near, "REST": [high(mpfr(1) / n) for n in range(1, 10)]}


def complement() -> dict[str, Sequence[float]]:
    """exp(x * x) * erfc(x) by polynomials around the middles of 32 intervals per binary order of x + 1/2."""
    far: list[float] = []
    for i in range(186):
        order, part = divmod(i, 32)
        width = mpfr(2) ** (order - 6)
        c = mpfr(2) ** (order - 1) + (part + mpfr(1) / 2) * width - mpfr(1) / 2
        terms = interpolate(lambda d, c=c: erfcx(c + d), -width / 2, width / 2, 8)
        far += [*pair(terms[0]), *(high(term) for term in terms[1:])]
    return {"FAR": far}


MODULES = (exponential, logarithmic, circular, inverse, roots, error, complement)


def text(build: Callable[[], dict[str, Sequence[float]]]) -> str:
    """The module that `build` describes."""
    summary = textwrap.fill('"""' + " ".join((build.__doc__ or "").split()), 138)
    lines = [summary, "", "Written by checks/math/generate_f64.py; edit that.", '"""', "", "# fmt: off"]
    for name, values in build().items():
        lines += ["", f'{name} = tuple(float.fromhex(word) for word in """']
        lines += textwrap.wrap(" ".join(value.hex() for value in values), 138, break_on_hyphens=False)
        lines.append('""".split())')
    return "\n".join(lines) + "\n"


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    with gmpy2.context(precision=PRECISION):
        for build in MODULES:
            (folder / f"{build.__name__}.py").write_text(text(build))
        names = ", ".join(sorted(build.__name__ for build in MODULES))
        (folder / "__init__.py").write_text(f'"""Tables and polynomials: {names}.\n\nWritten by checks/math/generate_f64.py.\n"""\n')


if __name__ == "__main__":
    main()
