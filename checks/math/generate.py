"""Writes the coefficients of gompute/math/f32: constants, tables and minimax polynomials, from 240-bit arithmetic.

    python checks/math/generate.py            # write the files
    python checks/math/generate.py --check    # say whether they are what would be written

The same bytes every time; needs gmpy2.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import gmpy2
from gmpy2 import mpfr
from minimax import fit, worst

FOLDER = Path(__file__).resolve().parents[2] / "gompute" / "math" / "f32"

HEADER = '''"""Constants and polynomial coefficients of f32 functions; written by checks/math/generate.py, not by hand.

Beside each polynomial stands its largest relative error as an approximation, before any rounding at run time.
"""

from __future__ import annotations

_f = float.fromhex


def _table(text: str) -> tuple[float, ...]:
    return tuple(map(float.fromhex, text.split()))

'''


class Section:
    """Lines of the file."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def number(self, name: str, value: mpfr | float) -> None:
        self.lines.append(f'{name} = _f("{float(value).hex()}")')

    def numbers(self, name: str, values: list[float], error: mpfr | None = None) -> None:
        if error is not None:
            self.lines.append(f"# {name}: 2**{float(gmpy2.log2(error)):.1f}")
        words = [value.hex() for value in values]
        rows = [" ".join(words[at : at + 5]) for at in range(0, len(words), 5)]
        self.lines += [f'{name} = _table("""', *rows, '""")']


def cut(value: mpfr, bits: int) -> float:
    """`value` rounded to a multiple of 2**-bits."""
    return float(gmpy2.rint(value * 2**bits) / 2**bits)


def logarithms_of_bases(out: Section) -> None:
    """Each in two parts: to the last place, and the rest; or with few enough bits for exact products with exponents, and the rest."""
    for name, value in (("LOG2_E", 1 / gmpy2.const_log2()), ("LOG10_E", 1 / gmpy2.log(mpfr(10)))):
        out.number(name, value)
        out.number(f"{name}_LOW", value - mpfr(float(value)))
    out.number("LOG10_2", gmpy2.log10(mpfr(2)))
    ln2 = gmpy2.const_log2()
    out.number("LN2_HIGH", cut(ln2, 40))
    out.number("LN2_LOW", ln2 - mpfr(cut(ln2, 40)))


def exponential(out: Section) -> None:
    ln2 = gmpy2.const_log2()
    powers = list(range(12))
    half = float(ln2 / 2) * 1.0001
    found = fit(gmpy2.exp, -half, half, powers, fixed={0: mpfr(1), 1: mpfr(1), 2: mpfr(0.5)})
    out.numbers("EXP", found[2:], worst(gmpy2.exp, -half, half, powers, found))
    brief = powers[:-1]
    found = fit(gmpy2.exp, -half, half, brief, fixed={0: mpfr(1), 1: mpfr(1), 2: mpfr(0.5)})
    out.numbers("EXP_BRIEF", found[2:], worst(gmpy2.exp, -half, half, brief, found))
    found = fit(gmpy2.exp2, -0.5, 0.5, powers, fixed={0: mpfr(1)})
    out.number("EXP2_LOW", ln2 - mpfr(found[1]))
    out.numbers("EXP2", found[1:], worst(gmpy2.exp2, -0.5, 0.5, powers, found))


def hyperbolic(out: Section) -> None:
    """The even and the odd part of exp on half an octave, as polynomials in r * r."""
    half = float(gmpy2.const_log2() / 2) * 1.0001

    def even(t: mpfr) -> mpfr:
        return gmpy2.cosh(gmpy2.sqrt(t))

    def odd(t: mpfr) -> mpfr:
        return gmpy2.sinh(gmpy2.sqrt(t)) / gmpy2.sqrt(t)

    for name, function, known in (("COSH", even, {0: mpfr(1), 1: mpfr(0.5)}), ("SINH", odd, {0: mpfr(1)})):
        powers = list(range(7))
        found = fit(function, 1e-12, half * half, powers, fixed=known)
        out.numbers(name, found[len(known) :], worst(function, 1e-12, half * half, powers, found))


