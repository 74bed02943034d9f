"""Writes gompute/math/f32/coefficients.py: constants and minimax polynomials of the f32 functions, from 240-bit arithmetic.

    python checks/math/generate.py            # write the file
    python checks/math/generate.py --check    # say whether it is what would be written

The same bytes every time; needs gmpy2.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import gmpy2
from gmpy2 import mpfr
from minimax import fit, worst

TARGET = Path(__file__).resolve().parents[2] / "gompute" / "math" / "f32" / "coefficients.py"

HEADER = '''"""Constants and polynomial coefficients of the f32 functions; written by checks/math/generate.py, not by hand.

Beside each polynomial stands its largest relative error as an approximation, before any rounding at run time.
"""

from __future__ import annotations

_f = float.fromhex
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
        self.lines.append(f"{name} = (")
        self.lines += [f'    _f("{value.hex()}"),' for value in values]
        self.lines.append(")")


def cut(value: mpfr, bits: int) -> float:
    """`value` rounded to a multiple of 2**-bits."""
    return float(gmpy2.rint(value * 2**bits) / 2**bits)


def exponential(out: Section) -> None:
    ln2 = gmpy2.const_log2()
    high = cut(ln2, 40)
    out.number("LOG2_E", 1 / ln2)
    out.number("LN2_HIGH", high)
    out.number("LN2_LOW", ln2 - mpfr(high))
    powers = list(range(12))
    half = float(ln2 / 2) * 1.0001
    found = fit(gmpy2.exp, -half, half, powers, fixed={0: mpfr(1), 1: mpfr(1), 2: mpfr(0.5)})
    out.numbers("EXP", found[2:], worst(gmpy2.exp, -half, half, powers, found))


SECTIONS = (exponential,)


def text() -> str:
    def lines() -> Iterator[str]:
        for section in SECTIONS:
            out = Section()
            section(out)
            yield "\n".join(["", f"# ---- {section.__name__.replace('_', ' ')} ----", "", *out.lines, ""])

    return HEADER + "".join(lines())


def main() -> int:
    made = text()
    if "--check" in sys.argv[1:]:
        same = TARGET.read_text(encoding="utf-8") == made
        print(f"{TARGET.name} is {'what is written today' if same else 'stale: run python checks/math/generate.py'}")
        return 0 if same else 1
    TARGET.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
