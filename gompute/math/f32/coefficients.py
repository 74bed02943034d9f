"""Constants and polynomial coefficients of the f32 functions; written by checks/math/generate.py, not by hand.

Beside each polynomial stands its largest relative error as an approximation, before any rounding at run time.
"""

from __future__ import annotations

_f = float.fromhex

# ---- exponential ----

LOG2_E = _f("0x1.71547652b82fep+0")
LN2_HIGH = _f("0x1.62e42fefa4000p-1")
LN2_LOW = _f("-0x1.8432a1b0e2634p-43")
# EXP: 2**-57.3
EXP = (
    _f("0x1.0000000000000p-1"),
    _f("0x1.5555555555501p-3"),
    _f("0x1.5555555553207p-5"),
    _f("0x1.11111111288e7p-7"),
    _f("0x1.6c16c17cc2fe5p-10"),
    _f("0x1.a01a011bffc2cp-13"),
    _f("0x1.a019ab2df41a6p-16"),
    _f("0x1.71df558fb2993p-19"),
    _f("0x1.289f8a0949eabp-22"),
    _f("0x1.ad1f9a128ff28p-26"),
)