def logarithm(out: Section) -> None:
    """For log1p: (log(1 + f) - f) / (f * f), where 1 + f is between sqrt(1/2) and sqrt(2); its error counts as one of the logarithm."""

    def rest(f: mpfr) -> mpfr:
        return (gmpy2.log1p(f) - f) / (f * f)

    def weight(f: mpfr) -> mpfr:
        return abs(f * f / gmpy2.log1p(f))

    powers = list(range(20))
    found = fit(rest, -0.293, 0.4143, powers, weight=weight, fixed={0: mpfr(-0.5)})
    out.numbers("LOG", found, worst(rest, -0.293, 0.4143, powers, found, weight))


def trigonometric(out: Section) -> None:
    """sin and cos of a number of quarter turns between -1/2 and 1/2, in its square; the bits of 2/pi that matter for each exponent."""
    quarter = gmpy2.const_pi() / 2

    def sine(t: mpfr) -> mpfr:
        return gmpy2.sin(quarter * gmpy2.sqrt(t)) / gmpy2.sqrt(t)

    def cosine(t: mpfr) -> mpfr:
        return gmpy2.cos(quarter * gmpy2.sqrt(t))

    powers = list(range(8))
    out.number("QUARTER_LOW", quarter - mpfr(float(quarter)))
    found = fit(sine, 1e-12, 0.2502, powers)
    out.numbers("SIN", found, worst(sine, 1e-12, 0.2502, powers, found))
    found = fit(cosine, 1e-12, 0.2502, powers, fixed={0: mpfr(1)})
    out.numbers("COS", found[1:], worst(cosine, 1e-12, 0.2502, powers, found))
    heads, tails = [], []
    with gmpy2.context(gmpy2.get_context(), precision=600):
        turns = 2 / gmpy2.const_pi()
        for exponent in range(256):
            # x = m * 2**(exponent - 150) with an integer m: bits of 2/pi from 2**(152 - exponent) up give whole turns, which drop out.
            unit = max(0, exponent - 152)
            scaled = turns * mpfr(2) ** unit
            rest = (scaled - gmpy2.floor(scaled)) / mpfr(2) ** unit if unit else turns
            heads.append(float(rest))
            tails.append(float(rest - mpfr(heads[-1])))
    out.numbers("TURNS_HEAD", heads)
    out.numbers("TURNS_TAIL", tails)


def arcs(out: Section) -> None:
    """asin and atan of a square root, over it."""

    def arc_sine(t: mpfr) -> mpfr:
        return gmpy2.asin(gmpy2.sqrt(t)) / gmpy2.sqrt(t)

    def arc_tangent(t: mpfr) -> mpfr:
        return gmpy2.atan(gmpy2.sqrt(t)) / gmpy2.sqrt(t)

    for name, function, high, terms in (("ASIN", arc_sine, 0.2501, 14), ("ATAN", arc_tangent, 0.1716, 13)):
        powers = list(range(terms))
        found = fit(function, 1e-12, high, powers, fixed={0: mpfr(1)})
        out.numbers(name, found[1:], worst(function, 1e-12, high, powers, found))
    pi = gmpy2.const_pi()
    for name, value in (("PI", pi), ("HALF_PI", pi / 2), ("QUARTER_PI", pi / 4)):
        out.number(name, value)
        out.number(f"{name}_LOW", value - mpfr(float(value)))


