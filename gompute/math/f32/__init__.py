"""Bodies for f32, and for f16 and bf16 through them: device functions from f64 to f64 in modules by family.

`BODIES` says where each is. A body's arguments are values of f32; what it returns is within about 2**-54 of the true value, relative, or
rounded to odd, so that rounding it once to the narrower type rounds correctly: the exhaustive runs of ``checks/math`` hold that.
"""

_FAMILIES = {
    "exponential": "exp exp2 expm1 sinh cosh tanh",
    "logarithm": "log log2 log10 log1p",
    "trigonometric": "sin cos tan",
    "arc": "asin acos atan",
    "root": "rsqrt cbrt hypot",
    "error": "erf erfc",
    "angle": "atan2",
    "power": "pow",
}
BODIES: dict[str, str] = {name: f"gompute.math.f32.{family}:{name}" for family, names in _FAMILIES.items() for name in names.split()}
