"""The functions that are one operation of the language: exact or correctly rounded on every target, for every float type."""

from __future__ import annotations

from gompute.lang.math_function import MathFunction

__all__ = ["ceil", "copysign", "floor", "fma", "fmod", "round", "sqrt", "trunc"]

sqrt = MathFunction("sqrt", 1, "Square root, correctly rounded.", exact=True)
floor = MathFunction("floor", 1, "The largest integral value not above x.", exact=True)
ceil = MathFunction("ceil", 1, "The smallest integral value not below x.", exact=True)
trunc = MathFunction("trunc", 1, "x without its fraction.", exact=True)
round = MathFunction("round", 1, "The nearest integral value, ties to even, as Python's and NumPy's round; C's roundeven.", exact=True)
fma = MathFunction("fma", 3, "x * y + z with one rounding.", exact=True)
copysign = MathFunction("copysign", 2, "The magnitude of x with the sign of y.", exact=True)
fmod = MathFunction("fmod", 2, "The remainder of x / y cut towards zero, with the sign of x; exact.", exact=True)