def roots(out: Section) -> None:
    """What a third of the upper half of a double's bits is taken from to give those of its cube root's inverse, and how wrong that is."""

    def error(base: int) -> float:
        samples = ((1 + i / 512) * 2.0**octave for octave in range(3) for i in range(512))
        return max(abs(1 - x * _double(base - _upper(x) // 3) ** 3) for x in samples)

    base = min(range(0x553E0000, 0x55400000, 0x400), key=error)
    base = min(range(base - 0x400, base + 0x400, 16), key=error)
    out.lines.append(f"# off by {error(base):.4f} in the cube")
    out.lines.append(f"INVERSE_CUBE_ROOT = 0x{base:08X}")


def _upper(x: float) -> int:
    return int.from_bytes(struct.pack(">d", x)[:4], "big")


def _double(upper: int) -> float:
    value: float = struct.unpack(">d", upper.to_bytes(4, "big") + bytes(4))[0]
    return value


def error_functions(out: Section) -> None:
    """erf(x) / x in x * x up to 1; erfc(x) exp(x * x) in a variable that runs from 1 to -1 as x goes from 0 to 10.25."""

    def small(t: mpfr) -> mpfr:
        return gmpy2.erf(gmpy2.sqrt(t)) / gmpy2.sqrt(t)

    powers = list(range(12))
    found = fit(small, 1e-12, 1.0, powers)
    out.numbers("ERF", found, worst(small, 1e-12, 1.0, powers, found))
    with gmpy2.context(gmpy2.get_context(), precision=60):
        low = 4 / mpfr(14.25)
    scale, shift = float(8 / (1 - low)), float(-(1 + low) / (1 - low))
    out.number("ERFC_SCALE", scale)
    out.number("ERFC_SHIFT", shift)

    def scaled(u: mpfr) -> mpfr:
        x = mpfr(scale) / (u - mpfr(shift)) - 4
        return gmpy2.erfc(x) * gmpy2.exp(x * x)

    powers = list(range(23))
    found = fit(scaled, -1.0, 1.0, powers)
    out.numbers("ERFC", found, worst(scaled, -1.0, 1.0, powers, found))


def angles(out: Section) -> None:
    """atan(j / 32) in two parts, and atan(sqrt(t)) / sqrt(t) - 1, over t, up to 1/64 of a ratio."""
    parts = [two_parts(gmpy2.atan(mpfr(j) / 32)) for j in range(33)]
    out.numbers("ANGLE_HEAD", [high for high, _ in parts])
    out.numbers("ANGLE_TAIL", [low for _, low in parts])

    def rest(t: mpfr) -> mpfr:
        return (gmpy2.atan(gmpy2.sqrt(t)) / gmpy2.sqrt(t) - 1) / t

    powers = list(range(5))
    found = fit(rest, 1e-12, 1 / 4000, powers)
    out.numbers("ANGLE", found, worst(rest, 1e-12, 1 / 4000, powers, found))


#: What is added to a row of a table of logarithms, in 2**-60, so that every f32 of the row, in every octave, rounds to the right side:
#: without it a sum of doubles meets a tie that the logarithm only comes near. The exhaustive run is the proof.
MOVED = {"LOG": {11: 512, 35: 6144, 39: 1168}, "LOG10": {73: -480, 120: 320}}


def rows_of_logarithms(out: Section) -> None:
    """c near the inverse of each of 128 parts of an octave, with few enough bits that c times an f32 is exact; -log(c) to the last place;
    and for each base the series from the square on, so that its error counts as one of the logarithm."""
    inverses, reach = _inverses(LOG_START, 128)
    out.number("LN2_WHOLE", gmpy2.const_log2())
    out.numbers("INVERSE", inverses)
    for name, scale in (("LOG", mpfr(1)), ("LOG2", 1 / gmpy2.const_log2()), ("LOG10", 1 / gmpy2.log(mpfr(10)))):
        moved = MOVED.get(name, {})
        heads = [float(-gmpy2.log(mpfr(inverse)) * scale) + moved.get(row, 0) * 2.0**-60 for row, inverse in enumerate(inverses)]
        out.numbers(f"{name}_HEAD", heads)

        def rest(r: mpfr, scale: mpfr = scale) -> mpfr:
            return -scale / 2 if abs(r) < mpfr(2) ** -60 else (gmpy2.log1p(r) - r) * scale / (r * r)

        def weight(r: mpfr, scale: mpfr = scale) -> mpfr:
            return abs(r / scale)

        powers = list(range(6))
        found = fit(rest, -reach, reach, powers, weight=weight)
        out.numbers(f"{name}_SERIES", found, worst(rest, -reach, reach, powers, found, weight))


def finer_rows_of_logarithms(out: Section) -> None:
    """For the powers: for 512 parts of an octave c as for the logarithms, and -log(c) as a high part with few enough bits that a multiple
    of log(2) is added to it without rounding, and the rest; the series of the logarithm from the cube on."""
    ln2 = gmpy2.const_log2()
    inverses, reach = _inverses(POW_START, 512)
    out.numbers("POW_INVERSE", inverses)
    heads = [cut(-gmpy2.log(mpfr(inverse)), POW_BITS) for inverse in inverses]
    out.numbers("POW_LOG_HEAD", heads)
    out.numbers("POW_LOG_TAIL", [float(-gmpy2.log(mpfr(inverse)) - mpfr(head)) for inverse, head in zip(inverses, heads, strict=True)])
    out.number("POW_LN2_HIGH", cut(ln2, POW_BITS))
    out.number("POW_LN2_LOW", ln2 - mpfr(cut(ln2, POW_BITS)))

    def cubic(r: mpfr) -> mpfr:
        if abs(r) < mpfr(2) ** -60:
            return 1 / mpfr(3)
        return (gmpy2.log1p(r) - r + r * r / 2) / r**3

    powers = list(range(5))
    found = fit(cubic, -reach, reach, powers)
    out.numbers("POW_LOG", found, worst(cubic, -reach, reach, powers, found))


def rows_of_powers(out: Section) -> None:
    """2**(j/256) and log(2) / 256, each in two parts, and the series of the exponential."""
    ln2 = gmpy2.const_log2()
    parts = [two_parts(gmpy2.exp2(mpfr(j) / 256)) for j in range(256)]
    out.numbers("POW_HEAD", [high for high, _ in parts])
    out.numbers("POW_TAIL", [low for _, low in parts])
    out.number("POW_STEPS", 256 / ln2)
    out.number("POW_STEP_HIGH", cut(ln2 / 256, POW_BITS))
    out.number("POW_STEP_LOW", ln2 / 256 - mpfr(cut(ln2 / 256, POW_BITS)))

    def quadratic(z: mpfr) -> mpfr:
        if abs(z) < mpfr(2) ** -60:
            return mpfr(0.5)
        return (gmpy2.expm1(z) - z) / (z * z)

    powers = list(range(4))
    found = fit(quadratic, -0.001355, 0.001355, powers, fixed={0: mpfr(0.5)})
    out.numbers("POW_EXP", found, worst(quadratic, -0.001355, 0.001355, powers, found))


#: The bits of the double that the first of 128 parts begins at: 1 is then the middle of a part, by the bits.
LOG_START = 0x3FE6B00000000000
#: The same for 512 parts.
POW_START = 0x3FE6AC0000000000
#: Multiples of 2**-45 below 2**7 are added without rounding; the logarithm of every f32 is below 2**7.
POW_BITS = 45


def _inverses(start: int, parts: int) -> tuple[list[float], float]:
    """By row, an inverse of what is in it; and how far from 1 the product of the two comes."""

    def place(row: int) -> float:
        """Where a part of the octave begins."""
        value: float = struct.unpack(">d", (start + row * 2**52 // parts).to_bytes(8, "big"))[0]
        return value

    inverses = []
    for row in range(parts):
        # In the part that holds 1, c is 1: the logarithm near 0 comes from the series alone.
        middle = (place(row) + place(row + 1)) / 2
        inverses.append(1.0 if place(row) < 1.0 < place(row + 1) else cut(1 / mpfr(middle), 20))
    return inverses, max(abs(place(row + side) * inverses[row] - 1) for row in range(parts) for side in (0, 1))


def two_parts(value: mpfr) -> tuple[float, float]:
    high = float(value)
    return high, float(value - mpfr(high))


FILES = {
    "coefficients.py": (logarithms_of_bases, exponential, hyperbolic, logarithm, trigonometric, arcs, roots, error_functions, angles),
    "rows.py": (rows_of_logarithms, rows_of_powers),
    "finer_rows.py": (finer_rows_of_logarithms,),
}


def text(name: str) -> str:
    def lines() -> Iterator[str]:
        for section in FILES[name]:
            out = Section()
            section(out)
            yield "\n".join(["", f"# ---- {section.__name__.replace('_', ' ')} ----", "", *out.lines, ""])

    return HEADER + "".join(lines())


def main() -> int:
    made = {name: text(name) for name in FILES}
    if "--check" in sys.argv[1:]:
        stale = [name for name in FILES if (FOLDER / name).read_text(encoding="utf-8") != made[name]]
        print(f"stale: {', '.join(stale)}: run python checks/math/generate.py" if stale else "the files are what is written today")
        return 1 if stale else 0
    for name in FILES:
        (FOLDER / name).write_text(made[name], encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
